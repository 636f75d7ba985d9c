// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/standalone.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "render/parts.h"
#include "render/used_c.h"

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

/// The macro of "@define a(b, c) %( body %)" in one line; nothing of one that goes on, or chooses by the kernel, or is
/// C, or stands beside others.
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

/// The script with those macros put in that it would not be shorter with: what is used once, the choice of --debuginfo,
/// and what is one string. Their parts are left out of `parts`.
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

bool is_c(const Part& part) {
    const bool may_have = part.kind == Part::Kind::definition || part.kind == Part::Kind::probe;
    return part.kind == Part::Kind::c || (may_have && part.code.find("\n%{") != std::string::npos);
}

bool is_shared_macro(const Part& part) {
    return part.kind == Part::Kind::macro && part.file->name.ends_with(".stpm");
}

/// The macros that a text names, through each other.
std::vector<const Part*> macros_of(std::string_view text, const std::vector<Part>& parts) {
    std::map<std::string, std::string> texts;
    for (const auto& part : parts)
        if (part.kind == Part::Kind::macro) texts[part.file->name] += part.text;
    std::vector<TapsetFile> files;
    for (auto& [name, definitions] : texts)
        files.push_back({name, std::move(definitions)});
    std::set<std::vector<std::string>> used;
    for (const auto& part : used_by(text, files))
        used.insert(part.names);
    std::vector<const Part*> macros;
    for (const auto& part : parts)
        if (part.kind == Part::Kind::macro && used.contains(part.names)) macros.push_back(&part);
    return macros;
}

/// Parts of the library, one after the other: an empty line between two where the tapset has one.
class Paragraphs {
  public:
    void append(const Part& part) {
        if (last_ != nullptr && (part.file != last_->file || part.paragraph != last_->paragraph)) text_ += '\n';
        text_ += part.text;
        last_ = &part;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
    const Part* last_ = nullptr;
};

void trim_end(std::string& text) {
    while (text.ends_with("\n\n"))
        text.pop_back();
}

constexpr std::string_view why_c =
    "// ---- C: these handlers run for every packet, and in arrays of the script each field of it would cost a hash, a "
    "list and\n"
    "// a lock that all CPUs share.\n";

std::string c_of(std::string_view script, const std::vector<Part>& parts, const std::vector<TapsetFile>& files) {
    std::string calls;
    for (const auto& part : parts)
        if (part.code.find("#include \"c/") == std::string::npos) calls += part.code;
    auto blocks = used_c_of(included_by(parts, files), std::string(script) + calls);
    if (!blocks.empty()) blocks += '\n';
    Paragraphs functions;
    for (const auto& part : parts) {
        if (part.kind == Part::Kind::c && part.code.find("#include \"c/") == std::string::npos) {
            const auto begin = part.code.find("%{\n") + 3;
            blocks += part.code.substr(begin, part.code.rfind("%}") - begin);
        } else if (part.kind != Part::Kind::c && is_c(part)) {
            functions.append(part);
        }
    }
    if (blocks.empty() && functions.text().empty()) return {};
    trim_end(blocks);
    auto text = "\n" + std::string(why_c);
    if (!blocks.empty()) text += fmt::format("%{{\n{}%}}\n", blocks);
    return text + functions.text();
}

/// "NAME=VALUE" of those that the C names: ours, as the others are the user's to give to stap.
std::string defines(const std::vector<std::string>& macros, std::string_view c) {
    std::string text;
    for (const auto& macro : macros) {
        const auto end = std::min(macro.find('='), macro.size());
        const auto name = macro.substr(0, end);
        if (name.starts_with("STAPGEN_") && c.find(name) != std::string_view::npos)
            text += fmt::format("#define {} {}\n", name, macro.substr(end + 1));
    }
    return text.empty() ? text : text + '\n';
}

}  // namespace

std::vector<std::string> used_parts(std::string_view script, const std::vector<TapsetFile>& files) {
    std::vector<std::string> parts{without_comments(script)};
    for (auto& part : used_by(script, files))
        parts.push_back(std::move(part.code));
    return parts;
}

