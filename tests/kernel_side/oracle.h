// SPDX-License-Identifier: GPL-2.0-or-later
// libpcap's own machine. Separate from the kernel's headers, whose macros have the same names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Instruction {
    std::uint16_t code = 0;
    std::uint8_t jump_true = 0, jump_false = 0;
    std::uint32_t k = 0;
};
/// As the kernel side takes them.
std::vector<std::uint64_t> words_of(const std::vector<Instruction>& program);

/// What the frame is to a program that libpcap's own check must take.
bool oracle_passes(const std::vector<Instruction>& program, const std::vector<std::uint8_t>& frame);

/// pcap_offline_filter() of an expression.
bool oracle_passes(const std::string& expression, const std::vector<std::uint8_t>& frame);
