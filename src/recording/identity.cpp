// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace stapgen::recording {

namespace {

constexpr std::size_t max_labels = 16, max_label_length = 63;

bool is_process(const std::string& option) {
    return option == "target-pid" || option == "target-tid";
}

/// As they decide what is measured.
TypedFilters essence(TypedFilters filters) {
    for (auto& [option, value] : filters) {
        if (is_process(option)) value = "one";
    }
    return filters;
}

std::string filters_text(const Origin& origin) {
    std::vector<std::string> words;
    for (const auto& [option, value] : origin.filters)
        words.insert(words.end(), {"--" + option, value});
    return words.empty() ? "none" : base::printable(base::shell_quoted(words));
}

/// The functions that are in `a` alone, some of them.
std::string only_in(const Origin& a, const Origin& b) {
    constexpr std::size_t most = 3;
    std::vector<std::string> only;
    std::ranges::set_difference(a.functions, b.functions, std::back_inserter(only));
    const auto more = only.size() - std::min(only.size(), most);
    only.resize(only.size() - more);
    if (only.empty()) return "none more";
    const auto text = base::printable(fmt::format("{}", fmt::join(only, ", ")));
    return more == 0 ? text : fmt::format("{} and {} more", text, more);
}

base::Result<std::pair<std::string, std::string>> parse_label(const std::string& typed) {
    const auto equals = typed.find('=');
    const auto name = typed.substr(0, equals);
    const auto wrong = [&](std::string_view why) {
        return base::bad_input(fmt::format("--label '{}': {}", base::printable(typed), why),
                               "for example --label dc=fra1");
    };
    if (equals == std::string::npos) return wrong("expected NAME=VALUE");
    if (!is_label_name(name))
        return wrong("a name starts with a letter, then has letters, digits, '_', '-' and '.', at most 63 bytes");
    const auto value = typed.substr(equals + 1);
    if (value.empty() || value.size() > max_label_length) return wrong("a value has 1 to 63 bytes");
    if (base::printable(value) != value) return wrong("a value has no control characters and is UTF-8");
    return std::pair(name, value);
}

}  // namespace

bool is_label_name(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return !name.empty() && name.size() <= max_label_length && is_letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
           });
}

base::Result<Labels> parse_labels(const std::vector<std::string>& typed) {
    Labels labels;
    for (const auto& word : typed) {
        STAPGEN_LET(auto label, parse_label(word));
        if (!labels.insert(label).second) {
            return base::bad_input(fmt::format("--label {}: given twice", label.first), "omit one of them");
        }
    }
    if (labels.size() > max_labels) {
        return base::bad_input(fmt::format("{} labels: {} at most", labels.size(), max_labels), "leave some out");
    }
    return labels;
}

std::int64_t sample_of(const TypedFilters& filters) {
    const auto typed = filters.find("sample");
    const auto one_in = typed == filters.end() ? 1 : base::to_int(typed->second).value_or(1);
    return one_in < 1 || one_in > largest_sample ? 1 : one_in;
}

std::string definition_of(const Setup& setup) {
    constexpr std::size_t digits = 12;
    // No text of these has a NUL.
    std::string text = "stapgen.definition/1";
    const auto add = [&](std::string_view kind, std::string_view word) {
        text += '\0';
        text += kind;
        text += word;
    };
    add("recipe ", setup.recipe);
    add("hash ", setup.recipe_hash);
    for (const auto& [option, value] : essence(setup.filters))
        add("filter ", fmt::format("{}={}", option, value));
    for (const auto& function : setup.functions)
        add("function ", function);
    return base::sha256(text).substr(0, digits);
}

std::string unlike_text(const Origin& a, const Origin& b) {
    if (a.definition.empty() != b.definition.empty()) return "one of them has no definition";
    std::vector<std::string> what;
    if (a.recipe_hash != b.recipe_hash) what.emplace_back("recipe or parameters");
    if (essence(a.filters) != essence(b.filters))
        what.push_back(fmt::format("filters ({}; {})", filters_text(a), filters_text(b)));
    if (a.functions != b.functions)
        what.push_back(fmt::format("probed functions ({}; {})", only_in(a, b), only_in(b, a)));
    return fmt::format("they differ in {}",
                       what.empty() ? "recipe or parameters" : fmt::format("{}", fmt::join(what, ", ")));
}

}  // namespace stapgen::recording
