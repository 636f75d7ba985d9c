// SPDX-License-Identifier: GPL-2.0-or-later
#include "when/watcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/saturate.h"
#include "schema/bins.h"
#include "table/texts.h"

namespace stapgen::when {

namespace {

/// The longest interval of single records: conditions over longer windows look at several.
std::int64_t interval_of(const Condition& condition) {
    return std::min<std::int64_t>(condition.window.count(), 1'000'000'000);
}

/// What a count of a script's line of counts adds to a subject: "lost" is the sum of all "lost.CAUSE".
bool is_part_of(std::string_view key, std::string_view subject) {
    return key == subject || (key.starts_with(subject) && key[subject.size()] == '.');
}

}  // namespace

void Watcher::Held::add(const Met& met) {
    constexpr std::size_t most = 5;
    largest = std::max(largest, met.value);
    if (!met.anew) return;
    ++times;
    if (first.size() < most) first.push_back(met);
}

void Watcher::Seen::operator+=(const Seen& later) {
    end_ns = later.end_ns;
    histogram += later.histogram;
    max = std::max(max, later.max);
    base::add_saturating(rise, later.rise);
}

Watcher::Watcher(std::vector<Condition> conditions, bool live)
    : conditions_(std::move(conditions)), watches_(conditions_.size()), is_live_(live) {}

bool Watcher::is_of(const Condition& condition, const decode::Schema& schema, std::size_t field) const {
    return condition.statistic != Statistic::rise && schema.fields[field].name == condition.subject;
}

std::vector<Met> Watcher::add(const decode::Line& line) {
    if (const auto* first = std::get_if<decode::HeaderLine>(&line)) header_ = first->header;
    if (const auto* ready = std::get_if<decode::Ready>(&line)) begin(*ready);
    if (const auto* record = std::get_if<decode::Record>(&line)) add(*record);
    if (const auto* bins = std::get_if<decode::BinsLine>(&line)) take(*bins);
    if (const auto* sum = std::get_if<decode::SumLine>(&line)) take(*sum);
    if (const auto* tick = std::get_if<decode::Tick>(&line)) return close(tick->epoch_ns, tick->counts);
    if (const auto* end = std::get_if<decode::End>(&line)) return close(end->epoch_ns, end->counts);
    return {};
}

void Watcher::begin(const decode::Ready& ready) {
    ready_ = ready;
    for (const auto& condition : conditions_) {
        if (auto can = check_condition(condition, *header_, {}, reasons_); !can && !refusal_) refusal_ = can.error();
    }
}

void Watcher::take(const decode::BinsLine& line) {
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        if (!is_of(conditions_[i], *line.schema, line.field)) continue;
        for (const auto& [index, count] : line.bins)
            watches_[i].current.histogram.add(schema::bins::middle(index), count);
    }
}

void Watcher::take(const decode::SumLine& line) {
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        if (is_of(conditions_[i], *line.schema, line.field))
            watches_[i].current.max = std::max(watches_[i].current.max, line.max);
    }
}

std::int64_t Watcher::rise_of(const Condition& condition, const decode::Record& record) const {
    const auto& fields = record.schema->fields;
    const std::string_view subject = condition.subject, tag = record.schema->tag;
    const auto count = std::ranges::find(fields, decode::FieldType::count, &decode::Field::type);
    if (count == fields.end() || !is_part_of(subject, tag)) return 0;
    const auto cause = subject.substr(std::min(subject.size(), tag.size() + 1));
    const auto has_cause = [&](std::size_t i) {
        if (record.values[i].raw == cause) return true;
        const auto name = reasons_.find(record.values[i].number);
        return fields[i].type == decode::FieldType::reason && name != reasons_.end() && name->second == cause;
    };
    bool is_wanted = cause.empty();
    for (std::size_t i = 0; i < fields.size() && !is_wanted; ++i)
        is_wanted = has_cause(i);
    return is_wanted ? record.values[static_cast<std::size_t>(count - fields.begin())].number : 0;
}

void Watcher::add(const decode::Record& record) {
    constexpr std::size_t most_intervals = 100'000;
    if (conditions_.empty()) return;
    const bool is_aggregated = header_ != nullptr && header_->aggregated;
    const auto& fields = record.schema->fields;
    const auto time = std::ranges::find(fields, decode::FieldType::time, &decode::Field::type);
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        const auto& condition = conditions_[i];
        auto& watch = watches_[i];
        if (condition.statistic == Statistic::rise) {
            base::add_saturating(watch.current.rise, rise_of(condition, record));
            continue;
        }
        const auto field = record.schema->find(condition.subject);
        if (is_aggregated || !field || !record.values[*field].seen || time == fields.end()) continue;
        const auto at = record.values[static_cast<std::size_t>(time - fields.begin())].number / interval_of(condition);
        if (!is_live_ && watch.of_records.size() >= most_intervals && !watch.of_records.contains(at)) {
            over_limit_ = true;
            continue;
        }
        auto& seen = is_live_ ? watch.current : watch.of_records[at];
        const auto value = record.values[*field].number;
        seen.histogram.add(value);
        seen.max = std::max(seen.max, value);
    }
}

