// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// Two hosts' clocks by the requests between them: no packet arrives before it was sent. Each request bounds the
/// server's clock minus the client's from above when it arrives, and from below when its reply does. The fastest of
/// them make lines (A. Duda and others, ICDCS 1987; S. B. Moon, P. Skelly and D. Towsley, INFOCOM 1999).
namespace stapgen::between {

/// A difference of two clocks in ns at a time in ns by the client's.
struct Point {
    std::int64_t at = 0, difference = 0;
};

struct Line {
    std::int64_t at = 0;  ///< where it is
    double offset = 0;    ///< there, in ns
    double drift = 0;     ///< ns per ns

    [[nodiscard]] double value(std::int64_t time) const { return offset + drift * static_cast<double>(time - at); }
};

/// Of points those that a line below all of them can touch, or (upper) one above all: by time, one or more. Sorts
/// `points`.
std::vector<Point> lower_hull(std::vector<Point>& points);
std::vector<Point> upper_hull(std::vector<Point>& points);

/// The line below all points of a hull, or above, that touches two of them on both sides of the middle of all times. Of
/// one point it has no drift.
Line line_along(const std::vector<Point>& hull);

/// The server's clock minus the client's.
struct Clocks {
    Line highest{}, lowest{};  ///< by what arrived fastest at the server, and at the client
    std::int64_t middle = 0;

    /// At the middle: of both lines, and half of what is between them.
    [[nodiscard]] double offset() const { return (highest.value(middle) + lowest.value(middle)) / 2; }
    [[nodiscard]] double error() const { return (highest.value(middle) - lowest.value(middle)) / 2; }

    double drift = 0;        ///< of both lines: what the steadier direction says
    double drift_error = 0;  ///< how much more or less the other one says
};

/// `forth`: the lower hull of the differences that requests show, `back`: the upper one of those that replies show.
/// A direction that gets slower and slower looks like a drift, and the other one does not: of both directions' slopes
/// the smaller one is taken for the drift. Nothing where the lines cross: a clock was set, or has changed its pace.
std::optional<Clocks> clocks_of(const std::vector<Point>& forth, const std::vector<Point>& back);

}  // namespace stapgen::between
