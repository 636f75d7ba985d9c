// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/kept_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "base/text.h"

namespace stapgen::session {

namespace {

/// As the account counts it: other kinds than the first are not in there.
std::int64_t counted(const decode::Record& record) {
    if (record.schema->index != 0) return 0;
    const auto& fields = record.schema->fields;
    const auto count = std::ranges::find(fields, decode::FieldType::count, &decode::Field::type);
    return count == fields.end() ? 1 : record.values[static_cast<std::size_t>(count - fields.begin())].number;
}

}  // namespace

void KeptLines::add(std::string_view text, const decode::Line& line, std::int64_t now_ns) {
    if (const auto* tick = std::get_if<decode::Tick>(&line)) return close(*tick, now_ns);
    while (bytes_ + text.size() >= most_bytes_ && !intervals_.empty()) {
        drop_oldest();
        dropped_until_ns_ = begin_ns_;
    }
    if (bytes_ + text.size() >= most_bytes_) {
        if (const auto* record = std::get_if<decode::Record>(&line))
            base::add_saturating(current_.not_held, counted(*record));
        return;
    }
    current_.text.append(text).append(1, '\n');
    bytes_ += text.size() + 1;
}

void KeptLines::close(const decode::Tick& tick, std::int64_t now_ns) {
    current_.end_ns = now_ns;
    current_.end_epoch_ns = tick.epoch_ns;
    for (const auto& [key, value] : tick.counts)
        current_.after.emplace(key, value);
    intervals_.push_back(std::exchange(current_, {}));
    while (!intervals_.empty() && intervals_.front().end_ns <= now_ns - before_.count())
        drop_oldest();
}

void KeptLines::drop_oldest() {
    auto& oldest = intervals_.front();
    bytes_ -= oldest.text.size();
    begin_ns_ = oldest.end_ns;
    before_it_ = std::move(oldest.after);
    intervals_.pop_front();
}

std::int64_t KeptLines::since_ns(std::int64_t at_ns) const {
    return std::max(dropped_until_ns_, at_ns - before_.count());
}

void KeptLines::give_out(std::int64_t shift_ns, const Give& give) {
    shift_ns_ = shift_ns;
    given_from_ = before_it_;
    not_held_ = 0;
    const auto give_lines = [&](const Interval& interval) {
        std::string_view rest = interval.text;
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            give(rest.substr(0, end));
            rest.remove_prefix(end + 1);
        }
        base::add_saturating(not_held_, interval.not_held);
    };
    for (const auto& interval : intervals_) {
        give_lines(interval);
        std::vector<decode::Count> counts;
        for (const auto& [key, value] : interval.after)
            counts.push_back({key, value});
        give(counts_line("tick", interval.end_epoch_ns, counts));
    }
    give_lines(current_);
}

std::string KeptLines::counts_line(std::string_view word, std::int64_t epoch_ns,
                                   std::span<const decode::Count> counts) const {
    auto text = fmt::format("{}\t{}", word, base::saturating_add(epoch_ns, shift_ns_));
    for (const auto& [key, value] : counts) {
        const auto from = given_from_.find(key);
        auto left = std::max<std::int64_t>(0, value - (from == given_from_.end() ? 0 : from->second));
        if (key == "reported") left = std::max<std::int64_t>(0, left - not_held_);
        fmt::format_to(std::back_inserter(text), "\t{}={}", key, left);
    }
    if (not_held_ > 0) fmt::format_to(std::back_inserter(text), "\tlost.not-kept={}", not_held_);
    return text;
}

}  // namespace stapgen::session
