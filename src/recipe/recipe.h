// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"

namespace stapgen::recipe {

enum class ParameterType { integer, boolean, text, duration, functions };

/// A value that the user may give. Its name is the option (--max-packets) and, with _ for -, the template's
/// name.
struct Parameter {
    std::string name;
    ParameterType type = ParameterType::integer;
    std::string default_value{};                       ///< as the user would type it
    std::optional<std::int64_t> minimum{}, maximum{};  ///< of a duration: ns
    std::vector<std::string> choices{};                ///< of a text: it is one of them; empty: any text
    std::string bare_value{};  ///< of a number: what the option alone stands for, --name; another value is --name=N
    std::string macro{};       ///< NAME=VALUE, for stap's -D where its value is not the default
    std::string help{};
    std::string needs{};                   ///< a flag: it is of use only with that one; empty: with any
    std::vector<schema::Field> fields{};   ///< of a flag: the record has these, too, where it is given
    std::map<std::string, double> hits{};  ///< likewise Cost::hits

    /// Whether the option alone means true, as --one does.
    [[nodiscard]] bool is_flag() const { return type == ParameterType::boolean && default_value == "false"; }
};

/// A stage or value of a recipe, in the order of its record.
struct Stage {
    std::string name;
    std::string help;
};

/// The parameter of each recipe whose stages have parts: whether they are left out.
inline constexpr std::string_view no_parts = "no-parts";
/// The flag of a recipe whose stages have parts only where it is given.
inline constexpr std::string_view with_parts = "parts";

/// Values that the user typed, by parameter name.
using Arguments = std::map<std::string, std::string>;

/// A kernel counter (/proc/net/netstat, snmp) whose rise is reported.
struct Counter {
    std::string name;  ///< "TcpExt.ListenOverflows"
    std::string help;
};

/// The meaning of a counted thing, for the report.
struct Meaning {
    std::string of;  ///< the text of its first key; each `*` in it stands for any text
    std::string help;
    bool loss = false;          ///< packets or connections are lost where it is counted: shown before the others
    bool loss_by_name = false;  ///< its name says so, and nobody has looked it up: shown behind those
};

/// A count in the script's lines of counts, without "incomplete.": what is in it.
struct Count {
    std::string name;
    std::string help;
};

/// The records that the script prints, or the reader of its source.
struct RecordSchema : schema::Schema {
    bool aggregates = false;  ///< the script can aggregate its records in the kernel
    bool keeps = false;       ///< and keep those of the seconds that have passed
};

/// Filters of a measurement: options of the command line, and module parameters of the script.
enum class Filter { thread, packet, sample, device, mark, container };

/// The cost of a recipe where nothing is filtered, as measured: docs/reference/recipes.md.
struct Cost {
    std::map<std::string, double> hits;  ///< of probes, per event: the kernel's counter of it -> how many
    std::int64_t instructions = 0;       ///< of a CPU, per hit; without `printing`
    std::int64_t printing = 0;           ///< as many more where the script prints each record and could aggregate
    double sampled = 0;  ///< the part of `instructions`, 0 to 1, that is for a packet's socket: what is spared where
                         ///< that is not in the sample
    std::map<std::string, double> parts_hits{};  ///< more of them, as `hits`, where stages are divided into parts
};

/// Where the lines of a measurement come from.
enum class Source {
    script,            ///< script.stp, in the kernel
    network_counters,  ///< the kernel's counters, read by stapgen itself: there is no script
};

/// recipe.toml, checked, and the folder it came from: docs/reference/recipes.md.
struct Recipe {
    std::filesystem::path folder;
    std::vector<std::filesystem::path> includes{};  ///< the folders of recipes that it takes something from
    std::string name, summary, description;
    std::string probes;   ///< what it costs
    std::string kernels;  ///< where it was seen to run, and what it needs
    std::vector<std::string> examples;
    Source source = Source::script;
    RecordSchema record;
    std::vector<Stage> stages;
    std::vector<Parameter> parameters;
    std::set<Filter> filters;
    std::vector<std::string> by;  ///< of by_fields(): what --by asks the script for
    std::vector<Counter> counters;
    std::vector<Meaning> meanings;
    std::vector<Count> account;
    std::optional<Cost> cost;
    std::optional<std::int64_t> interval_s;  ///< for recipes that report by interval: the default, seconds
    std::vector<std::string> macros;         ///< for stap's -D: NAME=VALUE
    bool guru = false;                       ///< its script has C of its own, unchecked: for stap's -g
    bool reads_links =
        false;  ///< its script looks on as the counters of network devices are read, at both ends of a run

    /// The header of its recording, where it is not aggregated.
    [[nodiscard]] schema::Header header() const;
    /// The same with the fields of these words behind the others.
    [[nodiscard]] schema::Header header(const std::vector<std::string>& with) const;

    /// Whether stages of its records are divided into parts.
    [[nodiscard]] bool has_parts() const;
    /// The recipe with these arguments: with --no-parts its records have none, and with other flags what these add.
    [[nodiscard]] Recipe asked_by(const Arguments& arguments) const;
    /// The same, as it made a recording with this header.
    [[nodiscard]] Recipe as_recorded(const schema::Header& header) const;
};

/// The fields that a script can be asked for with --by, and their names.
std::vector<schema::Field> by_fields();

/// Whether a recipe, a field or a parameter may be called so: lower case letters, digits, - and _.
bool is_name(std::string_view text);

/// Finds a recipe that another one takes something from. Error: there is none, or it cannot be used.
using FindRecipe = std::function<base::Result<Recipe>(const std::string& name)>;

/// Reads and checks `folder`/recipe.toml. Errors name file, line and column; a key nobody knows is an error.
base::Result<Recipe> load_recipe(const std::filesystem::path& folder, const FindRecipe& find);

/// Type and range; the error names the parameter as an option.
base::Result<void> check_value(const Parameter& parameter, std::string_view value);

/// The text put into a template for a value that check_value() takes: a whole number in decimal without leading zeros,
/// a duration as ns, any other as it is.
std::string template_value(const Parameter& parameter, const std::string& value);

/// All parameters of the recipe with their values, defaults where none was given. Fails on a name or a value
/// that the recipe does not allow.
base::Result<Arguments> complete_arguments(const Recipe& recipe, const Arguments& given);

/// A hash of the recipe's files and of the values of all its parameters, 16 hexadecimal digits: what makes one script
/// differ from another, but for intervals and aggregation. Error: a file cannot be read.
base::Result<std::string> hash_of(const Recipe& recipe, const Arguments& complete);

}  // namespace stapgen::recipe
