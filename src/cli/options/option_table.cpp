// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "base/units.h"
#include "cli/options/plans.h"
#include "overhead/overhead.h"
#include "recording/identity.h"
#include "recording/writer.h"
#include "session/measured_facts.h"
#include "session/presentation.h"
#include "table/histogram.h"

namespace stapgen::cli {

OptionSpecs joined(std::vector<OptionSpecs> parts) {
    OptionSpecs all;
    for (auto& part : parts)
        std::ranges::move(part, std::back_inserter(all));
    return all;
}

void exclude(OptionSpecs& options, const std::string& option, const std::vector<std::string>& others) {
    for (auto& each : options) {
        const auto name = long_name(each);
        if (name == option) each.rules.excludes.insert(each.rules.excludes.end(), others.begin(), others.end());
        if (std::ranges::find(others, name) != others.end()) each.rules.excludes.push_back(option);
    }
}

OptionSpecs filter_options(const std::set<recipe::Filter>& filters, recording::TypedFilters& typed) {
    using recipe::Filter;
    const auto* group = groups::filters;
    std::vector<std::pair<Filter, OptionSpec>> rows{
        {Filter::thread, option("-x,--target-tid", "TID", group, "Only this thread", "", &typed, {.range = Range{}})},
        {Filter::thread,
         option("-p,--target-pid", "PID", group, "Only this process, all its threads", "", &typed, {.range = Range{}})},
        {Filter::thread, {"--comm", "COMM", group, "Only threads of this name, also later ones", "", &typed}},
        {Filter::packet,
         {"--filter", "EXPRESSION", group, "Only packets that match, as 'tcp port 443 and net 10.0.0.0/8'",
          "the language is pcap-filter(7)", &typed}},
        {Filter::packet, option("--port", "N", group, "Only packets with this port, local or remote", "", &typed,
                                {.range = Range{1, 65535}})},
        {Filter::packet,
         {"--addr", "ADDRESS[/PREFIX]", group, "Only packets with this address, local or remote", "", &typed}},
        {Filter::device, {"--dev", "DEV", group, "Only packets of this network device", "", &typed}},
        {Filter::mark,
         {"--mark", "MARK[/MASK]", group, "Only packets with this mark (nft 'meta mark set', SO_MARK)", "", &typed}},
        {Filter::container,
         {"--container", "CONTAINER", group, "Only this container",
          "docker, podman, containerd, CRI-O, nspawn or LXC; -x and -p are then PIDs inside it", &typed}},
        {Filter::container,
         {"--pod", "POD", group, "Only the containers of this pod", "POD, NAMESPACE/POD or its uid", &typed}},
        {Filter::container,
         {"--cgroup", "CGROUP", group, "Only sockets made in this cgroup or below it", "of version 2", &typed}},
        {Filter::container, {"--netns", "NETNS", group, "Only this network namespace", "", &typed}},
        {Filter::sample,
         option("--sample", "N", group, "Only one in N sockets, chosen by a hash of addresses and ports",
                "N is a power of two", &typed, {.range = Range{1, recording::largest_sample}})},
    };
    OptionSpecs specs;
    for (auto& [filter, spec] : rows) {
        if (filters.contains(filter)) specs.push_back(std::move(spec));
    }
    exclude(specs, "--target-tid", {"--target-pid", "--comm"});
    exclude(specs, "--target-pid", {"--comm"});
    exclude(specs, "--container", {"--pod", "--cgroup"});
    exclude(specs, "--pod", {"--cgroup"});
    return specs;
}

namespace {

OptionSpec parameter_option(const recipe::Parameter& parameter, const std::string& group,
                            recipe::Arguments& arguments) {
    using recipe::ParameterType;
    // recipe.toml has both texts in one: docs/reference/recipes.md.
    const auto end = std::min(parameter.help.find(';'), parameter.help.size());
    const auto more = base::trim(std::string_view(parameter.help).substr(std::min(end + 1, parameter.help.size())));
    OptionSpec spec{"--" + parameter.name, "", group, parameter.help.substr(0, end), std::string(more), &arguments};
    if (parameter.is_flag()) return spec;
    spec.rules.default_value = parameter.default_value;
    spec.rules.choices = parameter.choices;
    if (!parameter.bare_value.empty()) {
        spec.names += '{' + parameter.bare_value + '}';
        spec.value = "[=N]";
        spec.rules.default_value.clear();
        return spec;
    }
    switch (parameter.type) {
        case ParameterType::integer:
            spec.value = "N";
            break;
        case ParameterType::boolean:
            spec.value = "BOOL";
            spec.rules.choices = {"true", "false"};
            break;
        case ParameterType::text:
            spec.value = parameter.choices.empty() ? "TEXT" : "WORD";
            break;
        case ParameterType::duration:
            spec.value = "DURATION";
            break;
        case ParameterType::functions:
            spec.value = "FUNC[,...]";
            break;
    }
    return spec;
}

}  // namespace

OptionSpecs script_options(const recipe::Recipe& recipe, module::MakeOptions& options) {
    OptionSpecs specs;
    for (const auto& parameter : recipe.parameters)
        specs.push_back(parameter_option(parameter, "Parameters of " + recipe.name, options.arguments));
    specs.push_back(option("-i,--interval", "TIME", groups::time, "Report at this interval, as 5, 250ms or 1m", "",
                           read_by(parse_interval, options.interval),
                           {.default_value = recipe.interval_s ? fmt::to_string(*recipe.interval_s) : ""}));
    if (recipe.record.aggregates) {
        specs.push_back(
            {"--aggregate", "", groups::output, "Aggregate in the kernel: same percentiles, no groups",
             "with little output at any packet rate; the default for -d of 60 s or more without --events and --by",
             &options.aggregate});
    }
    if (recipe.record.keeps) {
        specs.push_back(option("--keep-memory", "SIZE", groups::compiling,
                               "Memory of the module for records, for --keep",
                               "of all CPUs together, 1MiB to 1GiB; default with --keep: 32MiB",
                               read_by(parse_keep_memory, options.keep), {}));
    }
    return specs;
}

OptionSpecs measure_options(MeasureOptions& options, const recipe::Recipe* recipe) {
    auto& plan = options.plan;
    return joined({
        {{"-d,--duration", "TIME", groups::time, "Stop after this time", "",
          read_by(parse_measured_time, plan.duration)},
         option("-n,--count", "N", groups::time, "Stop after N intervals", "", &plan.intervals, {.range = Range{1}}),
         {"-o,--output", "FILE", groups::output, "Keep all lines in this new file", "'stapgen report' reads it again",
          &plan.output}},
        present_options(options.present, false, recipe),
        {{"--label", "NAME=VALUE", groups::more_output, "Label this measurement, as dc=fra1",
          "kept in the recording; 'stapgen report --by label:NAME' groups by it", &options.labels},
         option("--rotate", "SIZE[,N]", groups::more_output, "Start a new file (FILE.1, ...) at this size",
                "keep the newest N", read_by(recording::parse_rotation, plan.rotation, false), {.needs = {"--output"}}),
         option("--live{always},--no-live{never}", "", groups::more_output, "Show the measurement while it runs",
                "auto: on a terminal, if the report is a table; ? lists the keys", &options.live,
                {.choices = {"auto", "always", "never"}})},
        quiet_option(plan.quiet),
    });
}

OptionSpecs keep_options(KeepOptions& options, bool by_lines, bool of_fleet) {
    auto& keep = options.plan;
    const auto folder = [](const std::string& typed) { return base::Result<std::filesystem::path>(typed); };
    OptionSpecs specs{
        option("--keep", "TIME", groups::more_output, "Keep records; record those of this time before --when holds",
               "and at each SIGUSR1", read_by(parse_measured_time, keep.before, false), {}),
        option("--when", "CONDITION", groups::more_output, "A condition, as 'tcp-app p99 > 5ms over 1s'",
               "SUBJECT pNN|max|rise > VALUE [over TIME]; may be repeated", &options.conditions, {.needs = {"--keep"}}),
        option("--after", "TIME", groups::more_output, "Record this time after the condition, too", "",
               read_by(parse_measured_time, keep.after, false), {.default_value = "5", .needs = {"--keep"}}),
        option("--keep-most", "SIZE[,N]", groups::more_output,
               of_fleet ? "Keep N times at most, and no more once a host has sent this much"
                        : "Of these recordings keep the newest N, of this size together",
               "", read_by(recording::parse_rotation, keep.most, false),
               {.default_value = "256MB,20", .needs = {"--keep"}}),
    };
    if (!of_fleet) {
        specs.insert(specs.end() - 1,
                     option("--keep-in", "FOLDER", groups::more_output, "Where --keep puts recordings",
                            "default: the working folder", read_by(folder, keep.folder, false), {.needs = {"--keep"}}));
    }
    if (by_lines) {
        specs.push_back(option("--keep-memory", "SIZE", groups::more_output, "Memory for records, for --keep",
                               "1MiB to 1GiB", read_by(parse_keep_memory, keep.memory, false),
                               {.default_value = "32MiB", .needs = {"--keep"}}));
    }
    return specs;
}

OptionSpecs events_option(MeasureOptions& options) {
    return {
        {"--events", "", groups::output, "Print each record as it comes, then the report", "", &options.plan.events}};
}

OptionSpecs load_options(MeasureOptions& options) {
    return joined({{{"-s,--buffer", "SIZE", groups::running, "The kernel's buffer per CPU, 1MiB to 4095MiB",
                     "as staprun's -b", read_by(parse_buffer, options.plan.buffer_mb)}},
                   verbose_option(options.plan.verbose)});
}

OptionSpecs remote_option(session::MeasurePlan& plan, const std::string& group) {
    return {{"--remote", "", group, "Controlled by another stapgen; 'stapgen fleet run' uses it over ssh",
             "starts at a line on stdin, ends when stdin closes; writes the recording to stdout", &plan.remote}};
}

OptionSpecs color_option(std::string& color) {
    return {option("--color", "WHEN", groups::more_output, "Use colours",
                   "auto: on a terminal, unless $NO_COLOR is set or $TERM is dumb", &color,
                   {.choices = {"auto", "always", "never"}})};
}

OptionSpecs quiet_option(bool& quiet) {
    return {{"-q,--quiet", "", groups::running, "No progress and no hints on stderr", "", &quiet}};
}

OptionSpecs verbose_option(bool& verbose) {
    return {{"-v,--verbose", "", groups::running, "Print stap's messages on stderr", "", &verbose}};
}

OptionSpecs target_options(module::MakeOptions& options) {
    const auto* group = groups::compiling;
    return joined({
        {{"-r,--release", "RELEASE", group, "For this kernel", "default: the running kernel", &options.release},
         {"--symbols", "FILE", group, "System.map or saved /proc/kallsyms of that kernel", "may be .gz, .xz or .zst",
          &options.symbols},
         option("--stap", "PATH", group, "Which stap", "", &options.stap, {.environment = "STAPGEN_STAP"})},
        debuginfo_option(options.debuginfo),
    });
}

OptionSpecs debuginfo_option(std::string& debuginfo) {
    return {option("--debuginfo", "MODE", groups::compiling, "Use the kernel's DWARF",
                   "auto: only if nothing else works; require: wherever it helps", &debuginfo,
                   {.choices = {"auto", "never", "require"}})};
}

OptionSpecs no_workaround_option(module::MakeOptions& options) {
    return {option("--no-workaround", "WORKAROUND", groups::compiling, "Switch this workaround off", "",
                   &options.without_workarounds, {.old_name = "--no-cure"})};
}

OptionSpecs dry_run_option(bool& dry_run) {
    return {{"--dry-run", "", groups::running, "Print the exact commands and run nothing", "", &dry_run}};
}

OptionSpecs make_options(const recipe::Recipe& recipe, module::MakeOptions& options) {
    const auto* group = groups::compiling;
    auto specs = joined({
        target_options(options),
        {{"--all-modules", "", group, "Let stap resolve addresses of all modules", "", &options.all_modules},
         {"--module", "MODULE", group, "The same for one module", "stap's -d", &options.modules},
         {"--stap-option", "OPTION", group, "Pass to stap unchanged", "", &options.stap_options},
         {"--sign", "KEY,CERT", group, "Sign the module, for Secure Boot and kernels under lockdown",
          "by the kernel's sign-file; $KBUILD_SIGN_PIN has the key's passphrase",
          read_by(module::parse_signer, options.sign)}},
        no_workaround_option(options),
        {{"--cost", "", group, "Measure the cost of each probe; costs a little itself", "stap's -t", &options.cost},
         {"--budget", "PERCENT", group, "Limit the probes to this share of each CPU",
          "samples sockets if more is expected; ends the run if it is exceeded",
          read_by(overhead::parse_budget, options.budget)}},
        dry_run_option(options.dry_run),
    });
    if (recipe.guru) {
        specs.push_back({"--guru", "", group, "Allow the C in this recipe's script: it runs in the kernel, unchecked",
                         "stap's -g", &options.guru});
    }
    return specs;
}

OptionSpecs format_options(std::string& format, const std::vector<std::string>& choices, const std::string& more) {
    const std::string json = std::ranges::find(choices, "json") == choices.end() ? "ndjson" : "json";
    return {option("--format", "FORMAT", groups::output, "The output format", more, &format,
                   {.choices = choices, .excludes = {"--json"}}),
            option(fmt::format("-j{{{0}}},--json{{{0}}}", json), "", groups::output, "The same as --format " + json, "",
                   &format, {.excludes = {"--format"}})};
}

OptionSpecs percentiles_option(PresentOptions& options) {
    return {option("-P,--percentiles", "LIST", groups::more_output, "Percentiles, separated by commas", "",
                   read_by(table::parse_percentiles, options.shown.percentiles), {.default_value = "50,90,99,99.9"})};
}

namespace {
std::vector<std::string_view> origin_names() {
    std::vector<std::string_view> names(session::origin_words.begin(), session::origin_words.end());
    names.back() = "label:NAME";
    return names;
}
}  // namespace

OptionSpecs present_options(PresentOptions& options, bool of_files, const recipe::Recipe* recipe) {
    const auto* group = groups::more_output;
    auto grouping = session::grouping_words();
    const auto own = recipe == nullptr ? std::vector<std::string>() : session::groups_of(recipe->header(recipe->by));
    const bool has_threads = std::ranges::find(own, "thread") != own.end();
    std::vector<std::string> formats;
    for (const auto& format : show::formats())
        formats.emplace_back(format.name);
    const auto origins = origin_names();
    if (of_files) grouping.insert(grouping.begin(), origins.begin(), origins.end());
    return joined({
        format_options(options.format, formats,
                       "ndjson: one object per line; html: one self-contained page; perfetto: a trace for "
                       "ui.perfetto.dev; folded: call paths for a flame graph"),
        percentiles_option(options),
        {{"--by", of_files ? "GROUP[,...]" : "WHAT[,...]", groups::output,
          of_files                     ? "Group by host, recording, label:NAME, port, cpu, ..."
          : own.empty() || has_threads ? "Group by process, port, cpu, ..."
                                       : "Group by what the records have",
          own.empty() ? fmt::format("one or more of {}, or fields of the records, separated by commas. Default: "
                                    "thread, or the recipe's",
                                    fmt::join(grouping, ", "))
                      : fmt::format("one or more of {}, separated by commas", fmt::join(own, ", ")),
          &options.by},
         {"--top", "N", group, "Show the N largest groups", "", &options.shown.top},
         option("--slowest", "N", group, "Show the N slowest records", "", &options.shown.slowest,
                {.range = Range{0, 1000}}),
         {"--series", "", group, "Also print a row per second", "longer blocks for a long run", &options.shown.series},
         option("--buckets", "N", group, "At most N buckets per stage in OpenMetrics",
                "12, 27, 53 or 105, the same in every run", &options.shown.buckets, {.range = Range{12, 105}}),
         {"--hide-benign", "", group, "Hide drops that are part of normal operation", "totals still count them",
          &options.shown.hide_benign}},
        color_option(options.color),
    });
}

OptionSpecs by_option(const recipe::Recipe& recipe, module::MakeOptions& options) {
    if (recipe.by.empty()) return {};
    const auto read = [&recipe](const std::string& typed) { return parse_by(recipe, typed); };
    return {{"--by", "WHAT[,...]", groups::output, "Add these fields to the records, to group by",
             fmt::format("all of them: {}", fmt::join(recipe.by, ", ")), read_by(read, options.by)}};
}

OptionSpecs origins_option(PresentOptions& options) {
    return {{"--by", "ORIGIN[,...]", groups::output, "Compare each host, recording or label with itself",
             fmt::format("one or more of {}, separated by commas; a recording is named by its file",
                         fmt::join(origin_names(), ", ")),
             &options.by}};
}

OptionSpecs name_options(symbols::NameSources& sources) {
    const auto* group = groups::names;
    const auto path = [](const std::string& typed) { return base::Result<std::filesystem::path>(typed); };
    return {{"--map", "FILE", group, "The kernel's symbols",
             "System.map, a copy of /proc/kallsyms, vmlinux, vmlinuz, a module's file or a folder of those; may be "
             "compressed",
             &sources.files},
            {"--modules", "FILE", group, "A copy of /proc/modules: the modules' addresses", "",
             read_by(path, sources.modules)},
            option("--kaslr-offset", "HEX", group, "The KASLR offset from the map's addresses",
                   "default: found, or refused", read_by(parse_kaslr_offset, sources.kaslr_offset),
                   {.old_name = "--slide"}),
            {"-r,--release", "RELEASE", group, "The kernel's release", "", &sources.release},
            {"--fetch", "", group, "Fetch missing symbols from $DEBUGINFOD_URLS", "by the kernel's build-id",
             &sources.fetch}};
}

}  // namespace stapgen::cli
