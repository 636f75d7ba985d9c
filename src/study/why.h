// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows/results.h"

/// Why packets take as long as they do: what `stapgen why` answers, as plain data: rows of the document
/// "stapgen.why/1".
namespace stapgen::study {

using table::Key, table::Separate, table::Known, table::About, table::Shape, table::Shown;

/// The packets of one direction.
struct WhyWay {
    std::string name;  ///< "rx", "tx"; empty where there is one only
    std::int64_t n = 0;
    std::int64_t n_slow = 0;                   ///< those clearly above p99; 0: none, or too few to say
    std::optional<std::int64_t> threshold_ns;  ///< p99; nothing: too few

    static constexpr About about{.name = "ways"};
    static constexpr void columns(auto&& column) {
        column(Key(), "way", &WhyWay::name);
        column(Separate(), "n", &WhyWay::n);
        column(Separate(), "n_slow", &WhyWay::n_slow);
        column(Separate(), "threshold_ns", &WhyWay::threshold_ns);
    }
};

/// A part of a stage, or a stage that is not divided: nothing divides it further.
struct WhyPart {
    std::string name;         ///< "app-tcp.nagle", "qdisc"
    std::int64_t n = 0;       ///< packets that waited there
    std::int64_t n_long = 0;  ///< those that waited longer than the mean of them, within 0.2 %
    double share = 0;         ///< of the time of all packets, 0 to 1
    double mean_ns = 0;
    std::optional<std::int64_t> p50_ns, p99_ns;  ///< nothing: too few
    std::optional<double> excess;  ///< its part of what the slowest packets of both directions, those above p99, take
                                   ///< longer than the others; nothing: there is no tail

    static constexpr About about{.name = "parts"};
    static constexpr void columns(auto&& column) {
        column(Key(), "part", &WhyPart::name);
        column(Separate(), "n", &WhyPart::n);
        column(Separate(), "n_above_mean", &WhyPart::n_long);
        column(Separate(), table::Share("share"), &WhyPart::share);
        column(Separate(), table::Mean("mean_ns"), &WhyPart::mean_ns);
        column(Separate(), "p50_ns", &WhyPart::p50_ns);
        column(Separate(), "p99_ns", &WhyPart::p99_ns);
        column(Separate(), table::Share("excess_share"), &WhyPart::excess);
    }
};

struct Why {
    std::string recipe;
    std::string span;  ///< when, and for how long; empty: not known
    std::vector<WhyWay> ways;
    std::vector<WhyPart> parts;             ///< the largest first
    std::vector<rows::CauseOfWait> causes;  ///< of parts with 5 % of the time or of the tail, by the larger of the
                                            ///< first and half of the second
    std::vector<std::string> caveats;  ///< what is missing or not certain, if it is above 1 %
    std::string reads;                 ///< how much a reader takes at once, where readers matter; empty: they do not
    std::string nothing;               ///< that no packet was measured, and what to check; else empty

    static constexpr About about{.name = "why", .row_name = "why", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Key(), "recipe", &Why::recipe);
        column(Separate(), Known("span"), &Why::span);
        column(Separate(), "ways", &Why::ways, Shown{.row_name = "direction"});
        column(Separate(), "parts", &Why::parts, Shown{.row_name = "part"});
        column(Separate(), "causes", &Why::causes, Shown{.row_name = "cause"});
        column(Separate(), "caveats", &Why::caveats);
        column(Separate(), Known("reads"), &Why::reads);
        column(Separate(), Known("nothing"), &Why::nothing);
    }
};

Why why_of(const rows::Results& results);
/// Those alone.
std::vector<rows::CauseOfWait> causes_of(const rows::Results& results);

/// "1,009 packets received, 1,013 sent".
std::string packets_text(const std::vector<WhyWay>& ways);
/// What WhyPart::excess is of: "11 received above 1.23 ms, 13 sent above 41.2 ms"; empty: there is no tail.
std::string tail_text(const std::vector<WhyWay>& ways);

}  // namespace stapgen::study
