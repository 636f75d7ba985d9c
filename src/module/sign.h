// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/host.h"
#include "host/system.h"

/// Signing modules for kernels that take no others (module.sig_enforce, lockdown, Secure Boot), by the kernel's own
/// sign-file.
namespace stapgen::module {

/// A private key, PEM or a token's "pkcs11:" URI, and its certificate, PEM or DER.
struct Signer {
    std::string key, certificate;
};

/// "KEY,CERT".
base::Result<Signer> parse_signer(std::string_view typed);

/// `sign-file HASH KEY CERT`, to which the module is added. The program is that of the target's tree, else that of any
/// kernel's whose kbuild package is here; the hash that of the kernel's options, else sha256. Fails where there is no
/// such program, or no file of the signer's.
base::Result<std::vector<std::string>> signing_argv(const host::System& machine, const host::Target& target,
                                                    const Signer& signer);

/// The properties of the module that was asked for.
struct Asked {
    std::string release, architecture;  ///< of the kernel, as `uname -r` and `uname -m` there
    std::string recipe_hash;            ///< recipe::hash_of()
};

/// Whose run a signed module is: staprun -R cannot give it a name, since its name is signed, too.
enum class Name {
    of_this_process,  ///< as `staprun -R` would name it
    at_random,        ///< for a file that is kept
};

/// Copies the module into the folder, under a name that no other run has, as NAME.ko, and signs the copy. The key's
/// owner answers for what it signs: error (bad_input) where the module does not say of itself that SystemTap made it of
/// what was asked for, or has a signature. Who made it, the caller has to know.
base::Result<std::filesystem::path> sign(const std::vector<std::string>& argv, const std::filesystem::path& module,
                                         const Asked& asked, Name name, const std::filesystem::path& folder);

}  // namespace stapgen::module
