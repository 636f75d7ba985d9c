// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "show/model/texts.h"

namespace stapgen::show {

namespace {

constexpr std::size_t min_blocks = 4, min_columns = 8, max_columns = 32;
constexpr std::size_t heading_length = 5;  // "TREND"

}  // namespace

std::string Trend::text(const rows::Results& results, const std::string& stage) const {
    const auto& stages = results.one<rows::Series>().stages;
    const auto place = static_cast<std::size_t>(std::ranges::find(stages, stage) - stages.begin());
    const auto& series = results.series().blocks();
    if (place == stages.size()) return {};
    std::vector<std::optional<double>> means(parts);
    for (std::size_t part = 0; part < parts; ++part) {
        double sum = 0;
        std::int64_t n = 0;
        for (auto i = part * blocks; i < std::min((part + 1) * blocks, series.size()); ++i) {
            if (place >= series[i].stages.size()) continue;
            sum += series[i].stages[place].sum();
            n += series[i].stages[place].n();
        }
        if (n > 0) means[part] = sum / static_cast<double>(n);
    }
    const auto largest = std::ranges::max(means).value_or(0);
    std::string digits;
    for (const auto& mean : means) {
        const auto level = largest > 0 ? std::ceil(mean.value_or(0) / largest * 8) : 0;
        digits += static_cast<char>('0' + (mean ? std::clamp(static_cast<int>(level), 1, 8) : 0));
    }
    return digits;
}

std::optional<Trend> trend_of(const rows::Results& results, std::size_t columns) {
    const auto blocks = results.series().blocks().size();
    if (blocks < min_blocks || columns < std::max(heading_length, std::min(blocks, min_columns))) return std::nullopt;
    const auto most = std::min(columns, max_columns);
    const auto each = (blocks + most - 1) / most;
    return Trend{each, (blocks + each - 1) / each};
}

std::string trend_legend(const rows::Results& results, const Trend& trend) {
    const auto ns = results.series().block_ns() * static_cast<std::int64_t>(trend.blocks);
    auto text = fmt::format("TREND: mean per {}; each row is from 0 to its own maximum", duration_text(ns));
    const auto last = std::ranges::max(results.series().blocks(), {}, &table::Block::recording).recording;
    if (last > 0) text += fmt::format("; of {} recordings in order of time, without the time between them", last + 1);
    return text;
}

}  // namespace stapgen::show
