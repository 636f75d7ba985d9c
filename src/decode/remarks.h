// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stapgen::decode {

/// Lines that tools print beside data.
enum class Remark {
    none,
    systemtap,  ///< a message of stap or staprun; launch/messages.h reads what it says
    other,      ///< headings of ftrace and perf, our own messages
};

/// The kind of a line, by its beginning.
Remark remark(std::string_view line);

/// Whether a line has a word of losses (dropped, errors, overruns) and a number above 0.
bool may_count_losses(std::string_view line);

/// A mark where a person has taken lines out: "...", "[snip]", "(16 more frames)".
bool is_gap(std::string_view line);

/// How many events a line says were lost: ftrace's "CPU:3 [LOST 4711 EVENTS]", trace-cmd's "CPU:3 [17 EVENTS DROPPED]",
/// ftrace's "# entries-in-buffer/entries-written: 2/90210" (the difference was overwritten); perf's "Processed
/// 4711 events and lost 2 chunks!", each an event or more, and "Processed 4711 samples and lost 12.50%!"; and what perf
/// trace, bcc, bpftrace and pwru say. 1 where the number is left out.
std::optional<std::int64_t> lost_events(std::string_view line);

}  // namespace stapgen::decode
