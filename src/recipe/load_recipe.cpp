// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/load_recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/toml_table.h"

namespace stapgen::recipe {

bool is_name(std::string_view text) {
    constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

std::vector<schema::Field> by_fields() {
    using schema::Attribute, schema::FieldType;
    return {{"netns", FieldType::integer, Attribute::key},  {"cgroup", FieldType::integer, Attribute::key},
            {"container", FieldType::text, Attribute::key}, {"dev", FieldType::text, Attribute::key},
            {"port", FieldType::integer, Attribute::key},   {"protocol", FieldType::text, Attribute::key}};
}

namespace {

bool asks_for_parts(const std::vector<Parameter>& parameters) {
    return std::ranges::find(parameters, with_parts, &Parameter::name) != parameters.end();
}

}  // namespace

bool Recipe::has_parts() const {
    return std::ranges::any_of(record.fields, schema::is_part, &schema::Field::name);
}

Recipe Recipe::asked_by(const Arguments& arguments) const {
    auto recipe = *this;
    const auto is_given = [&](std::string_view flag) {
        const auto found = arguments.find(std::string(flag));
        return found != arguments.end() && found->second == "true";
    };
    if (is_given(no_parts) || (asks_for_parts(parameters) && !is_given(with_parts))) {
        std::erase_if(recipe.record.fields, [](const schema::Field& field) { return schema::is_part(field.name); });
        if (recipe.cost) recipe.cost->parts_hits.clear();
    }
    for (const auto& parameter : parameters) {
        if (!parameter.is_flag() || !is_given(parameter.name)) continue;
        std::ranges::copy(parameter.fields, std::back_inserter(recipe.record.fields));
        if (!recipe.cost) continue;
        for (const auto& [counter, per_event] : parameter.hits)
            recipe.cost->hits[counter] += per_event;
    }
    return recipe;
}

Recipe Recipe::as_recorded(const schema::Header& header) const {
    Arguments shown;
    if (header.version < schema::first_version_with_parts) shown.emplace(no_parts, "true");
    const auto& recorded = header.schemas.front();
    for (const auto& parameter : parameters) {
        const auto& fields = parameter.fields;
        if (parameter.name == with_parts ? std::ranges::any_of(recorded.fields, schema::is_part, &schema::Field::name)
                                         : !fields.empty() && recorded.find(fields.front().name))
            shown.emplace(parameter.name, "true");
    }
    return asked_by(shown);
}

schema::Header Recipe::header() const {
    return {.version = has_parts() ? schema::first_version_with_parts : schema::first_aggregating_version,
            .recipe = name,
            .schemas = {record}};
}

schema::Header Recipe::header(const std::vector<std::string>& with) const {
    auto all = header();
    for (const auto& field : by_fields()) {
        if (std::ranges::find(with, field.name) != with.end()) all.schemas.front().fields.push_back(field);
    }
    return all;
}

namespace {

using base::TomlTable;
using schema::FieldType;

bool is_counter(std::string_view name) {
    const auto dot = name.find('.');
    const bool is_plain = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '.'; });
    return is_plain && dot != 0 && dot < name.size() - 1 && name.rfind('.') == dot;
}

/// Those of parts may be below 0: of events that another counter has, too, and that have none.
std::map<std::string, double> read_hits(TomlTable table, bool of_parts) {
    std::map<std::string, double> hits;
    for (const auto& counter : table.keys()) {
        if (!is_counter(counter)) {
            table.wrong(counter, fmt::format("'{}' is not a counter name", base::printable(counter)),
                        "as in /proc/net/snmp, softnet.processed, stat.ctxt, stat.intr or stat.softirq");
        }
        hits[counter] = of_parts ? static_cast<double>(table.integer(counter).value_or(0)) : table.number(counter);
    }
    return hits;
}

/// The names that stap's -D accepts, without its lower case: the runtime's own macros are upper case.
void check_macro(const TomlTable& table, const char* key, const std::string& macro) {
    const auto equals = macro.find('=');
    const auto name = macro.substr(0, equals);
    if (equals == std::string::npos || equals == 0 ||
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != std::string::npos ||
        !base::to_unsigned(macro.substr(equals + 1))) {
        table.wrong(key, fmt::format("'{}' is not NAME=NUMBER", base::printable(macro)));
    }
}

/// A flag: what it adds to the record and to the cost.
void read_additions(TomlTable& table, const RecordSchema& record, Parameter& parameter) {
    for (const auto* key : {"needs", "fields", "hits"}) {
        if (table.has(key) && !parameter.is_flag())
            table.wrong(key, fmt::format("'{}' is for a parameter of type bool that is false by default", key));
    }
    parameter.fields = read_fields(table, record);
    if (std::ranges::any_of(parameter.fields, schema::has_statistics))
        table.wrong("fields", "stages, their parts and values are fields of [record]: a flag adds others");
    if (parameter.name == with_parts && std::ranges::none_of(record.fields, schema::is_part, &schema::Field::name))
        table.wrong("name", "the flag 'parts' is for stages that have parts");
    parameter.needs = table.text_or("needs");
    if (auto hits = table.table("hits")) parameter.hits = read_hits(*hits, false);
}

Parameter read_parameter(TomlTable table, const RecordSchema& record, Includes& includes) {
    Parameter parameter;
    parameter.name = table.text("name");
    if (const auto* same = includes.find_from(table, parameter.name, &Recipe::parameters)) {
        parameter = *same;
        if (table.has("fields")) parameter.fields = read_fields(table, record);
        table.refuse_the_rest();
        return parameter;
    }
    static const std::set<std::string_view> taken{"header",    "summary", "interval-ms", "interval_ms",
                                                  "aggregate", "by",      no_parts};
    if (!is_name(parameter.name) || taken.contains(parameter.name)) {
        table.wrong("name", fmt::format("'{}' is not a parameter name", parameter.name));
    }
    const auto type = table.text("type");
    static const std::map<std::string_view, ParameterType> types{{"int", ParameterType::integer},
                                                                 {"bool", ParameterType::boolean},
                                                                 {"text", ParameterType::text},
                                                                 {"duration", ParameterType::duration},
                                                                 {"functions", ParameterType::functions}};
    const auto known = types.find(type);
    if (known == types.end()) {
        table.wrong("type", fmt::format("unknown type '{}'", type),
                    "the types are int, bool, text, duration and functions");
    }
    parameter.type = known->second;
    parameter.choices = table.texts("choices");
    const bool are_names = std::ranges::all_of(parameter.choices, is_name);
    if (!parameter.choices.empty() && (parameter.type != ParameterType::text || !are_names)) {
        table.wrong("choices", "'choices' are names, for a parameter of type text");
    }
    parameter.minimum = table.integer("minimum");
    parameter.maximum = table.integer("maximum");
    parameter.help = table.text("help");
    const auto value = table.scalar("default");
    if (!value) table.wrong("name", fmt::format("the parameter '{}' has no 'default'", parameter.name));
    parameter.default_value = *value;
    if (auto checked = check_value(parameter, *value); !checked) table.wrong("default", checked.error().what);
    if (const auto bare = table.scalar("bare")) {
        parameter.bare_value = *bare;
        if (parameter.type != ParameterType::integer && parameter.type != ParameterType::duration)
            table.wrong("bare", "'bare' is for a parameter of type int or duration");
        if (auto checked = check_value(parameter, parameter.bare_value); !checked)
            table.wrong("bare", checked.error().what);
    }
    if (table.has("macro")) check_macro(table, "macro", parameter.macro = table.text("macro"));
    read_additions(table, record, parameter);
    table.refuse_the_rest();
    return parameter;
}

Counter read_counter(TomlTable table) {
    Counter counter{table.text("name"), table.text("help")};
    if (!is_counter(counter.name)) {
        table.wrong("name", fmt::format("'{}' is not a counter name", base::printable(counter.name)),
                    "as in /proc/net/netstat and /proc/net/snmp: TcpExt.ListenOverflows");
    }
    table.refuse_the_rest();
    return counter;
}

Cost read_cost(TomlTable table) {
    Cost cost;
    auto hits = table.table("hits");
    if (!hits) table.wrong("hits", "[cost] has no 'hits'", R"(write hits = { "softnet.processed" = 5 })");
    cost.hits = read_hits(*hits, false);
    if (auto parts = table.table("parts_hits")) cost.parts_hits = read_hits(*parts, true);
    cost.instructions = table.integer("instructions").value_or(0);
    if (cost.instructions <= 0) table.wrong("instructions", "'instructions' must be 1 or more");
    cost.printing = table.integer("printing").value_or(0);
    if (cost.printing < 0) table.wrong("printing", "'printing' must be 0 or more");
    cost.sampled = table.number("sampled");
    if (cost.sampled > 1) table.wrong("sampled", "'sampled' must be 0 to 1");
    table.refuse_the_rest();
    return cost;
}

Meaning read_meaning(TomlTable table) {
    Meaning meaning{table.text("of"), table.text("help"), table.flag("loss"), table.flag("loss_by_name")};
    if (meaning.of.empty()) table.wrong("of", "'of' is empty");
    if (meaning.loss && meaning.loss_by_name) table.wrong("loss_by_name", "use either 'loss_by_name' or 'loss'");
    table.refuse_the_rest();
    return meaning;
}

void read_account(TomlTable table, Recipe& recipe) {
    for (const auto& name : table.keys()) {
        if (!is_field_name(name))
            table.wrong(name, fmt::format("'{}' is not a count", base::printable(name)), "quote it: \"lost.evicted\"");
        recipe.account.push_back({name, table.text(name)});
    }
}

/// `reads`, and that nothing is given that only a script can do.
Source read_source(TomlTable& table, const Recipe& recipe) {
    const auto reads = table.text_or("reads");
    if (reads.empty()) return Source::script;
    if (reads != "network-counters") {
        table.wrong("reads", fmt::format("stapgen cannot read '{}'", base::printable(reads)),
                    "'reads' takes network-counters; without 'reads' the recipe needs a script.stp");
    }
    for (const auto* key : {"by", "cost", "filters", "includes", "parameters", "reads-links", "stages", "stap"}) {
        if (table.has(key)) {
            table.wrong(key, fmt::format("'{}' is for a script, and a recipe with 'reads' has none", key));
        }
    }
    if (recipe.record.aggregates) {
        table.wrong("record", "'aggregates' is for a script, and a recipe with 'reads' has none");
    }
    const auto& fields = recipe.record.fields;
    if (fields.size() != 3 || fields[0].type != FieldType::text || fields[1].type != FieldType::text ||
        fields[2].type != FieldType::count) {
        table.wrong("record", "the record of network-counters needs two texts and a count",
                    R"(write fields = ["name:text,key", "of:text,key", "rise:count"])");
    }
    return Source::network_counters;
}

std::set<Filter> read_filters(TomlTable& table) {
    // port and addr: recipes before --filter.
    static const std::map<std::string, std::set<Filter>> words{{"thread", {Filter::thread}},
                                                               {"packet", {Filter::packet}},
                                                               {"sample", {Filter::sample}},
                                                               {"dev", {Filter::device}},
                                                               {"mark", {Filter::mark}},
                                                               {"container", {Filter::container}},
                                                               {"port", {Filter::packet, Filter::sample}},
                                                               {"addr", {Filter::packet}}};
    std::set<Filter> filters;
    for (const auto& word : table.texts("filters")) {
        const auto known = words.find(word);
        if (known == words.end()) {
            table.wrong("filters", fmt::format("there is no filter '{}'", base::printable(word)),
                        base::meant_hint(word, {"thread", "packet", "sample", "dev", "mark", "container"},
                                         "use thread, packet, sample, dev, mark or container"));
        }
        filters.insert(known->second.begin(), known->second.end());
    }
    return filters;
}

/// A field that the record has already is no field to be asked for.
std::vector<std::string> read_by(TomlTable& table, const RecordSchema& record) {
    auto words = table.texts("by");
    std::vector<std::string> known;
    for (const auto& field : by_fields())
        known.push_back(field.name);
    for (const auto& word : words) {
        if (std::ranges::find(known, word) == known.end() || record.find(word)) {
            table.wrong("by", fmt::format("--by cannot add '{}' to these records", base::printable(word)),
                        base::meant_hint(word, known, fmt::format("there are {}", fmt::join(known, ", "))));
        }
    }
    return words;
}

/// Macros of each recipe that does not set them. INTERRUPTIBLE: all that an interrupt does inside a probe is hidden
/// from us, and SystemTap does not count it; the tapset takes its locks with interrupts off. MINSTACKSPACE: a stack is
/// taken for full below a multiple of 16 KB, to which softirq's stacks are not aligned.
const std::vector<std::string> default_macros{"INTERRUPTIBLE=0", "MINSTACKSPACE=0"};

void read_stap(TomlTable table, Recipe& recipe) {
    recipe.guru = table.flag("guru");
    recipe.macros = table.texts("macros");
    for (const auto& macro : recipe.macros)
        check_macro(table, "macros", macro);
    table.refuse_the_rest();
}

void add_default_macros(Recipe& recipe) {
    const auto is_set = [&](const std::string& macro) {
        const auto name = macro.substr(0, macro.find('=') + 1);
        return std::ranges::any_of(recipe.macros, [&](const std::string& one) { return one.starts_with(name); });
    };
    auto macros = default_macros;
    std::erase_if(macros, is_set);
    recipe.macros.insert(recipe.macros.begin(), macros.begin(), macros.end());
}

/// Fields that options add, of other recipes too, are none of the record's.
void check_added(const TomlTable& table, const Recipe& recipe) {
    for (const auto& parameter : recipe.parameters) {
        for (const auto& field : parameter.fields) {
            if (recipe.record.find(field.name))
                table.wrong("parameters",
                            fmt::format("--{} adds the field '{}', which [record] has", parameter.name, field.name));
        }
    }
}

Recipe read_recipe(TomlTable& table, const FindRecipe& find) {
    Recipe recipe;
    Includes includes(find);
    recipe.name = table.text("name");
    if (!is_name(recipe.name)) table.wrong("name", fmt::format("'{}' is not a recipe name", recipe.name));
    recipe.summary = table.text("summary");
    if (recipe.summary.find('\n') != std::string::npos) table.wrong("summary", "'summary' must be one line");
    recipe.description = base::trim(table.text_or("description"));
    recipe.probes = table.text_or("probes");
    recipe.kernels = table.text_or("kernels");
    recipe.examples = table.texts("examples");
    recipe.interval_s = table.integer("interval");
    if (recipe.interval_s && (*recipe.interval_s < 1 || *recipe.interval_s > 86400)) {
        table.wrong("interval", "'interval' must be 1 to 86400 seconds");
    }
    auto record = table.table("record");
    if (!record) table.wrong("name", "the recipe has no [record]");
    recipe.record = read_record(*record);
    recipe.source = read_source(table, recipe);
    recipe.reads_links = table.flag("reads-links");
    read_stages(table, recipe, includes);
    for (const auto& name : table.texts("includes"))
        add_included(recipe, includes.find(table, "includes", name));
    check_record(*record, recipe.record);
    recipe.filters = read_filters(table);
    recipe.by = read_by(table, recipe.record);
    for (auto& parameter : table.tables("parameters"))
        recipe.parameters.push_back(read_parameter(parameter, recipe.record, includes));
    for (auto& counter : table.tables("counters"))
        recipe.counters.push_back(read_counter(counter));
    for (auto& meaning : table.tables("meanings"))
        recipe.meanings.push_back(read_meaning(meaning));
    if (auto account = table.table("account")) read_account(*account, recipe);
    if (auto cost = table.table("cost")) recipe.cost = read_cost(*cost);
    if (auto stap = table.table("stap")) read_stap(*stap, recipe);
    check_added(table, recipe);
    if (recipe.has_parts() && !asks_for_parts(recipe.parameters)) {
        recipe.parameters.push_back({.name = std::string(no_parts),
                                     .type = ParameterType::boolean,
                                     .default_value = "false",
                                     .help = "Do not divide stages by what packets waited for: cheaper"});
    }
    if (recipe.source == Source::script) add_default_macros(recipe);
    table.refuse_the_rest();
    recipe.includes = includes.folders();
    return recipe;
}

}  // namespace

base::Result<Recipe> load_recipe(const std::filesystem::path& folder, const FindRecipe& find) {
    const auto file = folder / "recipe.toml";
    STAPGEN_LET(auto text, base::read_found(file, base::limits::recipe_bytes));
    Recipe recipe;
    const base::TomlFile toml{text, file.native(), "the recipe", "docs/reference/recipes.md lists the keys",
                              "recipe.toml is TOML; docs/reference/recipes.md lists the keys"};
    return base::read_toml(toml, [&](TomlTable& table) { recipe = read_recipe(table, find); }).map([&] {
        recipe.folder = folder;
        return std::move(recipe);
    });
}

}  // namespace stapgen::recipe
