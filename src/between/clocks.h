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

/// The line below all points, or above all of them, that touches two of their hull on both sides of the middle of all
/// times. Of one point, or of several of one time, it has no drift. `points`: one or more, in any order.
Line line_below(std::vector<Point> points);
Line line_above(std::vector<Point> points);

/// The server's clock minus the client's.
struct Clocks {
    Line highest{}, lowest{};  ///< by what arrived fastest at the server, and at the client
    std::int64_t middle = 0;

    /// At the middle: of both lines, and half of what is between them.
    [[nodiscard]] double offset() const { return (highest.value(middle) + lowest.value(middle)) / 2; }
    [[nodiscard]] double error() const { return (highest.value(middle) - lowest.value(middle)) / 2; }

    double drift = 0;             ///< of both lines
    bool is_drift_known = false;  ///< both directions say the same; else that of the steadier one
};

/// A direction that gets slower and slower looks like a drift, and the other one does not: of both directions' slopes
/// the smaller one is taken for the drift. Nothing where the lines cross: a clock was set, or has changed its pace.
std::optional<Clocks> clocks_of(std::vector<Point> forth, std::vector<Point> back);

}  // namespace stapgen::between
