#include "analyze/compare_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace stapgen::analyze {

namespace {

bool has_durations(const Summary& summary) {
    return std::ranges::any_of(summary.stages, [](const Measure& stage) { return stage.stats.n() > 0; });
}

bool has_averages(const Summary& summary) {
    return std::ranges::any_of(summary.averages, [](const Average& average) { return average.n > 0; });
}

std::string notes_text(const std::set<std::string>& notes) {
    return notes.empty() ? "no such note"
                         : fmt::format("\"{}\"", base::printable(fmt::format("{}", fmt::join(notes, "; "))));
}

/// What is missing from a recording, in words; empty if nothing is.
std::string missing(const Summary& summary) {
    std::vector<std::string> words;
    const auto say = [&words](std::int64_t count, std::string_view what) {
        if (count != 0) words.push_back(fmt::format("{} {}", count, what));
    };
    say(summary.accounting.lost_total(), "lost");
    say(summary.accounting.unaccounted(), "unaccounted");
    say(summary.transport.skipped_probes, "probes skipped");
    say(summary.transport.probe_errors, "probe errors");
    say(summary.transport.transport_failures, "transport failures");
    if (!summary.accounting.closed) words.emplace_back("the last line is missing");
    return fmt::format("{}", fmt::join(words, ", "));
}

void doubts_of_side(std::string_view side, std::span<const Summary> recordings, std::vector<std::string>& doubts) {
    for (std::size_t i = 0; i < recordings.size(); ++i) {
        if (is_whole(recordings[i])) continue;
        const auto which = recordings.size() == 1 ? std::string(side) : fmt::format("{}, recording {}", side, i + 1);
        doubts.push_back(fmt::format("{}: data is missing ({}); what is left may be the faster or the slower part",
                                     which, missing(recordings[i])));
    }
}

bool overlap(const Summary& a, const Summary& b) {
    if (!a.start_epoch_ns || !a.end_epoch_ns || !b.start_epoch_ns || !b.end_epoch_ns) return false;
    return *a.start_epoch_ns < *b.end_epoch_ns && *b.start_epoch_ns < *a.end_epoch_ns;
}

}  // namespace

base::Result<void> check_comparable(const Summary& before, const Summary& after) {
    if (before.recipe != after.recipe) {
        return base::bad_input(fmt::format("before is a recording of {}, after one of {}: their stages differ",
                                           base::printable(before.recipe), base::printable(after.recipe)),
                               "compare two recordings of the same recipe");
    }
    for (const auto* side : {&before, &after}) {
        if (has_durations(*side) || has_averages(*side)) continue;
        const auto* name = side == &before ? "before" : "after";
        return base::bad_input(
            fmt::format("{} holds no durations of {} to compare", name, base::printable(side->recipe)),
            side->counts_drops ? "'compare' is for latencies; 'report' counts the drops of each"
                               : "'report' shows what is in it, and what was lost; measure again under load");
    }
    if (has_durations(before) != has_durations(after)) {
        return base::bad_input(fmt::format("{} holds averages only, the other single durations: percentiles cannot "
                                           "be compared with averages",
                                           has_durations(before) ? "after" : "before"),
                               "measure both in the same way");
    }
    if (before.resolution_ns != after.resolution_ns) {
        return base::bad_input(fmt::format("before has a resolution of {} ns, after of {} ns: durations near it would "
                                           "differ for that alone",
                                           before.resolution_ns, after.resolution_ns),
                               "measure both in the same way");
    }
    const std::set<std::string> before_notes(before.notes.begin(), before.notes.end());
    const std::set<std::string> after_notes(after.notes.begin(), after.notes.end());
    if (before_notes != after_notes) {
        return base::bad_input(fmt::format("what the two hold is not the same: before has {}, after has {}",
                                           notes_text(before_notes), notes_text(after_notes)),
                               "measure both in the same way, with the same limits");
    }
    return {};
}

std::vector<std::string> doubts(std::span<const Summary> before, std::span<const Summary> after) {
    std::vector<std::string> doubts;
    doubts_of_side("before", before, doubts);
    doubts_of_side("after", after, doubts);
    for (std::size_t i = 0; i < before.size(); ++i) {
        for (std::size_t j = 0; j < after.size(); ++j) {
            if (!overlap(before[i], after[j])) continue;
            const auto which = before.size() == 1 && after.size() == 1
                                   ? std::string("before and after")
                                   : fmt::format("recording {} of before and {} of after", i + 1, j + 1);
            doubts.push_back(which + " were measured at the same time: what both share cannot show as a change");
        }
    }
    return doubts;
}

}  // namespace stapgen::analyze
