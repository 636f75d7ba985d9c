// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

/// Facts that a host states about itself. Nobody vouches for it: each value has the form of what it claims to be, or
/// the host is refused. docs/trust/security.md says what a host can still do.
namespace stapgen::fleet {

/// Why a host has no numbers. Its words are printable, and no more than a line.
struct Refusal {
    enum class Kind { unreachable, cannot, failed, over_budget, lost } kind = Kind::cannot;
    std::string why;
};
template <class T>
using Answer = tl::expected<T, Refusal>;

struct HostFacts {
    std::string folder;                        ///< its user's own, for modules and program
    std::map<std::string, std::string> files;  ///< what is in it: name -> SHA-256, hexadecimal
    std::string name, release, build_id;       ///< build_id: hexadecimal; empty: not known
    std::string architecture;                  ///< as `uname -m`; only ever compared with what is known here
    std::string boot_id;                       ///< another one: it was started anew
    std::string stapgen, stap, staprun;        ///< where they are; empty: nowhere
    bool can_load = true;                      ///< modules_disabled is not set
};

/// Prints them, for sh, whatever the shell is that sshd starts. Nothing of it is a user's. It makes the folder, and of
/// what earlier runs left there it keeps the newest files.
extern const char* const facts_script;

/// The facts that facts_script has printed. Refused (cannot): a value is missing, or is not what it has to be.
Answer<HostFacts> parse_facts(std::string_view printed);

/// For a row and fleet.json: one line, printable, of limited length.
std::string short_reason(std::string_view said);

}  // namespace stapgen::fleet
