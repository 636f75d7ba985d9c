// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "filter/libpcap.h"

namespace stapgen::filter {

namespace {

using Instructions = std::vector<Instruction>;

// As in tapsets/c/bpf.h and packet_filter.h.
constexpr std::uint64_t mark = std::uint64_t{1} << 63, asks_for_vlan = std::uint64_t{1} << 62;
constexpr std::size_t room = 4096;
// More of it would be optimized for minutes.
constexpr std::size_t max_length = 8192, max_unoptimized = 8192;

constexpr std::uint16_t jump = 0x05, jump_equal = 0x15, return_k = 0x06, load_class = 0x00, absolute = 0x20;
constexpr std::uint16_t class_mask = 0x07, mode_mask = 0xe0;

/// A hint for what libpcap says.
struct Advice {
    std::string_view says, hint;
};
constexpr std::array advice{
    Advice{"unknown host", "write its address"},
    Advice{"unknown network", "write its address and prefix: net 10.0.0.0/8"},
    Advice{"unknown port", "write its number"},
    Advice{"non-network bits set", "a network's address has zeros behind its prefix: net 10.0.0.0/8"},
    Advice{"netmask not known", "name the address: dst host 10.0.0.255"},
    Advice{"rejects all packets", "tcp[...], udp[...] and icmp[...] are of IPv4 alone; 'or' is what lets either pass"},
};
constexpr std::string_view language = "the language is pcap-filter(7): --filter 'tcp port 443 and net 10.0.0.0/8'";

base::Error explained(const std::string& expression, const std::string& said) {
    const auto found = std::ranges::find_if(advice, [&](const Advice& of) { return said.find(of.says) != said.npos; });
    // "can't parse filter expression: syntax error" since 1.10.
    const auto message = said.substr(said.find("syntax error") == said.npos ? 0 : said.rfind("syntax"));
    return {base::ErrorKind::bad_input, fmt::format("'{}': {}", base::printable(expression), base::printable(message)),
            std::string(found == advice.end() ? language : found->hint)};
}

/// Error (bad_input): an instruction asks for what the kernel side does not have.
base::Result<void> check(const std::string& expression, const Instructions& program) {
    const auto refused = [&](std::string_view why, std::string hint) {
        return base::bad_input(fmt::format("'{}': {}", base::printable(expression), why), std::move(hint));
    };
    if (program.size() == 1 && program.front().code == return_k)
        return base::bad_input("it lets every packet pass", "omit the filter");
    for (std::size_t i = 0; i < program.size(); ++i) {
        const auto& [code, jump_true, jump_false, k] = program[i];
        if (code == jump && k >= program.size() - i) {
            return refused("protochain needs a loop, which a filter in the kernel cannot have",
                           "'ip6 proto' and similar ones check the first header after the addresses");
        }
        // Where Linux has what is no byte of the packet: SKF_AD_OFF.
        constexpr std::uint32_t beside_packet = 0xfffff000;
        if ((code & class_mask) == load_class && (code & mode_mask) == absolute && k >= beside_packet) {
            return refused("inbound, outbound and ifindex are not part of the packet",
                           "the recipe decides the direction, --dev the device");
        }
    }
    return {};
}

bool looks_for_vlan(const Instructions& program) {
    return std::ranges::any_of(program, [](const Instruction& of) {
        return of.code == jump_equal && (of.k == 0x8100 || of.k == 0x88a8 || of.k == 0x9100);
    });
}

}  // namespace

base::Result<Program> compile(const std::string& expression) {
    const auto too_long = [](std::string what) {
        return base::bad_input(std::move(what), "use networks instead of hosts, portrange instead of ports");
    };
    if (expression.size() > max_length) return too_long(fmt::format("longer than {} bytes", max_length));
    auto instructions = libpcap_compile(expression, false);
    if (instructions && instructions->size() > max_unoptimized)
        return too_long(
            fmt::format("it has {} instructions; at most {} can be optimized", instructions->size(), max_unoptimized));
    if (instructions) instructions = libpcap_compile(expression, true);
    if (!instructions) return tl::make_unexpected(explained(expression, instructions.error()));
    if (instructions->size() > room)
        return too_long(fmt::format("it has {} instructions; the limit is {}", instructions->size(), room));
    STAPGEN_TRY(check(expression, *instructions));
    Program program;
    for (const auto& [code, jump_true, jump_false, k] : *instructions) {
        program.push_back(mark | std::uint64_t{code} << 48 | std::uint64_t{jump_true} << 40 |
                          std::uint64_t{jump_false} << 32 | k);
    }
    if (looks_for_vlan(*instructions)) program.front() |= asks_for_vlan;
    return program;
}

std::string parameter_of(const Program& program) {
    return fmt::format("{:#x}", fmt::join(program, ","));
}

}  // namespace stapgen::filter
