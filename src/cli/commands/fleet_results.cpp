// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "analyze/results.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/answer.h"
#include "cli/commands/commands.h"
#include "cli/commands/new_file.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "fleet/compare.h"
#include "fleet/results.h"
#include "fleet/why.h"
#include "session/measured_facts.h"
#include "session/replay.h"
#include "show/model/hosts.h"

namespace stapgen::cli {

namespace {

/// The options of a comparison of hosts. The more rows, the larger each P.
std::vector<table::Percentile> usual_percentiles() {
    return table::parse_percentiles("50,99").value();
}

bool is_comparable(const kinds::Measured& measured) {
    return measured.has<rows::Stage>() && !measured.counts();
}

base::Result<void> fleet_compare(const Call& /*call*/, const FleetCompareOptions& options) {
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    presentation.by.emplace();  // no groups
    STAPGEN_LET(auto hosts, fleet::read_results(options.folder));
    fleet::Comparison comparison;
    auto read = fleet::for_each_measured(
        hosts, presentation, [&](const fleet::HostResult& host, const kinds::Measured& measured) -> base::Result<void> {
            if (!is_comparable(measured)) {
                comparison.warnings.push_back(fmt::format("{}: its recording of {} has no durations",
                                                          base::printable(host.host),
                                                          base::printable(measured.recipe)));
                return {};
            }
            comparison.recipe = measured.recipe;
            comparison.members.push_back(fleet::member_of(host.host, measured));
            return {};
        });
    if (!read) return read;
    if (comparison.members.empty()) {
        return base::bad_input(comparison.warnings.empty() ? "there are no durations" : comparison.warnings.front(),
                               "hosts are compared by their stages; use 'stapgen fleet report'");
    }
    if (const auto missing = fleet::missing_text(hosts); !missing.empty()) comparison.warnings.push_back(missing);
    fleet::compare_members(comparison, options.percentiles.empty() ? usual_percentiles() : options.percentiles,
                           options.threshold);
    STAPGEN_LET(auto output, NewFile::open(options.output));
    write_answer(options.present.format, comparison, [&] {
        fleet::write_text(std::cout, comparison, options.present.shown.top,
                          base::screen_of(STDOUT_FILENO, presentation.colours));
    });
    if (auto kept = output.keep(); !kept) return kept;
    auto different = comparison.different_levels();
    if (const auto count = comparison.different(); count > 0)
        different.insert(different.begin(), fmt::format("{} of {} hosts", count, comparison.members.size()));
    if (!comparison.has_result()) {
        return tl::make_unexpected(base::Error{base::ErrorKind::no_result, fleet::sentence_of(comparison),
                                               "this neither shows nor excludes a difference"});
    }
    if (different.empty()) return {};
    return tl::make_unexpected(base::Error{base::ErrorKind::regression,
                                           fmt::format("above the {:.4g} % threshold: {}", options.threshold * 100,
                                                       base::printable(fmt::format("{}", fmt::join(different, ", ")))),
                                           "--threshold sets the limit"});
}

base::Result<void> fleet_why(const Call& call, const FleetReportOptions& options) {
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    presentation.by.emplace();  // no groups
    STAPGEN_LET(auto hosts, fleet::read_results(options.folder));
    fleet::Whys whys;
    std::map<std::string, std::vector<std::string>> caveats;  // the hosts of each
    fleet::Comparison comparison;
    auto read = fleet::for_each_measured(
        hosts, presentation, [&](const fleet::HostResult& host, kinds::Measured measured) -> base::Result<void> {
            whys.recipe = measured.recipe;
            if (!is_comparable(measured)) {
                whys.warnings.push_back(fmt::format("{}: its recording of {} has no durations",
                                                    base::printable(host.host), base::printable(measured.recipe)));
                return {};
            }
            session::put_meanings(measured, call.program.catalog);
            const auto results = session::results_of(measured, presentation);
            const auto why = study::why_of(results);
            whys.noun = why.noun;
            whys.hosts.push_back(fleet::why_of(host.host, why, results));
            for (const auto& caveat : why.caveats)
                caveats[caveat].push_back(base::printable(host.host));
            comparison.members.push_back(fleet::member_of(host.host, measured));
            return {};
        });
    if (!read) return read;
    if (whys.hosts.empty())
        return base::bad_input(whys.warnings.empty() ? "there are no durations" : whys.warnings.front(),
                               "use 'stapgen fleet report'");
    for (const auto& [caveat, of] : caveats)
        whys.warnings.push_back(fmt::format(
            "{}: {}", of.size() > 3 ? fmt::format("{} hosts", of.size()) : fmt::format("{}", fmt::join(of, ", ")),
            caveat));
    if (const auto missing = fleet::missing_text(hosts); !missing.empty()) whys.warnings.push_back(missing);
    fleet::compare_members(comparison, usual_percentiles(), FleetCompareOptions().threshold);
    for (auto& row : whys.hosts)
        if (const auto* difference = comparison.difference_of(row.host))
            row.differs_in = fleet::short_text(*difference);
    whys.sentence = fleet::sentence_of(comparison);
    fleet::sort_hosts(whys);
    STAPGEN_LET(auto output, NewFile::open(options.output));
    write_answer(options.present.format, whys, [&] {
        fleet::write_text(std::cout, whys, options.present.shown.top,
                          base::screen_of(STDOUT_FILENO, presentation.colours));
    });
    return output.keep();
}

base::Result<void> fleet_report(const Call& call, const FleetReportOptions& options) {
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    STAPGEN_LET(auto hosts, fleet::read_results(options.folder));
    std::vector<kinds::Measured> all;
    std::vector<show::HostRow> rows;
    fleet::Comparison comparison;
    auto read = fleet::for_each_measured(
        hosts, presentation, [&](const fleet::HostResult& host, kinds::Measured measured) -> base::Result<void> {
            rows.push_back(show::host_row(host.host, analyze::results_of(measured)));
            if (is_comparable(measured)) comparison.members.push_back(fleet::member_of(host.host, measured));
            measured.of<rows::Series>().clear();  // no order over time is made of several hosts' clocks
            session::add_to(all, std::move(measured));
            return {};
        });
    if (!read) return read;
    session::finish_sums(all, presentation);
    for (auto& measured : all)
        session::put_meanings(measured, call.program.catalog);
    const auto missing = fleet::missing_text(hosts);
    if (!missing.empty()) base::print_message(missing);
    STAPGEN_LET(auto output, NewFile::open(options.output));
    fleet::compare_members(comparison, usual_percentiles(), FleetCompareOptions().threshold);
    for (auto& row : rows) {
        const auto* difference = comparison.difference_of(row.host);
        if (difference == nullptr) continue;
        row.differs_in = difference->stage;
        row.difference = fleet::short_text(*difference);
    }
    auto verdict = comparison.different() > 0 ? fleet::sentence_of(comparison) : "";
    session::present(std::cout, show::Hosts(std::move(rows), missing, std::move(verdict)), all, presentation);
    return output.keep();
}

OptionSpecs folder_argument(std::string& folder) {
    return {option("folder", "DIR", groups::arguments, "The folder of 'stapgen fleet run', or any folder of recordings",
                   "", &folder, {.required = true})};
}

}  // namespace

CommandSpec fleet_compare_command() {
    CommandSpec command{"stapgen fleet", "compare", "Find the host or kernel that is different, and the stage"};
    auto& options = add_values<FleetCompareOptions>(command, fleet_compare);
    command.notes =
        "Compares each host with the hosts of the same kernel and labels; if there are fewer than\nthree, of the same "
        "kernel; else with all. Then it compares the hosts of each kernel and label\nvalue with those of the most "
        "common one. Exit code 3: a host, a kernel or a label differs; 7: no result, too little was measured.\n";
    command.examples = {"stapgen fleet compare monday", "stapgen fleet compare --threshold 20% -P 50,99,99.9 monday"};
    command.options = joined({
        folder_argument(options.folder),
        {option("--threshold", "PERCENT", groups::output, "Ignore differences up to this", "",
                read_by(base::parse_percent, options.threshold, false), {.default_value = "5%"}),
         {"--top", "N", groups::output, "Show N rows, and all significant ones", "", &options.present.shown.top},
         new_file_option(options.output)},
        format_options(options.present.format, {"table", "json", "csv"}, ""),
        {option("-P,--percentiles", "LIST", groups::output, "Percentiles, separated by commas", "",
                read_by(table::parse_percentiles, options.percentiles), {.default_value = "50,99"})},
        color_option(options.present.color),
    });
    return command;
}

CommandSpec fleet_why_command() {
    CommandSpec command{"stapgen fleet", "why", "Which host is slow, and what its packets wait for; the worst first"};
    auto& options = add_values<FleetReportOptions>(command, fleet_why);
    command.notes =
        "A row for each host: what its packets mostly waited for, and its slow ones, those above p99.\n"
        "Hosts that differ from hosts like them come first ('stapgen fleet compare' says how sure that\n"
        "is), then the largest p99. 'stapgen why FOLDER/HOST.rec' explains one of them.\n";
    command.examples = {"stapgen fleet why monday", "stapgen fleet why monday --format json"};
    command.options = joined({
        folder_argument(options.folder),
        {{"--top", "N", groups::output, "Show N rows", "", &options.present.shown.top},
         new_file_option(options.output)},
        format_options(options.present.format, {"table", "json", "csv"}, ""),
        color_option(options.present.color),
    });
    return command;
}

CommandSpec fleet_report_command() {
    CommandSpec command{"stapgen fleet", "report", "Report many hosts as one, the slowest first"};
    auto& options = add_values<FleetReportOptions>(command, fleet_report);
    command.examples = {"stapgen fleet report monday",
                        "stapgen fleet report monday --by host --format html -o fleet.html"};
    command.options = joined(
        {folder_argument(options.folder), {new_file_option(options.output)}, present_options(options.present, true)});
    std::erase_if(command.options, [](const OptionSpec& spec) { return long_name(spec) == "--series"; });
    return command;
}

}  // namespace stapgen::cli
