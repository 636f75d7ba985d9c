// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "recipe/load_recipe.h"

namespace stapgen::recipe {

using base::TomlTable;
using schema::FieldType;

namespace {

/// Adds what `to` lacks, by what `name` makes of it.
template <class T, class Name>
void add_missing(std::vector<T>& to, const std::vector<T>& from, Name name) {
    for (const auto& one : from) {
        const auto is_it = [&](const T& other) { return std::invoke(name, other) == std::invoke(name, one); };
        if (std::ranges::none_of(to, is_it)) to.push_back(one);
    }
}

/// A stage or value, and its parts, as fields.
void read_stage_fields(TomlTable& stage, const std::string& name, std::vector<schema::Field>& fields,
                       std::vector<schema::Field>& parts) {
    const auto type = stage.text_or("type", "stage");
    const auto field = schema::parse_field(fmt::format("{}:{}", name, type));
    if (!is_name(name)) stage.wrong("name", fmt::format("'{}' is not a stage's name", base::printable(name)));
    if (!field || !schema::has_statistics(*field))
        stage.wrong("type", fmt::format("'{}' is no type of a stage", base::printable(type)),
                    "write stage, stage,cpu, stage,thread or value");
    fields.push_back(*field);
    for (const auto& cause : stage.texts("parts")) {
        if (!is_name(cause) || field->type != FieldType::stage)
            stage.wrong("parts", fmt::format("'{}' is not a part of a stage", base::printable(cause)));
        parts.push_back({.name = fmt::format("{}.{}", name, cause), .type = FieldType::stage});
    }
}

}  // namespace

bool is_field_name(std::string_view text) {
    const auto dot = std::min(text.find('.'), text.size());
    return is_name(text.substr(0, dot)) && (dot == text.size() || is_name(text.substr(dot + 1)));
}

std::vector<schema::Field> read_fields(TomlTable& table, schema::Schema record) {
    std::vector<schema::Field> fields;
    for (const auto& text : table.texts("fields")) {
        const auto field = schema::parse_field(text);
        if (!field || !is_field_name(field->name)) {
            table.wrong("fields", fmt::format("'{}' is not a field", text),
                        fmt::format("write name:type with one of the types {}", schema::type_names()));
        }
        if (record.find(field->name)) table.wrong("fields", fmt::format("'{}' is given twice", field->name));
        if (!schema::has_what_it_divides(record, *field)) {
            table.wrong("fields",
                        fmt::format("'{}' is a part, and '{}' no stage before it", field->name,
                                    schema::divided_stage(field->name)),
                        "write it behind the stage that it divides, as STAGE.CAUSE:stage");
        }
        record.fields.push_back(*field);
        fields.push_back(*field);
    }
    return fields;
}

RecordSchema read_record(TomlTable table) {
    RecordSchema record;
    record.tag = table.text("tag");
    record.aggregates = table.flag("aggregates");
    record.keeps = table.flag("keeps");
    if (!is_name(record.tag) || schema::is_reserved(record.tag) || record.tag == schema::kept_word) {
        table.wrong("tag", fmt::format("'{}' is not a tag", record.tag));
    }
    record.fields = read_fields(table, record);
    table.refuse_the_rest();
    return record;
}

void read_stages(TomlTable& table, Recipe& recipe, Includes& includes) {
    auto& record = recipe.record;
    const bool are_fields = std::ranges::none_of(record.fields, schema::has_statistics);
    std::vector<schema::Field> parts;
    for (auto& stage : table.tables("stages")) {
        const auto name = stage.text("name");
        const auto* same = includes.find_from(stage, name, &Recipe::stages);
        recipe.stages.push_back({name, same == nullptr ? stage.text("help") : same->help});
        const auto known = record.find(name);
        if (are_fields && known) stage.wrong("name", fmt::format("'{}' is given twice", base::printable(name)));
        if (are_fields) {
            read_stage_fields(stage, name, record.fields, parts);
        } else if (!known || !schema::has_statistics(record.fields[*known])) {
            stage.wrong("name", fmt::format("the stage '{}' is not a field of [record]", name));
        }
        stage.refuse_the_rest();
    }
    std::ranges::copy(parts, std::back_inserter(record.fields));
}

void check_record(const TomlTable& table, const RecordSchema& record) {
    if (record.fields.empty()) table.wrong("fields", "a record needs at least one field");
    const auto measures = std::ranges::count_if(record.fields, schema::has_statistics);
    if (record.fields.size() > base::limits::fields || measures > static_cast<std::ptrdiff_t>(base::limits::measures)) {
        table.wrong("fields", fmt::format("a record has at most {} fields, {} of them stages or values",
                                          base::limits::fields, base::limits::measures));
    }
    if (record.aggregates && !schema::has_type(record, FieldType::stage)) {
        table.wrong("aggregates", "aggregation needs a record with a field of type stage");
    }
    if (record.keeps && !record.aggregates)
        table.wrong("keeps", "what keeps records aggregates them: set 'aggregates'");
}

const Recipe& Includes::find(const base::TomlTable& table, const std::string& key, const std::string& name) {
    const auto known = found_.find(name);
    if (known != found_.end()) return known->second;
    if (!is_name(name)) table.wrong(key, fmt::format("'{}' is not a recipe name", base::printable(name)));
    auto recipe = find_(name);
    if (!recipe) table.wrong(key, recipe.error().what, recipe.error().hint);
    if (recipe->source != Source::script) table.wrong(key, fmt::format("{} has no script", name));
    return found_.emplace(name, *std::move(recipe)).first->second;
}

std::vector<std::filesystem::path> Includes::folders() const {
    std::vector<std::filesystem::path> folders;
    for (const auto& [name, recipe] : found_)
        folders.push_back(recipe.folder);
    return folders;
}

void add_included(Recipe& recipe, const Recipe& other) {
    add_missing(recipe.record.fields, other.record.fields, &schema::Field::name);
    add_missing(recipe.stages, other.stages, &Stage::name);
    add_missing(recipe.parameters, other.parameters, &Parameter::name);
    std::erase_if(recipe.parameters, [](const Parameter& parameter) { return parameter.name == no_parts; });
    add_missing(recipe.counters, other.counters, &Counter::name);
    add_missing(recipe.meanings, other.meanings, &Meaning::of);
    add_missing(recipe.account, other.account, &Count::name);
}

}  // namespace stapgen::recipe
