#include "fleet/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "report/json.h"
#include "report/model/texts.h"
#include "report/text/sections.h"

namespace stapgen::fleet {

namespace {

using analyze::Deviation;
using report::change_percent;

std::string interval_text(const Deviation& deviation, std::string_view unit) {
    return fmt::format("[{}{}, {}{}]", change_percent(deviation.low), unit, change_percent(deviation.high), unit);
}

std::string host_text(const Comparison& comparison, const Deviation& deviation) {
    return fmt::format("{} is different: {} p{} {} % {}, from {} to {}", comparison.members[deviation.member].name,
                       deviation.stage, deviation.statistic, change_percent(deviation.change),
                       interval_text(deviation, " %"), report::duration_text(deviation.others_ns),
                       report::duration_text(deviation.value_ns));
}

/// What a person reads of a cohort: fleet::member_of().
std::string cohort_text(const Deviation& deviation) {
    return fmt::format("{} of {}", deviation.others, deviation.cohort.substr(0, deviation.cohort.find('\t')));
}

}  // namespace

std::size_t Comparison::different() const {
    std::set<std::size_t> found;
    for (const auto& deviation : deviations) {
        if (deviation.stands_out) found.insert(deviation.member);
    }
    return found.size();
}

std::string sentence_of(const Comparison& comparison) {
    const auto& members = comparison.members;
    if (comparison.deviations.empty()) {
        return fmt::format(
            "cannot be told: a host is compared with {} others or more that run the same, by values enough for a "
            "percentile",
            analyze::others_needed);
    }
    std::set<std::size_t> told, tested;
    std::vector<std::string> texts;
    for (const auto& deviation : comparison.deviations) {
        tested.insert(deviation.member);
        if (deviation.stands_out && told.insert(deviation.member).second)
            texts.push_back(host_text(comparison, deviation));
    }
    const auto untested = members.size() - tested.size();
    const auto rest = untested == 0 ? "" : fmt::format("; of {} it cannot be told", untested);
    if (texts.empty()) return fmt::format("none of {} hosts can be told from the others{}", tested.size(), rest);
    const auto others = tested.size() - told.size();
    return fmt::format("{}; {}{}", fmt::join(texts, "; "),
                       others == 1 ? "the other is not" : fmt::format("none of the {} others is", others), rest);
}

void write_text(std::ostream& out, const Comparison& comparison, std::size_t rows) {
    using report::Kind;
    out << base::printable(sentence_of(comparison)) << '\n';
    report::Table table{"",
                        {{"HOST", Kind::head},
                         {"STAGE [us]", Kind::text},
                         {"STAT", Kind::text},
                         {"N"},
                         {"OTHERS"},
                         {"HOST"},
                         {"CHANGE"},
                         {"95% CI"},
                         {"P"},
                         {"COMPARED WITH", Kind::text}}};
    const report::Style style;
    bool is_same = false;
    for (const auto& deviation : comparison.deviations) {
        if (!deviation.stands_out && table.rows.size() >= rows) continue;
        is_same = is_same || !deviation.stands_out;
        table.rows.push_back({{comparison.members[deviation.member].name},
                              {deviation.stage},
                              {"p" + deviation.statistic},
                              {fmt::to_string(deviation.n)},
                              {style.cell(deviation.others_ns)},
                              {style.cell(deviation.value_ns)},
                              {deviation.stands_out ? change_percent(deviation.change) + "%" : "~"},
                              {interval_text(deviation, "%")},
                              {report::p_text(deviation.p)},
                              {cohort_text(deviation)}});
    }
    if (!table.rows.empty()) out << '\n' << report::text_of(table);
    const auto left = comparison.deviations.size() - table.rows.size();
    if (left > 0) out << fmt::format("... and {} more rows: --top\n", left);
    if (is_same) {
        out << fmt::format(
            "\n~: cannot be told from the others (P, corrected for the number of rows, is 0.05 or more), "
            "or differs\nby {:.4g} % or less\n",
            comparison.threshold * 100);
    }
    for (const auto& warning : comparison.warnings)
        out << "WARNING: " << base::printable(warning) << '\n';
}

void write_json(std::ostream& out, const Comparison& comparison) {
    using Json = nlohmann::ordered_json;
    auto rows = Json::array();
    for (const auto& deviation : comparison.deviations) {
        rows.push_back({{"host", comparison.members[deviation.member].name},
                        {"stage", deviation.stage},
                        {"statistic", deviation.statistic},
                        {"n", deviation.n},
                        {"value_ns", deviation.value_ns},
                        {"others_ns", deviation.others_ns},
                        {"others", deviation.others},
                        {"cohort", deviation.cohort.substr(0, deviation.cohort.find('\t'))},
                        {"change", deviation.change},
                        {"change_low", deviation.low},
                        {"change_high", deviation.high},
                        {"p", deviation.p},
                        {"stands_out", deviation.stands_out}});
    }
    report::put_json(out,
                     Json{{"schema", "stapgen.fleet-compare/1"},
                          {"recipe", comparison.recipe},
                          {"sentence", sentence_of(comparison)},
                          {"hosts", comparison.members.size()},
                          {"different", comparison.different()},
                          {"threshold", comparison.threshold},
                          {"warnings", comparison.warnings},
                          {"rows", std::move(rows)}},
                     2);
}

}  // namespace stapgen::fleet
