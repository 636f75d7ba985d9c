#include "report/text_report.h"

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "base/units.h"
#include "report/detail_text.h"
#include "report/drop_text.h"
#include "report/stage_text.h"
#include "report/table.h"
#include "report/wall_time.h"

namespace stapgen::report {

namespace {

std::string causes_text(const std::vector<analyze::Cause>& causes) {
    std::string text;
    for (const auto& [name, count] : causes) {
        if (count == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", base::printable(name), count);
    }
    return text.empty() ? text : text + ")";
}

void write_accounting(std::ostream& out, const analyze::Accounting& accounting) {
    out << accounting.seen << " seen = " << accounting.reported << " reported + " << accounting.filtered
        << " filtered + " << accounting.incomplete_total() << " incomplete" << causes_text(accounting.incomplete)
        << " + " << accounting.lost_total() << " lost" << causes_text(accounting.lost);
    if (const auto rest = accounting.unaccounted(); rest != 0) {
        out << (rest < 0 ? " - " : " + ")
            << (rest < 0 ? 0 - static_cast<std::uint64_t>(rest) : static_cast<std::uint64_t>(rest)) << " unaccounted";
    }
    out << '\n';
    if (const auto others = causes_text(accounting.other); !others.empty()) {
        out << "beside them" << others << '\n';
    }
}

void write_warnings(std::ostream& out, const analyze::Summary& summary) {
    const auto& accounting = summary.accounting;
    const auto warn = [&out](bool condition, const std::string& text) {
        if (condition) out << "WARNING: " << text << '\n';
    };
    warn(accounting.lost_total() != 0,
         fmt::format("{} of {} seen were lost", accounting.lost_total(), accounting.seen));
    warn(accounting.unaccounted() != 0, "the script's counts do not add up");
    warn(!accounting.closed, "the input stops without its last line; the counts are those of its last tick and later");
    warn(summary.transport.skipped_probes != 0,
         fmt::format("SystemTap skipped {} probes", summary.transport.skipped_probes));
    warn(summary.transport.probe_errors != 0,
         fmt::format("{} probes ended in an error", summary.transport.probe_errors));
    warn(summary.transport.transport_failures != 0,
         fmt::format("the way to user space was full {} times", summary.transport.transport_failures));
}

void write_input(std::ostream& out, const decode::InputCounts& input) {
    if (input.unrecognised == 0) return;
    out << input.unrecognised << " of " << input.lines << " lines not understood";
    std::string_view separator = ": ";
    for (const auto& [number, flaw, excerpt] : input.first_flaws) {
        out << separator << "line " << number << " (" << decode::describe(flaw) << ")";
        separator = ", ";
    }
    if (input.unrecognised > static_cast<std::int64_t>(input.first_flaws.size())) out << ", ...";
    out << '\n';
}

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

void write_title(std::ostream& out, const analyze::Summary& summary) {
    out << base::printable(summary.recipe);
    if (summary.start_epoch_ns) {
        out << ", " << local_time(*summary.start_epoch_ns);
        if (summary.end_epoch_ns && *summary.end_epoch_ns > *summary.start_epoch_ns && *summary.start_epoch_ns >= 0) {
            const auto length = std::chrono::nanoseconds(*summary.end_epoch_ns - *summary.start_epoch_ns);
            out << ", for " << base::format_duration(length);
        }
    }
    out << "\n\n";
}

}  // namespace

void write_text(std::ostream& out, const analyze::Summary& summary, const TextOptions& options) {
    if (options.total || !summary.counts_drops) write_title(out, summary);
    write_stages(out, summary, options);
    write_averages(out, summary);
    write_breakdowns(out, summary, options);
    write_series(out, summary, options);
    if (summary.counts_drops) write_drops(out, summary, options);
    write_counters(out, summary.counters);
    if (options.total || !summary.counts_drops) write_accounting(out, summary.accounting);
    write_warnings(out, summary);
    for (const auto& note : summary.notes)
        out << "note: " << base::printable(note) << '\n';
    write_input(out, summary.input);
}

}  // namespace stapgen::report
