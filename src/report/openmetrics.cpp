#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "report/model/report.h"

namespace stapgen::report {

namespace {

namespace bins = analyze::bins;
using analyze::Histogram;
using analyze::Summary;

std::string label_escaped(std::string_view raw) {
    std::string text;
    for (const char c : base::printable(raw)) {
        if (c == '\\' || c == '"') text += '\\';
        text += c;
    }
    return text;
}

/// A field's name as a label's. Letters, digits and _; those that the format or this file use are set apart.
std::string label_name(std::string_view key) {
    std::string name;
    for (const char c : key)
        name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    const bool taken = name == "recipe" || name == "stage" || name == "value" || name == "le" || name == "counted" ||
                       name == "quantile" || name == "definition";
    if (taken || name.empty() || (name[0] >= '0' && name[0] <= '9') || name.starts_with("__")) name.insert(0, "group_");
    return name;
}

/// `a="b",c="d"`.
std::string labels(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs,
                   const analyze::Group& group = {}) {
    std::string text;
    for (const auto& [name, value] : pairs)
        text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_escaped(value));
    for (const auto& [key, value] : group) {
        std::string content = "true";
        if (const auto* number = std::get_if<std::int64_t>(&value)) content = fmt::format("{}", *number);
        if (const auto* name = std::get_if<std::string>(&value)) content = label_escaped(*name);
        text += fmt::format(",{}=\"{}\"", label_name(key), content);
    }
    return text;
}

/// The upper ends of the histograms' buckets in ns, inclusive, the same in every run: four to each doubling from 1 us
/// to 68.7 s. Each is one below a border of bins.h, so that the counts are exact.
const std::vector<std::int64_t>& bucket_ends() {
    static const auto ends = [] {
        constexpr int per_doubling = 4;
        constexpr std::int64_t first = 1 << 10, last = std::int64_t{1} << 36;
        std::vector<std::int64_t> all;
        for (int bin = bins::index_of(first); bins::lowest(bin) <= last; bin += bins::per_doubling / per_doubling)
            all.push_back(bins::lowest(bin) - 1);
        return all;
    }();
    return ends;
}

/// A count of the input; below zero it counts as 0.
struct Count {
    std::int64_t count = 0;

    void operator+=(std::int64_t more) { count = base::saturating_add(count, std::max<std::int64_t>(more, 0)); }
};

struct Sum {
    std::int64_t n = 0;
    double sum = 0;

    void operator+=(const Sum& more) {
        n = base::saturating_add(n, more.n);
        sum += more.sum;
    }
};

void write_sample(std::ostream& out, std::string_view name, const std::string& labels, const Count& count) {
    out << name << "_total{" << labels << "} " << count.count << '\n';
}

/// There is one such thing.
struct Info {
    bool is_there = false;
};

void write_sample(std::ostream& out, std::string_view name, const std::string& labels, const Info& /*of*/) {
    out << name << "_info{" << labels << "} 1\n";
}

void write_sample(std::ostream& out, std::string_view name, const std::string& labels, const Sum& of) {
    out << fmt::format("{0}_sum{{{1}}} {2}\n{0}_count{{{1}}} {3}\n", name, labels, of.sum, of.n);
}

void write_sample(std::ostream& out, std::string_view name, const std::string& labels, const Histogram& stats) {
    const auto& ends = bucket_ends();
    std::vector<std::int64_t> counts(ends.size());
    stats.for_each_bin([&](int bin, std::int64_t count) {
        const auto bucket = std::ranges::lower_bound(ends, bins::lowest(bin + 1) - 1);
        if (bucket != ends.end()) counts[static_cast<std::size_t>(bucket - ends.begin())] += count;
    });
    std::int64_t sum = stats.below();
    for (std::size_t i = 0; i < ends.size(); ++i) {
        sum += counts[i];
        out << fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, static_cast<double>(ends[i]) / 1e9, sum);
    }
    out << fmt::format("{}_bucket{{{},le=\"+Inf\"}} {}\n", name, labels, stats.n());
    write_sample(out, name, labels, Sum{stats.n(), stats.sum() / 1e9});
}

