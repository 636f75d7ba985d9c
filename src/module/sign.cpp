// SPDX-License-Identifier: GPL-2.0-or-later
#include "module/sign.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/text.h"
#include "host/facts.h"
#include "host/packages.h"
#include "launch/child_process.h"
#include "launch/module_file.h"

namespace stapgen::module {

namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_sign_file(const host::System& machine, const host::Target& target) {
    std::vector<fs::path> trees{target.build};
    for (const auto& name : machine.list("/usr/lib")) {
        if (name.starts_with("linux-kbuild-")) trees.push_back(fs::path("/usr/lib") / name);
    }
    for (const auto& release : machine.list("/lib/modules"))
        trees.push_back(fs::path("/lib/modules") / release / "build");
    for (const auto& tree : trees) {
        if (auto program = machine.find_program((tree / "scripts/sign-file").string())) return program;
    }
    return std::nullopt;
}

/// The kernel refuses a signature of a hash that it does not know.
std::string hash_of(const host::System& machine, const host::Target& target) {
    const auto hash = host::kernel_option(machine.read(target.build / ".config").value_or(""), "MODULE_SIG_HASH");
    return hash.empty() ? "sha256" : hash;
}

std::string random_tail() {
    constexpr std::size_t length = 8;
    std::random_device random;
    // No number, which would be taken for a process's.
    std::string tail = "_";
    while (tail.size() < length)
        tail += static_cast<char>('a' + random() % 26);
    return tail;
}

base::Result<void> check_asked(const launch::ModuleInfo& info, const Asked& asked) {
    const auto refuse = [](const std::string& why) {
        return base::bad_input("not signed: " + why, "what is signed is what was asked for: stapgen doctor FILE.ko");
    };
    if (!info.systemtap) return refuse("the module was not made by SystemTap");
    if (info.is_signed) return refuse("the module has a signature");
    if (info.release != asked.release)
        return refuse(fmt::format("the module is for Linux {}, not {}", info.release, asked.release));
    if (info.architecture != asked.architecture)
        return refuse(fmt::format("the module is for {}, not {}", info.architecture, asked.architecture));
    if (info.recipe_hash != asked.recipe_hash) return refuse("the module is of another recipe, or of other options");
    return {};
}

}  // namespace

base::Result<Signer> parse_signer(std::string_view typed) {
    // It would be in the list of processes, and in recordings.
    if (typed.find("pin-value=") != std::string_view::npos) {
        return base::bad_input("--sign: a PIN in a key's URI can be read by others",
                               "leave out pin-value=; the PIN is taken from $KBUILD_SIGN_PIN");
    }
    const auto comma = typed.rfind(',');
    if (comma == std::string_view::npos || comma == 0 || comma + 1 == typed.size()) {
        return base::bad_input(fmt::format("--sign {}: not a key and a certificate", base::printable(typed)),
                               "for example --sign mok.key,mok.pem");
    }
    return Signer{std::string(typed.substr(0, comma)), std::string(typed.substr(comma + 1))};
}

base::Result<std::vector<std::string>> signing_argv(const host::System& machine, const host::Target& target,
                                                    const Signer& signer) {
    const auto program = find_sign_file(machine, target);
    if (!program) {
        return base::cannot_here("--sign: the kernel's sign-file is not installed",
                                 host::command_here(host::install_headers(target.release), target.distribution));
    }
    for (const auto& file : {signer.key, signer.certificate}) {
        if (file.starts_with("pkcs11:") || ::access(file.c_str(), R_OK) == 0) continue;
        return base::bad_input(fmt::format("--sign: cannot read {}: {}", base::printable(file), std::strerror(errno)),
                               "stapgen doctor has the commands that make a key");
    }
    return std::vector<std::string>{program->string(), hash_of(machine, target), signer.key, signer.certificate};
}

base::Result<fs::path> sign(const std::vector<std::string>& argv, const fs::path& module, const Asked& asked, Name name,
                            const fs::path& folder) {
    const auto info = launch::read_module_info(module);
    auto content = base::read_file(module);
    STAPGEN_TRY(info);
    STAPGEN_TRY(check_asked(*info, asked));
    STAPGEN_TRY(content);
    const auto new_name = name == Name::of_this_process ? launch::loaded_name(info->name, ::getpid())
                                                        : launch::with_tail(info->name, random_tail());
    launch::rename_module(*content, info->name, new_name);
    const auto file = folder / (new_name + ".ko");
    STAPGEN_TRY(base::create_file(file, *content));
    launch::Command command{argv, {}, {}, {}};
    command.argv.push_back(file.string());
    if (const char* pin = std::getenv("KBUILD_SIGN_PIN")) command.environment["KBUILD_SIGN_PIN"] = pin;
    if (auto said = launch::output_of(command); !said) {
        auto why = base::printable(base::trim(said.error().hint));
        return base::bad_input(fmt::format("--sign: the kernel's sign-file failed: {}", why),
                               "give a private key and its certificate: --sign KEY,CERT; a passphrase or PIN is taken "
                               "from $KBUILD_SIGN_PIN");
    }
    return file;
}

}  // namespace stapgen::module
