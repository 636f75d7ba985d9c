// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/facts.h"

/// The identity of a recording: the labels that a user gave it, and the definition of its numbers.
namespace stapgen::recording {

/// Labels as typed: "dc=fra1", "rack=b 17". Error (bad_input): one is no label, there are too many, or a name comes
/// twice.
base::Result<Labels> parse_labels(const std::vector<std::string>& typed);

/// Whether a label can have this name: a letter, then letters, digits, '_', '-' and '.'; 63 bytes at most.
bool is_label_name(std::string_view name);

/// One in this many sockets was measured; 1: all. `largest_sample` at most.
inline constexpr std::int64_t largest_sample = 65536;
std::int64_t sample_of(const TypedFilters& filters);

/// 12 hexadecimal digits of a hash of recipe, parameters, filters and probed functions: numbers of equal definitions
/// may be added. Which process or thread was measured (-p, -x) makes no difference: a restarted server has another
/// number.
std::string definition_of(const Setup& setup);

/// The difference between two unlike definitions, for a person: "they differ in filters (--port 80; none)".
std::string unlike_text(const Origin& a, const Origin& b);

}  // namespace stapgen::recording
