// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::filter {

/// A program of classic BPF for Ethernet frames, as tapsets/c/bpf.h runs it: a word for each instruction.
using Program = std::vector<std::uint64_t>;

/// libpcap's language: pcap-filter(7). Errors are in libpcap's words, with the expression; refused is
/// also what libpcap takes and the kernel side cannot heed. Names of hosts are looked up.
base::Result<Program> compile(const std::string& expression);

/// As a module takes it: numbers with commas between.
std::string parameter_of(const Program& program);

/// ADDRESS[/PREFIX].
struct Network {
    bool is_ipv4 = true;
    std::array<unsigned char, 16> address{};  ///< of IPv4 the first four bytes
    std::uint64_t prefix = 0;                 ///< bits of the network

    /// As what follows "net" in an expression.
    [[nodiscard]] std::string text() const;
    /// IPv4 addresses are ::ffff:a.b.c.d, as records have them.
    [[nodiscard]] bool contains(const std::array<unsigned char, 16>& address) const;
};

/// Bits beyond the prefix are an error. ::ffff:a.b.c.d is a.b.c.d.
base::Result<Network> parse_network(std::string_view text);

}  // namespace stapgen::filter
