// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "kinds/drops/advice.h"
#include "kinds/drops/drops.h"
#include "kinds/ledger/ledger.h"
#include "table/texts.h"

namespace stapgen::kinds::ledger {

namespace {

/// Packets of one entry by what they are of.
using Packets = std::map<std::string, std::int64_t, std::less<>>;
using Entries = std::map<std::string, Packets, std::less<>>;

std::int64_t sum_of(const Packets& packets) {
    std::int64_t sum = 0;
    for (const auto& [of, count] : packets)
        base::add_saturating(sum, count);
    return sum;
}

/// The records' packets.
Entries entries_of(const Measured& measured) {
    Entries entries;
    for (const auto& row : measured.of<rows::OfInterval<rows::Entry>>())
        base::add_saturating(entries[row.entry][row.of], row.count);
    return entries;
}

/// Losses by the step at which they were. What a protocol drops without a loss has reached it.
Packets drops_of(const Measured& measured) {
    Packets packets;
    for (const auto& drop : measured.of<rows::OfInterval<rows::Drop>>()) {
        const auto* field = table::find_field(drop.group, "step");
        const auto step = field == nullptr ? std::string() : table::group_text(*field);
        if (!drops::advice_of(drop.place, drop.reason).benign) base::add_saturating(packets[step], drop.count);
    }
    return packets;
}

using Rows = std::vector<rows::Ledger>;

void put_row(Rows& ledger, std::string_view entry, table::Group group, std::int64_t packets) {
    ledger.push_back({std::string(entry), std::move(group), packets});
}
void put(Rows& ledger, std::string_view entry, const Packets& packets) {
    for (const auto& [of, count] : packets)
        if (count != 0) put_row(ledger, entry, {{"of", of}}, count);
}

struct Ledger {
    Entries entries;
    Packets dropped, delivered, before_hand_over;
    std::int64_t received = 0, lost = 0, unexplained = 0;

    /// None where the records have none.
    [[nodiscard]] const Packets& of(std::string_view entry) const {
        static const Packets none;
        const auto found = entries.find(entry);
        return found == entries.end() ? none : found->second;
    }
};

Ledger ledger_of(const Measured& measured) {
    Ledger ledger;
    ledger.entries = entries_of(measured);
    ledger.dropped = drops_of(measured);
    ledger.received = sum_of(ledger.of("received"));
    ledger.delivered = ledger.of("reached");
    for (auto& [protocol, packets] : ledger.delivered) {
        const auto lost = ledger.dropped.find(protocol);
        if (lost != ledger.dropped.end()) packets -= lost->second;
    }
    const auto turned_away = sum_of(ledger.of("listen-queue"));
    if (turned_away > 0) ledger.delivered["tcp"] -= turned_away;
    ledger.lost = sum_of(ledger.dropped) + turned_away;
    ledger.unexplained = ledger.received - sum_of(ledger.delivered) - sum_of(ledger.of("passed-on")) -
                         sum_of(ledger.of("under-way")) + sum_of(ledger.of("under-way-before")) - ledger.lost;
    const auto& handed_over = ledger.of("card-handed-over");
    for (const auto& [card, packets] : ledger.of("card")) {
        const auto handed = handed_over.find(card);
        ledger.before_hand_over[card] = packets - (handed == handed_over.end() ? 0 : handed->second);
    }
    return ledger;
}

std::string packets_text(std::int64_t packets) {
    return fmt::format("{} packet{}", base::with_commas(packets), packets == 1 ? "" : "s");
}

/// One line, and what a reader must know of the ledger.
void say(const Ledger& ledger, rows::Results& results) {
    auto& lines = results.sentences.ledger;
    lines.push_back(fmt::format("{} received and followed: {} delivered, {} passed on, {} lost, {} unexplained",
                                packets_text(ledger.received), base::with_commas(sum_of(ledger.delivered)),
                                base::with_commas(sum_of(ledger.of("passed-on"))), base::with_commas(ledger.lost),
                                base::with_commas(ledger.unexplained)));
    for (const auto& [card, packets] : ledger.before_hand_over) {
        if (packets > 0) {
            lines.push_back(
                fmt::format("{} of {} never left its driver: a native XDP program, AF_XDP, or the driver itself "
                            "took them; 'stapgen softnet' and ethtool -S have its own counters",
                            packets_text(packets), base::printable(card)));
        } else if (packets < 0) {
            lines.push_back(
                fmt::format("{} counts fewer packets than it hands over, since packets that it merges "
                            "(LRO) count as one: its losses are unknown",
                            base::printable(card)));
        }
    }
    if (ledger.unexplained < 0) {
        results.sentences.warnings.push_back(
            fmt::format("the ledger is wrong: {} ended more than once, or were not seen to arrive. "
                        "This is an error of stapgen; please report it with the recording",
                        packets_text(-ledger.unexplained)));
    }
    if (ledger.of("card").empty()) {
        lines.emplace_back("no card's own counters were read: losses before the hand-over are unknown");
    }
    lines.emplace_back("loopback and sent packets are not counted here: 'stapgen dropwatch' has their drops");
}

}  // namespace

void put_results(const Measured& measured, const Asked& /*asked*/, rows::Results& results) {
    Rows table;
    if (measured.of<rows::OfInterval<rows::Entry>>().is_there) {
        const auto ledger = ledger_of(measured);
        for (const auto* entry : {"card", "card-missed", "card-errors"})
            put(table, entry, ledger.of(entry));
        for (const auto& [card, packets] : ledger.before_hand_over)
            put_row(table, "unexplained-before", {{"of", card}}, packets);
        for (const auto& [entry, packets] :
             {std::pair("received", &ledger.of("received")), std::pair("delivered", &ledger.delivered),
              std::pair("passed-on", &ledger.of("passed-on")), std::pair("dropped", &ledger.dropped),
              std::pair("listen-queue", &ledger.of("listen-queue")),
              std::pair("under-way-before", &ledger.of("under-way-before")),
              std::pair("under-way", &ledger.of("under-way"))})
            put(table, entry, *packets);
        put_row(table, "unexplained", {}, ledger.unexplained);
        if (ledger.unexplained < 0) put_row(table, "miscounted", {}, -ledger.unexplained);
        put(table, "not-followed", ledger.of("not-followed"));
        say(ledger, results);
    }
    results.put(std::move(table));
}

}  // namespace stapgen::kinds::ledger
