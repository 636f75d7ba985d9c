// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "show/html/html_sections.h"
#include "show/model/texts.h"

namespace stapgen::show::html {

namespace {

/// Of one step; further ones are drawn together.
constexpr std::size_t max_places = 12;
/// Of a page; of more there is the table only.
constexpr std::size_t max_streams = 200;
/// Of the picture's width: so much has the widest trunk, so that there is room for what leaves it.
constexpr double widest_trunk = 0.7, narrowest = 0.01;
/// Of drops, before those of protocols.
constexpr auto steps = std::to_array<std::string_view>({"backlog", "way in", "way out"});

std::int64_t whole(double packets) {
    return static_cast<std::int64_t>(std::clamp(std::round(packets), -9e18, 9e18));
}

/// Packets that join the trunk, leave it, or are the trunk.
struct Edge {
    std::int64_t packets = 0;  ///< as the ledger has them
    int sign = -1;             ///< of what it changes: 1 joins, -1 leaves; below 0 packets do the other
    std::string_view look;     ///< "kept", "lost", "unknown"
    std::string name, of, note{};

    [[nodiscard]] double change() const { return static_cast<double>(packets) * sign; }
};
constexpr int joins = 1, passes = 0, leaves = -1;

using Packets = std::vector<std::pair<std::string, std::int64_t>>;  ///< by what they are of

class Flow {
  public:
    explicit Flow(const rows::Results& results) : results_(results) {
        add_cards();
        add_not_followed();
        edges_.push_back({sum_of("received"), passes, "kept", "received", "and followed", list_of("received")});
        const auto from = std::ssize(edges_);
        add("under-way-before", joins, "kept", "in queues of devices at the start");
        for (const auto step : steps)
            add_drops(step);
        add("under-way", leaves, "kept", "in queues of devices at the end");
        add("passed-on", leaves, "kept", "given to the driver of another device");
        add("listen-queue", leaves, "lost", "a listening socket's queue was full");
        add_protocols();
        const auto unexplained = sum_of("unexplained");
        // What ended more often than it arrived is there from the beginning.
        if (unexplained != 0)
            edges_.insert(
                unexplained < 0 ? edges_.begin() + from : edges_.end(),
                {unexplained, leaves, "unknown", "unexplained", "",
                 unexplained < 0 ? "the ledger is wrong: these ended more than once, or did not arrive"
                                 : "a program or module without an event took them, or they are on their way"});
        if (const auto rest = whole(sum()); rest != 0)
            edges_.insert(rest < 0 ? edges_.begin() + from : edges_.end(),
                          {rest, leaves, "unknown", "rest", "", "the ledger does not add up"});
    }

    [[nodiscard]] std::vector<Stream> drawn() const {
        double trunk = 0, widest = 1;
        for (const auto& edge : edges_) {
            trunk += edge.change();
            widest = std::max({widest, trunk, std::abs(edge.change())});
        }
        const auto scale = widest_trunk / widest;
        const auto width_of = [&](double packets) { return packets > 0 ? std::max(narrowest, packets * scale) : 0; };
        const auto received = static_cast<double>(std::max<std::int64_t>(1, sum_of("received")));
        std::vector<Stream> streams;
        trunk = 0;
        for (const auto& edge : edges_) {
            const auto before = std::exchange(trunk, trunk + edge.change());
            const auto beside = std::max(0.0, std::min(before, trunk)), width = width_of(std::abs(edge.change()));
            const bool joins_it = edge.change() > 0;
            streams.push_back(
                {.count = base::with_commas(edge.packets),
                 .name = edge.name,
                 .of = edge.of,
                 .note = edge.note,
                 .title = fmt::format("{}{}{}: {} packets, {} of those received", edge.name, edge.of.empty() ? "" : " ",
                                      edge.of, edge.packets, percent(static_cast<double>(edge.packets) / received)),
                 .look = std::string(edge.look),
                 .width = width,
                 .top = joins_it ? 1 - width : beside * scale,
                 .bottom = joins_it ? beside * scale : 1 - width,
                 .trunk = width_of(beside)});
        }
        return streams;
    }

  private:
    /// In the order of the table.
    [[nodiscard]] Packets of(std::string_view entry) const {
        Packets packets;
        for (const auto& row : results_.of<rows::Ledger>()) {
            const auto* field = find_field(row.group, "of");
            if (row.entry == entry) packets.emplace_back(field == nullptr ? "" : group_text(*field), row.packets);
        }
        return packets;
    }
    [[nodiscard]] std::int64_t sum_of(std::string_view entry) const {
        std::int64_t sum = 0;
        for (const auto& [of, packets] : this->of(entry))
            base::add_saturating(sum, packets);
        return sum;
    }
    [[nodiscard]] double sum() const {
        double sum = 0;
        for (const auto& edge : edges_)
            sum += edge.change();
        return sum;
    }
    [[nodiscard]] std::string list_of(std::string_view entry) const {
        std::string text;
        for (const auto& [of, packets] : this->of(entry))
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", of, base::with_commas(packets));
        return text;
    }

