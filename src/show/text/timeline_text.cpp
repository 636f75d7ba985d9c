// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/saturate.h"
#include "base/text.h"
#include "show/model/slow_records.h"
#include "show/model/texts.h"
#include "show/text/sections.h"

namespace stapgen::show {

namespace {

/// Where there is more room, a longer bar shows no more.
constexpr std::size_t max_bar = 60, min_bar = 10;

/// Of a record's further lines.
constexpr std::size_t indent = 4;

std::string us(std::int64_t ns) {
    return Style().cell(ns);
}

/// Below its stage.
std::string part_name(const std::string& cause) {
    return "  " + base::printable(cause);
}

/// Of the columns of all rows of a direction.
struct Widths {
    std::size_t begin = 0, stage = 0, length = 0, bar = 0;
};

Widths widths_of(std::span<const SlowRecord> records, std::size_t width) {
    Widths widths;
    for (const auto& record : records) {
        for (const auto& step : record.steps) {
            widths.begin = std::max(widths.begin, us(step.begin_ns).size() + 1);
            widths.stage = std::max(widths.stage, base::printable(step.stage).size());
            widths.length = std::max(widths.length, us(step.ns).size());
            for (const auto& [cause, ns] : step.parts)
                widths.stage = std::max(widths.stage, part_name(cause).size());
        }
    }
    const auto used = indent + widths.begin + widths.stage + widths.length + 7;
    widths.bar = width > used ? std::clamp(width - used, min_bar, max_bar) : min_bar;
    return widths;
}

/// A mark for each part of the whole in which the step was; one at least.
std::string bar(const SlowRecord::Step& step, std::int64_t length_ns, std::size_t cells) {
    const auto cell_of = [&](std::int64_t ns) {
        const auto part = static_cast<double>(ns) / static_cast<double>(length_ns);
        return static_cast<std::size_t>(part * static_cast<double>(cells) + 0.5);
    };
    const auto from = std::min(cell_of(step.begin_ns), cells - 1);
    const auto to = std::clamp(cell_of(base::saturating_add(step.begin_ns, step.ns)), from + 1, cells);
    return std::string(from, ' ') + std::string(to - from, '#') + std::string(cells - to, ' ');
}

void write_timelines(const Text& to, const rows::Way& direction) {
    const auto& way = direction.way;
    auto records = slowest_of(to.results, direction.number);
    if (records.size() > to.options.slowest) records.resize(to.options.slowest);
    if (records.empty()) return;
    to.out << fmt::format("The slowest {}record{} [us]:\n", way.empty() ? "" : base::printable(way) + " ",
                          records.size() == 1 ? "" : "s");
    const bool has_start = has_epoch(to.results);
    const auto widths = widths_of(records, to.options.width());
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        std::string head = us(record.total_ns);
        if (record.time_ns) {
            head += ", ";
            head += has_start ? local_time_of_day(*record.time_ns) : seconds_text(*record.time_ns);
        }
        if (const auto name = record_name(way, record.of); !name.empty()) head += ", " + name;
        to.say_wrapped(fmt::format("#{} {}", i + 1, head), indent);
        for (const auto& step : record.steps) {
            to.out << fmt::format("{:>{}}  {:<{}}  {:>{}} |{}|\n", "+" + us(step.begin_ns), indent + widths.begin,
                                  base::printable(step.stage), widths.stage, us(step.ns), widths.length,
                                  bar(step, record.length_ns, widths.bar));
            for (const auto& [cause, ns] : step.parts) {
                to.out << fmt::format("{:>{}}  {:<{}}  {:>{}}\n", "", indent + widths.begin, part_name(cause),
                                      widths.stage, us(ns), widths.length);
            }
        }
    }
    to.out << '\n';
}

}  // namespace

void draw(const Text& to, section::Slowest /*section*/) {
    if (to.options.quiet) return;
    for (const auto& direction : to.results.of<rows::Way>())
        write_timelines(to, direction);
}

}  // namespace stapgen::show
