#include "render/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <set>
#include <vector>

#include "base/text.h"

namespace stapgen::render {

namespace {

constexpr std::string_view opening = "<%";
constexpr std::string_view closing = "%>";

std::string position(std::string_view text, std::size_t offset, std::string_view file) {
    const auto before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto line_start = before.rfind('\n');
    const auto column = line_start == std::string_view::npos ? offset + 1 : offset - line_start;
    return fmt::format("{}:{}:{}", file, line, column);
}

/// mustache renders an unknown name as nothing at all, so the names are checked here first. Those of sections are
/// noted.
base::Result<void> check_names(std::string_view text, const std::map<std::string, std::string>& values,
                               std::string_view file, std::set<std::string>& sections) {
    for (auto begin = text.find(opening); begin != std::string_view::npos; begin = text.find(opening, begin + 1)) {
        const auto end = text.find(closing, begin);
        if (end == std::string_view::npos) {
            return base::bad_input(fmt::format("{}: '<%' without '%>'", position(text, begin, file)));
        }
        auto name = base::trim(text.substr(begin + 2, end - begin - 2));
        if (!name.empty() && name.front() == '!') continue;
        if (!name.empty() && std::string_view("#^/&").find(name.front()) != std::string_view::npos) {
            const bool section = name.front() == '#' || name.front() == '^';
            name = base::trim(name.substr(1));
            if (section) sections.emplace(name);
        }
        if (values.contains(std::string(name))) continue;
        std::vector<std::string> names;
        for (const auto& [known, value] : values)
            names.push_back(known);
        const auto meant = base::did_you_mean(name, names);
        return base::bad_input(
            fmt::format("{}: the template names '{}', which recipe.toml does not declare", position(text, begin, file),
                        name),
            meant ? fmt::format("did you mean '{}'?", *meant)
                  : "declare it as [[parameters]] in recipe.toml; a '-' in a parameter's name is a '_' here");
    }
    return {};
}

}  // namespace

base::Result<std::string> fill_template(std::string_view text, const std::map<std::string, std::string>& values,
                                        std::string_view file) {
    std::set<std::string> sections;
    if (auto checked = check_names(text, values, file, sections); !checked) return tl::make_unexpected(checked.error());
    kainjow::mustache::mustache engine("{{=<% %>=}}" + std::string(text));
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

}  // namespace stapgen::render
