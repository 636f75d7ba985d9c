#include "report/text/text_report.h"

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "report/model/account_text.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

void write_counters(std::ostream& out, const std::vector<analyze::Counter>& counters) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, help, count] : counters) {
        if (count.value_or(0) <= 0) continue;
        rows.push_back({fmt::format("{}", *count), base::printable(name), base::printable(help)});
    }
    if (rows.empty()) return;
    out << "Losses without a drop event, by the kernel's counters of this network namespace:\n"
        << table({{"COUNT"}, {"COUNTER", Align::left}, {"WHAT", Align::left}}, rows) << '\n';
}

void write_title(std::ostream& out, const analyze::Summary& summary, const Options& options) {
    out << base::printable(summary.recipe);
    if (const auto span = span_text(summary); !span.empty()) out << ", " << span;
    out << '\n';
    for (const auto& line : origin_lines(summary))
        out << base::wrapped(line, options.width, 2) << '\n';
    out << '\n';
}

}  // namespace

void write_text(std::ostream& out, const analyze::Summary& summary, const Options& options) {
    const Report report(summary, options);
    if (!options.interval || !summary.counts()) write_title(out, summary, options);
    write_calls(out, summary);
    write_stages(out, report);
    write_averages(out, summary);
    write_directions(out, report);
    write_series(out, report);
    if (summary.counts_drops) write_drops(out, report);
    if (!summary.counted.empty()) write_counts(out, report);
    write_counters(out, summary.counters);
    if (!options.interval || !summary.counts()) {
        for (const auto& line : account_lines(summary))
            out << line << '\n';
    }
    write_cost(out, summary.cost);
    for (const auto& warning : warnings_of(summary))
        out << "WARNING: " << warning << '\n';
    for (const auto& note : summary.notes)
        out << "note: " << base::printable(note.text) << '\n';
    for (const auto& line : not_understood(summary.input))
        out << line << '\n';
}

void write_text(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options) {
    for (const auto& report : reports) {
        if (&report != &reports.front()) out << '\n';
        write_text(out, report, options);
    }
}

}  // namespace stapgen::report