std::optional<std::int64_t> Watcher::value_of(const Condition& condition, const std::deque<Seen>& window) {
    std::int64_t max = -1, rise = 0;
    table::Histogram all;
    for (const auto& seen : window) {
        max = std::max(max, seen.max);
        base::add_saturating(rise, seen.rise);
        if (condition.statistic == Statistic::percentile) all += seen.histogram;
    }
    switch (condition.statistic) {
        case Statistic::percentile:
            return all.percentile(condition.percent);
        case Statistic::maximum:
            return max < 0 ? std::nullopt : std::optional(max);
        case Statistic::rise:
            return rise;
    }
    return std::nullopt;
}

std::vector<Met> Watcher::close(std::int64_t epoch_ns, std::span<const decode::Count> counts) {
    std::vector<Met> all;
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        const auto& condition = conditions_[i];
        auto& watch = watches_[i];
        if (condition.statistic == Statistic::rise) {
            std::optional<std::int64_t> total;
            for (const auto& [key, value] : counts) {
                if (is_part_of(key, condition.subject)) total = base::saturating_add(total.value_or(0), value);
            }
            // Counts begin at 0. A tick's are read one by one, and may be ahead of the next one's.
            if (total)
                base::add_saturating(watch.current.rise, std::max<std::int64_t>(0, *total - watch.count.value_or(0)));
            if (total) watch.count = std::max(*total, watch.count.value_or(0));
        }
        watch.current.begin_ns = closed_ns_;
        watch.current.end_ns = epoch_ns;
        const auto length = condition.window.count();
        auto& window = watch.window;
        // Where the clock was set back nobody knows how long ago the others ended.
        if (epoch_ns < closed_ns_) window.clear();
        // A window is 64 intervals or so, however short they are.
        if (!window.empty() && base::saturating_subtract(epoch_ns, window.back().begin_ns) <= length / 64) {
            window.back() += std::exchange(watch.current, {});
        } else {
            window.push_back(std::exchange(watch.current, {}));
        }
        // Intervals end a little early or late.
        const auto begin_ns = base::saturating_subtract(epoch_ns, length - length / 8);
        while (window.size() > 1 && window.front().end_ns <= begin_ns)
            window.pop_front();
        const auto value = value_of(condition, watch.window);
        const bool holds = value && *value > condition.above;
        if (holds) all.push_back({i, *value, epoch_ns, !watch.holds});
        if (holds) watch.held.add(all.back());
        watch.holds = holds;
    }
    closed_ns_ = epoch_ns;
    return all;
}

std::vector<Met> Watcher::of_records() const {
    std::vector<Met> all;
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        const auto& condition = conditions_[i];
        const auto length = interval_of(condition);
        std::deque<Seen> window;
        bool held = false;
        std::int64_t last = 0;
        for (const auto& [number, seen] : watches_[i].of_records) {
            if (number > last + 1) held = false;
            last = number;
            window.push_back(seen);
            const auto end_ns = window.back().end_ns = base::saturating_multiply(number + 1, length);
            while (window.front().end_ns <= end_ns - condition.window.count())
                window.pop_front();
            const auto value = value_of(condition, window);
            const bool holds = value && *value > condition.above;
            const auto shift = ready_ ? base::saturating_subtract(ready_->epoch_ns, ready_->monotonic_ns) : 0;
            if (holds) all.push_back({i, *value, base::saturating_add(end_ns, shift), !held});
            held = holds;
        }
    }
    return all;
}

std::vector<std::string> Watcher::held() const {
    std::vector<Held> helds;
    for (const auto& watch : watches_)
        helds.push_back(watch.held);
    for (const auto& met : of_records())
        helds[met.condition].add(met);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        const auto& condition = conditions_[i];
        const auto& held = helds[i];
        auto& text = texts.emplace_back(condition.text());
        if (held.times == 0) {
            text += " did not hold";
            continue;
        }
        std::vector<std::string> moments;
        for (const auto& met : held.first)
            moments.push_back(
                fmt::format("{} ({})", table::local_time_of_day(met.epoch_ns), condition.value_text(met.value)));
        text += fmt::format(" held {}, until {}{}; at most {}",
                            held.times == 1 ? "once" : fmt::format("{} times", held.times), fmt::join(moments, ", "),
                            held.times > static_cast<std::int64_t>(moments.size()) ? ", ..." : "",
                            condition.value_text(held.largest));
    }
    return texts;
}

}  // namespace stapgen::when
