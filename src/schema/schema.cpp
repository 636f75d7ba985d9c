// SPDX-License-Identifier: GPL-2.0-or-later
#include "schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"

namespace stapgen::schema {

namespace {

/// The types that may follow the colon of a field.
struct Kind {
    std::string_view text;
    FieldType type;
    Attribute attribute = Attribute::none;
};

constexpr std::array kinds{Kind{"address", FieldType::address},
                           Kind{"count", FieldType::count},
                           Kind{"endpoint", FieldType::endpoint},
                           Kind{"int", FieldType::integer},
                           Kind{"ip", FieldType::ip},
                           Kind{"reason", FieldType::reason},
                           Kind{"stack", FieldType::stack},
                           Kind{"stage", FieldType::stage},
                           Kind{"text", FieldType::text},
                           Kind{"time", FieldType::time},
                           Kind{"value", FieldType::value},
                           Kind{"endpoint,key", FieldType::endpoint, Attribute::key},
                           Kind{"int,depth", FieldType::integer, Attribute::depth},
                           Kind{"int,key", FieldType::integer, Attribute::key},
                           Kind{"ip,key", FieldType::ip, Attribute::key},
                           Kind{"stage,cpu", FieldType::stage, Attribute::cpu},
                           Kind{"stage,thread", FieldType::stage, Attribute::thread},
                           Kind{"text,key", FieldType::text, Attribute::key}};

constexpr std::array<std::string_view, 5> reserved{"stapgen", "fields", "ready", "tick", "end"};
constexpr std::array<std::string_view, 4> reserved_for_aggregates{"bin", "sum", "split", "slow"};

bool has_control(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// Takes the text before the next tab off the front, and the tab.
std::string_view take_word(std::string_view& text) {
    const auto word = text.substr(0, text.find('\t'));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return word;
}

std::optional<std::size_t> place_of(std::vector<Field>::const_iterator found, const std::vector<Field>& fields) {
    return found == fields.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - fields.begin()));
}

/// "recipe", or "recipe,aggregated[,silent]" from version 4 on.
bool parse_recipe(std::string_view text, Header& header) {
    header.recipe = text;
    if (header.version >= first_aggregating_version) {
        const auto words = base::split(text, ',');
        header.recipe = words[0];
        header.aggregated = words.size() > 1;
        header.silent = words.size() > 2;
        if (header.aggregated && words[1] != "aggregated") return false;
        if (header.silent && (words[2] != "silent" || words.size() > 3)) return false;
    }
    return !header.recipe.empty() && !has_control(text);
}

bool has(const Schema& schema, std::string_view name, FieldType type) {
    const auto field = schema.find(name);
    return field && schema.fields[*field].type == type;
}

}  // namespace

std::optional<std::size_t> Schema::find(std::string_view name) const {
    return place_of(std::ranges::find(fields, name, &Field::name), fields);
}

std::optional<std::size_t> Schema::find(Attribute attribute) const {
    return place_of(std::ranges::find(fields, attribute, &Field::attribute), fields);
}

std::vector<std::string> Schema::keys() const {
    std::vector<std::string> names;
    for (const auto& field : fields)
        if (field.attribute == Attribute::key) names.push_back(field.name);
    return names;
}

std::string Header::line() const {
    const auto& schema = schemas.front();
    auto text = fmt::format("stapgen\t{}\t{}{}{}\t{}", version, recipe, aggregated ? ",aggregated" : "",
                            silent ? ",silent" : "", schema.tag);
    for (const auto& field : schema.fields) {
        const auto* const kind = std::ranges::find_if(
            kinds, [&](const Kind& of) { return of.type == field.type && of.attribute == field.attribute; });
        text += fmt::format("\t{}:{}", field.name, kind->text);
    }
    return text;
}

bool has_type(const Schema& schema, FieldType type) {
    return std::ranges::find(schema.fields, type, &Field::type) != schema.fields.end();
}

bool has_type(const Header& header, FieldType type) {
    return std::ranges::any_of(header.schemas, [&](const Schema& schema) { return has_type(schema, type); });
}

std::optional<std::size_t> find_direction(const Schema& schema) {
    const auto direction = schema.find("way");
    return direction && schema.fields[*direction].type == FieldType::text ? direction : std::nullopt;
}

bool tells_waits(const Schema& schema) {
    return has(schema, "waited", FieldType::text) && has(schema, "n", FieldType::count);
}

bool tells_wakers(const Schema& schema) {
    return tells_waits(schema) && has(schema, "waker", FieldType::text);
}

bool samples_code(const Schema& schema) {
    return has(schema, "frames", FieldType::stack) && has(schema, "pid", FieldType::integer) &&
           has(schema, "call", FieldType::integer) && has(schema, "comm", FieldType::text);
}

bool is_ledger(const Schema& schema) {
    return has(schema, "entry", FieldType::text) && has(schema, "of", FieldType::text) &&
           has(schema, "packets", FieldType::count);
}

bool has_statistics(const Field& field) {
    return field.type == FieldType::stage || field.type == FieldType::value;
}

std::string_view divided_stage(std::string_view name) {
    const auto dot = name.find('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

bool is_part(std::string_view name) {
    return !divided_stage(name).empty();
}

std::string_view cause_of(std::string_view part) {
    return part.substr(part.find('.') + 1);
}

bool has_what_it_divides(const Schema& schema, const Field& field) {
    const auto stage = divided_stage(field.name);
    if (stage.empty()) return true;
    const auto place = schema.find(stage);
    return place && field.type == FieldType::stage && schema.fields[*place].type == FieldType::stage;
}

bool divides_total(const Field& field) {
    return field.type == FieldType::stage && field.name != "total";
}

bool is_reserved(std::string_view tag, int version) {
    return std::ranges::find(reserved, tag) != reserved.end() ||
           (version >= first_aggregating_version &&
            std::ranges::find(reserved_for_aggregates, tag) != reserved_for_aggregates.end());
}

std::string type_names() {
    std::string names;
    for (const auto& kind : kinds)
        names += (names.empty() ? "" : ", ") + std::string(kind.text);
    return names;
}

std::optional<Field> parse_field(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || has_control(text)) return std::nullopt;
    const auto* const kind = std::ranges::find(kinds, text.substr(colon + 1), &Kind::text);
    if (kind == kinds.end()) return std::nullopt;
    return Field{std::string(text.substr(0, colon)), kind->type, kind->attribute};
}

std::optional<Schema> parse_schema(std::string_view text, int version) {
    Schema schema{.tag = std::string(take_word(text))};
    if (schema.tag.empty() || is_reserved(schema.tag, version) || has_control(schema.tag)) return std::nullopt;
    for (const auto word : base::split(text, '\t')) {
        auto field = parse_field(word);
        if (!field || schema.find(field->name)) return std::nullopt;
        if (!has_what_it_divides(schema, *field)) return std::nullopt;
        schema.fields.push_back(*std::move(field));
    }
    return schema;
}

std::optional<Header> parse_header(std::string_view text) {
    const auto version = base::to_int(take_word(text)).value_or(0);
    if (version < 1 || version > std::numeric_limits<int>::max()) return std::nullopt;
    Header header{.version = static_cast<int>(version)};
    if (header.version > format_version) return header;
    if (!parse_recipe(take_word(text), header)) return std::nullopt;
    auto schema = parse_schema(text, header.version);
    if (!schema) return std::nullopt;
    header.schemas.push_back(*std::move(schema));
    return header;
}

}  // namespace stapgen::schema
