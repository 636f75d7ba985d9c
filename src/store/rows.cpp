// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyze/outliers.h"
#include "base/text.h"
#include "report/json.h"
#include "report/model/drop_advice.h"
#include "report/model/report.h"
#include "store/tables.h"

namespace stapgen::store {

namespace {

using table::Histogram;
namespace bins = table::bins;

std::uint64_t count_of(std::int64_t n) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0));
}

std::optional<Moment> moment_of(std::optional<std::int64_t> epoch_ns) {
    return epoch_ns ? std::optional(Moment{*epoch_ns}) : std::nullopt;
}

std::string json_text(const analyze::Group& group) {
    return report::group_json(group).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

/// The rows of one run, table by table.
class RunRows {
  public:
    RunRows(Database& database, const std::string& run) : run_(run) {
        for (const auto& table : tables)
            tables_.try_emplace(table.name, database, std::string(table.name));
    }

    void put_identity(const std::string& host, const analyze::Summary& summary) {
        const auto origin = summary.origins.empty() ? analyze::Origin() : summary.origins.front();
        std::vector<std::string> filters;
        for (const auto& [option, value] : origin.filters)
            filters.insert(filters.end(), {"--" + option, value});
        row("runs", run_, host, origin.machine, origin.kernel, origin.build_id, origin.definition,
            base::shell_quoted(filters), base::shell_quoted(origin.command), moment_of(summary.start_epoch_ns),
            moment_of(summary.end_epoch_ns), origin.sample, summary.resolution_ns, analyze::is_whole(summary));
        for (const auto& [name, value] : origin.labels)
            row("labels", run_, name, value);
    }

    /// In spans of time, where all of it is in one; else as a whole. `in_blocks` may be null.
    void put_measure(const analyze::Series& series, const analyze::Measure& measure, std::string_view unit,
                     std::vector<Histogram> analyze::Block::*in_blocks, std::size_t place, bool has_epoch) {
        std::vector<std::pair<std::int64_t, const Histogram*>> spans;
        std::int64_t n = 0;
        for (const auto& block : series.blocks()) {
            if (in_blocks == nullptr || place >= (block.*in_blocks).size()) break;
            spans.emplace_back(block.start_ns, &(block.*in_blocks)[place]);
            n += spans.back().second->n();
        }
        if (!has_epoch || n != measure.stats.n()) {
            put_histogram(measure.name, unit, std::nullopt, measure.stats);
            return;
        }
        for (const auto& [start_ns, histogram] : spans)
            put_histogram(measure.name, unit, Moment{start_ns}, *histogram);
    }

    void put_account(const analyze::Summary& summary) {
        const auto& account = summary.accounting;
        row("account", run_, "seen", "", account.seen);
        row("account", run_, "reported", "", account.reported);
        row("account", run_, "filtered", "", account.filtered);
        put_causes("incomplete", account.incomplete);
        put_causes("lost", account.lost);
        put_causes("other", account.other);
        row("account", run_, "skipped probes", "", summary.transport.skipped_probes);
        put_causes("skipped probe", summary.transport.skipped_by);
        row("account", run_, "probe errors", "", summary.transport.probe_errors);
        row("account", run_, "transport failures", "", summary.transport.transport_failures);
        for (const auto& counter : summary.counters) {
            if (counter.count) row("account", run_, "counter", counter.name, *counter.count);
        }
    }

    void put_counts(const analyze::Summary& summary) {
        const auto begin_of = [&](std::int64_t interval) {
            const auto place = static_cast<std::size_t>(interval);
            return place < summary.intervals.size() ? moment_of(summary.intervals[place].start_epoch_ns) : std::nullopt;
        };
        for (const auto& drop : summary.drops) {
            row("drops", run_, begin_of(drop.interval), drop.place.symbol, drop.place.offset, drop.place.module,
                drop.place.address, drop.reason.name,
                drop.reason.number < 0 ? std::nullopt : std::optional(drop.reason.number),
                report::advice_of(drop).benign, drop.count);
        }
        for (const auto& tally : summary.tallies) {
            row("counts", run_, begin_of(tally.interval), summary.counted, json_text(tally.group), tally.loss,
                tally.count);
        }
    }

    void put_slowest(const analyze::Summary& summary) {
        for (const auto& breakdown : summary.breakdowns) {
            std::int64_t place = 0;
            for (const auto& slow : breakdown.slowest()) {
                ++place;
                for (std::size_t i = 0; i < slow.stages.size() && i < breakdown.stages().size(); ++i) {
                    if (!slow.stages[i]) continue;
                    row("slow", run_, breakdown.direction(), place,
                        summary.start_epoch_ns ? moment_of(slow.time_ns) : std::nullopt, slow.total_ns,
                        breakdown.stages()[i], *slow.stages[i], json_text(slow.of));
                }
            }
        }
    }

    base::Result<std::vector<Filled>> close() {
        std::vector<Filled> filled;
        for (const auto& table : tables) {
            if (auto closed = tables_.at(table.name).close(); !closed) return tl::make_unexpected(closed.error());
            const std::string name(table.name);
            // In any engine views.sql finds labels, if only none.
            if (filled_.contains(table.name) || name == "labels") filled.push_back({name, name, ""});
        }
        return filled;
    }

  private:
    template <class... Values>
    void row(std::string_view table, const Values&... values) {
        filled_.insert(table);
        tables_.at(table).row(values...);
    }

    void put_causes(std::string_view kind, const std::vector<analyze::Cause>& causes) {
        for (const auto& [name, count] : causes)
            row("account", run_, kind, name, count);
    }

    void put_histogram(const std::string& stage, std::string_view unit, std::optional<Moment> t,
                       const Histogram& histogram) {
        using Limits = std::numeric_limits<std::int64_t>;
        if (histogram.n() == 0) return;
        row("sums", run_, stage, unit, t, count_of(histogram.n()), histogram.whole_sum(), histogram.min(),
            histogram.max());
        const auto put = [&](std::int64_t low, std::int64_t high, std::int64_t n) {
            if (n > 0) row("hist", run_, stage, unit, t, low, high, count_of(n));
        };
        put(Limits::min(), -1, histogram.below());
        histogram.for_each_bin([&](int bin, std::int64_t n) { put(bins::lowest(bin), bins::lowest(bin + 1) - 1, n); });
        put(bins::largest + 1, Limits::max(), histogram.above());
    }

    const std::string& run_;
    std::map<std::string_view, Database::Appender> tables_;
    std::set<std::string_view> filled_;
};

}  // namespace

base::Result<std::vector<Filled>> put_run(Database& database, const std::string& run, const std::string& host,
                                          const analyze::Summary& summary) {
    for (const auto& table : tables) {
        auto made = database.run(fmt::format("CREATE OR REPLACE TABLE {} ({})", table.name, table.columns));
        if (!made) return tl::make_unexpected(made.error());
    }
    RunRows rows(database, run);
    rows.put_identity(host, summary);
    const auto series = summary.series.by_second();
    const bool has_epoch = summary.start_epoch_ns.has_value();
    std::size_t place = 0;
    const auto in_series = report::in_series(summary.stages).size();
    for (const auto& stage : analyze::compared_stages(summary)) {
        rows.put_measure(series, stage, "ns", place < in_series ? &analyze::Block::stages : nullptr, place, has_epoch);
        ++place;
    }
    place = 0;
    for (const auto* value : report::in_series(summary.values))
        rows.put_measure(series, *value, "", &analyze::Block::values, place++, has_epoch);
    rows.put_account(summary);
    rows.put_counts(summary);
    rows.put_slowest(summary);
    return rows.close();
}

}  // namespace stapgen::store
