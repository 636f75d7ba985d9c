#include "report/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "report/drop_text.h"
#include "report/table.h"
#include "report/wall_time.h"

namespace stapgen::report {

namespace {

using analyze::Measure;
using Measures = std::vector<const Measure*>;

std::string upper(std::string text) {
    for (char& c : text)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string group_cell(const analyze::GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return base::printable(*text);
    return field.key;
}

/// How one kind of measure is written: ns shown as us, or plain numbers.
struct Style {
    std::string name;
    bool is_time = true;
    int decimals = 3;

    [[nodiscard]] std::string cell(std::optional<std::int64_t> number) const {
        if (!number) return "-";
        if (!is_time) return fmt::format("{}", *number);
        return fmt::format("{:.{}f}", static_cast<double>(*number) / 1e3, decimals);
    }
    [[nodiscard]] std::string cell(std::optional<double> number) const {
        if (!number) return "-";
        return is_time ? fmt::format("{:.{}f}", *number / 1e3, decimals) : fmt::format("{:.2f}", *number);
    }
};

/// One for all numbers of a table, so that they line up: whole ns until a tenth of a second is among them.
Style style_of(const Measures& measures, bool is_time) {
    std::int64_t largest = 0;
    for (const auto* measure : measures)
        largest = std::max(largest, measure->stats.max().value_or(0));
    return {is_time ? "STAGE [us]" : "VALUE", is_time, largest < 100'000'000 ? 3 : 2};
}

void write_measures(std::ostream& out, const Measures& measures, bool is_time, const TextOptions& options) {
    if (measures.empty()) return;
    const Style style = style_of(measures, is_time);
    std::vector<Column> columns;
    for (const auto& field : measures.front()->group) {
        const bool is_text = std::holds_alternative<std::string>(field.value);
        columns.push_back({upper(base::printable(field.key)), is_text ? Align::left : Align::right});
    }
    const std::size_t group_columns = columns.size();
    columns.push_back({style.name, Align::left});
    for (const char* name : {"N", "MEAN"})
        columns.push_back({name});
    for (const auto& percentile : options.percentiles)
        columns.push_back({"P" + percentile.text});
    columns.push_back({"MAX"});

    std::vector<std::vector<std::string>> rows;
    for (const auto* measure : measures) {
        const auto& stats = measure->stats;
        auto& row = rows.emplace_back();
        for (const auto& field : measure->group)
            row.push_back(group_cell(field));
        row.resize(group_columns);
        row.push_back(base::printable(measure->name));
        row.push_back(fmt::format("{}", stats.n()));
        row.push_back(style.cell(stats.mean()));
        for (const auto& percentile : options.percentiles) {
            row.push_back(style.cell(stats.percentile(percentile.percent)));
        }
        row.push_back(style.cell(stats.max()));
    }
    out << table(columns, rows) << '\n';
}

/// Without the stages that no packet went through, unless there are no others.
Measures without_empty(Measures measures) {
    const auto is_empty = [](const Measure* measure) { return measure->stats.n() == 0; };
    if (!std::ranges::all_of(measures, is_empty)) std::erase_if(measures, is_empty);
    return measures;
}

Measures of_whole(const std::vector<Measure>& measures) {
    Measures whole;
    for (const auto& measure : measures) {
        if (measure.group.empty()) whole.push_back(&measure);
    }
    return without_empty(std::move(whole));
}

/// The rows of the first `most` groups; `left_out` is raised to how many groups there are besides.
Measures of_groups(const std::vector<Measure>& measures, std::size_t most, std::size_t& left_out) {
    Measures shown;
    const analyze::Group* last = nullptr;
    std::size_t groups = 0;
    for (const auto& measure : measures) {
        if (measure.group.empty()) continue;
        if (last == nullptr || !(*last == measure.group)) ++groups;
        last = &measure.group;
        if (groups <= most) shown.push_back(&measure);
    }
    left_out = std::max(left_out, groups > most ? groups - most : 0);
    return groups > 1 ? without_empty(std::move(shown)) : Measures{};
}

/// Says what the `-` in place of a percentile means.
void write_footnote(std::ostream& out, const std::vector<const Measures*>& tables, const TextOptions& options) {
    std::string needs;
    for (const auto& [text, percent] : options.percentiles) {
        const bool missing = std::ranges::any_of(tables, [p = percent](const Measures* measures) {
            return std::ranges::any_of(*measures,
                                       [p](const Measure* measure) { return !measure->stats.percentile(p); });
        });
        if (!missing) continue;
        needs += fmt::format("{} P{} needs {}", needs.empty() ? "" : ",", text, analyze::values_needed(percent));
    }
    if (!needs.empty()) out << "-: too few values to tell;" << needs << "\n\n";
}

void write_stages(std::ostream& out, const analyze::Summary& summary, const TextOptions& options) {
    std::size_t left_out = 0;
    const Measures stages = of_whole(summary.stages);
    const Measures values = of_whole(summary.values);
    const Measures grouped_stages = of_groups(summary.stages, options.max_groups, left_out);
    const Measures grouped_values = of_groups(summary.values, options.max_groups, left_out);
    write_measures(out, stages, true, options);
    write_measures(out, values, false, options);
    write_measures(out, grouped_stages, true, options);
    write_measures(out, grouped_values, false, options);
    if (left_out > 0) out << "and " << left_out << " smaller groups\n\n";
    write_footnote(out, {&stages, &values, &grouped_stages, &grouped_values}, options);
}

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
    if (summary.counts_drops) write_drops(out, summary, options);
    write_counters(out, summary.counters);
    if (options.total || !summary.counts_drops) write_accounting(out, summary.accounting);
    write_warnings(out, summary);
    write_input(out, summary.input);
}

}  // namespace stapgen::report
