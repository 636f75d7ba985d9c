// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>

#include "show/json.h"
#include "show/model/texts.h"

namespace stapgen::show {

namespace {

using Json = nlohmann::ordered_json;

std::string name_of(study::Verdict verdict) {
    using enum study::Verdict;
    static const std::map<study::Verdict, std::string> names{
        {same, "same"}, {slower, "slower"}, {faster, "faster"}, {too_few, "too_few"}, {untested, "untested"}};
    return names.at(verdict);
}

std::string name_of(study::Outcome outcome) {
    using enum study::Outcome;
    static const std::map<study::Outcome, std::string> names{
        {none, "none"}, {no_regression, "no-regression"}, {regression, "regression"}};
    return names.at(outcome);
}

Json change_json(const study::Change& change) {
    return {{"stage", change.stage},
            {"statistic", change.statistic},
            {"n_before", change.n_before},
            {"n_after", change.n_after},
            {"before_ns", or_null(change.before_ns)},
            {"after_ns", or_null(change.after_ns)},
            {"change", or_null(change.change)},
            {"change_low", or_null(change.low)},
            {"change_high", or_null(change.high)},
            {"p", or_null(change.p)},
            {"verdict", name_of(change.verdict)},
            {"regression", change.is_regression}};
}

Json side_json(const study::Side& side, const rows::Results& results) {
    return {{"recordings", side.recordings},
            {"blocks", side.blocks},
            {"block_ns", side.block_ns},
            {"usable_blocks", side.usable},
            {"needed_blocks", side.needed},
            {"missing_ns", or_null(side.missing_ns())},
            {"definition", or_null(results.one<rows::Report>().definition)},
            {"origins", origins_json(results)}};
}

Json head_json(const Compared& compared) {
    const auto& comparison = compared.comparison;
    return {{"schema", "stapgen.compare/1"},
            {"recipe", comparison.recipe},
            {"group", group_json(comparison.group)},
            {"sentence", comparison_sentence(comparison)},
            {"result", name_of(comparison.outcome())},
            {"regression", comparison.has_regression()},
            {"only_before", comparison.only_before},
            {"only_after", comparison.only_after},
            {"threshold", comparison.threshold},
            {"by_recording", comparison.by_recording},
            {"before", side_json(comparison.before, compared.before)},
            {"after", side_json(comparison.after, compared.after)},
            {"warnings", comparison.warnings}};
}

std::string cell_of(const Json& value) {
    if (value.is_null()) return "";
    return value.is_string() ? csv_cell(value.get<std::string>()) : value.dump();
}

Json document_of(const Compared& compared) {
    auto document = head_json(compared);
    auto changes = Json::array();
    for (const auto& change : compared.comparison.changes)
        changes.push_back(change_json(change));
    document["changes"] = std::move(changes);
    for (const auto& part : compared.comparison.parts) {
        document["parts"].push_back(
            {{"stage", part.stage}, {"cause", part.cause}, {"before_ns", part.before_ns}, {"after_ns", part.after_ns}});
    }
    for (const auto& change : compared.comparison.failures) {
        document["failures"].push_back({{"cause", change.cause.empty() ? Json(nullptr) : Json(change.cause)},
                                        {"before", change.before},
                                        {"after", change.after},
                                        {"before_share", or_null(change.before_share)},
                                        {"after_share", or_null(change.after_share)},
                                        {"p", or_null(change.p)},
                                        {"regression", change.is_regression}});
    }
    return document;
}

}  // namespace

void put_json(std::ostream& out, const nlohmann::ordered_json& json, int indent) {
    out << json.dump(indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void write_comparisons_json(std::ostream& out, std::span<const Compared> all, const Options& /*options*/) {
    if (all.size() == 1) return put_json(out, document_of(all.front()), 2);
    out << "{\"schema\": \"stapgen.compares/1\", \"comparisons\": [\n";
    for (const auto& compared : all) {
        if (&compared != &all.front()) out << ',';
        put_json(out, document_of(compared), -1);
    }
    out << "]}\n";
}

void write_comparisons_ndjson(std::ostream& out, std::span<const Compared> all, const Options& /*options*/) {
    for (const auto& compared : all) {
        put_json(out, head_json(compared), -1);
        for (const auto& change : compared.comparison.changes)
            put_json(out, change_json(change), -1);
    }
}

void write_comparisons_csv(std::ostream& out, std::span<const Compared> all, const Options& /*options*/) {
    const auto line = [&out](const std::vector<std::string>& cells) {
        out << fmt::format("{}\n", fmt::join(cells, ","));
    };
    // The groups of all comparisons have the same keys.
    std::vector<std::string> names{"recipe"};
    const auto keys = change_json({});
    for (const auto& [key, value] : keys.items())
        names.push_back(key);
    for (const auto& field : all.front().comparison.group)
        names.push_back(csv_cell(field.key));
    line(names);
    for (const auto& [comparison, before, after] : all) {
        for (const auto& change : comparison.changes) {
            std::vector<std::string> cells{csv_cell(comparison.recipe)};
            const auto row = change_json(change);
            for (const auto& [key, value] : row.items())
                cells.push_back(cell_of(value));
            for (const auto& field : comparison.group)
                cells.push_back(csv_cell(group_text(field)));
            line(cells);
        }
    }
}

}  // namespace stapgen::show
