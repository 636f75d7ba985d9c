#include "cli/options/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/options/option_table.h"
#include "report/format.h"

namespace stapgen::cli {

namespace {

constexpr const char* top = "stapgen";

CommandSpec run_command(const recipe::Recipe& recipe, Options& options) {
    CommandSpec command{Verb::run, top, recipe.name, recipe.summary};
    command.recipe = &recipe;
    command.examples = recipe.examples;
    auto& measure = options.measure;
    const bool has_script = recipe.source == recipe::Source::script;
    command.options = joined({
        filter_options(recipe.filters, measure.filters),
        script_options(recipe, options.make),
        measure_options(measure),
        recipe.stages.empty() ? OptionSpecs{} : events_option(measure),
        has_script ? load_options(measure) : OptionSpecs{},
        has_script ? make_options(recipe, options.make) : dry_run_option(options.make.dry_run),
    });
    return command;
}

CommandSpec list_command(Options& options) {
    CommandSpec command{Verb::list, top, "list", "The recipes, one line each"};
    command.examples = {"stapgen list", "stapgen list --json"};
    command.options = format_options(options.present.format, {"table", "json"});
    return command;
}

CommandSpec show_command(Options& options) {
    CommandSpec command{Verb::show, top, "show", "What a recipe measures, its stages, parameters and cost"};
    command.examples = {"stapgen show rx-latency", "stapgen show dropwatch --json"};
    command.options =
        joined({{option("recipe", "RECIPE", groups::arguments, "Its name", "", &options.recipe, {.required = true})},
                format_options(options.present.format, {"table", "json"})});
    return command;
}

CommandSpec doctor_command(Options& options) {
    CommandSpec command{Verb::doctor, top, "doctor",
                        "Whether a recipe, or each of them, will run here, and what to do if not"};
    command.examples = {"stapgen doctor rx-latency", "stapgen doctor --warm rx-latency tx-latency",
                        "stapgen doctor -r 6.12.117+deb13-amd64 --symbols kallsyms.gz"};
    command.options = joined({
        {{"recipe", "RECIPE", groups::arguments, "Their names", "without one, all", &options.words},
         {"--warm", "", groups::other, "Compile them now, so that their first run here need not", "it takes a while",
          &options.warm}},
        target_options(options.make),
        no_workaround_option(options.make),
        format_options(options.present.format, {"table", "json"}),
    });
    exclude(command.options, "--warm", {"--format", "--json"});
    return command;
}

CommandSpec render_command(const recipe::Recipe& recipe, Options& options) {
    CommandSpec command{Verb::render, "stapgen render", recipe.name, recipe.summary};
    command.recipe = &recipe;
    command.examples = {fmt::format("stapgen render {0} --standalone >{0}.stp", recipe.name)};
    command.options = joined({
        script_options(recipe, options.make),
        {{"--standalone", "", groups::output, "With stapgen's tapset put in, to carry elsewhere", "",
          &options.standalone},
         {"-r,--release", "RELEASE", groups::compiling, "Accepted for the kernel it is meant for",
          "the script itself fits all of them", &options.make.release}},
        debuginfo_option(options.make.debuginfo),
    });
    return command;
}

CommandSpec build_command(const recipe::Recipe& recipe, Options& options) {
    CommandSpec command{Verb::build, "stapgen build", recipe.name, recipe.summary};
    command.recipe = &recipe;
    command.examples = {fmt::format("stapgen build {0} -o {0}.ko", recipe.name)};
    auto make = make_options(recipe, options.make);
    command.options = joined({
        script_options(recipe, options.make),
        {option("-o,--output", "FILE", groups::output, "The module's file, to be made", "", &options.measure.output,
                {.required = true})},
        std::move(make),
        quiet_option(options.measure.quiet),
        verbose_option(options.measure.verbose),
    });
    return command;
}

CommandSpec of_each_script(CommandSpec command, const recipe::Catalog& catalog, Options& options,
                           CommandSpec (*command_of)(const recipe::Recipe&, Options&)) {
    for (const auto& recipe : catalog.recipes) {
        if (recipe.source == recipe::Source::script) command.commands.push_back(command_of(recipe, options));
    }
    return command;
}

CommandSpec exec_command(Options& options) {
    using recipe::Filter;
    CommandSpec command{Verb::exec, top, "exec", "Run a module that build made, where there is no compiler"};
    command.notes = "Which filters can be used, the recipe says that the module was made of.\n";
    command.examples = {"stapgen exec rx.ko -d 10", "stapgen exec rx.ko -x 31337 -d 10 -o rx.rec"};
    command.options = joined({
        {option("module", "FILE", groups::arguments, "The module's file, also packed", "", &options.file,
                {.required = true})},
        // Which of them the module's recipe has is known when the file is read.
        filter_options({Filter::thread, Filter::port, Filter::address, Filter::device, Filter::mark},
                       options.measure.filters),
        measure_options(options.measure),
        load_options(options.measure),
        events_option(options.measure),
    });
    return command;
}

CommandSpec report_command(Options& options) {
    CommandSpec command{Verb::report, top, "report", "Reports from files: recordings, and what other tools print"};
    command.notes =
        "What is read, also mixed with prompts and other lines:\n"
        "  recordings of stapgen (-o FILE), and the lines its modules print\n"
        "  the RHEL stage-timing script (|I| drv-ip: 23 us, ...), the memcached tracker (rx=... count=...)\n"
        "  dropwatch.stp of any generation, dropwatch(1)\n"
        "  perf script, perf trace and ftrace lines of skb:kfree_skb and net:*, perf script netdev-times\n"
        "  drops in what pwru, bcc's tcpdrop and bpftrace (@[kstack]: N) print\n"
        "  counters of nstat, netstat -s, ip -s link, ifconfig, ethtool -S, /proc/net: what rose between two samples\n"
        "Several files of one recipe, of one host or of many, are added up.\n";
    command.examples = {
        "stapgen report slow.rec",
        "stapgen report --by port --format json web1.rec web2.rec",
        "stapgen report slow.rec --format perfetto > trace.pftrace",
        "stapgen report --by host web*.rec",
        "ssh host cat /tmp/drops.txt | stapgen report -",
        "stapgen report before.txt after.txt",
        "stapgen report drops.txt --map System.map-6.1.0-56-amd64 --map vmlinuz-6.1.0-56-amd64",
    };
    command.options = joined({
        {option("file", "FILE", groups::arguments, "Recordings, or what other tools print",
                "- is stdin. Also packed: zstd, gzip, xz, bzip2", &options.words, {.required = true})},
        present_options(options.present, true),
        name_options(options.names),
    });
    return command;
}

CommandSpec compare_command(Options& options) {
    std::vector<std::string> formats;
    for (const auto& format : report::formats()) {
        if (format.write_comparison != nullptr) formats.emplace_back(format.name);
    }
    CommandSpec command{Verb::compare, top, "compare", "What became slower or faster between two measurements"};
    command.notes =
        "~ stands where before and after cannot be told apart. Exit code 3: a regression.\n"
        "Several files for a side are recordings of the same, best taken in turns (ABAB); from five for each\n"
        "side on, what differs from recording to recording is in the intervals. docs/reading-the-numbers.md\n";
    command.examples = {"stapgen compare before.rec after.rec",
                        "stapgen compare --threshold 10% -P 50,99 a1.rec,a2.rec b1.rec,b2.rec"};
    command.options = joined({
        {option("before", "BEFORE", groups::arguments,
                "A file that 'report' reads, several with commas between, or a folder of them", "", &options.before,
                {.required = true}),
         option("after", "AFTER", groups::arguments, "The same, of what is compared with it", "", &options.after,
                {.required = true}),
         {"--threshold", "PERCENT", groups::output, "A stage that is slower by more than this is a regression", "",
          &options.threshold}},
        format_options(options.present.format, formats, "ndjson has a line for each change"),
        percentiles_option(options.present.percentiles),
    });
    return command;
}

CommandSpec resolve_command(Options& options) {
    CommandSpec command{Verb::resolve, top, "resolve", "Kernel addresses to names: name+0xoffset/0xsize [module]"};
    command.notes = "Without --map: this machine's kernel.\n";
    command.examples = {"stapgen resolve --map System.map 0xffffffff8149a8ed",
                        "stapgen resolve --map System.map --map vmlinuz --annotate <drops.txt",
                        "dmesg -w | stapgen resolve --annotate"};
    command.options = joined({
        {{"address", "HEX", groups::arguments, "Addresses", "none: read them from stdin. With --annotate a file",
          &options.words}},
        name_options(options.names),
        {{"--recording", "FILE", groups::names, "The addresses are of this recording's kernel",
          "its KASLR offset and modules are taken from it", &options.recording},
         {"--return-addresses", "", groups::other, "They are return addresses, of a backtrace", "look one byte before",
          &options.return_addresses},
         {"--drop-sites", "", groups::other, "They are places of drops",
          "return addresses, or the function itself where it begins there", &options.drop_sites},
         {"--annotate", "", groups::other, "Copy a text through, with names in place of kernel addresses", "",
          &options.annotate},
         {"-l,--lines", "", groups::other, "Also file and line", "inlined functions first, needs DWARF",
          &options.lines}},
        format_options(options.present.format, {"table", "ndjson"}, "ndjson has an object for each address"),
    });
    exclude(command.options, "--annotate", {"--lines", "--format", "--json"});
    return command;
}

CommandSpec new_recipe_command(Options& options) {
    CommandSpec command{Verb::new_recipe, top, "new-recipe",
                        "Begin a recipe of your own: two files that run as they are"};
    command.examples = {"stapgen new-recipe tcp-calls", "stapgen new-recipe tcp-calls --into ."};
    command.options = {option("name", "TEXT", groups::arguments, "Its name", "", &options.name, {.required = true}),
                       option("--into", "DIR", groups::other, "The folder to make it in", "", &options.into,
                              {.default_value = "~/.config/stapgen/recipes"})};
    return command;
}

CommandSpec help_command(Options& options) {
    CommandSpec command{Verb::help, top, "help", "All there is to say of a recipe or a command"};
    command.examples = {"stapgen help rx-latency", "stapgen help build rx-latency"};
    command.options = {{"command", "COMMAND", groups::arguments, "A recipe or a command", "", &options.words}};
    return command;
}

CommandSpec man_command(Options& options) {
    CommandSpec command{Verb::man, top, "man", "Write the manual's pages"};
    command.hidden = true;
    command.options = {option("folder", "DIR", groups::arguments, "Where to", "", &options.into, {.required = true}),
                       {"--installed", "", groups::hidden, "Of the installed recipes alone", "", &options.installed}};
    return command;
}

std::vector<CommandSpec> own_commands(const recipe::Catalog& catalog, Options& options) {
    CommandSpec render{Verb::none, top, "render", "Print a recipe's SystemTap script and run nothing"};
    render.examples = {"stapgen render rx-latency",
                       "stapgen render dropwatch --interval 1 --standalone >dropwatch.stp"};
    CommandSpec build{Verb::none, top, "build", "Compile a recipe to a module, to run elsewhere with exec"};
    build.notes = "The options of a recipe's own are those it is run with.\n";
    build.examples = {"stapgen build rx-latency -o rx.ko",
                      "stapgen build rx-latency -r 6.1.0-56-amd64 --symbols kallsyms.gz -o rx.ko"};
    CommandSpec complete{Verb::complete, top, "complete", "Print what may come next"};
    complete.hidden = true;
    return {list_command(options),
            show_command(options),
            doctor_command(options),
            of_each_script(std::move(render), catalog, options, render_command),
            of_each_script(std::move(build), catalog, options, build_command),
            exec_command(options),
            report_command(options),
            compare_command(options),
            resolve_command(options),
            new_recipe_command(options),
            help_command(options),
            man_command(options),
            std::move(complete)};
}

/// The parser acts on them.
const OptionSpecs help_options{
    {"-h,--help", "", groups::general, "A screen of help", "", {}},
    {"--help-all", "", groups::general, "All there is to say, as 'stapgen help' has it", "", {}},
};

void add_help(CommandSpec& command) {
    command.options.insert(command.options.begin(), help_options.begin(), help_options.end());
    for (auto& one : command.commands)
        add_help(one);
}

/// What is in the way of a recipe among the commands; empty if nothing is.
std::string clash_of(const recipe::Recipe& recipe, const std::vector<CommandSpec>& own) {
    if (std::ranges::find(own, recipe.name, &CommandSpec::name) != own.end())
        return fmt::format("'{}' is a command of stapgen", recipe.name);
    auto without = recipe;
    without.parameters.clear();
    Options none;
    std::vector<CommandSpec> commands{run_command(without, none), render_command(without, none),
                                      build_command(without, none)};
    for (auto& command : commands)
        add_help(command);
    std::set<std::string> names;
    for (const auto& parameter : recipe.parameters) {
        const auto is_taken = [&](const CommandSpec& command) {
            return option_named(command, "--" + parameter.name) != nullptr;
        };
        if (parameter.name.starts_with('-') || std::ranges::any_of(commands, is_taken)) {
            return fmt::format("its parameter '{0}' would be the option --{0}, which stapgen has itself or cannot have",
                               parameter.name);
        }
        if (!names.insert(parameter.name).second) return "two of its parameters have the same name";
    }
    return {};
}

}  // namespace

CommandSpec command_table(const recipe::Catalog& catalog, Options& options) {
    CommandSpec root{Verb::none, "", top,
                     "Where does the time go, and where do packets die, in the kernel's network stack?"};
    root.notes =
        "stapgen RECIPE makes the SystemTap script for a measurement, compiles and loads\n"
        "it, and reports what it saw; Ctrl-C ends it. What -o keeps, and what other tools\n"
        "print, 'stapgen report' reads anywhere. --recipe-path and --version stand before\n"
        "the recipe or the command.\n";
    root.examples = {"stapgen rx-latency --target-tid 31337", "stapgen dropwatch --interval 5",
                     "stapgen resolve --map System.map 0xffffffff8149a8ed"};
    root.options = {{"--version",
                     "",
                     groups::general,
                     "The version, the build, and whether the recipes are those it was built with",
                     "",
                     {}},
                    {"--recipe-path", "DIR[:DIR...]", groups::general,
                     "Folders with recipes of your own, with : between them", "", &options.recipe_path}};
    for (const auto& recipe : catalog.recipes)
        root.commands.push_back(run_command(recipe, options));
    std::ranges::move(own_commands(catalog, options), std::back_inserter(root.commands));
    add_help(root);
    return root;
}

void set_aside_clashes(recipe::Catalog& catalog) {
    Options none;
    const auto own = own_commands({}, none);
    std::erase_if(catalog.recipes, [&](const recipe::Recipe& recipe) {
        const auto clash = clash_of(recipe, own);
        if (clash.empty()) return false;
        const auto what = fmt::format("{}: {}", (recipe.folder / "recipe.toml").string(), clash);
        catalog.broken.emplace(recipe.name,
                               base::Error{base::ErrorKind::bad_input, what, "choose another name; docs/recipes.md"});
        return true;
    });
}

}  // namespace stapgen::cli
