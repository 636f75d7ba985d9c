// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/host_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/elf_notes.h"
#include "base/kernel.h"
#include "base/text.h"
#include "host/facts.h"
#include "session/remote.h"

namespace stapgen::fleet {

const char* const facts_script = R"sh(
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
d=${XDG_CACHE_HOME:-$HOME/.cache}/stapgen/fleet
mkdir -p "$d" && cd "$d" || exit 1
ls -t | tail -n +17 | while IFS= read -r f; do rm -f "./$f"; done
echo "folder=$d"
sha256sum * 2>/dev/null | sed 's/^/file=/'
echo "name=$(uname -n)"
echo "release=$(uname -r)"
echo "machine=$(uname -m)"
echo "disabled=$(cat /proc/sys/kernel/modules_disabled 2>/dev/null)"
echo "boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
echo "notes=$(od -An -v -tx1 /sys/kernel/notes 2>/dev/null | tr -cd 0-9a-f)"
for p in stapgen stap staprun; do echo "$p=$(command -v $p)"; done
)sh";

namespace {

constexpr std::size_t max_path = 4096;  ///< PATH_MAX
constexpr std::size_t hash_digits = 64;

/// Of a program there, or of the folder: a word of a command that only this host gets.
bool is_path(std::string_view text) {
    return text.starts_with('/') && text.size() < max_path && base::printable(text) == text;
}

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string bytes_of(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(base::from_hex(hex.substr(i, 2)).value_or(0));
    return bytes;
}

/// "HASH  NAME", as sha256sum prints it.
void put_file(std::string_view line, std::map<std::string, std::string>& files) {
    const auto hash = line.substr(0, hash_digits);
    const auto name = line.substr(std::min(line.size(), hash_digits + 2));
    if (hash.size() == hash_digits && is_hex(hash) && base::is_uts_name(name)) files.emplace(name, hash);
}

}  // namespace

std::string short_reason(std::string_view said) {
    constexpr std::size_t most = 300;
    auto text = base::printable(base::trim(said.substr(0, most)));
    return said.size() > most ? text + " ..." : text;
}

Answer<HostFacts> parse_facts(std::string_view printed) {
    std::map<std::string, std::string, std::less<>> values;
    HostFacts facts;
    for (const auto line : base::split(printed, '\n')) {
        const auto at = line.find('=');
        if (at == std::string_view::npos) continue;
        const auto key = line.substr(0, at), value = line.substr(at + 1);
        if (key == "file") {
            put_file(value, facts.files);
        } else {
            values.emplace(key, value);
        }
    }
    if (values["release"].empty() || values["folder"].empty()) {
        return tl::make_unexpected(
            Refusal{Refusal::Kind::cannot, "no POSIX shell: " + short_reason(session::last_line_of(printed))});
    }
    std::string wrong;
    const auto take = [&](const char* key, std::string& into, auto is_fine, bool may_be_empty) {
        into = values[key];
        const bool fine = into.empty() ? may_be_empty : is_fine(into);
        if (!fine && wrong.empty()) wrong = fmt::format("its {} is not valid: '{}'", key, short_reason(into));
    };
    take("folder", facts.folder, is_path, false);
    take("name", facts.name, base::is_uts_name, true);
    take("release", facts.release, base::is_uts_name, false);
    take("machine", facts.architecture, base::is_uts_name, false);
    take("boot", facts.boot_id, base::is_uts_name, true);
    for (const auto& [key, into] :
         {std::pair{"stapgen", &facts.stapgen}, {"stap", &facts.stap}, {"staprun", &facts.staprun}})
        take(key, *into, is_path, true);
    facts.build_id = base::parse_build_id(bytes_of(values["notes"]));
    if (!facts.build_id.empty() && !base::is_build_id(facts.build_id)) wrong = "its build-id is not valid";
    if (!wrong.empty()) return tl::make_unexpected(Refusal{Refusal::Kind::cannot, wrong});
    facts.can_load = values["disabled"] != "1";
    return facts;
}

}  // namespace stapgen::fleet
