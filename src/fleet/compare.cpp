// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"
#include "fleet/results.h"
#include "show/document.h"
#include "show/model/texts.h"
#include "show/text/sections.h"

namespace stapgen::fleet {

namespace {

using show::change_percent;
using show::duration_text;
using show::Kind;
using study::Contrast;
using study::Deviation;

std::string interval_text(const study::Tested& tested, std::string_view unit) {
    return fmt::format("[{}{}, {}{}]", change_percent(tested.low), unit, change_percent(tested.high), unit);
}

/// "ip-tcp p50 +752 %"
template <class Row>
std::string change_of(const Row& row) {
    return fmt::format("{} p{} {} %", row.stage, row.statistic, change_percent(row.change));
}

template <class Row>
std::string change_text(const Row& row, double from_ns, double to_ns) {
    return fmt::format("is different: {} {}, from {} to {}", change_of(row), interval_text(row, " %"),
                       duration_text(from_ns), duration_text(to_ns));
}

std::string host_text(const Deviation& deviation) {
    return fmt::format("{} {}", deviation.host, change_text(deviation, deviation.others_ns, deviation.value_ns));
}

std::string level_text(const Contrast& contrast) {
    const auto same = fmt::format("{}", fmt::join(contrast.same_hosts, " and "));
    return fmt::format("{}{} {}, {} hosts against {} of {}", contrast.level,
                       same.empty() ? "" : fmt::format(" (the same hosts: {})", same),
                       change_text(contrast, contrast.base_ns, contrast.value_ns), contrast.hosts, contrast.base_hosts,
                       contrast.base);
}

/// "2 kernels", "1 value of label dc".
std::string count_text(const std::string& factor, std::size_t count) {
    const auto plural = count == 1 ? "" : "s";
    return factor == kernel_factor ? fmt::format("{} {}{}", count, factor, plural)
                                   : fmt::format("{} value{} of {}", count, plural, factor);
}

/// A host or a level beside what it is compared with.
struct Beside : study::Tested {
    std::string kind, name, stage, statistic;
    std::size_t n = 0;
    double value_ns = 0, others_ns = 0;
    std::string compared_with;

