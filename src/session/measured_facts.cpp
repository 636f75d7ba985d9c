// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/measured_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/account_text.h"
#include "kinds/counts/counts.h"
#include "launch/stap_command.h"
#include "recording/identity.h"

namespace stapgen::session {

recording::Transport transport_of(const launch::Losses& losses) {
    recording::Transport transport{losses.skipped_probes, losses.errors,
                                   losses.transport_failures + losses.lost_messages};
    for (const auto& [function, count] : losses.missed)
        transport.skipped_by.push_back({function, count});
    return transport;
}

std::vector<std::string> messages_of(const launch::LoadEnd& end) {
    std::vector<std::string> messages;
    for (const auto& message : end.messages) {
        // All that these say is in skipped_text().
        if (message.id == "missed-kprobe" || message.id == "missed-kretprobe" ||
            (message.id == "errors-skipped" && end.losses.errors == 0))
            continue;
        messages.push_back(message.remedy.empty() ? message.cause : message.cause + "; " + message.remedy);
    }
    if (auto skipped = analyze::skipped_text(transport_of(end.losses)); !skipped.empty())
        messages.push_back(std::move(skipped));
    return messages;
}

std::int64_t enough_buffer_mb(const host::System& machine, const launch::Losses& losses,
                              std::optional<std::int64_t> asked_mb, const kinds::Measured& measured,
                              std::int64_t bytes) {
    if (losses.transport_failures == 0) return 0;
    launch::Overflow overflow;
    overflow.buffer_mb = losses.buffer_mb > 0 ? losses.buffer_mb : asked_mb.value_or(0);
    overflow.bytes_each =
        static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(measured.input.lines, 1));
    // A failure is a record, or a message of up to a page of them: how many is known by the script's own count alone.
    constexpr double message_bytes = 4096;
    overflow.lost_records = losses.transport_failures;
    if (!measured.accounting.closed && overflow.bytes_each > 0) {
        overflow.lost_records = static_cast<std::int64_t>(static_cast<double>(losses.transport_failures) *
                                                          std::max(message_bytes / overflow.bytes_each, 1.0));
    }
    // Where records are counts, what is missing of them is no number of records.
    const auto lost = std::ranges::find(measured.accounting.lost, "transport", &kinds::Cause::name);
    if (!measured.counts() && lost != measured.accounting.lost.end()) {
        overflow.lost_records = std::max(overflow.lost_records, lost->count);
    }
    overflow.max_mb = launch::max_buffer_mb(machine, ::sysconf(_SC_NPROCESSORS_ONLN));
    return launch::buffer_to_hold(overflow).value_or(0);
}

namespace {

using CountOfInterval = rows::OfInterval<rows::Count>;

constexpr std::string_view label_word = origin_words.back();

/// A group is of the origin, too; where records are in no other one, so is the whole, which stays beside it.
template <class Row>
void group_rows(const table::Group& origin, bool none_else, std::vector<Row>& rows) {
    std::vector<Row> wholes;
    for (auto& row : rows) {
        if constexpr (requires { row.distribution; }) {
            if (row.group.empty()) {
                if (none_else) wholes.emplace_back(row).group = origin;
                continue;
            }
        }
        row.group.insert(row.group.begin(), origin.begin(), origin.end());
    }
    std::ranges::move(wholes, std::back_inserter(rows));
}

}  // namespace

void put_meanings(kinds::Measured& measured, const recipe::Catalog& catalog) {
    if (!measured.has<CountOfInterval>()) return;
    if (const auto recipe = recipe::find_recipe(catalog, measured.recipe)) put_meanings(measured, *recipe);
}

void put_meanings(kinds::Measured& measured, const recipe::Recipe& recipe) {
    if (!measured.has<CountOfInterval>()) return;
    auto& counts = measured.of<CountOfInterval>();
    const bool mixed_units = recipe.source == recipe::Source::network_counters;
    measured.one<rows::Counting>().mixed_units = mixed_units;
    for (auto& row : counts) {
        const auto* name = kinds::counts::counter_of(row);
        const auto* meaning = name == nullptr ? nullptr : recipe::meaning_of(recipe, *name);
        if (meaning == nullptr) continue;
        if (!meaning->help.empty()) row.meaning = meaning->help;
        row.loss = meaning->loss;
        row.loss_by_name = row.loss_by_name || meaning->loss_by_name;
    }
    // A single sample: what has a meaning.
    if (measured.one<rows::Counting>().levels)
        std::erase_if(counts, [](const rows::Count& row) { return !row.meaning; });
    std::ranges::stable_sort(counts, {}, [&](const CountOfInterval& row) {
        return std::pair(row.interval, -kinds::counts::rank_of(row, mixed_units));
    });
}

bool is_origin_word(std::string_view word) {
    if (word.starts_with(label_word)) return recording::is_label_name(word.substr(label_word.size()));
    return std::ranges::find(origin_words, word) != origin_words.end();
}

table::Group origin_group(const std::vector<std::string>& words, const recording::Origin& origin,
                          const std::string& name) {
    const auto value_of = [&](const std::string& word) {
        if (word == "host") return origin.host;
        if (word == "recording") return name;
        const auto label = origin.labels.find(word.substr(label_word.size()));
        return label == origin.labels.end() ? "" : label->second;
    };
    table::Group group;
    for (const auto& word : words) {
        const auto value = value_of(word);
        group.push_back({word, value.empty() ? "-" : value});
    }
    return group;
}

base::Result<void> group_by_origin(const table::Group& origin, bool none_else, kinds::Measured& measured) {
    if (origin.empty()) return {};
    if (measured.has<rows::OfInterval<rows::Drop>>() && measured.counts()) {
        return base::bad_input(fmt::format("--by {}: drops are by place and reason", origin.front().key),
                               "report the recordings one by one");
    }
    group_rows(origin, none_else, measured.of<rows::Stage>());
    group_rows(origin, none_else, measured.of<rows::Value>());
    group_rows(origin, none_else, measured.of<CountOfInterval>());
    return {};
}

}  // namespace stapgen::session