/// A family of metrics and its samples by labels. Equal labels add up.
template <class T>
struct Family {
    std::string_view name, type, unit, help;
    std::map<std::string, T> samples{};

    T& operator[](const std::string& labels) { return samples[labels]; }
    void write(std::ostream& out) const {
        if (samples.empty()) return;
        out << "# TYPE " << name << ' ' << type << '\n';
        if (!unit.empty()) out << "# UNIT " << name << ' ' << unit << '\n';
        out << "# HELP " << name << ' ' << help << '\n';
        for (const auto& [labels, value] : samples)
            write_sample(out, name, labels, value);
    }
};

/// All families, collected before they are written: the samples of one must stand together.
class Families {
  public:
    void add(const Summary& report, const Options& options) {
        const Report rows(report, options);
        const auto& recipe = report.recipe;
        add_origins(report);
        const auto definition = report.definition().empty() ? "none" : report.definition();
        apart_ = report.apart.empty() ? "" : "," + labels({{"definition", definition}});
        for (const auto& [name, group, stats] : report.stages) {
            if (group.empty()) stages_[of({{"recipe", recipe}, {"stage", name}})] += stats;
        }
        for (const auto& row : rows.stages.groups) {
            const auto& [name, group, stats] = *row.measure;
            if (stats.n() > 0) groups_[of({{"recipe", recipe}, {"stage", name}}, group)] += stats;
        }
        for (const auto& [name, group, stats] : report.values) {
            if (group.empty()) values_[of({{"recipe", recipe}, {"value", name}})] += {stats.n(), stats.sum()};
        }
        for (const auto& average : report.averages) {
            const double sum = average.mean * static_cast<double>(average.n);
            if (average.is_time) {
                average_times_[of({{"recipe", recipe}, {"stage", average.name}})] += {average.n, sum / 1e9};
            } else {
                values_[of({{"recipe", recipe}, {"value", average.name}})] += {average.n, sum};
            }
        }
        add_counts(rows);
    }
    void write(std::ostream& out) const {
        const auto write_all = [&out](const auto&... family) { (family.write(out), ...); };
        write_all(runs_, stages_, groups_, values_, average_times_, drops_, tallies_, seen_, records_, other_, losses_,
                  counters_, lines_, not_closed_);
        out << "# EOF\n";
    }

  private:
    /// What is apart adds up with nothing of another definition.
    std::string of(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs,
                   const analyze::Group& group = {}) const {
        return labels(pairs, group) + apart_;
    }

    /// What is bounded: no command, and no value of a filter.
    void add_origins(const Summary& report) {
        for (const auto& origin : report.origins) {
            analyze::Group given;
            for (const auto& [name, value] : origin.labels)
                given.push_back({"label_" + name, value});
            std::string options;
            for (const auto& [option, value] : origin.filters)
                options += (options.empty() ? "" : ",") + option;
            runs_[labels({{"recipe", report.recipe},
                          {"host", origin.host},
                          {"machine", origin.machine},
                          {"kernel", origin.kernel},
                          {"build_id", origin.build_id},
                          {"filters", options},
                          {"sample", fmt::format("{}", origin.sample)},
                          {"definition", origin.definition}},
                         given)]
                .is_there = true;
        }
    }

