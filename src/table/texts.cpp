// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

#include "base/text.h"
#include "base/units.h"

namespace stapgen::table {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

/// Nanoseconds within the second, also before 1970, which a damaged input may name.
std::int64_t fraction_of(std::int64_t epoch_ns) {
    const auto fraction = epoch_ns % ns_per_second;
    return fraction < 0 ? fraction + ns_per_second : fraction;
}

/// The second that it is in, which `fields_of` takes apart.
std::string formatted(std::int64_t epoch_ns, std::tm* (*fields_of)(const std::time_t*, std::tm*), const char* format) {
    const std::time_t seconds = epoch_ns / ns_per_second - (epoch_ns % ns_per_second < 0 ? 1 : 0);
    std::tm fields{};
    fields_of(&seconds, &fields);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), format, &fields)};
}

}  // namespace

std::string Style::cell(std::optional<std::int64_t> number) const {
    if (!number) return "-";
    return is_time ? cell(static_cast<double>(*number)) : fmt::format("{}", *number);
}

std::string Style::cell(std::optional<double> number) const {
    if (!number) return "-";
    return is_time ? fmt::format("{:.{}f}", *number / 1e3, decimals) : fmt::format("{:.2f}", *number);
}

const GroupField* find_field(const Group& group, std::string_view key) {
    const auto found = std::ranges::find(group, key, &GroupField::key);
    return found == group.end() ? nullptr : &*found;
}

std::string group_text(const GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return base::printable(*text);
    return field.key;
}

std::string group_text(const Group& group, std::string_view key) {
    const auto* field = find_field(group, key);
    return field == nullptr ? std::string() : group_text(*field);
}

std::string group_text(const Group& group) {
    std::string text;
    for (const auto& field : group)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.key, group_text(field));
    return text;
}

std::string whom_text(std::string_view waited, std::string_view by) {
    // Parts of app that are for something, and not in a place.
    static constexpr std::array<std::string_view, 5> for_it{"lock", "futex", "disk", "server", "other-sockets"};
    if (!is_named(by) || by == "not seen") return {};
    if (waited == "run-queue") return by == "idle" ? "on an idle CPU" : "behind " + base::printable(by);
    if (waited == "process") return "for a " + base::printable(by);
    if (std::ranges::find(for_it, waited) == for_it.end()) return "in " + base::printable(by);
    if (by.starts_with("0x")) return fmt::format("for the {} at {}", waited, base::printable(by));
    return "for " + base::printable(by);
}

std::string waited_text(const Group& of) {
    const auto *waited = find_field(of, "waited"), *by = find_field(of, "by"), *ns = find_field(of, "waited_ns");
    if (waited == nullptr || by == nullptr || ns == nullptr) return {};
    const auto* number = std::get_if<std::int64_t>(&ns->value);
    if (number == nullptr || *number <= 0) return {};
    const auto word = group_text(*waited), whom = whom_text(word, group_text(*by));
    auto text = fmt::format("{} {}{}{}", word, duration_text(*number), whom.empty() ? "" : " ", whom);
    const auto known = [&](std::string_view key) {
        auto value = group_text(of, key);
        return is_named(value) ? value : std::string();
    };
    const auto waker = known("waker"), holder = known("holder"), meanwhile = known("meanwhile");
    if (!holder.empty()) {
        text += fmt::format(", which {} held{}", holder, meanwhile.empty() ? "" : " (meanwhile " + meanwhile + ")");
    } else if (!waker.empty()) {
        text += ", woken by " + waker_text(waker);
    }
    return text;
}

std::string waker_text(std::string_view waker) {
    if (waker == "network") return "the network";
    if (waker == "softirq") return "a softirq";
    return waker == "interrupt" ? "an interrupt" : base::printable(waker);
}

bool is_named(std::string_view text) {
    return !text.empty() && text != "-";
}

std::string duration_text(std::int64_t ns) {
    return base::format_duration(std::chrono::nanoseconds(ns));
}

std::string duration_text(double ns) {
    return duration_text(std::int64_t{std::llround(std::clamp(ns, 0.0, 9e18))});
}

std::string per_second_text(double rate) {
    if (rate >= 100) return base::with_commas(std::llround(std::min(rate, 9e18)));
    return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : 1);
}

std::string utc_time(std::int64_t epoch_ns) {
    return fmt::format("{}.{:09}Z", formatted(epoch_ns, gmtime_r, "%Y-%m-%dT%H:%M:%S"), fraction_of(epoch_ns));
}

std::string time_for_name(std::int64_t epoch_ns, std::size_t decimals) {
    auto time = utc_time(epoch_ns);
    std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
    const auto point = time.find('.');
    return time.substr(0, decimals == 0 ? point : point + 1 + decimals) + 'Z';
}

std::string local_time(std::int64_t epoch_ns) {
    return formatted(epoch_ns, localtime_r, "%Y-%m-%d %H:%M:%S %z");
}

std::string local_time_of_day(std::int64_t epoch_ns) {
    return fmt::format("{}.{:06}", formatted(epoch_ns, localtime_r, "%H:%M:%S"), fraction_of(epoch_ns) / 1000);
}

std::string seconds_text(std::int64_t ns) {
    return fmt::format("{:.6f} s", static_cast<double>(ns) / 1e9);
}

std::string end_text(const std::optional<std::int64_t>& end_epoch_ns) {
    return end_epoch_ns ? local_time(*end_epoch_ns) : "after the last tick";
}

std::string percent(double part) {
    // Without the sign of what is rounded to nothing.
    return fmt::format("{:.1f} %", std::abs(part) < 0.0005 ? 0.0 : part * 100);
}

long whole_percent(double part) {
    return std::lround(std::clamp(part, -1e15, 1e15) * 100);
}

std::string csv_cell(std::string_view raw) {
    auto text = base::printable(raw);
    // Blanks are skipped by some spreadsheets before they look for a formula.
    const auto first = text.find_first_not_of(' ');
    if (first != std::string::npos && std::string_view("=+-@").find(text[first]) != std::string_view::npos)
        text.insert(0, 1, '\'');
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string cell = "\"";
    for (const char c : text) {
        if (c == '"') cell += '"';
        cell += c;
    }
    return cell + '"';
}

std::string place_text(const Place& place) {
    std::string text = place.symbol ? base::printable(*place.symbol) : fmt::format("0x{:x}", place.address.value_or(0));
    if (place.symbol && place.offset) text += fmt::format("+0x{:x}", *place.offset);
    if (place.module) text += fmt::format(" [{}]", base::printable(*place.module));
    return text;
}

std::string function_text(const Place& place) {
    return place.symbol ? base::printable(*place.symbol) : fmt::format("0x{:x}", place.address.value_or(0));
}

std::string path_text(const Path& path) {
    std::string text;
    for (const auto& place : path)
        text += (text.empty() ? "" : " < ") + function_text(place);
    return text.empty() ? "other paths" : text;
}

std::string reason_text(const Reason& reason) {
    if (reason.name) return base::printable(*reason.name);
    return reason.number < 0 ? "-" : fmt::format("{}", reason.number);
}

std::string reason_or_empty(const Reason& reason) {
    return reason.name || reason.number >= 0 ? reason_text(reason) : "";
}

}  // namespace stapgen::table
