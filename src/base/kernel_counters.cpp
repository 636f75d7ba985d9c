#include "base/kernel_counters.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.h"

namespace stapgen::base {

namespace {

/// Where one is the beginning of another, the longer one first.
constexpr std::array counter_groups{
    std::string_view("UdpLite6"), std::string_view("UdpLite"), std::string_view("Udp6"),  std::string_view("Udp"),
    std::string_view("MPTcpExt"), std::string_view("TcpExt"),  std::string_view("Tcp"),   std::string_view("IcmpMsg"),
    std::string_view("Icmp6"),    std::string_view("Icmp"),    std::string_view("IpExt"), std::string_view("Ip6"),
    std::string_view("Ip"),       std::string_view("Sctp"),
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

}  // namespace

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

}  // namespace stapgen::base
