// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows/results.h"

/// Why packets take as long as they do: what `stapgen why` answers, as plain data.
namespace stapgen::study {

/// The packets of one direction.
struct WhyWay {
    std::string name;  ///< "rx", "tx"; empty where there is one only
    std::int64_t n = 0;
    std::int64_t n_slow = 0;                   ///< those clearly above p99; 0: none, or too few to say
    std::optional<std::int64_t> threshold_ns;  ///< p99; nothing: too few
};

/// A part of a stage, or a stage that is not divided: nothing divides it further.
struct WhyPart {
    std::string name;    ///< "app-tcp.nagle", "qdisc"
    std::int64_t n = 0;  ///< packets that waited there
    double share = 0;    ///< of the time of all packets, 0 to 1
    double mean_ns = 0;
    std::optional<std::int64_t> p50_ns, p99_ns;  ///< nothing: too few
    std::optional<double> excess;  ///< its part of what the slowest packets of both directions, those above p99, take
                                   ///< longer than the others; nothing: there is no tail
};

/// What matters, in words.
struct WhyCause {
    std::string part;
    std::string what;           ///< how many packets, whose, how long and for what: one sentence without its full stop
    std::string known, remedy;  ///< kinds::latency::Wait
};

struct Why {
    std::string span;  ///< when, and for how long; empty: not known
    std::vector<WhyWay> ways;
    std::vector<WhyPart> parts;    ///< the largest first
    std::vector<WhyCause> causes;  ///< at most three: of parts with 5 % of the time or of the tail, by the larger of
                                   ///< the first and half of the second
    std::vector<std::string> caveats;  ///< what is missing or not certain, if it is above 1 %
    std::string reads;                 ///< how much a reader takes at once, where readers matter; empty: they do not
    std::string nothing;               ///< that no packet was measured, and what to check; else empty
};

Why why_of(const rows::Results& results);

/// "1,009 packets received, 1,013 sent".
std::string packets_text(const std::vector<WhyWay>& ways);
/// What WhyPart::excess is of: "11 received above 1.23 ms, 13 sent above 41.2 ms"; empty: there is no tail.
std::string tail_text(const std::vector<WhyWay>& ways);

}  // namespace stapgen::study
