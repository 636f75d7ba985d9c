#include "render/script.h"

#include <fmt/format.h>

#include <algorithm>

#include "render/template.h"

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
    for (const auto& parameter : recipe.parameters) {
        const auto name = template_name(parameter.name);
        const auto value = recipe::template_value(parameter, complete->at(parameter.name));
        values[name] = parameter.type == recipe::ParameterType::text ? string_literal(value) : value;
        for (const auto& choice : parameter.choices)
            values[fmt::format("{}_is_{}", name, template_name(choice))] = choice == value ? "true" : "false";
    }
    return fill_template(script_template, values, (recipe.folder / "script.stp").string());
}

}  // namespace stapgen::render
