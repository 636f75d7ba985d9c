// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/text.h"
#include "show/text/sections.h"
#include "study/why.h"
#include "table/texts.h"

namespace stapgen::show {

namespace {

using study::Why;

constexpr std::size_t most_lines = 15, fewest_rows = 3;
/// Of the time or of a tail: what is less has no row.
constexpr double row_share = 0.01;

std::size_t lines_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string line(std::string_view text, const Options& options) {
    return text.empty() ? "" : base::wrapped(text, options.width(), 2) + '\n';
}

std::string percent_text(double part) {
    return fmt::format("{}%", table::whole_percent(part));
}

/// As many as there is room for, the largest first: what is explained first has a row, and what is most of the tail,
/// before what has more of the time.
std::vector<const study::WhyPart*> shown_of(const Why& why, std::size_t most) {
    std::vector<const study::WhyPart*> shown;
    for (const auto& part : why.parts) {
        const bool is_small = part.share < row_share && part.excess.value_or(0) < row_share;
        if (!is_small || shown.empty()) shown.push_back(&part);
    }
    const std::span explained(why.causes.data(), std::min(why.causes.size(), fewest_rows - 1));
    const auto is_wanted = [&](const study::WhyPart& part) {
        return part.excess.value_or(0) >= 0.5 ||
               std::ranges::find(explained, part.name, &rows::CauseOfWait::part) != explained.end();
    };
    for (auto at = std::ssize(shown) - 1; at > 0 && shown.size() > most; --at)
        if (!is_wanted(*shown[static_cast<std::size_t>(at)])) shown.erase(shown.begin() + at);
    shown.resize(std::min(shown.size(), most));
    return shown;
}

std::vector<Cell> row_of(const study::WhyPart& part) {
    const auto time = [](const auto& ns) { return Cell{ns ? table::duration_text(*ns) : "-"}; };
    return {{part.name},
            {fmt::format("{:.1f}%", part.share * 100)},
            {part.excess ? percent_text(*part.excess) : "-"},
            {base::with_commas(part.n)},
            time(part.p50_ns),
            time(std::optional(part.mean_ns)),
            time(part.p99_ns)};
}

/// "tcp-app.wake-up 45%".
Cell cause_cell(const std::string& cause, const std::optional<double>& share) {
    return {cause.empty() || !share ? "-" : fmt::format("{} {}", cause, percent_text(*share))};
}

std::vector<Cell> row_of(const study::WhyGroup& group) {
    return {{group_text(group.group)},
            {base::with_commas(group.n)},
            {fmt::format("{:.1f}%", group.share * 100)},
            cause_cell(group.cause, group.cause_share),
            {base::with_commas(group.n_slow)},
            cause_cell(group.slow_cause, group.slow_cause_share)};
}

/// What is left of the lines. Only a terminal has few.
class Room {
  public:
    explicit Room(const Options& options) {
        if (options.screen.width > 0) left_ = most_lines;
    }

    /// Whether there is room for it; then it is taken.
    bool take(std::size_t lines) {
        const bool fits = lines <= left_;
        if (fits) left_ -= lines;
        return fits;
    }
    /// What is there in any case.
    void claim(std::size_t lines) { left_ -= std::min(lines, left_); }
    [[nodiscard]] std::size_t left() const { return left_; }

