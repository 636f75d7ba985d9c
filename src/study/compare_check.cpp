// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/text.h"
#include "kinds/latency/averages.h"
#include "kinds/latency/latency.h"
#include "study/compare.h"

namespace stapgen::study {

namespace {

bool has_durations(const Measured& measured) {
    return std::ranges::any_of(kinds::latency::whole_of(measured.of<rows::Stage>()),
                               [](const auto& stage) { return stage.second->n() > 0; });
}

std::set<std::string> meanings(const Measured& measured) {
    std::set<std::string> texts;
    for (const auto& note : measured.notes) {
        if (note.kind == decode::NoteKind::meaning) texts.insert(note.text);
    }
    return texts;
}

std::string notes_text(const std::set<std::string>& notes) {
    return notes.empty() ? "no such note"
                         : fmt::format("\"{}\"", base::printable(fmt::format("{}", fmt::join(notes, "; "))));
}

/// What is missing from a recording, in words; empty if nothing is.
std::string missing(const Measured& measured) {
    std::vector<std::string> words;
    const auto say = [&words](std::int64_t count, std::string_view what) {
        if (count != 0) words.push_back(fmt::format("{} {}", count, what));
    };
    say(measured.accounting.lost_total(), "lost");
    say(measured.accounting.unaccounted(), "unaccounted");
    say(measured.transport.skipped_probes, "probes skipped");
    say(measured.transport.probe_errors, "probe errors");
    say(measured.transport.transport_failures, "transport failures");
    if (!measured.accounting.closed) words.emplace_back("the last line is missing");
    return fmt::format("{}", fmt::join(words, ", "));
}

void doubts_of_side(std::string_view side, std::span<const Measured> recordings, std::vector<std::string>& doubts) {
    for (std::size_t i = 0; i < recordings.size(); ++i) {
        if (recordings[i].is_whole()) continue;
        const auto which = recordings.size() == 1 ? std::string(side) : fmt::format("{}, recording {}", side, i + 1);
        doubts.push_back(fmt::format("{}: data is missing ({}); the rest may be the faster or the slower part", which,
                                     missing(recordings[i])));
    }
}

/// The command without options that make no difference to what is measured: where it goes, how long, and which process,
/// as a restarted server has another number, and whether the kernel aggregates.
std::string essence(const std::vector<std::string>& command) {
    static constexpr std::array<std::string_view, 11> without = {"-o", "--output",     "-d",     "--duration",
                                                                 "-x", "--target-tid", "-p",     "--target-pid",
                                                                 "-i", "--interval",   "--label"};
    std::vector<std::string> kept;
    for (std::size_t i = 1; i < command.size(); ++i) {
        if (command[i] == "--aggregate" || command[i] == "--events") continue;
        const auto name = std::string_view(command[i]).substr(0, command[i].find('='));
        if (std::ranges::find(without, name) == without.end()) {
            kept.push_back(command[i]);
        } else if (name.size() == command[i].size()) {
            ++i;  // its value
        }
    }
    return base::shell_quoted(kept);
}

/// `what` as all recordings of a side have it, each once.
template <class What>
std::string all_of(std::span<const Measured> recordings, const What& what) {
    std::set<std::string> found;
    for (const auto& recording : recordings) {
        for (const auto& origin : recording.origins) {
            if (auto text = what(origin); !text.empty()) found.insert(std::move(text));
        }
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

template <class What>
void doubt_unlike(std::string_view name, std::span<const Measured> before, std::span<const Measured> after,
                  const What& what, std::vector<std::string>& doubts) {
    const auto one = all_of(before, what), other = all_of(after, what);
    if (one.empty() || other.empty() || one == other) return;
    doubts.push_back(fmt::format("{} differ: before {}, after {}", name, one, other));
}

bool overlap(const Measured& a, const Measured& b) {
    if (!a.start_epoch_ns || !a.end_epoch_ns || !b.start_epoch_ns || !b.end_epoch_ns) return false;
    return *a.start_epoch_ns < *b.end_epoch_ns && *b.start_epoch_ns < *a.end_epoch_ns;
}

}  // namespace

base::Result<void> check_comparable(const Measured& before, const Measured& after) {
    if (before.recipe != after.recipe) {
        return base::bad_input(fmt::format("a recording of {} and one of {} cannot be compared: their stages differ",
                                           base::printable(before.recipe), base::printable(after.recipe)),
                               "compare recordings of one recipe");
    }
    for (const auto* side : {&before, &after}) {
        if (has_durations(*side) ||
            std::ranges::any_of(side->of<rows::AverageOf>(), [](const auto& row) { return row.average.n > 0; }))
            continue;
        const auto* name = side == &before ? "before" : "after";
        return base::bad_input(fmt::format("{} has no durations of {} to compare", name, base::printable(side->recipe)),
                               side->has<rows::OfInterval<rows::Drop>>()
                                   ? "'compare' compares latencies; 'report' counts drops"
                                   : "'report' shows what is in it, and what was lost; measure again under load");
    }
    if (has_durations(before) != has_durations(after)) {
        return base::bad_input(
            fmt::format(
                "{} has averages only, the other one single durations: percentiles cannot be compared with averages",
                has_durations(before) ? "after" : "before"),
            "measure both in the same way");
    }
    const auto resolution = before.one<rows::Precision>().resolution_ns,
               other = after.one<rows::Precision>().resolution_ns;
    if (resolution != other) {
        return base::bad_input(
            fmt::format("resolutions differ ({} ns and {} ns): short durations differ for that reason alone",
                        resolution, other),
            "measure both in the same way");
    }
    const auto before_notes = meanings(before), after_notes = meanings(after);
    if (before_notes != after_notes) {
        return base::bad_input(fmt::format("the two sides leave out different values: {} and {}",
                                           notes_text(before_notes), notes_text(after_notes)),
                               "measure both in the same way, with the same limits");
    }
    return {};
}

std::vector<std::string> doubts(std::span<const Measured> before, std::span<const Measured> after) {
    std::vector<std::string> doubts;
    doubts_of_side("before", before, doubts);
    doubts_of_side("after", after, doubts);
    doubt_unlike(
        "hosts", before, after, [](const recording::Origin& origin) { return origin.host; }, doubts);
    doubt_unlike(
        "kernels", before, after, [](const recording::Origin& origin) { return origin.kernel; }, doubts);
    doubt_unlike(
        "definitions", before, after, [](const recording::Origin& origin) { return origin.definition; }, doubts);
    doubt_unlike(
        "options", before, after, [](const recording::Origin& origin) { return essence(origin.command); }, doubts);
    for (std::size_t i = 0; i < before.size(); ++i) {
        for (std::size_t j = 0; j < after.size(); ++j) {
            if (!overlap(before[i], after[j])) continue;
            const auto which = before.size() == 1 && after.size() == 1
                                   ? std::string("before and after")
                                   : fmt::format("recording {} of before and {} of after", i + 1, j + 1);
            doubts.push_back(which +
                             " were measured at the same time: a cause that both share does not show as a change");
        }
    }
    return doubts;
}

}  // namespace stapgen::study
