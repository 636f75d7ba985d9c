// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/summary_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launch/stap_command.h"
#include "recording/identity.h"

namespace stapgen::session {

analyze::Transport transport_of(const launch::Losses& losses) {
    analyze::Transport transport{losses.skipped_probes, losses.errors,
                                 losses.transport_failures + losses.lost_messages};
    for (const auto& [function, count] : losses.missed)
        transport.skipped_by.push_back({function, count});
    return transport;
}

std::int64_t enough_buffer_mb(const host::System& machine, const launch::Losses& losses,
                              std::optional<std::int64_t> asked_mb, const analyze::Summary& summary,
                              std::int64_t bytes) {
    if (losses.transport_failures == 0) return 0;
    launch::Overflow overflow;
    overflow.buffer_mb = losses.buffer_mb > 0 ? losses.buffer_mb : asked_mb.value_or(0);
    // One failure is a record or more; where records are counts, what is missing of them is no number of records.
    const auto lost = std::ranges::find(summary.accounting.lost, "transport", &analyze::Cause::name);
    overflow.lost_records = losses.transport_failures;
    if (!summary.counts() && lost != summary.accounting.lost.end()) {
        overflow.lost_records = std::max(overflow.lost_records, lost->count);
    }
    overflow.bytes_each =
        static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(summary.input.lines, 1));
    overflow.max_mb = launch::max_buffer_mb(machine, ::sysconf(_SC_NPROCESSORS_ONLN));
    return launch::buffer_to_hold(overflow).value_or(0);
}

namespace {

constexpr std::string_view label_word = origin_words.back();

void group_measures(const analyze::Group& origin, bool none_else, std::vector<analyze::Measure>& measures) {
    std::vector<analyze::Measure> wholes;
    for (auto& measure : measures) {
        if (!measure.group.empty()) {
            measure.group.insert(measure.group.begin(), origin.begin(), origin.end());
        } else if (none_else) {
            wholes.push_back({measure.name, origin, measure.stats});
        }
    }
    measures.insert(measures.end(), wholes.begin(), wholes.end());
}

}  // namespace

void put_meanings(analyze::Summary& summary, const recipe::Catalog& catalog) {
    if (summary.counted.empty()) return;
    const auto recipe = recipe::find_recipe(catalog, summary.recipe);
    if (!recipe) return;
    summary.mixed_units = recipe->source == recipe::Source::network_counters;
    for (auto& tally : summary.tallies) {
        const auto* name = tally.name();
        const auto* meaning = name == nullptr ? nullptr : recipe::meaning_of(*recipe, *name);
        if (meaning == nullptr) continue;
        tally.meaning = meaning->help;
        tally.loss = meaning->loss;
        tally.loss_by_name = meaning->loss_by_name;
    }
    // Of one sample: what has a meaning.
    if (summary.levels) std::erase_if(summary.tallies, [](const auto& tally) { return tally.meaning.empty(); });
    std::ranges::stable_sort(summary.tallies, {}, [&](const auto& tally) {
        return std::pair(tally.interval, -analyze::rank_of(summary, tally));
    });
}

bool is_origin_word(std::string_view word) {
    if (word.starts_with(label_word)) return recording::is_label_name(word.substr(label_word.size()));
    return std::ranges::find(origin_words, word) != origin_words.end();
}

analyze::Group origin_group(const std::vector<std::string>& words, const recording::Origin& origin,
                            const std::string& name) {
    const auto value_of = [&](const std::string& word) {
        if (word == "host") return origin.host;
        if (word == "recording") return name;
        const auto label = origin.labels.find(word.substr(label_word.size()));
        return label == origin.labels.end() ? "" : label->second;
    };
    analyze::Group group;
    for (const auto& word : words) {
        const auto value = value_of(word);
        group.push_back({word, value.empty() ? "-" : value});
    }
    return group;
}

base::Result<void> group_by_origin(const analyze::Group& origin, bool none_else, analyze::Summary& summary) {
    if (origin.empty()) return {};
    if (summary.counts_drops && summary.counts()) {
        return base::bad_input(fmt::format("--by {}: drops are by place and reason", origin.front().key),
                               "report the recordings one by one");
    }
    group_measures(origin, none_else, summary.stages);
    group_measures(origin, none_else, summary.values);
    for (auto& tally : summary.tallies)
        tally.group.insert(tally.group.begin(), origin.begin(), origin.end());
    return {};
}

}  // namespace stapgen::session