    void add_counts(const Report& rows) {
        const auto& report = rows.summary;
        const auto& recipe = report.recipe;
        for (auto drop : analyze::total_drops(report)) {
            const std::string_view benign = advice_of(drop).benign ? "true" : "false";
            const auto module = std::exchange(drop.module, std::nullopt).value_or("");
            const auto reason = reason_text(drop) == "-" ? "" : reason_text(drop);
            drops_[of({{"recipe", recipe},
                       {"place", place_text(drop)},
                       {"module", module},
                       {"reason", reason},
                       {"benign", benign}})] += drop.count;
        }
        for (const auto& tally : rows.counts)
            tallies_[of({{"recipe", recipe}, {"counted", report.counted}}, tally.group)] += tally.count;
        const auto& accounting = report.accounting;
        const auto fate = [&](std::string_view name, std::string_view cause, std::int64_t count) {
            records_[of({{"recipe", recipe}, {"fate", name}, {"cause", cause}})] += count;
        };
        seen_[of({{"recipe", recipe}})] += accounting.seen;
        fate("reported", "", accounting.reported);
        fate("filtered", "", accounting.filtered);
        for (const auto& [cause, count] : accounting.incomplete)
            fate("incomplete", cause, count);
        for (const auto& [cause, count] : accounting.lost)
            fate("lost", cause, count);
        fate("unaccounted", "", accounting.unaccounted());
        for (const auto& [name, count] : accounting.other)
            other_[of({{"recipe", recipe}, {"name", name}})] += count;
        const auto& transport = report.transport;
        losses_[of({{"recipe", recipe}, {"kind", "skipped_probes"}})] += transport.skipped_probes;
        losses_[of({{"recipe", recipe}, {"kind", "probe_errors"}})] += transport.probe_errors;
        losses_[of({{"recipe", recipe}, {"kind", "transport_failures"}})] += transport.transport_failures;
        for (const auto& [name, help, count] : report.counters) {
            if (count) counters_[of({{"recipe", recipe}, {"counter", name}})] += *count;
        }
        lines_[of({{"recipe", recipe}, {"understood", "true"}})] += report.input.recognised;
        lines_[of({{"recipe", recipe}, {"understood", "false"}})] += report.input.unrecognised;
        not_closed_[of({{"recipe", recipe}})] += accounting.closed ? 0 : 1;
    }

    std::string apart_;  ///< of the report that is added
    Family<Info> runs_{"stapgen_run", "info", "", "Where the rest was measured, and its definition."};
    Family<Histogram> stages_{"stapgen_stage_seconds", "histogram", "seconds",
                              "Durations of each stage of the network stack."};
    Family<Histogram> groups_{"stapgen_group_stage_seconds", "histogram", "seconds",
                              "The same for each group: the groups are parts of stapgen_stage_seconds."};
    Family<Sum> values_{"stapgen_value", "summary", "", "Values that are no durations."};
    Family<Sum> average_times_{"stapgen_average_seconds", "summary", "seconds",
                               "Durations of which the input had means only."};
    Family<Count> drops_{"stapgen_drops", "counter", "", "Packets dropped, by place and reason."};
    Family<Count> tallies_{"stapgen_counted", "counter", "", "Sums of what a recipe counts, by its keys."};
    Family<Count> seen_{"stapgen_seen", "counter", "", "What the script looked at: all of stapgen_records."};
    Family<Count> records_{"stapgen_records", "counter", "", "Where everything that was seen went."};
    Family<Count> other_{"stapgen_beside", "counter", "", "Counts of the script that are no part of the account."};
    Family<Count> losses_{"stapgen_losses", "counter", "", "What SystemTap lost by its own account."};
    Family<Count> counters_{"stapgen_kernel_counter", "counter", "", "By how much counters of the kernel rose."};
    Family<Count> lines_{"stapgen_input_lines", "counter", "", "Lines of the input, understood or not."};
    Family<Count> not_closed_{"stapgen_not_closed", "counter", "", "Reports whose input stops without its last line."};
};

void write_openmetrics(std::ostream& out, std::span<const Summary> reports, const Options& options) {
    Families all;
    for (const auto& report : reports)
        all.add(report, options);
    all.write(out);
}

}  // namespace

/// OpenMetrics 1.0 text (github.com/prometheus/OpenMetrics), with its "# EOF". Histograms of stages in seconds,
/// counters of drops, the account and all that was lost. Reports of one recipe add up; one whose definition differs has
/// it as a label. Counts below zero, which an interval's account may have, are written as 0.
extern constexpr Format openmetrics_format{.name = "openmetrics", .write = write_openmetrics};

}  // namespace stapgen::report
