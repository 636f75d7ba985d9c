// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <kainjow/mustache.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "schema/schema.h"

namespace stapgen::render {

namespace {

/// The inside of a SystemTap string: every byte that is not a plain letter, digit or blank as \ooo, so that
/// no value can end the string, whatever it holds.
std::string string_literal(std::string_view value) {
    std::string out;
    for (const char c : value) {
        const bool plain = base::is_word_character(c) || c == ' ' || c == '-' || c == '.';
        out += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string template_name(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
}

/// The parts of the template that the schema makes: the lines that print what was aggregated, and of each stage or
/// value its number among them, and the unseen fields that stand in a record for those before it, or for it and those
/// behind it.
void add_fields(const schema::Schema& record, std::map<std::string, std::string>& values) {
    std::vector<std::string> names, lines;
    for (const auto& field : record.fields) {
        if (!schema::has_statistics(field)) continue;
        lines.push_back(
            fmt::format(R"(stapgen_print_aggregated("{}", "{}", {}))", record.tag, field.name, names.size()));
        names.push_back(field.name);
    }
    const bool has_direction = find_direction(record).has_value();
    for (std::size_t i = 0; i < (has_direction ? schema::directions.size() : 1); ++i) {
        const auto direction = has_direction ? schema::directions[i] : "-";
        lines.push_back(fmt::format(R"(stapgen_print_split("{}", "{}", {}))", record.tag, direction, i));
    }
    const auto unseen = [](std::size_t count) {
        return fmt::format("{}", fmt::join(std::vector<std::string_view>(count, "\\t-"), ""));
    };
    values["print_aggregated"] = fmt::format("{}", fmt::join(lines, "\n    "));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto name = template_name(names[i]);
        values["number_of_" + name] = std::to_string(i);
        values["unseen_before_" + name] = unseen(i);
        values["unseen_from_" + name] = unseen(names.size() - i);
    }
}

/// The total and values that precede the parts: they are in no split.
std::ptrdiff_t unsplit_before_parts(const schema::Schema& record) {
    const auto first = std::ranges::find_if(record.fields, schema::is_part, &schema::Field::name);
    if (first == record.fields.end()) return 0;
    return std::count_if(record.fields.begin(), first, [](const schema::Field& field) {
        return schema::has_statistics(field) && !schema::divides_total(field);
    });
}

/// In a template behind a text: those of a packet, and of a socket, in the order of the header.
void add_by(const schema::Header& header, std::size_t fields, std::map<std::string, std::string>& values) {
    const auto& all = header.schemas.front().fields;
    auto &of_packet = values["by_packet"], &of_socket = values["by_socket"];
    values["by"] = all.size() > fields ? "true" : "false";
    for (auto i = fields; i < all.size(); ++i) {
        of_packet += fmt::format(" . stapgen_by_{}_of_packet(skb)", all[i].name);
        of_socket += fmt::format(" . stapgen_by_{}_of_socket(sk)", all[i].name);
    }
}

std::string position(std::string_view text, std::size_t offset, std::string_view file) {
    const auto before = text.substr(0, offset);
    // npos + 1 is 0: in the first line.
    return fmt::format("{}:{}:{}", file, std::ranges::count(before, '\n') + 1, offset - (before.rfind('\n') + 1) + 1);
}

/// mustache renders an unknown name as nothing at all, so the names are checked here first. Those of sections are
/// noted.
base::Result<void> check_names(std::string_view text, const std::map<std::string, std::string>& values,
                               std::string_view file, std::set<std::string>& sections) {
    constexpr std::string_view opening = "<%", closing = "%>";
    for (auto begin = text.find(opening); begin != std::string_view::npos; begin = text.find(opening, begin + 1)) {
        const auto end = text.find(closing, begin);
        if (end == std::string_view::npos) {
            return base::bad_input(fmt::format("{}: '<%' without '%>'", position(text, begin, file)));
        }
        auto name = base::trim(text.substr(begin + 2, end - begin - 2));
        const char kind = name.empty() ? ' ' : name.front();
        if (kind == '!') continue;
        if (kind == '#' || kind == '^' || kind == '/' || kind == '&') name = base::trim(name.substr(1));
        if (kind == '#' || kind == '^') sections.emplace(name);
        if (values.contains(std::string(name))) continue;
        std::vector<std::string> names;
        for (const auto& [known, value] : values)
            names.push_back(known);
        return base::bad_input(
            fmt::format("{}: the template names '{}', which recipe.toml does not declare", position(text, begin, file),
                        name),
            base::meant_hint(name, names,
                             "declare it as [[parameters]] in recipe.toml; a '-' in a parameter's name is a '_' here"));
    }
    return {};
}

/// Before the number at the end of a line.
constexpr char number_mark = '\x01';

/// A line that is one tag of a section, and nothing else, is not in the script.
std::string without_tag_lines(std::string_view text, bool numbered) {
    std::string out;
    const auto lines = base::split(text, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto line = base::trim(lines[i]);
        const bool is_tag =
            line.starts_with("<%") && line.find("%>") == line.size() - 2 && line.find_first_of("#^/") == 2;
        out += is_tag ? line : lines[i];
        if (is_tag) continue;
        if (numbered) out += number_mark + std::to_string(i + 1);
        if (i + 1 < lines.size()) out += '\n';
    }
    return out;
}

}  // namespace

base::Result<std::string> fill_template(std::string_view text, const std::map<std::string, std::string>& values,
                                        std::string_view file, bool numbered) {
    std::set<std::string> sections;
    STAPGEN_TRY(check_names(text, values, file, sections));
    kainjow::mustache::mustache engine("{{=<% %>=}}" + without_tag_lines(text, numbered));
    if (!engine.is_valid()) return base::bad_input(fmt::format("{}: {}", file, engine.error_message()));
    engine.set_custom_escape([](const std::string& value) { return value; });
    kainjow::mustache::data data;
    for (const auto& [name, value] : values) {
        // A text is true for a section, whatever it says.
        const bool off = sections.contains(name) && (value.empty() || value == "0" || value == "false");
        data.set(name, off ? kainjow::mustache::data(false) : kainjow::mustache::data(value));
    }
    return engine.render(data);
}

base::Result<std::string> render_script(const recipe::Recipe& of, std::string_view script_template,
                                        const recipe::Arguments& arguments, std::chrono::milliseconds interval,
                                        const ScriptForm& form) {
    STAPGEN_LET(auto complete, recipe::complete_arguments(of, arguments));
    const auto recipe = of.asked_by(complete);
    const auto file = (recipe.folder / "script.stp").string();
    auto header = recipe.header(form.by);
    const bool aggregate = form.aggregate || form.keep;
    header.aggregated = aggregate;
    header.silent = aggregate && interval.count() == 0;
    if (header.silent) interval = std::chrono::seconds(1);
    const auto first_line = header.line();
    std::map<std::string, std::string> values{{"summary", recipe.summary},
                                              {"header", boost::replace_all_copy(first_line, "\t", "\\t")},
                                              {"interval_ms", std::to_string(interval.count())},
                                              {"aggregate", aggregate ? "true" : "false"},
                                              {"parts", recipe.has_parts() ? "true" : "false"},
                                              {"filters", form.filters ? "true" : "false"},
                                              {"keep", form.keep ? "true" : "false"}};
    // A longer string is cut without a word (MAXSTRINGLEN), and nothing would be understood.
    constexpr std::size_t max_string_length = 511;
    if (first_line.size() > max_string_length &&
        script_template.find("stapgen_print_header(") != std::string_view::npos) {
        return base::bad_input(
            fmt::format("{}: the first line, with the names of all fields, is longer than {} bytes", file,
                        max_string_length),
            "instead of stapgen_print_header(\"<%header%>\") write printf(\"<%header%>\\n\") and stapgen_begin()");
    }
    add_fields(recipe.record, values);
    add_by(header, recipe.record.fields.size(), values);
    for (const auto& parameter : recipe.parameters) {
        const auto name = template_name(parameter.name);
        const auto value = recipe::template_value(parameter, complete.at(parameter.name));
        values[name] = parameter.type == recipe::ParameterType::text ? string_literal(value) : value;
        for (const auto& choice : parameter.choices)
            values[fmt::format("{}_is_{}", name, template_name(choice))] = choice == value ? "true" : "false";
    }
    return fill_template(script_template, values, file, form.numbered);
}

std::vector<std::size_t> source_lines(std::string_view numbered) {
    std::vector<std::size_t> sources;
    std::size_t without = 0;  // lines of a value, but its last one
    for (const auto line : base::split(numbered, '\n')) {
        ++without;
        const auto mark = line.rfind(number_mark);
        if (mark == std::string_view::npos) continue;
        sources.insert(sources.end(), std::exchange(without, 0), base::to_unsigned(line.substr(mark + 1)).value_or(0));
    }
    return sources;
}

std::vector<std::string> macros_of(const recipe::Recipe& of, const recipe::Arguments& arguments, std::uint64_t keep) {
    const auto recipe = of.asked_by(arguments);
    auto macros = recipe.macros;
    if (recipe.has_parts()) macros.emplace_back("STAPGEN_WAITS=1");
    for (const auto& parameter : recipe.parameters) {
        const auto found = arguments.find(parameter.name);
        if (parameter.macro.empty() || found == arguments.end()) continue;
        const auto value = [&](const std::string& typed) { return recipe::template_value(parameter, typed); };
        if (value(found->second) != value(parameter.default_value)) macros.push_back(parameter.macro);
    }
    if (!recipe.record.aggregates) return macros;
    const auto fields = std::ranges::count_if(recipe.record.fields, schema::has_statistics);
    const auto parts = std::ranges::count_if(recipe.record.fields, schema::divides_total);
    macros.push_back(fmt::format("STAPGEN_FIELDS={}", fields));
    if (parts != fields) macros.push_back(fmt::format("STAPGEN_PARTS={}", parts));
    if (const auto unsplit = unsplit_before_parts(recipe.record); unsplit != 0)
        macros.push_back(fmt::format("STAPGEN_UNSPLIT={}", unsplit));
    if (find_direction(recipe.record))
        macros.push_back(fmt::format("STAPGEN_DIRECTIONS={}", schema::directions.size()));
    if (keep > 0) macros.push_back(fmt::format("STAPGEN_KEEP={}", keep));
    return macros;
}

}  // namespace stapgen::render
