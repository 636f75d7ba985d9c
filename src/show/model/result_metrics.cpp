// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/result_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/kernel.h"
#include "show/model/texts.h"
#include "table/merge.h"

namespace stapgen::show {

namespace {

using metrics::Family;
using metrics::Labels;

/// A field's name as a label's; those that the format or this file use are set apart.
std::string label_of(std::string_view key) {
    constexpr std::array<std::string_view, 8> taken{"recipe",  "stage",    "value",      "le",
                                                    "counted", "quantile", "definition", "loss"};
    auto name = metrics::label_name(key);
    const bool is_taken = std::ranges::find(taken, name) != taken.end();
    if (is_taken || name.empty() || (name[0] >= '0' && name[0] <= '9') || name.starts_with("__"))
        name.insert(0, "group_");
    return name;
}

std::string text_or_empty(const std::optional<std::string>& text) {
    return text.value_or("");
}

std::string flag_text(bool flag) {
    return flag ? "true" : "false";
}

void put_group(const table::Group& group, Labels& labels) {
    for (const auto& [key, value] : group) {
        std::string text = "true";
        if (const auto* number = std::get_if<std::int64_t>(&value)) text = fmt::to_string(*number);
        if (const auto* name = std::get_if<std::string>(&value)) text = *name;
        labels.emplace_back(label_of(key), std::move(text));
    }
}

/// The samples of one family that results have. What is not added to another definition has its own as a label.
class Samples {
  public:
    Samples(const rows::Results& of, bool goes_on_further, std::size_t groups_shown, Family& family)
        : results(of), goes_on(goes_on_further), groups(groups_shown), family_(family) {}

    const rows::Results& results;
    const bool goes_on;
    const std::size_t groups;

    void add(Labels labels, const metrics::Value& value) const {
        const auto& report = results.one<rows::Report>();
        labels.emplace(labels.begin(), "recipe", report.recipe);
        if (family_.type == metrics::Type::info) {
            family_.samples[labels] = value;
            return;
        }
        if (!report.merge_conflict.value_or("").empty())
            labels.emplace_back("definition", report.definition.value_or("none"));
        family_.add(labels, value);
    }
    void add(Labels labels, const table::Histogram& stats) const {
        if (family_.type == metrics::Type::histogram) return add(std::move(labels), metrics::Value(stats));
        add(std::move(labels), metrics::Sum{stats.n(), stats.sum()});
    }
    void add_causes(const std::vector<rows::Cause>& causes, const Labels& in_front, const char* label) const {
        for (const auto& [name, count] : causes) {
            auto labels = in_front;
            labels.emplace_back(label, name);
            add(std::move(labels), count);
        }
    }

