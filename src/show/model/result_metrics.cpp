// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/result_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kernel.h"
#include "show/model/texts.h"

namespace stapgen::show {

namespace {

using metrics::Family;
using metrics::Labels;
using table::held;
using table::Value;

/// A label of all samples of a source. A place has the label "module", too; of a group its fields are labels.
struct Label {
    std::string_view name;
    std::string_view column = name;  ///< where the value is
    std::string_view value{};        ///< of a label without a column
    bool each = false;  ///< of what the user named: each name is a label behind this, else all are the value
};

enum class When { always, ended, goes_on };

/// Each row is a sample; of "stages" parts are, or all others. A flag counts where it is not set; a mean has the number
/// of values in the column "n". Of a table with groups only the whole counts, unless they are a label.
struct Source {
    std::string_view table, column;
    std::vector<Label> labels{};  ///< behind "recipe"
    When when = When::always;
    bool are_parts = false;
};

struct FamilySources {
    Family family;
    std::vector<Source> sources;
};

Label constant(std::string_view name, std::string_view value) {
    return {name, "", value};
}

/// A count of the account, or of its causes.
Source fate(std::string_view name, When when = When::always) {
    return {"accounting", name, {constant("fate", name), constant("cause", "")}, when};
}
Source fates(std::string_view table, std::string_view name, When when = When::always) {
    return {table, "count", {constant("fate", name), {"cause", "name"}}, when};
}
Source loss(std::string_view kind) {
    return {"accounting.transport", kind, {constant("kind", kind)}};
}
Source lines(std::string_view column, std::string_view understood) {
    return {"input", column, {constant("understood", understood)}};
}

/// All families, in the order in which they are written. Of a run there is what is bounded: no command, and no value of
/// a filter.
const std::vector<FamilySources>& all_families() {
    static const std::vector<FamilySources> all{
        {{"stapgen_run", metrics::Type::info, "", "The host and the definition of a measurement."},
         {{"origins",
           "number",
           {{"host"},
            {"machine"},
            {"kernel"},
            {"build_id"},
            {"filters"},
            {"sample"},
            {"definition"},
            {.name = "label_", .column = "labels", .each = true}}}}},
        {{"stapgen_stage_seconds", metrics::Type::histogram, "seconds",
          "Durations of each stage of the network stack."},
         {{"stages", "distribution", {{"stage"}}}}},
        {{"stapgen_part_seconds", metrics::Type::histogram, "seconds",
          "Stages divided by what packets waited for: the parts of a stage add up to it."},
         {{"stages", "distribution", {{"stage", "part_of"}, {"cause"}}, When::always, true}}},
        {{"stapgen_group_stage_seconds", metrics::Type::histogram, "seconds",
          "The same for each group: the groups are parts of stapgen_stage_seconds."},
         {{"group_stages", "distribution", {{"stage"}, {"group"}}}}},
        {{"stapgen_value", metrics::Type::summary, "", "Values that are not durations."},
         {{"values", "distribution", {{"value"}}}, {"averages", "mean", {{"value", "name"}}}}},
        {{"stapgen_average_seconds", metrics::Type::summary, "seconds", "Durations known by their means only."},
         {{"averages", "mean_ns", {{"stage", "name"}}}}},
        {{"stapgen_drops", metrics::Type::counter, "", "Packets dropped, by place and reason."},
         {{"drops", "count", {{"place"}, {"reason"}, {"benign"}, {"group"}}}}},
        {{"stapgen_counted", metrics::Type::counter, "", "Sums of what a recipe counts, by its keys."},
         {{"counts", "count", {{"counted"}, {"group"}}}}},
        {{"stapgen_seen", metrics::Type::counter, "", "Everything the script examined: the sum of stapgen_records."},
         {{"accounting", "seen"}}},
        {{"stapgen_records", metrics::Type::counter, "", "The account of everything seen."},
         {fate("reported"), fate("filtered"), fates("accounting.incomplete_by", "incomplete", When::ended),
          fates("accounting.lost_by", "lost"), fate("unaccounted", When::ended)}},
        {{"stapgen_incomplete", metrics::Type::gauge, "", "Seen, but not through all stages, or not yet."},
         {{"accounting.incomplete_by", "count", {{"cause", "name"}}, When::goes_on}}},
        {{"stapgen_beside", metrics::Type::counter, "", "Counts of the script outside the account."},
         {{"accounting.other", "count", {{"name"}}}}},
        {{"stapgen_losses", metrics::Type::counter, "", "What SystemTap lost by its own account."},
         {loss("skipped_probes"), loss("probe_errors"), loss("transport_failures")}},
        {{"stapgen_kernel_counter", metrics::Type::counter, "", "Rises of kernel counters."},
         {{"counters", "count", {{"counter", "name"}}}}},
        {{"stapgen_input_lines", metrics::Type::counter, "", "Lines of the input, understood or not."},
         {lines("recognised", "true"), lines("unrecognised", "false")}},
        {{"stapgen_not_closed", metrics::Type::counter, "", "Reports whose input ends without its last line."},
         {{"accounting", "closed", {}, When::ended}}}};
    return all;
}

/// A field's name as a label's; those that the format or this file use are set apart.
std::string label_of(std::string_view key) {
    constexpr std::array<std::string_view, 9> taken{"recipe",   "stage",      "value", "le",  "counted",
                                                    "quantile", "definition", "loss",  "unit"};
    auto name = metrics::label_name(key);
    const bool is_taken = std::ranges::find(taken, name) != taken.end();
    if (is_taken || name.empty() || (name[0] >= '0' && name[0] <= '9') || name.starts_with("__"))
        name.insert(0, "group_");
    return name;
}

/// Appends labels made of a cell.
struct LabelsOf {
    const Label& label;
    Labels& to;

