#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>

#include "report/json.h"
#include "report/model/texts.h"

namespace stapgen::report {

namespace {

using Json = nlohmann::ordered_json;

std::string name_of(analyze::Verdict verdict) {
    using enum analyze::Verdict;
    static const std::map<analyze::Verdict, std::string> names{
        {same, "same"}, {slower, "slower"}, {faster, "faster"}, {too_few, "too_few"}, {untested, "untested"}};
    return names.at(verdict);
}

Json change_json(const analyze::Change& change) {
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

Json side_json(const analyze::Side& side) {
    return {{"recordings", side.recordings}, {"blocks", side.blocks}, {"block_ns", side.block_ns}};
}

Json head_json(const analyze::Comparison& comparison) {
    return {{"schema", "stapgen.compare/1"},
            {"recipe", comparison.recipe},
            {"sentence", comparison_sentence(comparison)},
            {"regression", comparison.has_regression()},
            {"threshold", comparison.threshold},
            {"by_recording", comparison.by_recording},
            {"before", side_json(comparison.before)},
            {"after", side_json(comparison.after)},
            {"warnings", comparison.warnings}};
}

std::string cell_of(const Json& value) {
    if (value.is_null()) return "";
    return value.is_string() ? csv_cell(value.get<std::string>()) : value.dump();
}

}  // namespace

void put_json(std::ostream& out, const nlohmann::ordered_json& json, int indent) {
    out << json.dump(indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void write_comparison_json(std::ostream& out, const analyze::Comparison& comparison, const analyze::Summary& /*before*/,
                           const analyze::Summary& /*after*/, const Options& /*options*/) {
    auto document = head_json(comparison);
    auto changes = Json::array();
    for (const auto& change : comparison.changes)
        changes.push_back(change_json(change));
    document["changes"] = std::move(changes);
    put_json(out, document, 2);
}

void write_comparison_ndjson(std::ostream& out, const analyze::Comparison& comparison,
                             const analyze::Summary& /*before*/, const analyze::Summary& /*after*/,
                             const Options& /*options*/) {
    put_json(out, head_json(comparison), -1);
    for (const auto& change : comparison.changes)
        put_json(out, change_json(change), -1);
}

void write_comparison_csv(std::ostream& out, const analyze::Comparison& comparison, const analyze::Summary& /*before*/,
                          const analyze::Summary& /*after*/, const Options& /*options*/) {
    const auto line = [&out](const std::vector<std::string>& cells) {
        out << fmt::format("{}\n", fmt::join(cells, ","));
    };
    std::vector<std::string> names{"recipe"};
    const auto keys = change_json({});
    for (const auto& [key, value] : keys.items())
        names.push_back(key);
    line(names);
    for (const auto& change : comparison.changes) {
        std::vector<std::string> cells{csv_cell(comparison.recipe)};
        const auto row = change_json(change);
        for (const auto& [key, value] : row.items())
            cells.push_back(cell_of(value));
        line(cells);
    }
}

}  // namespace stapgen::report
