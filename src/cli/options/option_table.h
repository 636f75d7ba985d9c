// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/options/spec.h"

/// The options that several commands have. Each function returns what belongs together, in the order of the help;
/// `options` is what the values are put into.
namespace stapgen::cli {

/// -x, -p and --comm, --port, --addr, --dev, --mark, --container, --pod, --cgroup, --netns: those that the recipe has;
/// --sample where it has --port. Numbers are put there as the parser understands them: 443 for 0x1bb.
OptionSpecs filter_options(const std::set<recipe::Filter>& filters, recording::TypedFilters& typed);

/// The recipe's own, --interval, and --aggregate where it can.
OptionSpecs script_options(const recipe::Recipe& recipe, module::MakeOptions& options);

/// -d, -n, -o, those of present_options(), --rotate, --live and -q. `recipe`: what is measured; null: not known here.
OptionSpecs measure_options(MeasureOptions& options, const recipe::Recipe* recipe = nullptr);
/// --keep and what belongs to it: records of the seconds that have passed. `by_lines`: memory is stapgen's, too.
OptionSpecs keep_options(KeepOptions& options, bool by_lines, bool of_fleet = false);
OptionSpecs events_option(MeasureOptions& options);
/// --buffer and -v.
OptionSpecs load_options(MeasureOptions& options);
/// --remote.
OptionSpecs remote_option(session::MeasurePlan& plan, const std::string& group);
OptionSpecs quiet_option(bool& quiet);
/// --color.
OptionSpecs color_option(std::string& color);
OptionSpecs verbose_option(bool& verbose);

/// -r, --symbols, --stap, --debuginfo.
OptionSpecs target_options(module::MakeOptions& options);
OptionSpecs debuginfo_option(std::string& debuginfo);
OptionSpecs no_workaround_option(module::MakeOptions& options);
OptionSpecs dry_run_option(bool& dry_run);
/// All of how a module is made, --dry-run among them; --guru where the recipe asks for it.
OptionSpecs make_options(const recipe::Recipe& recipe, module::MakeOptions& options);

/// --format, one of `choices`, and -j, the same as json, or as ndjson where that is not among them. `more` explains
/// the choices.
OptionSpecs format_options(std::string& format, const std::vector<std::string>& choices, const std::string& more = {});
OptionSpecs percentiles_option(PresentOptions& options);
/// How results are shown: -P, --format, -j, --by, --top, --slowest, --series, --buckets, --hide-benign,
/// --color. `of_files`: --by takes
/// origin_words, too.
OptionSpecs present_options(PresentOptions& options, bool of_files = false, const recipe::Recipe* recipe = nullptr);

/// --by, of what the recipe's script can be asked for: of what makes a script, and measures nothing.
OptionSpecs by_option(const recipe::Recipe& recipe, module::MakeOptions& options);

/// --by, of origin_words only.
OptionSpecs origins_option(PresentOptions& options);

/// Where names of addresses come from: --map, --modules, --kaslr-offset, -r.
OptionSpecs name_options(symbols::NameSources& sources);

/// One after the other.
OptionSpecs joined(std::vector<OptionSpecs> parts);

/// None of `others` goes with `option`.
void exclude(OptionSpecs& options, const std::string& option, const std::vector<std::string>& others);

}  // namespace stapgen::cli
