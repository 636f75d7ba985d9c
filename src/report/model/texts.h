// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare.h"
#include "analyze/summary.h"
#include "table/value.h"

/// How numbers, times and names are written. Control characters are made visible.
namespace stapgen::report {

/// How the numbers of one table are written: ns as us with this number of decimals, or plain numbers. "-" for what is
/// not known.
struct Style {
    bool is_time = true;
    int decimals = 3;

    [[nodiscard]] std::string cell(std::optional<std::int64_t> number) const;
    [[nodiscard]] std::string cell(std::optional<double> number) const;
    [[nodiscard]] std::string cell(std::int64_t number) const { return cell(std::optional(number)); }
    [[nodiscard]] std::string cell(double number) const { return cell(std::optional(number)); }
};

/// "1.23 ms".
std::string duration_text(std::int64_t ns);
std::string duration_text(double ns);
/// So often in each second: "1,234", "12.3", "1.23".
std::string per_second_text(double rate);
/// "12.3 %".
std::string percent(double part);

/// RFC 3339 in UTC with ns: "2026-11-20T13:09:01.123456789Z".
std::string utc_time(std::int64_t epoch_ns);
/// In the local time zone: "2026-11-20 14:09:01 +0100".
std::string local_time(std::int64_t epoch_ns);
/// "14:09:01.123456", in the local time zone.
std::string local_time_of_day(std::int64_t epoch_ns);
/// "17.000101 s": of a clock that has no time of day.
std::string seconds_text(std::int64_t ns);
/// When an interval ended.
std::string end_text(const std::optional<std::int64_t>& end_epoch_ns);

/// Text of the input as a cell of CSV: quoted where it must be, and with an apostrophe in front where a spreadsheet
/// would take it for a formula.
std::string csv_cell(std::string_view raw);

/// Null: the group has no such key.
const analyze::GroupField* find_field(const analyze::Group& group, std::string_view key);
/// The value of one key of a group.
std::string group_text(const analyze::GroupField& field);
/// "pid 19550, comm firefox".
std::string group_text(const analyze::Group& group);
/// "icmp_rcv+0x1f [module]", or the address.
std::string place_text(const table::Place& place);
/// The name of the function, or the address.
std::string function_text(const table::Place& place);
/// "nf_hook_slow < ip_forward < ip_rcv".
std::string path_text(const table::Path& path);
/// The name of the reason or else its number; "-" where there is none.
std::string reason_text(const table::Reason& reason);
/// The same; "" where there is none.
std::string reason_or_empty(const table::Reason& reason);

/// What came out, in one sentence without a full stop: "ip-tcp is slower: p99 +212 % [+180 %, +251 %], from 9.30 us to
/// 29.1 us; no other stage changed significantly". Stage names as they are, unprinted characters too.
std::string comparison_sentence(const analyze::Comparison& comparison);

/// Those that changed significantly, slower ones first, of these and of the others the largest change first.
std::vector<std::string> changed_stages(const analyze::Comparison& comparison);

/// What the intervals were made from, without a full stop: "Before: 30 blocks of 2 s; after: 31 blocks of 2 s".
std::string blocks_text(const analyze::Comparison& comparison);

/// A part as percent: "+3.2", "-41.0", "+212".
std::string change_percent(double part);

/// "0.012", "<0.001"; "-" where it is not known.
std::string p_text(std::optional<double> p);

/// "mean", "p99".
std::string statistic(const analyze::Change& change);

}  // namespace stapgen::report
