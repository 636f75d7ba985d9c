// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <optional>

#include "base/text.h"

namespace stapgen::render {

namespace {

struct Macro {
    std::string name;
    std::vector<std::string> parameters;
    std::string body;
};

std::vector<std::string> trimmed_words(std::string_view list) {
    std::vector<std::string> words;
    for (const auto word : base::split(list, ','))
        words.emplace_back(base::trim(word));
    return words;
}

/// Of "@define a(b, c) %( body %)" in one line; nothing of one that goes on, or chooses by the kernel, or is C, or
/// stands beside others.
std::optional<Macro> macro_of(const Part& part) {
    if (part.kind != Part::Kind::macro || part.names.size() != 1) return std::nullopt;
    const auto code = base::trim(part.code);
    const auto begin = code.find("%("), end = code.rfind("%)");
    const bool is_plain = code.find('\n') == std::string_view::npos && code.find("%{") == std::string_view::npos &&
                          code.find("%?") == std::string_view::npos;
    if (!is_plain || begin == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
    Macro macro{part.names.front(), {}, std::string(base::trim(code.substr(begin + 2, end - begin - 2)))};
    const auto head = code.substr(0, begin);
    if (const auto open = head.find('('); open != std::string_view::npos)
        macro.parameters = trimmed_words(head.substr(open + 1, head.find(')') - open - 1));
    return macro;
}

std::size_t next_use(std::string_view text, const std::string& name, std::size_t from) {
    const auto word = "@" + name;
    for (auto at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const auto end = at + word.size();
        if (end == text.size() || !base::is_word_character(text[end])) return at;
    }
    return std::string_view::npos;
}

int uses_in(std::string_view text, const std::string& name) {
    int uses = 0;
    for (auto at = next_use(text, name, 0); at != std::string_view::npos; at = next_use(text, name, at + 1))
        ++uses;
    return uses;
}

/// "(a, f(b, c))" at the beginning: its arguments, and where it ends.
std::pair<std::vector<std::string>, std::size_t> arguments_at(std::string_view text) {
    std::vector<std::string> arguments;
    std::size_t begin = 1;
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '(') ++depth;
        if (c == ')') --depth;
        if (depth == 0 || (depth == 1 && c == ',')) {
            arguments.emplace_back(base::trim(text.substr(begin, i - begin)));
            begin = i + 1;
        }
        if (depth == 0) return {std::move(arguments), i + 1};
    }
    return {};
}

void put_in(const Macro& macro, std::string& text) {
    for (auto at = next_use(text, macro.name, 0); at != std::string::npos; at = next_use(text, macro.name, at)) {
        auto length = macro.name.size() + 1;
        auto body = macro.body;
        if (!macro.parameters.empty()) {
            const auto [arguments, end] = arguments_at(std::string_view(text).substr(at + length));
            if (arguments.size() != macro.parameters.size()) return;
            for (std::size_t i = 0; i < arguments.size(); ++i)
                boost::replace_all(body, "@" + macro.parameters[i], arguments[i]);
            length += end;
        }
        text.replace(at, length, body);
    }
}

}  // namespace

std::string expand_macros(std::string script, std::vector<Part>& parts) {
    for (std::size_t i = 0; i < parts.size();) {
        const auto macro = macro_of(parts[i]);
        int uses = 0;
        if (macro) {
            uses = uses_in(without_comments(script), macro->name);
            for (const auto& part : parts)
                uses += uses_in(part.code, macro->name);
        }
        const bool is_string = macro && macro->body.starts_with('"');
        if (!macro || (uses > 1 && !is_string && parts[i].file->name != "stapgen_either.stpm")) {
            ++i;
            continue;
        }
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
        put_in(*macro, script);
        for (auto& part : parts) {
            put_in(*macro, part.text);
            put_in(*macro, part.code);
        }
        i = 0;
    }
    return script;
}

}  // namespace stapgen::render