    static constexpr About about{.name = "rows"};
    static constexpr void columns(auto&& column) {
        column(table::Key(), "kind", &Beside::kind);
        column(table::Key(), "name", &Beside::name);
        column(table::Key(), "stage", &Beside::stage);
        column(table::Key(), "statistic", &Beside::statistic);
        column(Separate(), "n", &Beside::n);
        column(Separate(), "value_ns", &Beside::value_ns);
        column(Separate(), "others_ns", &Beside::others_ns);
        column(Separate(), "compared_with", &Beside::compared_with);
        Tested::columns(column);
    }
};

std::vector<Beside> hosts_of(const Comparison& comparison) {
    std::vector<Beside> rows;
    for (const auto& row : comparison.deviations) {
        rows.push_back({row, "host", row.host, row.stage, row.statistic, static_cast<std::size_t>(row.n), row.value_ns,
                        row.others_ns, fmt::format("{} of {}", row.others, row.cohort_name())});
    }
    return rows;
}

std::vector<Beside> levels_of(const Comparison& comparison) {
    std::vector<Beside> rows;
    for (const auto& row : comparison.factors.contrasts) {
        const auto within = fmt::format("{}", fmt::join(row.within, ", "));
        rows.push_back({row, row.factor, row.level, row.stage, row.statistic, row.hosts, row.value_ns, row.base_ns,
                        fmt::format("{} of {}{}", row.base_hosts, row.base,
                                    within.empty() ? "" : fmt::format(" with the same {}", within))});
    }
    return rows;
}

/// The rows that stand out and the next ones up to `most`. Whether there is one that does not stand out. `names`: of
/// what differs, its number and its value.
bool write_table(std::ostream& out, const std::vector<Beside>& rows, std::size_t most, const base::Screen& screen,
                 const std::array<const char*, 3>& names) {
    const auto& [name, n, value] = names;
    const show::Style style;
    show::Table table{"",
                      {{name, Kind::head},
                       {"STAGE [us]", Kind::text},
                       {"STAT", Kind::text},
                       {n},
                       {"OTHERS"},
                       {value},
                       {"CHANGE"},
                       {.name = "95% CI", .leaves = 2},
                       {.name = "P", .leaves = 1},
                       {"COMPARED WITH", Kind::text}}};
    bool is_same = false;
    for (const auto& row : rows) {
        if (!row.stands_out && table.rows.size() >= most) continue;
        is_same = is_same || !row.stands_out;
        const auto ink = !row.stands_out ? base::Ink::plain : row.change > 0 ? base::Ink::bad : base::Ink::good;
        table.rows.push_back({{row.name},
                              {row.stage},
                              {"p" + row.statistic},
                              {fmt::to_string(row.n)},
                              {style.cell(row.others_ns)},
                              {style.cell(row.value_ns)},
                              {.text = row.stands_out ? change_percent(row.change) + "%" : "~", .ink = ink},
                              {interval_text(row, "%")},
                              {show::p_text(row.p)},
                              {row.compared_with}});
    }
    if (!table.rows.empty()) out << '\n' << show::text_of(table, screen);
    const auto left = rows.size() - table.rows.size();
    if (left > 0) out << fmt::format("... and {} more rows: --top\n", left);
    return is_same;
}

/// What is missing for a test of hosts.
std::string no_result_text(const Comparison& comparison) {
    constexpr auto needed = study::others_needed + 1;
    const auto& members = comparison.members;
    if (members.size() < needed) {
        return fmt::format("no result: {} of {} hosts; measure on {} more", members.size(), needed,
                           needed - members.size());
    }
    const auto percentile = std::ranges::min_element(comparison.percentiles, {}, &table::Percentile::percent);
    if (percentile == comparison.percentiles.end()) return "no result: no percentile was asked for";
    const auto samples = table::values_needed(percentile->percent);
    const auto has_enough = [&](const study::Member& member) {
        return std::ranges::any_of(member.stages,
                                   [&](const study::Stage& stage) { return stage.stats.n() >= samples; });
    };
    return fmt::format("no result: p{} needs {} samples of a stage, which {} of {} hosts have; record longer",
                       percentile->text, samples, std::ranges::count_if(members, has_enough), needed);
}

}  // namespace

bool Comparison::has_result() const {
    return !deviations.empty() || !factors.contrasts.empty();
}

std::string_view Comparison::result() const {
    if (!has_result()) return "none";
    return different() > 0 || !different_levels().empty() ? "different" : "no-difference";
}

std::size_t Comparison::different() const {
    std::set<std::size_t> found;
    for (const auto& deviation : deviations) {
        if (deviation.stands_out) found.insert(deviation.member);
    }
    return found.size();
}

std::vector<std::string> Comparison::different_levels() const {
    std::vector<std::string> found;
    for (const auto& contrast : factors.contrasts) {
        if (contrast.stands_out && std::ranges::find(found, contrast.level) == found.end())
            found.push_back(contrast.level);
    }
    return found;
}

const Deviation* Comparison::difference_of(std::string_view host) const {
    const auto found = std::ranges::find_if(
        deviations, [&](const Deviation& deviation) { return deviation.stands_out && deviation.host == host; });
    return found == deviations.end() ? nullptr : &*found;
}

std::string short_text(const Deviation& deviation) {
    return change_of(deviation);
}

void compare_members(Comparison& comparison, std::vector<table::Percentile> percentiles, double threshold) {
    comparison.percentiles = std::move(percentiles);
    comparison.threshold = threshold;
    auto& members = comparison.members;
    study::align_stages(members);
    comparison.deviations = study::find_outliers(members, comparison.percentiles, threshold);
    comparison.factors = study::compare_factors(members, comparison.deviations, comparison.percentiles, threshold);
}

std::string sentence_of(const Comparison& comparison) {
    const auto& members = comparison.members;
    if (comparison.deviations.empty()) return no_result_text(comparison);
    std::set<std::size_t> different, tested;
    std::vector<std::string> texts;
    for (const auto& deviation : comparison.deviations) {
        tested.insert(deviation.member);
        if (deviation.stands_out && different.insert(deviation.member).second) texts.push_back(host_text(deviation));
    }
    const auto untested = members.size() - tested.size();
    const auto rest = untested == 0 ? "" : fmt::format("; no result for {}", untested);
    if (texts.empty()) return fmt::format("none of {} hosts is significantly different{}", tested.size(), rest);
    const auto others = tested.size() - different.size();
    std::string of_others;
    if (others > 0)
        of_others = others == 1 ? "; the other host does not differ"
                                : fmt::format("; none of the other {} hosts differs", others);
    return fmt::format("{}{}{}", fmt::join(texts, "; "), of_others, rest);
}

std::string sentence_of(const study::FactorEffects& factors) {
    std::set<std::string> levels, different, same;
    std::vector<std::string> texts;
    for (const auto& contrast : factors.contrasts) {
        if (!contrast.stands_out) continue;
        different.insert(contrast.factor);
        if (levels.insert(contrast.level).second) texts.push_back(level_text(contrast));
    }
    for (const auto& contrast : factors.contrasts) {
        if (!different.contains(contrast.factor)) same.insert(contrast.factor);
    }
    if (!same.empty()) texts.push_back(fmt::format("no significant difference by {}", fmt::join(same, " or ")));
    for (const auto& [factor, other] : factors.goes_with)
        texts.push_back(fmt::format("{} coincides with {}, so their effects cannot be separated", factor, other));
    if (!factors.untold.empty()) {
        std::vector<std::string> counts;
        for (const auto& [factor, count] : factors.untold)
            counts.push_back(count_text(factor, count));
        texts.push_back(
            fmt::format("no result for {} with fewer than {} hosts", fmt::join(counts, " and "), study::hosts_needed));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

void write_text(std::ostream& out, const Comparison& comparison, std::size_t rows, const base::Screen& screen) {
    out << base::fitted(base::printable(sentence_of(comparison)), screen.width) << '\n';
    if (const auto sentence = sentence_of(comparison.factors); !sentence.empty())
        out << base::fitted(base::printable(sentence), screen.width) << '\n';
    const bool is_same_host = write_table(out, hosts_of(comparison), rows, screen, {"HOST", "N", "HOST"});
    const bool is_same_level =
        write_table(out, levels_of(comparison), rows, screen, {"KERNEL OR LABEL", "HOSTS", "THESE"});
    if (is_same_host || is_same_level) {
        const auto legend = fmt::format(
            "~: no significant difference (P, corrected for the number of rows, is 0.05 or more), or one of\n{:.4g} "
            "% or less\n",
            comparison.threshold * 100);
        out << '\n' << base::reflowed(legend, screen.width);
    }
    for (const auto& warning : comparison.warnings)
        show::write_warning(out, base::printable(warning), screen);
}

void write_json(std::ostream& out, const Comparison& comparison) {
    show::put_json(out, show::document("stapgen.fleet-compare/1", comparison), 2);
}

void write_csv(std::ostream& out, const Comparison& comparison) {
    auto rows = hosts_of(comparison);
    std::ranges::move(levels_of(comparison), std::back_inserter(rows));
    show::put_csv(out, rows);
}

}  // namespace stapgen::fleet
