// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/saturate.h"
#include "base/text.h"
#include "report/model/slow_records.h"
#include "report/model/texts.h"
#include "report/text/sections.h"

namespace stapgen::report {

namespace {

/// Where there is more room, a longer bar shows no more.
constexpr std::size_t max_bar = 60, min_bar = 10;

/// Of a record's further lines.
constexpr std::size_t indent = 4;

std::string us(std::int64_t ns) {
    return Style().cell(ns);
}

/// Of the columns of all rows of a direction.
struct Widths {
    std::size_t begin = 0, stage = 0, length = 0, bar = 0;
};

Widths widths_of(const analyze::Breakdown& breakdown, const std::vector<Timeline>& timelines, std::size_t width) {
    Widths widths;
    for (const auto& timeline : timelines) {
        for (const auto& [stage, begin_ns, ns] : timeline.steps) {
            widths.begin = std::max(widths.begin, us(begin_ns).size() + 1);
            widths.stage = std::max(widths.stage, base::printable(breakdown.stages()[stage]).size());
            widths.length = std::max(widths.length, us(ns).size());
        }
    }
    const auto used = indent + widths.begin + widths.stage + widths.length + 7;
    widths.bar = width > used ? std::clamp(width - used, min_bar, max_bar) : min_bar;
    return widths;
}

/// A mark for each part of the whole in which the step was; one at least.
std::string bar(const Timeline::Step& step, std::int64_t length_ns, std::size_t cells) {
    const auto cell_of = [&](std::int64_t ns) {
        const auto part = static_cast<double>(ns) / static_cast<double>(length_ns);
        return static_cast<std::size_t>(part * static_cast<double>(cells) + 0.5);
    };
    const auto from = std::min(cell_of(step.begin_ns), cells - 1);
    const auto to = std::clamp(cell_of(base::saturating_add(step.begin_ns, step.ns)), from + 1, cells);
    return std::string(from, ' ') + std::string(to - from, '#') + std::string(cells - to, ' ');
}

}  // namespace

void write_timelines(std::ostream& out, const analyze::Summary& summary, const analyze::Breakdown& breakdown,
                     const std::vector<analyze::SlowRecord>& records, const Options& options) {
    std::vector<Timeline> timelines;
    for (const auto& record : records) {
        auto& steps = timelines.emplace_back(timeline_of(record)).steps;
        std::erase_if(steps, [&](const Timeline::Step& step) { return step.stage >= breakdown.stages().size(); });
    }
    const auto widths = widths_of(breakdown, timelines, options.width());
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        std::string head = us(record.total_ns);
        if (record.time_ns) {
            head += ", ";
            head += summary.start_epoch_ns ? local_time_of_day(*record.time_ns) : seconds_text(*record.time_ns);
        }
        if (const auto name = record_name(breakdown.direction(), record.of); !name.empty()) head += ", " + name;
        out << base::wrapped(fmt::format("#{} {}", i + 1, head), options.width(), indent) << '\n';
        for (const auto& step : timelines[i].steps) {
            out << fmt::format("{:>{}}  {:<{}}  {:>{}} |{}|\n", "+" + us(step.begin_ns), indent + widths.begin,
                               base::printable(breakdown.stages()[step.stage]), widths.stage, us(step.ns),
                               widths.length, bar(step, timelines[i].length_ns, widths.bar));
        }
    }
}

}  // namespace stapgen::report
