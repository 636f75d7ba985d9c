// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/units.h"
#include "recipe/recipe.h"

namespace stapgen::recipe {

namespace {

base::Result<void> check_duration(const Parameter& parameter, std::string_view value) {
    const auto duration = base::parse_duration(value, base::BareNumber::refused);
    if (!duration) {
        return base::bad_input(fmt::format("--{}: {}", parameter.name, duration.error().what), duration.error().hint);
    }
    using std::chrono::nanoseconds;
    const nanoseconds low(parameter.minimum.value_or(0)), high(parameter.maximum.value_or(nanoseconds::max().count()));
    if (*duration >= low && *duration <= high) return {};
    return base::bad_input(fmt::format("--{}: {} is not between {} and {}", parameter.name, base::printable(value),
                                       base::format_duration(low), base::format_duration(high)));
}

base::Result<void> check_text(const Parameter& parameter, std::string_view value) {
    // MAXSTRINGLEN of SystemTap is 512 at the most and 128 at the least, the final NUL included.
    if (value.size() >= 128) return base::bad_input(fmt::format("--{}: longer than 127 bytes", parameter.name));
    const auto& choices = parameter.choices;
    if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return {};
    return base::bad_input(
        fmt::format("--{}: '{}' is not one of {}", parameter.name, base::printable(value), fmt::join(choices, ", ")),
        base::meant_hint(value, choices));
}

/// These get into the script as they are, inside a probe point: nothing there may end it, and no pattern may be one
/// that half of the kernel's functions fit.
base::Result<void> check_functions(const Parameter& parameter, std::string_view value) {
    constexpr std::size_t longest = 1024, own_letters = 3;
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    if (value.empty()) return {};
    const auto refused = [&](std::string what, std::string hint) {
        return base::bad_input(fmt::format("--{}: {}", parameter.name, what), std::move(hint));
    };
    if (value.size() > longest) return refused(fmt::format("longer than {} bytes", longest), "");
    for (const auto name : base::split(value, ',')) {
        const auto shown = base::printable(name);
        const auto plain = std::min(name.find_first_not_of(letters), name.size());
        if (name.find_first_not_of(std::string(letters) + "*?") != std::string_view::npos || name.empty()) {
            return refused(fmt::format("'{}' is not a function name", shown),
                           "write names separated by commas, * and ? are wildcards: tcp_v4_rcv,ip_rcv*");
        }
        if (plain < std::min(own_letters, name.size())) {
            return refused(fmt::format("'{}' would match too many functions", shown),
                           fmt::format("start it with at least {} letters", own_letters));
        }
    }
    return {};
}

}  // namespace

base::Result<void> check_value(const Parameter& parameter, std::string_view value) {
    switch (parameter.type) {
        case ParameterType::integer: {
            const auto number = base::to_int(value);
            if (!number) {
                return base::bad_input(
                    fmt::format("--{}: '{}' is not a whole number", parameter.name, base::printable(value)));
            }
            const auto low = parameter.minimum.value_or(std::numeric_limits<std::int64_t>::min());
            const auto high = parameter.maximum.value_or(std::numeric_limits<std::int64_t>::max());
            if (*number < low || *number > high) {
                return base::bad_input(
                    fmt::format("--{}: {} is not between {} and {}", parameter.name, *number, low, high));
            }
            return {};
        }
        case ParameterType::boolean:
            if (value == "true" || value == "false") return {};
            return base::bad_input(
                fmt::format("--{}: '{}' is neither true nor false", parameter.name, base::printable(value)));
        case ParameterType::text:
            return check_text(parameter, value);
        case ParameterType::duration:
            return check_duration(parameter, value);
        case ParameterType::functions:
            return check_functions(parameter, value);
    }
    return {};
}

std::string template_value(const Parameter& parameter, const std::string& value) {
    if (parameter.type == ParameterType::integer) {
        // Written anew: 010 is ten to whoever typed it, and eight to SystemTap.
        const auto number = base::to_int(value);
        return number ? std::to_string(*number) : value;
    }
    if (parameter.type != ParameterType::duration) return value;
    const auto duration = base::parse_duration(value);
    return duration ? std::to_string(duration->count()) : value;
}

base::Result<Arguments> complete_arguments(const Recipe& recipe, const Arguments& given) {
    Arguments all;
    std::vector<std::string> names;
    for (const auto& parameter : recipe.parameters) {
        const auto found = given.find(parameter.name);
        const auto& value = found == given.end() ? parameter.default_value : found->second;
        STAPGEN_TRY(check_value(parameter, value));
        all[parameter.name] = value;
        names.push_back(parameter.name);
    }
    for (const auto& parameter : recipe.parameters) {
        if (parameter.needs.empty() || all[parameter.name] != "true" || all[parameter.needs] == "true") continue;
        return base::bad_input(fmt::format("--{} is of no use without --{}", parameter.name, parameter.needs),
                               fmt::format("stapgen {} --{} --{}", recipe.name, parameter.needs, parameter.name));
    }
    for (const auto& [name, value] : given) {
        if (all.contains(name)) continue;
        return base::bad_input(fmt::format("{} has no parameter '{}'", recipe.name, name),
                               base::meant_hint(name, names));
    }
    return all;
}

base::Result<std::string> hash_of(const Recipe& recipe, const Arguments& complete) {
    constexpr std::size_t digits = 16;
    std::string text;
    std::vector files{recipe.folder / "recipe.toml"};
    if (recipe.source == Source::script) files.push_back(recipe.folder / "script.stp");
    for (const auto& folder : recipe.includes)
        files.push_back(folder / "recipe.toml");
    for (const auto& file : files) {
        STAPGEN_LET(const auto content, base::read_found(file, base::limits::recipe_bytes));
        text += base::sha256(content);
    }
    for (const auto& parameter : recipe.parameters) {
        const auto found = complete.find(parameter.name);
        const auto& value = found == complete.end() ? parameter.default_value : found->second;
        text += fmt::format("{}={}\n", parameter.name, template_value(parameter, value));
    }
    return base::sha256(text).substr(0, digits);
}

}  // namespace stapgen::recipe