    void add(
        std::string_view entry, int sign, std::string_view look, std::string note,
        const std::function<bool(const std::string&)>& is_wanted = [](const auto&) { return true; }) {
        for (const auto& [of, packets] : this->of(entry))
            if (packets != 0 && is_wanted(of)) edges_.push_back({packets, sign, look, std::string(entry), of, note});
    }

    /// What reached the kernel: by cards, as far as their counters are known, and by other devices.
    void add_cards() {
        std::set<std::string> cards;
        for (const auto& [card, packets] : of("card"))
            cards.insert(card);
        add("card-missed", joins, "kept", "came to the card");
        add("card-errors", joins, "kept", "came to the card");
        add("card", joins, "kept", "counted by the card");
        add("card-missed", leaves, "lost", "the card had no free buffer (rx_missed_errors)");
        add("card-errors", leaves, "lost", "damaged (rx_errors)");
        add("unexplained-before", leaves, "unknown",
            "not handed over by the card: a native XDP program, AF_XDP or the driver took them");
        add("received", joins, "kept", "by a device without a card's counters",
            [&](const std::string& device) { return !cards.contains(device); });
    }
    /// The ledger has them by reason, not by device: those that no card counted join first.
    void add_not_followed() {
        const auto more =
            base::saturating_subtract(base::saturating_add(sum_of("received"), sum_of("not-followed")), whole(sum()));
        if (more > 0) {
            edges_.push_back({more, joins, "unknown", "not counted", "by a card",
                              "not followed, of other devices; or merged by a card, which counts them as one"});
        }
        if (more < 0) {
            edges_.push_back({more, joins, "unknown", "not received", "",
                              "handed over by a card, and neither received nor counted as not followed"});
        }
        add("not-followed", leaves, "unknown", "counted where they arrive");
    }
    /// By place and reason.
    void add_drops(std::string_view step) {
        std::int64_t rest = 0;
        for (const auto& [of, packets] : this->of("dropped"))
            if (of == step) base::add_saturating(rest, packets);
        std::vector<const rows::Drop*> places;
        for (const auto& drop : results_.of<rows::Drop>()) {
            const auto* field = find_field(drop.group, "step");
            if (field != nullptr && group_text(*field) == step && !drop.benign) places.push_back(&drop);
        }
        std::ranges::stable_sort(places, std::greater{}, &rows::Drop::count);
        std::size_t drawn = 0;
        for (const auto* drop : places) {
            if (drawn == max_places || drop->count <= 0 || drop->count > rest) break;
            auto note = fmt::format("{}, {}", place_text(drop->place), reason_text(drop->reason));
            auto group = drop->group;
            std::erase_if(group, [](const auto& field) { return field.key == "step" || group_text(field).empty(); });
            if (!group.empty()) note += ", " + group_text(group);
            if (!drop->advice.empty()) note += ": " + drop->advice;
            edges_.push_back({drop->count, leaves, "lost", "dropped", std::string(step), std::move(note)});
            rest -= drop->count;
            ++drawn;
        }
        if (rest != 0)
            edges_.push_back(
                {rest, leaves, "lost", "dropped", std::string(step), drawn == 0 ? "" : "at other places: see below"});
    }
    /// What reached them ends there, or was dropped by them.
    void add_protocols() {
        std::vector<std::string> protocols;
        for (const auto* entry : {"delivered", "dropped"}) {
            for (const auto& [of, packets] : this->of(entry)) {
                const bool is_step = std::ranges::find(steps, of) != steps.end();
                if (!is_step && std::ranges::find(protocols, of) == protocols.end()) protocols.push_back(of);
            }
        }
        for (const auto& protocol : protocols) {
            add_drops(protocol);
            add("delivered", leaves, "kept", "", [&](const std::string& of) { return of == protocol; });
        }
    }

    const rows::Results& results_;
    std::vector<Edge> edges_;
};

}  // namespace

void draw(Section& to, section::Ledger section, const Report& of) {
    auto sheet = section.sheet(of.results);
    // The first one is the answer.
    to.paragraphs.assign(sheet.sentences.begin() + !sheet.sentences.empty(), sheet.sentences.end());
    to.flow = Flow(of.results).drawn();
    if (to.flow.size() > max_streams) to.flow.clear();
    sheet.table.folded = !to.flow.empty();
    to.tables.push_back(bounded(std::move(sheet.table)));
}

}  // namespace stapgen::show::html