std::string used_c(std::string_view script, const std::vector<TapsetFile>& tapsets) {
    std::string all;
    for (const auto* file : included_by(used_by(script, tapsets), tapsets))
        all += file->text;
    return all;
}

std::set<std::string> alias_names(std::string_view script) {
    auto names = our_names(without_comments(script));
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("stapgen."); });
    return names;
}

namespace {

/// Without the names of aliases that may be missing ("stapgen.a.b ?").
std::string without_optional(std::string text) {
    constexpr std::string_view begins = "stapgen.", name = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    for (auto at = text.find(begins); at != std::string::npos; at = text.find(begins, at + 1)) {
        const auto end = text.find_first_not_of(name, at);
        if (end != std::string::npos && std::string_view(text).substr(end).starts_with(" ?")) text.erase(at, end - at);
    }
    return text;
}

/// Without what is probed only where a tracepoint is missing: in 'kernel.trace("a") !, b, c {}' that is b and c.
std::string without_substitutes(std::string text) {
    constexpr std::string_view begins = "kernel.trace(";
    for (auto at = text.find(begins); at != std::string::npos; at = text.find(begins, at + 1)) {
        const auto end = text.find(')', at);
        if (end == std::string::npos || !std::string_view(text).substr(end + 1).starts_with(" !,")) continue;
        text.erase(end + 1, text.find('{', end) - (end + 1));
    }
    return text;
}

}  // namespace

bool probes_functions(std::string_view script, const std::vector<TapsetFile>& tapsets, bool substitutes) {
    const auto needed_of = [&](std::string text) {
        text = without_optional(std::move(text));
        return substitutes ? text : without_substitutes(std::move(text));
    };
    auto needed = tapsets;
    for (auto& file : needed)
        file.text = needed_of(std::move(file.text));
    const auto parts = used_parts(needed_of(std::string(script)), needed);
    return std::any_of(parts.begin(), parts.end(),
                       [](const std::string& part) { return part.find("kprobe.function(") != std::string::npos; });
}

std::string with_tapsets(std::string_view recipe_script, const std::vector<TapsetFile>& tapsets,
                         const std::vector<std::string>& macros_of_c) {
    auto parts = used_by(recipe_script, tapsets);
    const std::string whole = expand_macros(std::string(recipe_script), parts);
    if (parts.empty()) return whole;
    const std::string_view script = whole;
    // stap wants to have read a macro before its use: they go behind the comment that the script opens with.
    const auto of_script = macros_of(script, parts);
    Paragraphs macros, library;
    for (const auto* macro : of_script)
        macros.append(*macro);
    for (const auto& part : parts) {
        if (is_shared_macro(part) && std::ranges::find(of_script, &part) == of_script.end()) library.append(part);
    }
    // A macro that is its file's own is where the file has it.
    for (const auto& part : parts)
        if (!is_shared_macro(part) && !is_c(part)) library.append(part);
    auto c = c_of(script, parts, tapsets);
    constexpr std::string_view begin_of_c = "\n%{\n";
    if (const auto begin = c.find(begin_of_c); begin != std::string::npos)
        c.insert(begin + begin_of_c.size(), defines(macros_of_c, c));
    std::size_t opening = 0;
    while (script.substr(opening).starts_with("//"))
        opening = std::min(script.find('\n', opening), script.size() - 1) + 1;
    // In a tapset C is as good as a script; in a script stap wants to be asked for it.
    const bool has_c = !c.empty() || (macros.text() + library.text()).find("%{") != std::string::npos;
    std::string out(script.substr(0, opening));
    if (has_c) out += "// There is C in it: give stap -g.\n";
    if (!macros.text().empty()) out += "\n" + macros.text();
    if (!macros.text().empty() && script[opening] != '\n') out += '\n';
    out += script.substr(opening);
    if (!out.ends_with("\n")) out += "\n";
    if (!library.text().empty()) out += "\n// ---- of stapgen's tapset\n" + library.text();
    return out + c;
}

}  // namespace stapgen::render
