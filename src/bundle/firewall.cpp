// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/firewall.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/text.h"

namespace stapgen::bundle {

namespace {

constexpr std::size_t max_length = 100;

std::optional<std::uint64_t> packets_of(std::string_view word) {
    std::uint64_t times = 1;
    if (word.ends_with('K')) times = 1000;
    if (word.ends_with('M')) times = 1'000'000;
    if (word.ends_with('G')) times = 1'000'000'000;
    if (times > 1) word.remove_suffix(1);
    const auto number = base::to_unsigned(word);
    constexpr auto most = UINT64_MAX / 1'000'000'000;
    return number && *number < most ? std::optional(*number * times) : std::nullopt;
}

/// "firewall.drop" of what a rule ends in; empty: it does neither.
std::string_view name_of(std::string_view verdict) {
    if (verdict == "drop" || verdict == "DROP") return "firewall.drop";
    return verdict == "reject" || verdict == "REJECT" ? "firewall.reject" : "";
}

}  // namespace

FirewallReader::FirewallReader(std::string_view command) {
    const auto words = base::words(command);
    if (words.empty() || words[0] == "nft") return;
    const auto option =
        std::ranges::find_if(words, [](std::string_view word) { return word == "-t" || word == "--table"; });
    const auto name = words.end() - option > 1 ? option[1] : std::string_view("filter");
    table_ = fmt::format("{} {}", words[0] == "ip6tables" ? "ip6" : "ip", name).substr(0, max_length);
}

std::optional<FirewallRule> FirewallReader::read(std::string_view line) {
    const auto words = base::words(line);
    if (words.size() < 2) return std::nullopt;
    const auto all = std::span(words);
    const auto rule = [&](std::string_view name, const auto& of, std::optional<std::uint64_t> packets) {
        const auto text = fmt::format("{}", fmt::join(of, " ")).substr(0, max_length);
        return packets && !name.empty() ? std::optional(FirewallRule{std::string(name), text, table_, *packets})
                                        : std::nullopt;
    };
    if (words[0] == "table" && words.size() >= 3) {
        table_ =
            fmt::format("{} {}", words[1].substr(0, max_length), words[2].substr(0, max_length)).substr(0, max_length);
        return std::nullopt;
    }
    if (words[0] == "chain") chain_ = fmt::format("{} {}:", table_, words[1].substr(0, max_length));
    if (words[0] == "Chain") {
        chain_ = fmt::format("{} {}:", table_, words[1].substr(0, max_length));
        // "(policy DROP 17 packets, 1020 bytes)"
        if (words.size() < 5 || words[2] != "(policy") return std::nullopt;
        return rule(name_of(words[3]), std::vector<std::string_view>{chain_, "policy"}, packets_of(words[4]));
    }
    const auto counter = std::ranges::find(words, "packets");
    if (counter != words.begin() && words.end() - counter >= 5 && *(counter - 1) == "counter") {
        std::vector<std::string_view> of{chain_};
        of.insert(of.end(), words.begin(), counter - 1);
        return rule(name_of(counter[4]), of, packets_of(counter[1]));
    }
    // Of IPv6 older versions leave the column opt empty.
    const std::size_t columns = words.size() > 4 && (words[4] == "--" || words[4] == "-f" || words[4] == "!f") ? 9 : 8;
    if (words.size() >= columns && base::is_digit(words[0][0])) {
        std::vector<std::string_view> of{chain_, words[3]};
        of.insert(of.end(), words.begin() + columns, words.end());
        return rule(name_of(words[2]), of, packets_of(words[0]));
    }
    return std::nullopt;
}

}  // namespace stapgen::bundle
