// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "decode/record.h"

namespace stapgen::decode {

/// Reads the lines of a recording that are no records and declare none: `ready`, `tick`, `end`, of a script that
/// aggregates `bin`, `sum` and `split`, and those of parse_probe_times(). What they hold is kept here.
class OtherLines {
  public:
    /// A line without its end.
    Line read(const Header& header, std::string_view line);

  private:
    struct Cursor;
    Line read_counts(Cursor cursor, bool is_end);
    Line read_bins(const Header& header, Cursor cursor);
    static Line read_sum(const Header& header, Cursor cursor);
    Line read_split(const Header& header, Cursor cursor);

    std::vector<Count> counts_;
    std::vector<BinCount> bins_;
    std::vector<std::int64_t> sums_;
};

/// A line of what `stap -t` prints on stdout behind the script's last line, without its '\n': a probe point's hits and
/// cycles; else a heading, a lock's contention or the times of what is no part of the measurement (the runtime's start,
/// begin and end), with an empty `point`. Nothing if it is another line. The format: c_unparser::emit_module_exit in
/// SystemTap's translate.cxx.
std::optional<ProbeTimes> parse_probe_times(std::string_view line);

}  // namespace stapgen::decode
