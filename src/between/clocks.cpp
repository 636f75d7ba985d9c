// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stapgen::between {

namespace {

__extension__ using Wide = __int128;

/// Above 0: `c` is above the line from `a` to `b`.
Wide height(const Point& a, const Point& b, const Point& c) {
    return static_cast<Wide>(b.at - a.at) * (c.difference - a.difference) -
           static_cast<Wide>(c.at - a.at) * (b.difference - a.difference);
}

/// Of points by time: their lower hull (A. M. Andrew, 1979). Of one time the lowest stays.
std::vector<Point> lower_hull(const std::vector<Point>& points) {
    std::vector<Point> hull;
    for (const auto& point : points) {
        if (!hull.empty() && hull.back().at == point.at) continue;
        while (hull.size() > 1 && height(hull[hull.size() - 2], hull.back(), point) <= 0)
            hull.pop_back();
        hull.push_back(point);
    }
    return hull;
}

}  // namespace

Line line_below(std::vector<Point> points) {
    std::ranges::sort(points, {}, [](const Point& point) { return std::pair(point.at, point.difference); });
    const auto middle = points.front().at + (points.back().at - points.front().at) / 2;
    const auto hull = lower_hull(points);
    if (hull.size() == 1) return {hull.front().at, static_cast<double>(hull.front().difference), 0};
    auto right = std::ranges::find_if(hull, [&](const Point& point) { return point.at > middle; });
    if (right == hull.end()) --right;
    const auto& left = *(right - 1);
    return {left.at, static_cast<double>(left.difference),
            static_cast<double>(right->difference - left.difference) / static_cast<double>(right->at - left.at)};
}

Line line_above(std::vector<Point> points) {
    for (auto& point : points)
        point.difference = -point.difference;
    auto line = line_below(std::move(points));
    return {line.at, -line.offset, -line.drift};
}

namespace {

/// The highest line of that slope below all points.
Line line_below(const std::vector<Point>& points, double drift, std::int64_t middle) {
    Line line{middle, std::numeric_limits<double>::infinity(), drift};
    for (const auto& point : points) {
        const auto offset = static_cast<double>(point.difference) - drift * static_cast<double>(point.at - middle);
        line.offset = std::min(line.offset, offset);
    }
    return line;
}

}  // namespace

std::optional<Clocks> clocks_of(std::vector<Point> forth, std::vector<Point> back) {
    constexpr double agrees = 1e-6;  // 1 ppm
    const auto [first, last] = std::ranges::minmax(forth, {}, &Point::at);
    Clocks clocks{.middle = first.at + (last.at - first.at) / 2};
    const auto below = line_below(forth).drift, above = line_above(back).drift;
    clocks.drift = std::abs(below) < std::abs(above) ? below : above;
    clocks.is_drift_known = std::abs(below - above) < agrees;
    clocks.highest = line_below(forth, clocks.drift, clocks.middle);
    for (auto& point : back)
        point.difference = -point.difference;
    const auto lowest = line_below(back, -clocks.drift, clocks.middle);
    clocks.lowest = {lowest.at, -lowest.offset, clocks.drift};
    if (clocks.error() < 0) return std::nullopt;
    return clocks;
}

}  // namespace stapgen::between
