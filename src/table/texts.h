// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "table/keys.h"

/// How numbers, times and names are written for people. Control characters are made visible.
namespace stapgen::table {

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
/// Rounded, and no "-0".
long whole_percent(double part);

/// RFC 3339 in UTC with ns: "2026-11-20T13:09:01.123456789Z".
std::string utc_time(std::int64_t epoch_ns);
/// The same as a part of a file's name: "20261120T130901.123Z", with 0 to 9 decimals.
std::string time_for_name(std::int64_t epoch_ns, std::size_t decimals);
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
const GroupField* find_field(const Group& group, std::string_view key);
/// The value of one key of a group.
std::string group_text(const GroupField& field);
/// Likewise; empty: the group has no such key.
std::string group_text(const Group& group, std::string_view key);
/// "pid 19550, comm firefox".
std::string group_text(const Group& group);
/// Of what a thread waited for, and by whom, as --who and --parts say it: "behind spin[77]", "on an idle CPU", "in
/// /system.slice/backup.service", "in futex_wait_queue", "for the lock at 0x55d0c0a0b040", "for a pipe"; empty: that is
/// not known.
std::string whom_text(std::string_view waited, std::string_view by);
/// What the thread of a record waited for longest, if that says it (--who, --parts): "run-queue 5.00 ms behind
/// spin[77]", "lock 7.00 ms for cache_lock in app, which flusher[77] held (meanwhile disk)"; else empty.
std::string waited_text(const Group& of);
/// Who woke a thread: "flusher[77]", "the network", "an interrupt".
std::string waker_text(std::string_view waker);
/// Whether a text says something: "-" says nothing.
bool is_named(std::string_view text);
/// "icmp_rcv+0x1f [module]", or the address.
std::string place_text(const Place& place);
/// The name of the function, or the address.
std::string function_text(const Place& place);
/// "nf_hook_slow < ip_forward < ip_rcv".
std::string path_text(const Path& path);
/// The name of the reason or else its number; "-" where there is none.
std::string reason_text(const Reason& reason);
/// The same; "" where there is none.
std::string reason_or_empty(const Reason& reason);

}  // namespace stapgen::table
