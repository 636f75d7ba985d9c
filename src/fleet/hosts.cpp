// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/hosts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"

namespace stapgen::fleet {

namespace {

constexpr std::size_t longest = 255;

/// What ssh would take for an option, and what would not be one file's name, is no host.
bool is_host(std::string_view word) {
    const auto is_fine = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("._-@:%[]").find(c) != std::string_view::npos;
    };
    return !word.empty() && word.size() <= longest && word[0] != '-' && word[0] != '.' &&
           std::ranges::all_of(word, is_fine);
}

base::Result<void> add_host(std::string_view word, const std::string& where, std::vector<std::string>& hosts) {
    if (!is_host(word)) {
        return base::bad_input(
            fmt::format("{}: '{}' is not a host name", where, base::printable(word.substr(0, longest))),
            "a host is a name that ssh takes: NAME, USER@NAME, or a Host of ~/.ssh/config");
    }
    if (hosts.size() >= base::limits::hosts) {
        return base::bad_input(fmt::format("{}: more than {} hosts", where, base::limits::hosts),
                               "measure them in several runs, each with its own folder");
    }
    if (std::ranges::find(hosts, word) != hosts.end())
        return base::bad_input(fmt::format("{}: {} is given twice", where, word), "omit one of them");
    hosts.emplace_back(word);
    return {};
}

}  // namespace

base::Result<std::vector<std::string>> parse_hosts(const std::string& typed) {
    std::vector<std::string> hosts;
    if (typed.find('/') != std::string::npos) {
        STAPGEN_LET(const auto text, base::read_named(typed, base::limits::hosts_bytes));
        std::size_t number = 0;
        for (const auto line : base::split(text, '\n')) {
            ++number;
            const auto word = base::trim(line.substr(0, line.find('#')));
            if (word.empty()) continue;
            STAPGEN_TRY(add_host(word, fmt::format("{}:{}", typed, number), hosts));
        }
    } else {
        for (const auto word : base::split(typed, ',')) {
            STAPGEN_TRY(add_host(base::trim(word), "--hosts", hosts));
        }
    }
    if (hosts.empty()) return base::bad_input(fmt::format("--hosts {}: no host given", typed), "one per line");
    return hosts;
}

}  // namespace stapgen::fleet
