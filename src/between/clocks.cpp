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
    return static_cast<Wide>(b.at - a.at) * (static_cast<Wide>(c.difference) - a.difference) -
           static_cast<Wide>(c.at - a.at) * (static_cast<Wide>(b.difference) - a.difference);
}

/// Of points by time (A. M. Andrew, 1979), of one time the lowest; or with -1 the highest.
std::vector<Point> hull_of(std::vector<Point>& points, int sign) {
    std::ranges::sort(points, {}, [&](const Point& point) { return std::pair(point.at, sign * point.difference); });
    std::vector<Point> hull;
    for (const auto& point : points) {
        if (!hull.empty() && hull.back().at == point.at) continue;
        while (hull.size() > 1 && sign * height(hull[hull.size() - 2], hull.back(), point) <= 0)
            hull.pop_back();
        hull.push_back(point);
    }
    return hull;
}

}  // namespace

std::vector<Point> lower_hull(std::vector<Point>& points) {
    return hull_of(points, 1);
}

std::vector<Point> upper_hull(std::vector<Point>& points) {
    return hull_of(points, -1);
}

Line line_along(const std::vector<Point>& hull) {
    if (hull.size() == 1) return {hull.front().at, static_cast<double>(hull.front().difference), 0};
    const auto middle = hull.front().at + (hull.back().at - hull.front().at) / 2;
    auto right = std::ranges::find_if(hull, [&](const Point& point) { return point.at > middle; });
    if (right == hull.end()) --right;
    const auto& left = *(right - 1);
    return {left.at, static_cast<double>(left.difference),
            static_cast<double>(right->difference - left.difference) / static_cast<double>(right->at - left.at)};
}

namespace {

/// Where lines of that slope through the points of a hull are at `middle`.
std::pair<double, double> offsets_of(const std::vector<Point>& hull, double drift, std::int64_t middle) {
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (const auto& point : hull) {
        const auto offset = static_cast<double>(point.difference) - drift * static_cast<double>(point.at - middle);
        lowest = std::min(lowest, offset);
        highest = std::max(highest, offset);
    }
    return {lowest, highest};
}

}  // namespace

std::optional<Clocks> clocks_of(const std::vector<Point>& forth, const std::vector<Point>& back) {
    const auto first = forth.front().at, last = forth.back().at;
    Clocks clocks{.middle = first + (last - first) / 2};
    const auto below = line_along(forth).drift, above = line_along(back).drift;
    clocks.drift = std::abs(below) < std::abs(above) ? below : above;
    clocks.drift_error = std::abs(below - above);
    clocks.highest = {clocks.middle, offsets_of(forth, clocks.drift, clocks.middle).first, clocks.drift};
    clocks.lowest = {clocks.middle, offsets_of(back, clocks.drift, clocks.middle).second, clocks.drift};
    if (clocks.error() < 0) return std::nullopt;
    return clocks;
}

}  // namespace stapgen::between
