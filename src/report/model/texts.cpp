// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/model/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace stapgen::report {

namespace {

using analyze::Change;
using analyze::Verdict;

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

constexpr std::size_t max_stages_named = 3;

bool is_significant(const Change& change) {
    return change.verdict == Verdict::slower || change.verdict == Verdict::faster;
}

double size_of(const Change& change) {
    return std::abs(std::log1p(*change.change));
}

std::string in_words(const Change& change) {
    return fmt::format("{} {} % [{} %, {} %], from {} to {}", statistic(change), change_percent(*change.change),
                       change_percent(*change.low), change_percent(*change.high), duration_text(*change.before_ns),
                       duration_text(*change.after_ns));
}

/// Of each stage the largest change in that direction, the stage with the largest first.
std::vector<const Change*> largest_by_stage(const std::vector<const Change*>& significant, Verdict verdict) {
    std::vector<const Change*> largest;
    for (const auto* change : significant) {
        if (change->verdict != verdict) continue;
        const auto known =
            std::ranges::find_if(largest, [&](const Change* other) { return other->stage == change->stage; });
        if (known == largest.end()) {
            largest.push_back(change);
        } else if (size_of(*change) > size_of(**known)) {
            *known = change;
        }
    }
    std::ranges::stable_sort(largest, std::greater{}, [](const Change* change) { return size_of(*change); });
    return largest;
}

std::string direction_text(const std::vector<const Change*>& significant, Verdict verdict) {
    const auto stages = largest_by_stage(significant, verdict);
    std::string text;
    for (std::size_t i = 0; i < std::min(stages.size(), max_stages_named); ++i) {
        text += fmt::format("{}{} is {}: {}", text.empty() ? "" : "; ", stages[i]->stage,
                            verdict == Verdict::slower ? "slower" : "faster", in_words(*stages[i]));
    }
    if (stages.size() > max_stages_named) text += fmt::format("; and {} more stages", stages.size() - max_stages_named);
    return text;
}

std::string side_text(const analyze::Side& side) {
    const auto recordings = side.recordings == 1 ? "" : fmt::format(" of {} recordings", side.recordings);
    if (side.block_ns == 0) return fmt::format("{} intervals{}", side.blocks, recordings);
    return fmt::format("{} blocks of {}{}", side.blocks, duration_text(static_cast<double>(side.block_ns)), recordings);
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

const analyze::GroupField* find_field(const analyze::Group& group, std::string_view key) {
    const auto found = std::ranges::find(group, key, &analyze::GroupField::key);
    return found == group.end() ? nullptr : &*found;
}

std::string group_text(const analyze::GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return base::printable(*text);
    return field.key;
}

std::string group_text(const analyze::Group& group) {
    std::string text;
    for (const auto& field : group)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.key, group_text(field));
    return text;
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

std::string place_text(const analyze::Drop& drop) {
    std::string text = drop.symbol ? base::printable(*drop.symbol) : fmt::format("0x{:x}", drop.address.value_or(0));
    if (drop.symbol && drop.offset) text += fmt::format("+0x{:x}", *drop.offset);
    if (drop.module) text += fmt::format(" [{}]", base::printable(*drop.module));
    return text;
}

std::string function_text(const analyze::Frame& frame) {
    return frame.symbol ? base::printable(*frame.symbol) : fmt::format("0x{:x}", frame.address.value_or(0));
}

std::string path_text(const analyze::Stack& stack) {
    std::string text;
    for (const auto& frame : stack.frames)
        text += (text.empty() ? "" : " < ") + function_text(frame);
    return text.empty() ? "other paths" : text;
}

namespace {
std::string reason_of(const std::optional<std::string>& name, std::int64_t number) {
    if (name) return base::printable(*name);
    return number < 0 ? "-" : fmt::format("{}", number);
}
}  // namespace

std::string reason_text(const analyze::Drop& drop) {
    return reason_of(drop.reason_name, drop.reason);
}

std::string reason_text(const analyze::Stack& stack) {
    return reason_of(stack.reason_name, stack.reason);
}

std::string place_text(const table::Place& place) {
    std::string text = place.symbol ? base::printable(*place.symbol) : fmt::format("0x{:x}", place.address.value_or(0));
    if (place.symbol && place.offset) text += fmt::format("+0x{:x}", *place.offset);
    if (place.module) text += fmt::format(" [{}]", base::printable(*place.module));
    return text;
}

std::string function_text(const table::Place& place) {
    return place.symbol ? base::printable(*place.symbol) : fmt::format("0x{:x}", place.address.value_or(0));
}

std::string reason_text(const table::Reason& reason) {
    return reason_of(reason.name, reason.number);
}

std::string change_percent(double part) {
    return fmt::format("{:+.{}f}", part * 100, std::abs(part) < 1 ? 1 : 0);
}

std::string p_text(std::optional<double> p) {
    if (!p) return "-";
    return *p < 0.001 ? "<0.001" : fmt::format("{:.3f}", *p);
}

std::string statistic(const Change& change) {
    return change.statistic == "mean" ? "mean" : "p" + change.statistic;
}

std::string blocks_text(const analyze::Comparison& comparison) {
    if (comparison.by_recording) {
        return fmt::format("Each recording is a block: {} before, {} after", comparison.before.blocks,
                           comparison.after.blocks);
    }
    return fmt::format("Before: {}; after: {}", side_text(comparison.before), side_text(comparison.after));
}

std::vector<std::string> changed_stages(const analyze::Comparison& comparison) {
    std::vector<const Change*> significant;
    for (const auto& change : comparison.changes) {
        if (is_significant(change)) significant.push_back(&change);
    }
    std::vector<std::string> stages;
    for (const auto verdict : {Verdict::slower, Verdict::faster}) {
        for (const auto* change : largest_by_stage(significant, verdict))
            stages.push_back(change->stage);
    }
    return stages;
}

namespace {
/// What a side lacks for a test; empty if nothing.
std::string shortage(std::string_view name, const analyze::Side& side, bool by_recording) {
    if (side.usable >= static_cast<double>(side.needed)) return {};
    const auto unit = by_recording ? "recordings with values" : side.block_ns == 0 ? "intervals" : "blocks";
    // Blocks that are almost even are as many as they are.
    constexpr double almost = 0.05, second = 1e9;
    const auto usable = std::min(std::floor(side.usable + almost), static_cast<double>(side.needed) - 1);
    auto text = fmt::format("{} has {:.0f} of {} {}", name, usable, side.needed, unit);
    if (const auto missing = side.missing_ns())
        text += fmt::format(", record {:.0f} s more", std::ceil(static_cast<double>(*missing) / second));
    return text;
}

std::string no_result_text(const analyze::Comparison& comparison) {
    if (comparison.is_one_sided) {
        std::vector<std::string> sides;
        for (const auto& [name, stages] :
             {std::pair("before", &comparison.only_before), {"after", &comparison.only_after}}) {
            if (!stages->empty()) sides.push_back(fmt::format("only {} has {}", name, fmt::join(*stages, ", ")));
        }
        return fmt::format("no result: {}", fmt::join(sides, ", "));
    }
    const auto is_untested = [](const Change& change) { return change.verdict == Verdict::untested; };
    if (std::ranges::all_of(comparison.changes, is_untested)) return "no result: the values have no times";
    const auto before = shortage("before", comparison.before, comparison.by_recording);
    const auto after = shortage("after", comparison.after, comparison.by_recording);
    if (before.empty() && after.empty()) return "no result: not enough samples above 0";
    return fmt::format("no result: {}{}{}", before, before.empty() || after.empty() ? "" : "; ", after);
}
}  // namespace

std::string comparison_sentence(const analyze::Comparison& comparison) {
    std::vector<const Change*> significant, beyond;
    for (const auto& change : comparison.changes) {
        if (!is_significant(change)) continue;
        significant.push_back(&change);
        if (std::abs(*change.change) > comparison.threshold) beyond.push_back(&change);
    }
    if (comparison.outcome() == analyze::Outcome::none) return no_result_text(comparison);
    if (significant.empty()) return "no significant change";
    const auto slower = direction_text(beyond, Verdict::slower), faster = direction_text(beyond, Verdict::faster);
    if (beyond.empty()) {
        const auto* largest =
            *std::ranges::max_element(significant, {}, [](const Change* change) { return size_of(*change); });
        return fmt::format("nothing changed by more than {:.4g} %; the largest change: {} {}",
                           comparison.threshold * 100, largest->stage, in_words(*largest));
    }
    const auto is_named = [&](const Change* change) {
        return std::ranges::any_of(beyond, [&](const Change* other) { return other->stage == change->stage; });
    };
    const bool all_named = std::ranges::all_of(significant, is_named);
    return fmt::format("{}{}{}; {}", slower, slower.empty() || faster.empty() ? "" : "; ", faster,
                       all_named
                           ? "no other stage changed significantly"
                           : fmt::format("other stages changed by less than {:.4g} %", comparison.threshold * 100));
}

}  // namespace stapgen::report