  private:
    Family& family_;
};

/// Of a run there is what is bounded: no command, and no value of a filter.
void add_runs(const Samples& to) {
    for (const auto& origin : to.results.of<rows::Origin>()) {
        std::string filters;
        for (const auto& [name, value] : origin.filters)
            filters += (filters.empty() ? "" : ",") + name;
        Labels labels{{"host", text_or_empty(origin.host)},
                      {"machine", text_or_empty(origin.machine)},
                      {"kernel", text_or_empty(origin.kernel)},
                      {"build_id", text_or_empty(origin.build_id)},
                      {"filters", filters},
                      {"sample", fmt::to_string(origin.sample)},
                      {"definition", text_or_empty(origin.definition)}};
        for (const auto& [name, value] : origin.labels)
            labels.emplace_back(label_of("label_" + name), value);
        to.add(std::move(labels), std::int64_t{1});
    }
}

void add_stages(const Samples& to) {
    for (const auto& row : to.results.of<rows::Stage>())
        if (row.group.empty() && !row.part_of) to.add({{"stage", row.stage}}, *row.distribution);
}

void add_parts(const Samples& to) {
    for (const auto& row : to.results.of<rows::Stage>()) {
        if (row.group.empty() && row.part_of)
            to.add({{"stage", *row.part_of}, {"cause", text_or_empty(row.cause)}}, *row.distribution);
    }
}

void add_groups(const Samples& to) {
    if (to.groups == 0) return;
    for (const auto& row : table::largest_groups(to.results.of<rows::Stage>(), to.groups)) {
        if (row.part_of) continue;
        Labels labels{{"stage", row.stage}};
        put_group(row.group, labels);
        to.add(std::move(labels), *row.distribution);
    }
}

metrics::Sum sum_of(const rows::Average& average, double mean) {
    return {average.n, mean * static_cast<double>(average.n)};
}

void add_values(const Samples& to) {
    for (const auto& row : to.results.of<rows::Value>())
        if (row.group.empty()) to.add({{"value", row.value}}, *row.distribution);
    for (const auto& average : to.results.of<rows::Average>())
        if (average.mean) to.add({{"value", average.name}}, sum_of(average, *average.mean));
}

void add_averages(const Samples& to) {
    for (const auto& average : to.results.of<rows::Average>()) {
        if (!average.mean_ns) continue;
        auto sum = sum_of(average, *average.mean_ns);
        sum.sum /= 1e9;
        to.add({{"stage", average.name}}, sum);
    }
}

void add_drops(const Samples& to) {
    for (const auto& drop : to.results.of<rows::Drop>()) {
        auto place = drop.place;
        const auto module = std::exchange(place.module, std::nullopt).value_or("");
        Labels labels{{"place", place_text(place)},
                      {"module", module},
                      {"reason", reason_or_empty(drop.reason)},
                      {"benign", flag_text(drop.benign)}};
        put_group(drop.group, labels);
        to.add(std::move(labels), drop.count);
    }
}

bool counts_bytes(const rows::Count& row) {
    const auto* counter = row.group.empty() || row.group.front().key != "name"
                              ? nullptr
                              : std::get_if<std::string>(&row.group.front().value);
    return counter != nullptr && base::counts_bytes(*counter);
}

void add_counts(const Samples& to, bool of_bytes) {
    for (const auto& row : to.results.of<rows::Count>()) {
        if (counts_bytes(row) != of_bytes) continue;
        Labels labels{{"counted", text_or_empty(row.counted)}};
        put_group(row.group, labels);
        if (row.loss) labels.emplace_back("loss", "true");
        if (row.loss_by_name) labels.emplace_back("loss", "by-name");
        to.add(std::move(labels), row.count);
    }
}

void add_ledger(const Samples& to) {
    for (const auto& row : to.results.of<rows::Ledger>()) {
        Labels labels{{"entry", row.entry}};
        put_group(row.group, labels);
        to.add(std::move(labels), row.packets);
    }
}

/// Of call paths that a thread slept in the sum.
void add_waits(const Samples& to) {
    for (const auto& row : to.results.of<rows::Who>()) {
        Labels labels;
        put_group(row.group, labels);
        to.add(std::move(labels), metrics::Sum{row.n, static_cast<double>(row.sum_ns) / 1e9});
    }
}

/// A measurement that goes on is cut in the middle of what is under way: what is incomplete now may be complete later,
/// so that it is no counter.
void add_records(const Samples& to) {
    for (const auto& account : to.results.of<rows::Accounting>()) {
        to.add({{"fate", "reported"}, {"cause", ""}}, account.reported);
        to.add({{"fate", "filtered"}, {"cause", ""}}, account.filtered);
        if (!to.goes_on) to.add_causes(account.incomplete_by, {{"fate", "incomplete"}}, "cause");
        to.add_causes(account.lost_by, {{"fate", "lost"}}, "cause");
        if (!to.goes_on) to.add({{"fate", "unaccounted"}, {"cause", ""}}, account.unaccounted);
    }
}

void add_losses(const Samples& to) {
    for (const auto& account : to.results.of<rows::Accounting>()) {
        const auto& transport = account.transport;
        to.add({{"kind", "skipped_probes"}}, transport.skipped_probes);
        to.add({{"kind", "probe_errors"}}, transport.probe_errors);
        to.add({{"kind", "transport_failures"}}, transport.transport_failures);
    }
}

struct FamilyOf {
    Family family;
    void (*add)(const Samples& to);
};

/// All families, in the order in which they are written.
const std::vector<FamilyOf>& all_families() {
    using metrics::Type;
    static const std::vector<FamilyOf> all{
        {{"stapgen_run", Type::info, "", "The host and the definition of a measurement."}, add_runs},
        {{"stapgen_stage_seconds", Type::histogram, "seconds", "Durations of each stage of the network stack."},
         add_stages},
        {{"stapgen_part_seconds", Type::histogram, "seconds",
          "Stages divided by what was waited for: the parts of a stage add up to it."},
         add_parts},
        {{"stapgen_group_stage_seconds", Type::histogram, "seconds",
          "The same for each group: the groups are parts of stapgen_stage_seconds."},
         add_groups},
        {{"stapgen_value", Type::summary, "", "Values that are not durations."}, add_values},
        {{"stapgen_average_seconds", Type::summary, "seconds", "Durations known by their means only."}, add_averages},
        {{"stapgen_drops", Type::counter, "", "Packets dropped, by place and reason."}, add_drops},
        {{"stapgen_ledger", Type::gauge, "",
          "What became of received packets, by entry of the ledger and by device, protocol or step."},
         add_ledger},
        {{"stapgen_thread_waits_seconds", Type::summary, "seconds", "What threads waited for, and how long."},
         add_waits},
        {{"stapgen_counted", Type::counter, "", "Sums of what a recipe counts, by its keys."},
         [](const Samples& to) { add_counts(to, false); }},
        {{"stapgen_counted_bytes", Type::counter, "bytes", "The same of counters of bytes."},
         [](const Samples& to) { add_counts(to, true); }},
        {{"stapgen_seen", Type::counter, "", "Everything the script examined: the sum of stapgen_records."},
         [](const Samples& to) {
             for (const auto& account : to.results.of<rows::Accounting>())
                 to.add(Labels(), account.seen);
         }},
        {{"stapgen_records", Type::counter, "", "The account of everything seen."}, add_records},
        {{"stapgen_incomplete", Type::gauge, "", "Seen, but not through all stages, or not yet."},
         [](const Samples& to) {
             if (to.goes_on) to.add_causes(to.results.one<rows::Accounting>().incomplete_by, {}, "cause");
         }},
        {{"stapgen_beside", Type::counter, "", "Counts of the script outside the account."},
         [](const Samples& to) { to.add_causes(to.results.one<rows::Accounting>().other, {}, "name"); }},
        {{"stapgen_losses", Type::counter, "", "What SystemTap lost by its own account."}, add_losses},
        {{"stapgen_kernel_counter", Type::counter, "", "Rises of kernel counters."},
         [](const Samples& to) {
             for (const auto& counter : to.results.of<rows::Counter>())
                 if (counter.count) to.add({{"counter", counter.name}}, *counter.count);
         }},
        {{"stapgen_input_lines", Type::counter, "", "Lines of the input, understood or not."},
         [](const Samples& to) {
             for (const auto& input : to.results.of<rows::Input>()) {
                 to.add({{"understood", "true"}}, input.recognised);
                 to.add({{"understood", "false"}}, input.unrecognised);
             }
         }},
        {{"stapgen_not_closed", Type::counter, "", "Reports whose input ends without its last line."},
         [](const Samples& to) {
             if (to.goes_on) return;
             for (const auto& account : to.results.of<rows::Accounting>())
                 to.add(Labels(), std::int64_t{account.closed ? 0 : 1});
         }}};
    return all;
}

/// Rows that have metrics, and those that have none: texts and times of a run, records and calls one by one,
/// advice and call paths; what is of an interval, for its sum is there; and what is worked out of the others.
using WithMetrics = table::TablesOf<rows::Report, rows::Origin, rows::Stage, rows::Value, rows::Average, rows::Drop,
                                    rows::Count, rows::Who, rows::Ledger, rows::Counter, rows::Accounting, rows::Input>;
using WithoutMetrics = table::TablesOf<
    rows::Run, rows::Kept, rows::Host, rows::CauseOfWait, rows::Proposal, rows::Interval, rows::Total, rows::Precision,
    rows::Tail, rows::Slowest, rows::Way, rows::StandOut, rows::WayOfGroup, rows::Series, rows::AverageInterval,
    rows::OfInterval<rows::Drop>, rows::HiddenDrops, rows::HiddenTotals, rows::Advice, rows::OfInterval<rows::Stack>,
    rows::Stack, rows::HiddenOfInterval, rows::Counted, rows::OfInterval<rows::Count>, rows::CountersRead,
    rows::Counting, rows::Call, rows::CallsLeftOut, rows::Function, rows::Sample, rows::Cost, rows::Note>;

template <class... Rows>
consteval bool are_all_listed(const table::TablesOf<Rows...>* /*tables*/) {
    return ((WithMetrics::lists<Rows> || WithoutMetrics::lists<Rows>)&&...);
}
static_assert(are_all_listed(static_cast<const rows::Results*>(nullptr)),
              "a kind of row is new: add its metrics above, or say here that it has none");

}  // namespace

ResultMetrics::ResultMetrics(bool goes_on) : goes_on_(goes_on) {
    for (const auto& [family, add] : all_families())
        families_.push_back(family);
}

void ResultMetrics::add(const rows::Results& results, std::size_t groups) {
    const auto& all = all_families();
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].add(Samples(results, goes_on_, groups, families_[i]));
}

}  // namespace stapgen::show
