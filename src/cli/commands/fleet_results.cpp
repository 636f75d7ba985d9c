#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "fleet/compare.h"
#include "fleet/results.h"
#include "session/replay.h"
#include "session/summary_facts.h"

namespace stapgen::cli {

namespace {

base::Result<void> fleet_compare(const Call& call) {
    const auto& options = call.options;
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    presentation->by.emplace();  // no groups
    // The more rows, the less can be told of each.
    const auto percentiles =
        options.fleet.percentiles.empty() ? analyze::parse_percentiles("50,99").value() : options.fleet.percentiles;
    auto hosts = fleet::read_results(options.into);
    if (!hosts) return tl::make_unexpected(hosts.error());
    fleet::Comparison comparison;
    comparison.threshold = options.threshold;
    auto read = fleet::for_each_summary(
        *hosts, *presentation,
        [&](const fleet::HostResult& host, const analyze::Summary& summary) -> base::Result<void> {
            if (summary.stages.empty() || summary.counts()) {
                return base::bad_input(
                    fmt::format("{} has no durations", base::printable(summary.recipe)),
                    "hosts are compared by their stages; 'stapgen fleet report' shows what there is");
            }
            comparison.recipe = summary.recipe;
            comparison.members.push_back(fleet::member_of(host.host, summary));
            return {};
        });
    if (!read) return read;
    if (const auto missing = fleet::missing_text(*hosts); !missing.empty()) comparison.warnings.push_back(missing);
    analyze::align_stages(comparison.members);
    comparison.deviations = analyze::find_outliers(comparison.members, percentiles, options.threshold);
    comparison.factors =
        analyze::compare_factors(comparison.members, comparison.deviations, percentiles, options.threshold);
    if (options.present.format == "json") {
        fleet::write_json(std::cout, comparison);
    } else {
        fleet::write_text(std::cout, comparison, options.present.shown.top);
    }
    auto different = comparison.different_levels();
    if (const auto count = comparison.different(); count > 0)
        different.insert(different.begin(), fmt::format("{} of {} hosts", count, comparison.members.size()));
    if (different.empty()) return {};
    return tl::make_unexpected(base::Error{base::ErrorKind::regression,
                                           fmt::format("different by more than {:.4g} %: {}", options.threshold * 100,
                                                       base::printable(fmt::format("{}", fmt::join(different, ", ")))),
                                           "--threshold sets how much is allowed"});
}

base::Result<void> fleet_report(const Call& call) {
    const auto& [program, root, command, options] = call;
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    auto hosts = fleet::read_results(options.into);
    if (!hosts) return tl::make_unexpected(hosts.error());
    std::vector<analyze::Summary> all;
    std::vector<report::HostRow> rows;
    auto read = fleet::for_each_summary(
        *hosts, *presentation, [&](const fleet::HostResult& host, analyze::Summary summary) -> base::Result<void> {
            rows.push_back(report::host_row(host.host, summary));
            summary.series = {};  // no order over time is made of several hosts' clocks
            session::add_to(all, std::move(summary));
            return {};
        });
    if (!read) return read;
    session::finish_sums(all, *presentation);
    for (auto& summary : all)
        session::put_meanings(summary, program.catalog);
    const auto missing = fleet::missing_text(*hosts);
    if (!missing.empty()) base::print_message(missing);
    report::present(std::cout, report::Hosts(std::move(rows), missing), all, *presentation);
    return {};
}

OptionSpecs folder_argument(std::string& folder) {
    return {option("folder", "DIR", groups::arguments, "What 'stapgen fleet run' made, or a folder of recordings", "",
                   &folder, {.required = true})};
}

}  // namespace

CommandSpec fleet_compare_command(Options& options) {
    CommandSpec command{fleet_compare, "stapgen fleet", "compare", "Which host or kernel is different, in which stage"};
    command.notes =
        "Each host is compared with the others that have its kernel and its labels; where those are\n"
        "fewer than three, its kernel, and else all. Then the hosts of each kernel, and of each value\n"
        "of a label, with those of the kernel or value that most hosts have. Exit code 3: a host, a\n"
        "kernel or a label stands out.\n";
    command.examples = {"stapgen fleet compare monday", "stapgen fleet compare --threshold 20% -P 50,99,99.9 monday"};
    command.options = joined({
        folder_argument(options.into),
        {option("--threshold", "PERCENT", groups::output, "A host that differs by no more than this does not stand out",
                "", read_by(base::parse_percent, options.threshold, false), {.default_value = "5%"}),
         {"--top", "N", groups::output, "Show so many rows, and all that stand out", "", &options.present.shown.top}},
        format_options(options.present.format, {"table", "json"}, ""),
        {option("-P,--percentiles", "LIST", groups::output, "Which percentiles, with commas between", "",
                read_by(analyze::parse_percentiles, options.fleet.percentiles), {.default_value = "50,99"})},
    });
    return command;
}

CommandSpec fleet_report_command(Options& options) {
    CommandSpec command{fleet_report, "stapgen fleet", "report", "Many hosts as one, the slowest first"};
    command.examples = {"stapgen fleet report monday",
                        "stapgen fleet report monday --by host --format html >fleet.html"};
    command.options = joined({folder_argument(options.into), present_options(options.present, true)});
    std::erase_if(command.options, [](const OptionSpec& spec) { return long_name(spec) == "--series"; });
    return command;
}

}  // namespace stapgen::cli