    void put(std::string text) const { to.emplace_back(label.name, std::move(text)); }

    void operator()(std::monostate /*nothing*/) const { put(""); }
    void operator()(bool flag) const { put(flag ? "true" : "false"); }
    void operator()(std::int64_t count) const { put(fmt::to_string(count)); }
    void operator()(const std::string& text) const { put(text); }
    void operator()(const table::Shared<table::Reason>& reason) const { put(reason_or_empty(*reason)); }
    void operator()(const table::Shared<table::Place>& place) const {
        auto of = *place;
        const auto module = std::exchange(of.module, std::nullopt).value_or("");
        put(place_text(of));
        to.emplace_back("module", module);
    }
    void operator()(const table::Shared<table::Group>& group) const {
        for (const auto& [key, value] : *group) {
            std::string text = "true";
            if (const auto* number = std::get_if<std::int64_t>(&value)) text = fmt::to_string(*number);
            if (const auto* name = std::get_if<std::string>(&value)) text = *name;
            to.emplace_back(label_of(key), std::move(text));
        }
    }
    void operator()(const table::Shared<table::Labels>& named) const {
        std::string names;
        for (const auto& [name, value] : *named) {
            if (label.each) to.emplace_back(label_of(std::string(label.name) + name), value);
            names += (names.empty() ? "" : ",") + name;
        }
        if (!label.each) put(std::move(names));
    }
    /// No source has a label of anything else.
    void operator()(const auto& /*other*/) const {}
};

/// What a sample of the family is; nothing where that is not known.
std::optional<metrics::Value> value_of(const Family& family, const table::Table& table, const table::Row& row,
                                       std::string_view column) {
    const auto& cell = table.at(row, column);
    if (const auto* stats = held<table::Histogram>(cell)) {
        if (family.type == metrics::Type::histogram) return *stats;
        return metrics::Sum{stats->n(), stats->sum()};
    }
    if (const auto* mean = held<double>(cell)) {
        const auto n = table::count_of(table.at(row, "n"));
        const double sum = *mean * static_cast<double>(n);
        return metrics::Sum{n, family.unit == "seconds" ? sum / 1e9 : sum};
    }
    if (const auto* flag = held<bool>(cell)) return std::int64_t{*flag ? 0 : 1};
    if (const auto* count = held<std::int64_t>(cell)) return *count;
    return std::nullopt;
}

/// Adds the samples of a source. What is not added to another definition has its own as a label.
class Samples {
  public:
    explicit Samples(const table::Results& results)
        : results_(results), recipe_(text_of(results.fact("report", "recipe"))) {
        if (text_of(results.fact("report", "apart")).empty()) return;
        const auto definition = text_of(results.fact("report", "definition"));
        definition_ = {{"definition", definition.empty() ? "none" : definition}};
    }

    void add(const Source& source, Family& family) const {
        const auto& table = results_.at(source.table);
        const auto has = [&](std::string_view name) {
            return std::ranges::find(source.labels, name, &Label::name) != source.labels.end();
        };
        for (const auto& row : table.rows) {
            const auto* group = held<table::Group>(table.at(row, "group"));
            if (group != nullptr && !group->empty() && !has("group")) continue;
            if ((held<std::string>(table.at(row, "part_of")) != nullptr) != source.are_parts) continue;
            const auto value = value_of(family, table, row, source.column);
            if (!value) continue;
            Labels labels{{"recipe", recipe_}};
            for (const auto& label : source.labels)
                put(label, table, row, labels);
            if (group != nullptr && table.find("counted")) put_kind(table, row, *group, labels);
            if (family.type == metrics::Type::info) {
                family.samples[labels] = std::int64_t{1};
                continue;
            }
            labels.insert(labels.end(), definition_.begin(), definition_.end());
            family.add(labels, *value);
        }
    }

  private:
    static void put(const Label& label, const table::Table& table, const table::Row& row, Labels& labels) {
        if (label.column.empty()) {
            labels.emplace_back(label.name, label.value);
        } else if (table.find(label.column)) {
            std::visit(LabelsOf{label, labels}, table.at(row, label.column));
        }
    }

    /// Of counters: whether one counts losses, or bytes, which add up with no others.
    static void put_kind(const table::Table& table, const table::Row& row, const table::Group& group, Labels& labels) {
        if (table.at(row, "loss") == Value(true)) labels.emplace_back("loss", "true");
        if (table.at(row, "loss_by_name") == Value(true)) labels.emplace_back("loss", "by-name");
        const auto* counter =
            group.empty() || group.front().key != "name" ? nullptr : std::get_if<std::string>(&group.front().value);
        if (counter != nullptr && base::counts_bytes(*counter)) labels.emplace_back("unit", "bytes");
    }

    const table::Results& results_;
    std::string recipe_;
    Labels definition_;
};

}  // namespace

ResultMetrics::ResultMetrics(bool goes_on) : goes_on_(goes_on) {
    for (const auto& [family, sources] : all_families())
        families_.push_back(family);
}

void ResultMetrics::add(const table::Results& results) {
    const Samples samples(results);
    const auto& all = all_families();
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const auto& source : all[i].sources) {
            if (source.when != (goes_on_ ? When::ended : When::goes_on)) samples.add(source, families_[i]);
        }
    }
}

}  // namespace stapgen::show
