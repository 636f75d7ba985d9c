// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <tuple>

#include "base/saturate.h"
#include "base/text.h"
#include "base/units.h"

namespace stapgen::session {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

/// The whole text, by one of these formats of strptime(3).
std::optional<std::tm> time_by(const std::string& text, std::initializer_list<const char*> formats) {
    for (const auto* format : formats) {
        std::tm time{};
        const auto* const end = ::strptime(text.c_str(), format, &time);
        if (end != nullptr && *end == '\0') return time;
    }
    return std::nullopt;
}

std::int64_t epoch_of(std::tm local) {
    local.tm_isdst = -1;
    return base::saturating_multiply(std::mktime(&local), second_ns);
}

/// The day is that of the start; of a measurement that goes on past midnight perhaps the next.
std::int64_t epoch_of(const TimeOfDay& time, std::int64_t start_ns) {
    const auto start_s = static_cast<std::time_t>(start_ns / second_ns);
    std::tm local{};
    ::localtime_r(&start_s, &local);
    const auto day = local.tm_mday;
    const auto on = [&](int later) {
        local.tm_mday = day + later;
        local.tm_hour = static_cast<int>(time.s / 3600);
        local.tm_min = static_cast<int>(time.s / 60 % 60);
        local.tm_sec = static_cast<int>(time.s % 60);
        return epoch_of(local);
    };
    constexpr auto half_day_ns = 12 * 3600 * second_ns;
    const auto same_day = on(0);
    return same_day < start_ns - half_day_ns ? on(1) : same_day;
}

struct EpochOf {
    std::int64_t start_ns;
    std::int64_t operator()(const Offset& offset) const { return base::saturating_add(start_ns, offset.ns); }
    std::int64_t operator()(const TimeOfDay& time) const { return epoch_of(time, start_ns); }
    std::int64_t operator()(const Epoch& epoch) const { return epoch.ns; }
};

bool has_endpoint(const decode::Field& field) {
    return field.type == decode::FieldType::endpoint;
}
bool has_address(const decode::Field& field) {
    return has_endpoint(field) || field.type == decode::FieldType::ip;
}

base::Result<void> refused(std::string_view option, std::string_view recipe, std::string_view why,
                           std::string_view hint) {
    return base::bad_input(fmt::format("{}: the records of {} {}", option, base::printable(recipe), why),
                           std::string(hint));
}

}  // namespace

base::Result<Moment> parse_moment(std::string_view text) {
    const std::string whole(text);
    if (const auto time = time_by(whole, {"%H:%M:%S", "%H:%M"}))
        return TimeOfDay{time->tm_hour * std::int64_t{3600} + time->tm_min * 60 + time->tm_sec};
    if (const auto time =
            time_by(whole, {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"}))
        return Epoch{epoch_of(*time)};
    if (const auto duration = base::parse_duration(text)) return Offset{duration->count()};
    return base::bad_input(fmt::format("'{}' is not a time", base::printable(text)),
                           "90s or 5m after the start, 14:05:10 of that day, or '2026-11-25 14:05:10'; local time");
}

base::Result<void> Selector::check(const decode::Header& header) const {
    const auto& fields = header.schemas.front().fields;
    const auto& options = selection_.options;
    if (header.aggregated && !selection_.is_all())
        return refused(options, header.recipe, "were aggregated in the kernel",
                       "measure with it, or without --aggregate");
    if (selection_.port && std::ranges::none_of(fields, has_endpoint))
        return refused("--port", header.recipe, "have no ports", "measure with it, where the recipe has --port");
    if (selection_.address && std::ranges::none_of(fields, has_address))
        return refused("--addr", header.recipe, "have no addresses", "measure with it, where the recipe has --addr");
    for (const auto& [is_asked, option, field] : {std::tuple(selection_.comm.has_value(), "--comm", "comm"),
                                                  std::tuple(selection_.pid.has_value(), "--target-pid", "pid"),
                                                  std::tuple(selection_.tid.has_value(), "--target-tid", "tid")}) {
        if (is_asked && !header.schemas.front().find(field))
            return refused(option, header.recipe, "have no threads", "measure with it, where the recipe has it");
    }
    return {};
}

void Selector::begin(std::int64_t epoch_ns) {
    if (now_) return;
    if (selection_.since) since_ = std::visit(EpochOf{epoch_ns}, *selection_.since);
    if (selection_.until) until_ = std::visit(EpochOf{epoch_ns}, *selection_.until);
}

void Selector::observe(const decode::Ready& ready) {
    begin(ready.epoch_ns);
    ready_ = ready;
    now_ = ready.epoch_ns;
}

void Selector::observe(const decode::Tick& tick) {
    if (tick.epoch_ns == decode::unknown_time) return;
    begin(tick.epoch_ns);
    now_ = tick.epoch_ns;
}

bool Selector::lacks_times() const {
    return (selection_.since || selection_.until) && !now_;
}

bool Selector::takes_time(const decode::Record& record) const {
    auto at = now_;
    if (ready_) {
        const auto& fields = record.schema->fields;
        const auto time = std::ranges::find(fields, decode::FieldType::time, &decode::Field::type);
        if (time != fields.end()) {
            const auto& value = record.values[static_cast<std::size_t>(time - fields.begin())];
            at = base::saturating_add(base::saturating_subtract(value.number, ready_->monotonic_ns), ready_->epoch_ns);
        }
    }
    // Before the first time of all.
    if (!at) return !selection_.since;
    return (!since_ || *at >= *since_) && (!until_ || *at < *until_);
}

/// A further kind of record may have no thread.
bool Selector::takes_thread(const decode::Record& record) const {
    const auto is = [&](std::string_view field, const auto& wanted, auto read) {
        if (!wanted) return true;
        const auto place = record.schema->find(field);
        return place && read(record.values[*place].raw) == *wanted;
    };
    return is("comm", selection_.comm, decode::unescape) && is("pid", selection_.pid, base::to_int) &&
           is("tid", selection_.tid, base::to_int);
}

bool Selector::takes(const decode::Record& record) const {
    if ((selection_.since || selection_.until) && !takes_time(record)) return false;
    if ((selection_.comm || selection_.pid || selection_.tid) && !takes_thread(record)) return false;
    if (!selection_.port && !selection_.address) return true;
    bool has_port = !selection_.port, is_there = !selection_.address;
    for (std::size_t i = 0; i < record.values.size(); ++i) {
        if (!has_address(record.schema->fields[i])) continue;
        const auto endpoint = decode::endpoint_of(record.values[i].raw);
        if (!endpoint) continue;
        has_port = has_port || base::to_int(endpoint->port) == selection_.port;
        is_there = is_there || selection_.address->contains(endpoint->address);
    }
    return has_port && is_there;
}

}  // namespace stapgen::session
