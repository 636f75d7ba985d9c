// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.h"

namespace stapgen::base {

namespace {

constexpr std::string_view data_marks =
    "_edata _end _sdata __bss_start __bss_stop __brk_base __brk_limit __init_begin __init_end __init_scratch_begin "
    "__init_scratch_end __end_of_kernel_reserve _brk_end __nosave_end __smp_locks_end";

/// Where one is the beginning of another, the longer one first.
constexpr std::array counter_groups{
    std::string_view("UdpLite6"), std::string_view("UdpLite"), std::string_view("Udp6"),  std::string_view("Udp"),
    std::string_view("MPTcpExt"), std::string_view("TcpExt"),  std::string_view("Tcp"),   std::string_view("IcmpMsg"),
    std::string_view("Icmp6"),    std::string_view("Icmp"),    std::string_view("IpExt"), std::string_view("Ip6"),
    std::string_view("Ip"),       std::string_view("Sctp"),    std::string_view("Xfrm"),
};

constexpr std::string_view no_counters =
    "Ip.Forwarding Ip.DefaultTTL Tcp.RtoAlgorithm Tcp.RtoMin Tcp.RtoMax Tcp.MaxConn Tcp.CurrEstab "
    "MPTcpExt.MPCurrEstab";

struct SoftnetColumn {
    std::size_t index;
    const char* name;
};
/// received_rps is from 2.6.36 on, flow_limit from 3.11 on.
constexpr std::array softnet_columns{SoftnetColumn{0, "softnet.processed"}, SoftnetColumn{1, "softnet.dropped"},
                                     SoftnetColumn{2, "softnet.time_squeeze"}, SoftnetColumn{9, "softnet.received_rps"},
                                     SoftnetColumn{10, "softnet.flow_limit"}};
constexpr std::size_t softnet_cpu_column = 12;

std::optional<std::uint32_t> softnet_number(std::span<const std::string_view> words, std::size_t index) {
    if (index >= words.size() || words[index].size() > 8) return std::nullopt;
    const auto value = to_unsigned(words[index], 16);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

constexpr std::size_t size_word = 1, base_word = 5, min_words = 6;

}  // namespace

bool can_be_code(std::string_view name, std::uint64_t offset) {
    return offset < max_function_length && !name.starts_with("__start_") && !name.starts_with("__stop_") &&
           !contains_word(data_marks, name);
}

std::size_t symbol_length(std::string_view text) {
    if (!text.empty() && is_digit(text[0])) return 0;
    const auto is_of_name = [](char c) { return is_word_character(c) || c == '.' || c == '$'; };
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_name) - text.begin());
}

bool is_module_name(std::string_view text) {
    const auto is_of_name = [](char c) { return is_word_character(c) || c == '-'; };
    return !text.empty() && text.size() <= max_module_length && std::ranges::all_of(text, is_of_name);
}

bool is_uts_name(std::string_view text) {
    constexpr std::size_t max_length = 64;  // __NEW_UTS_LEN
    const auto is_of_name = [](char c) {
        return is_word_character(c) || std::string_view(".+~-").find(c) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= max_length && is_word_character(text.front()) && text.front() != '_' &&
           std::ranges::all_of(text, is_of_name);
}

bool is_build_id(std::string_view text) {
    constexpr std::size_t max_digits = 128;
    return !text.empty() && text.size() <= max_digits && text.size() % 2 == 0 &&
           text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool is_counter(std::string_view name) {
    return !contains_word(no_counters, name);
}

bool is_counter_name(std::string_view name) {
    return !name.empty() && name[0] >= 'A' && name[0] <= 'Z' && std::ranges::all_of(name, is_word_character);
}

std::optional<std::string> grouped_counter_name(std::string_view name) {
    for (const auto group : counter_groups) {
        if (!name.starts_with(group)) continue;
        const auto rest = name.substr(group.size());
        if (is_counter_name(rest)) return std::string(group) + "." + std::string(rest);
    }
    return std::nullopt;
}

bool is_counter_group(std::string_view name) {
    return std::ranges::find(counter_groups, name) != counter_groups.end();
}

SoftnetLine read_softnet_line(std::span<const std::string_view> words) {
    SoftnetLine read{softnet_number(words, softnet_cpu_column), {}};
    for (const auto& [index, name] : softnet_columns) {
        if (const auto value = softnet_number(words, index)) read.counters.emplace_back(name, *value);
    }
    return read;
}

tl::expected<LoadedModule, std::string_view> parse_loaded_module(std::string_view line) {
    const auto parts = words(trim(line));
    if (parts.size() < min_words) return tl::make_unexpected(parts.empty() ? line : parts.back());
    const auto bytes = to_unsigned(parts[size_word]);
    const auto word = parts[base_word];
    const auto address = word.starts_with("0x") ? to_unsigned(word.substr(2), 16) : std::nullopt;
    if (!bytes || !address) return tl::make_unexpected(parts[bytes ? base_word : size_word]);
    return LoadedModule{std::string(parts[0]), *address == 0 ? std::nullopt : address, *bytes};
}

Result<std::vector<LoadedModule>> parse_loaded_modules(std::string_view text, std::string_view origin) {
    std::vector<LoadedModule> modules;
    std::size_t number = 0;
    for (const auto line : split(text, '\n')) {
        ++number;
        const auto content = trim(line);
        if (content.empty()) continue;
        auto module = parse_loaded_module(content);
        if (!module) {
            const auto column = module.error().data() - line.data() + 1;
            return bad_input(fmt::format("{} is not a list of modules: line {}, column {} is not `NAME SIZE REFERENCES "
                                         "USERS STATE 0xBASE`: {}",
                                         printable(origin), number, column, printable(content.substr(0, 80))),
                             "give a copy of /proc/modules, made by root: sudo cat /proc/modules >FILE");
        }
        modules.push_back(*std::move(module));
    }
    return modules;
}

}  // namespace stapgen::base
