#include "render/script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "render/template.h"
#include "schema/schema.h"

namespace stapgen::render {

namespace {

/// The inside of a SystemTap string: every byte that is not a plain letter, digit or blank as \ooo, so that
/// no value can end the string, whatever it holds.
std::string string_literal(std::string_view value) {
    std::string out;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' ||
                           c == '-' || c == '_' || c == '.';
        out += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
    }
    return out;
}

/// With tabs as a SystemTap string has them; nothing else in a header line needs it.
std::string escaped_tabs(const std::string& line) {
    std::string out;
    for (const char c : line)
        out += c == '\t' ? std::string("\\t") : std::string(1, c);
    return out;
}

std::string template_name(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
}

/// So many fields that are not seen, as a SystemTap string has them.
std::string unseen(std::size_t count) {
    std::string out;
    while (count-- > 0)
        out += "\\t-";
    return out;
}

/// What the template has of the schema: the lines that print what was aggregated, and of each stage or value its number
/// among them, and what a record has in place of those before it, or of it and those behind it, if it has none of them.
void add_fields(const schema::Schema& record, std::map<std::string, std::string>& values) {
    std::vector<std::string> names, lines;
    for (const auto& field : record.fields) {
        if (!schema::has_statistics(field)) continue;
        lines.push_back(fmt::format(R"(stapgen_print_gathered("{}", "{}", {}))", record.tag, field.name, names.size()));
        names.push_back(field.name);
    }
    const bool has_direction = find_direction(record).has_value();
    for (std::size_t i = 0; i < (has_direction ? schema::directions.size() : 1); ++i) {
        const auto direction = has_direction ? schema::directions[i] : "-";
        lines.push_back(fmt::format(R"(stapgen_print_split("{}", "{}", {}))", record.tag, direction, i));
    }
    values["print_aggregated"] = fmt::format("{}", fmt::join(lines, "\n    "));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto name = template_name(names[i]);
        values["number_of_" + name] = std::to_string(i);
        values["unseen_before_" + name] = unseen(i);
        values["unseen_from_" + name] = unseen(names.size() - i);
    }
}

/// Of a script that aggregates, where nobody asked for any.
constexpr std::chrono::milliseconds aggregating_interval{1000};

}  // namespace

base::Result<std::string> render_script(const recipe::Recipe& recipe, std::string_view script_template,
                                        const recipe::Arguments& arguments, std::chrono::milliseconds interval,
                                        bool aggregate) {
    auto complete = recipe::complete_arguments(recipe, arguments);
    if (!complete) return tl::make_unexpected(complete.error());
    const bool silent = aggregate && interval.count() == 0;
    if (silent) interval = aggregating_interval;
    auto header = recipe.header();
    header.aggregated = aggregate;
    header.silent = silent;
    const auto first_line = header.line();
    std::map<std::string, std::string> values{{"summary", recipe.summary},
                                              {"header", escaped_tabs(first_line)},
                                              {"interval_ms", std::to_string(interval.count())},
                                              {"aggregate", aggregate ? "true" : "false"}};
    // A longer string is cut without a word (MAXSTRINGLEN), and nothing would be understood.
    constexpr std::size_t max_string_length = 511;
    if (first_line.size() > max_string_length &&
        script_template.find("stapgen_print_header(") != std::string_view::npos) {
        return base::bad_input(
            fmt::format("{}: the first line, with the names of all fields, is longer than {} bytes",
                        (recipe.folder / "script.stp").string(), max_string_length),
            "in place of stapgen_print_header(\"<%header%>\") write printf(\"<%header%>\\n\") and stapgen_begin()");
    }
    add_fields(recipe.record, values);
    for (const auto& parameter : recipe.parameters) {
        const auto name = template_name(parameter.name);
        const auto value = recipe::template_value(parameter, complete->at(parameter.name));
        values[name] = parameter.type == recipe::ParameterType::text ? string_literal(value) : value;
        for (const auto& choice : parameter.choices)
            values[fmt::format("{}_is_{}", name, template_name(choice))] = choice == value ? "true" : "false";
    }
    return fill_template(script_template, values, (recipe.folder / "script.stp").string());
}

std::vector<std::string> macros_of(const recipe::Recipe& recipe) {
    auto macros = recipe.macros;
    if (!recipe.record.aggregates) return macros;
    const auto fields = std::ranges::count_if(recipe.record.fields, schema::has_statistics);
    const auto parts = std::ranges::count_if(recipe.record.fields, schema::is_part);
    macros.push_back(fmt::format("STAPGEN_FIELDS={}", fields));
    if (parts != fields) macros.push_back(fmt::format("STAPGEN_PARTS={}", parts));
    if (find_direction(recipe.record)) macros.push_back(fmt::format("STAPGEN_WAYS={}", schema::directions.size()));
    return macros;
}

}  // namespace stapgen::render