  private:
    std::size_t left_ = std::numeric_limits<std::size_t>::max() / 2;
};

/// "to keep the seconds before the next one: ...", and how often that would have held.
std::string proposal_of(const Why& why) {
    if (why.proposals.empty()) return {};
    const auto& proposal = why.proposals.front();
    const auto held = proposal.held == 0
                          ? fmt::format("in none of {} intervals", proposal.intervals)
                          : fmt::format("{}, in {} of {} intervals",
                                        proposal.times == 1 ? "once" : fmt::format("{} times", proposal.times),
                                        proposal.held, proposal.intervals);
    return fmt::format(
        "to keep the seconds before the next one: stapgen {} --keep 30s --when '{}'; here it would have "
        "held {}, at most {}",
        base::printable(why.recipe), proposal.condition, held, table::duration_text(proposal.largest_ns));
}

/// What the column SLOW is about; empty: there is no tail.
std::string legend_of(const Why& why) {
    const auto tail = study::tail_text(why.ways);
    if (tail.empty()) return {};
    const auto& first = why.ways.front();
    if (why.ways.size() > 1 || !first.name.empty())
        return fmt::format("SLOW: of the extra time above p99, by direction: {}", tail);
    return fmt::format("SLOW: of the extra time of {} {}{} above {} (p99)", base::with_commas(first.n_slow), why.noun,
                       first.n_slow == 1 ? "" : "s", table::duration_text(*first.threshold_ns));
}

void write_answer(std::ostream& out, const Why& why, const Options& options) {
    const auto packets = study::packets_text(why.ways, why.noun);
    std::string title;
    for (const auto& sentence : why.kept_lines)
        title += line(sentence, options);
    title += line(fmt::format("{}{}{}", why.span, why.span.empty() || packets.empty() ? "" : ": ", packets), options);
    if (!why.nothing.empty()) {
        out << title << line(why.nothing, options);
        return;
    }
    const auto answer = line(why.answer, options);
    const auto legend = line(legend_of(why), options);
    const auto caveats = line(fmt::format("{}", fmt::join(why.caveats, "; ")), options);
    const auto things = base::upper(why.noun + 's');
    Room room(options);
    if (!why.groups.empty()) {
        Table table{
            "",
            {{"GROUP", Kind::text}, {things}, {"ALL"}, {"MOSTLY", Kind::text}, {"SLOW"}, {"THESE MOSTLY", Kind::text}}};
        room.claim(lines_of(title) + lines_of(answer) + 1 + lines_of(legend) + lines_of(caveats));
        for (const auto& group : why.groups)
            if (room.take(1)) table.rows.push_back(row_of(group));
        out << title << answer << text_of(table, options.screen) << legend << caveats;
        return;
    }
    Table table{"", {{"PART", Kind::text}, {"ALL"}, {"SLOW"}, {things}, {"MEDIAN"}, {"MEAN"}, {"P99"}}};
    room.claim(lines_of(title) + lines_of(answer) + 1 + shown_of(why, fewest_rows).size() + lines_of(legend) +
               lines_of(caveats));
    struct Block {
        std::string what, known, remedy;
    };
    std::vector<Block> blocks;
    for (const auto& cause : why.causes) {
        const Block block{line(fmt::format("{}: {}", cause.part, cause.what), options),
                          "  " + base::wrapped("known: " + cause.known, options.width(), 4, 2) + '\n',
                          "  " + base::wrapped("remedy: " + cause.remedy, options.width(), 4, 2) + '\n'};
        if (!room.take(lines_of(block.what) + lines_of(block.remedy))) break;
        blocks.push_back(block);
    }
    for (auto& block : blocks)
        if (!room.take(lines_of(block.known))) block.known.clear();
    std::string functions;
    for (const auto& sentence : why.functions) {
        auto next = line(sentence, options);
        if (room.take(lines_of(next))) functions += next;
    }
    auto proposal = line(proposal_of(why), options);
    if (!room.take(lines_of(proposal))) proposal.clear();
    auto reads = line(why.reads, options);
    if (!room.take(lines_of(reads))) reads.clear();
    for (const auto* part : shown_of(why, fewest_rows + room.left()))
        table.rows.push_back(row_of(*part));
    out << title << answer << text_of(table, options.screen) << legend;
    for (const auto& [what, known, remedy] : blocks)
        out << what << known << remedy;
    out << functions << reads << proposal << caveats;
}

}  // namespace

void write_whys(std::ostream& out, const Reports& reports, const Options& options) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
        if (i > 0) out << '\n';
        write_answer(out, study::why_of(reports.results(i, options)), options);
    }
}

}  // namespace stapgen::show
