// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
    std::optional<double> excess;  ///< its part of what the slow packets of all directions take longer than the others

    static constexpr About about{.name = "ways"};
    static constexpr void columns(auto&& column) {
        column(Key(), "way", &WhyWay::name);
        column(Separate(), "n", &WhyWay::n);
        column(Separate(), "n_slow", &WhyWay::n_slow);
        column(Separate(), "threshold_ns", &WhyWay::threshold_ns);
        column(Separate(), table::Share("excess_share"), &WhyWay::excess);
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
    std::optional<double> excess{};  ///< its part of what the slow packets of its direction, those above p99, take
                                     ///< longer than the others: as rows::StageOfTail; nothing: there is no tail
    double excess_of_all = 0;        ///< the same of the slow packets of all directions
    bool has_tail = false;           ///< the slow packets of its direction have 5 % of that

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

/// The records of a group.
struct WhyGroup {
    table::Group group;
    std::int64_t n = 0, n_slow = 0;
    double share = 0;   ///< of the time of all packets, 0 to 1
    std::string cause;  ///< the part that has most of its time
    double cause_share = 0;
    std::string slow_cause;  ///< the part that has most of its slow packets' extra time; empty: they have none
    std::optional<double> slow_cause_share;

    static constexpr About about{.name = "groups", .row_name = "group", .is_rare = true};
    static constexpr void columns(auto&& column) {
        column(Key(), "group", &WhyGroup::group);
        column(Separate(), "n", &WhyGroup::n);
        column(Separate(), "n_slow", &WhyGroup::n_slow);
        column(Separate(), table::Share("share"), &WhyGroup::share);
        column(Separate(), Known("cause"), &WhyGroup::cause);
        column(Separate(), table::Share("cause_share"), &WhyGroup::cause_share);
        column(Separate(), Known("slow_cause"), &WhyGroup::slow_cause);
        column(Separate(), table::Share("slow_cause_share"), &WhyGroup::slow_cause_share);
    }
};

/// How the seconds before the next one are kept.
struct WhyProposal : rows::Proposal {
    static constexpr About about{.name = "proposals"};
};

struct Why {
    std::string recipe;
    std::string noun = "packet";     ///< what waited
    std::vector<rows::Kept> kept{};  ///< why its records were kept, and what differs at that moment
    table::Texts kept_lines{};       ///< the same for people
    std::string span;                ///< when, and for how long; empty: not known
    std::string answer;              ///< what packets, and the slow ones, mostly waited for; empty: none was measured
    std::vector<WhyWay> ways;
    std::vector<WhyPart> parts;             ///< the largest first
    std::vector<WhyGroup> groups;           ///< that were asked for, the largest first
    std::vector<rows::CauseOfWait> causes;  ///< of parts with 5 % of the time or of the tail, by the larger of the
                                            ///< first and half of the second
    std::vector<std::string> caveats;       ///< what is missing or not certain, if it is above 1 %
    std::vector<std::string> functions;     ///< which functions the program was in, where that was sampled
    std::string reads;  ///< how much a reader takes at once, where readers matter; empty: they do not
    std::vector<WhyProposal> proposals{};  ///< one, or none
    std::string nothing;                   ///< that no packet was measured, and what to check; else empty

    static constexpr About about{.name = "why", .row_name = "why", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Key(), "recipe", &Why::recipe);
        column(Separate(), "kept", &Why::kept, Shown{.is_rare = true, .row_name = "kept"});
        column(Separate(), Known("span"), &Why::span);
        column(Separate(), Known("answer"), &Why::answer);
        column(Separate(), "ways", &Why::ways, Shown{.row_name = "direction"});
        column(Separate(), "parts", &Why::parts, Shown{.row_name = "part"});
        column(Separate(), "groups", &Why::groups, Shown{.is_rare = true, .row_name = "group"});
        column(Separate(), "causes", &Why::causes, Shown{.row_name = "cause"});
        column(Separate(), "caveats", &Why::caveats);
        column(Separate(), "functions", &Why::functions);
        column(Separate(), Known("reads"), &Why::reads);
        column(Separate(), "proposals", &Why::proposals, Shown{.is_rare = true, .row_name = "proposal"});
        column(Separate(), Known("nothing"), &Why::nothing);
    }
};

/// Of results that were explained.
Why why_of(const rows::Results& results);
/// Puts the causes into the results, and the answer.
void explain(rows::Results& results);

/// What slow packets waited for if one thing stands out, else what matters most; empty: nothing was measured.
std::string part_to_watch(const rows::Results& results);

/// part / all; 0 where all is not above 0.
double part_of(double part, double all);
/// "received", "sent".
std::string way_word(std::string_view way);
/// "1,009 packets received, 1,013 sent".
std::string packets_text(const std::vector<WhyWay>& ways, std::string_view noun);
/// The slow packets of each direction: "11 received above 1.23 ms, 13 sent above 41.2 ms"; empty: there is no tail.
std::string tail_text(const std::vector<WhyWay>& ways);

}  // namespace stapgen::study
