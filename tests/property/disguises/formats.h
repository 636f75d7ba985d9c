// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::disguises {

using Lines = std::vector<std::string>;  ///< without their ends

/// What a text says: how many drops of a place and reason ("drops icmp_rcv+0x12d NO_SOCKET"), how many ns of a stage of
/// one process, and of how many packets ("ns qdisc 1747 wget", "n qdisc 1747 wget").
using Amounts = std::map<std::string, std::int64_t>;

/// What counts as one: a line, or lines that belong together.
struct Row {
    Lines lines;
    Amounts says;
};

/// What one version of one tool prints.
struct Format {
    std::string_view name;
    Lines before, behind;              ///< what stands around its rows
    Row (*row)(std::int64_t number);   ///< from 0 on; rows of two numbers have nothing in common in what they say
    std::vector<std::string> by = {};  ///< the fields that tell its packets apart, as `--by` has them
};

/// Those of drops, then those of packets.
const std::vector<Format>& formats();

std::vector<Format> drop_formats();
std::vector<Format> packet_formats();

/// How drops of one place and reason are called in Amounts. `reason` is a name, a number or "-".
std::string drops_of(std::string_view place, std::string_view reason = "-");

/// One packet's stages, of which those that are not there are left out. `who` are the values of Format::by.
struct Stage {
    std::string_view name;
    std::int64_t ns;
};
Amounts stages_of(const std::vector<Stage>& stages, std::string_view who);

/// A number that others can hardly be taken for: a prime.
std::int64_t prime(std::int64_t number);

}  // namespace stapgen::disguises
