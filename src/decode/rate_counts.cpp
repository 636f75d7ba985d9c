// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/rate_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stapgen::decode {

/// A text may have the same table twice, whole and through grep. What has no day may be of any.
bool RateCounts::is_counted(const std::string& table, std::int64_t begin, std::int64_t end) const {
    const auto found = covered_.find(table);
    return found != covered_.end() && begin < found->second.end && end > found->second.begin;
}

bool RateCounts::count(std::size_t source, std::string_view date, std::int64_t now, CounterLine& row) {
    auto& values = row.values;
    const auto table = fmt::format("{} {} {}\n", source, values.front().of, values.front().name),
               dated = table + std::string(date);
    const auto begin = now - row.length_s.value_or(0);
    if (!row.length_s) {
        const auto largest = std::ranges::max_element(values, {}, &CounterValue::value);
        if (largest->value > 0 && example_.empty()) {
            example_ = fmt::format(", as {} of {} with {}.{:02} per s", largest->name, largest->of,
                                   largest->value / 100, largest->value % 100);
        }
        row.is_unknown = row.is_of_sample || rows_ == 0;
        ++(row.is_of_sample ? unknown_ : averages_);
        if (!row.is_unknown) values.clear();
    } else if (is_counted(table, begin, now) || is_counted(dated, begin, now)) {
        ++known_before_;
        values.clear();
    } else {
        if (covered_.size() >= max_covered && !covered_.contains(dated)) return false;
        auto& covered = covered_.try_emplace(dated, Covered{begin, now}).first->second;
        covered = {std::min(covered.begin, begin), std::max(covered.end, now)};
        ++rows_;
        for (auto& value : values)
            value.value = (value.value * static_cast<std::uint64_t>(*row.length_s) + 50) / 100;
    }
    return true;
}

void RateCounts::put_notes(std::vector<Note>& notes) const {
    const auto put_rows = [&](std::int64_t count, const std::string& why) {
        if (count == 0) return;
        notes.emplace_back(
            fmt::format("{} row{} of sar {} left out{}", count, count == 1 ? "" : "s", count == 1 ? "is" : "are", why),
            NoteKind::count);
    };
    if (rows_ > 0) {
        // Half of the last decimal, times 600 s.
        notes.emplace_back(
            "sar prints rates with two decimals: what rose is each times the seconds of its sample, and may be off "
            "by 3 in 10 minutes");
    }
    put_rows(unknown_,
             example_ +
                 ": how long the sample was is not known; include the headings and all rows, of samples of up "
                 "to 10 minutes");
    if (unknown_ == 0 && rows_ == 0 && averages_ > 0) {
        notes.emplace_back("averages of sar do not say how long they are of" + example_ +
                               ": how many these are is not known; include the rows above them",
                           NoteKind::count);
    }
    put_rows(known_before_, ": their time is counted before; for another day include sar's first line");
}

}  // namespace stapgen::decode
