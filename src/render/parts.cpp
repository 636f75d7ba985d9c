// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/parts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace stapgen::render {

namespace {

bool is_name_character(char c) {
    return base::is_word_character(c) || c == '.';
}

/// The word at the beginning of a text.
std::string name_at(std::string_view text) {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_name_character);
    return {text.begin(), end};
}

bool begins_part(std::string_view line) {
    static constexpr std::string_view words[]{"function ", "probe ", "@define ", "global ", "%{", "%("};
    return base::starts_with_any(line, words);
}

/// "global a%[8], b = 1 // c": a and b.
std::vector<std::string> globals_of(std::string_view line) {
    std::vector<std::string> names;
    for (const auto part : base::split(line.substr(std::string_view("global ").size()), ',')) {
        if (auto name = name_at(base::trim(part)); !name.empty()) names.push_back(std::move(name));
    }
    return names;
}

/// "probe stapgen.a.b ? { ...": not "probe stapgen.a.b = ...", which names one.
bool is_handler(std::string_view line) {
    const auto words = base::words(line);
    return line.starts_with("probe ") && (words.size() < 3 || words[2] != "=");
}

/// The functions and names of probes that a text defines.
std::vector<std::string> definitions_in(std::string_view text) {
    std::vector<std::string> names;
    for (const auto line : base::split(text, '\n')) {
        const auto words = base::words(line);
        const bool is_alias = line.starts_with("probe ") && !is_handler(line);
        if (words.size() > 1 && (is_alias || line.starts_with("function "))) names.push_back(name_at(words[1]));
    }
    return names;
}

/// Several macros may stand in a line.
std::vector<std::string> macros_in(std::string_view line) {
    constexpr std::string_view keyword = "@define ";
    std::vector<std::string> names;
    for (auto at = line.find(keyword); at != std::string_view::npos; at = line.find(keyword, at + 1))
        names.push_back(name_at(line.substr(at + keyword.size())));
    return names;
}

Part begun_by(std::string_view line, const TapsetFile& file) {
    Part part{Part::Kind::definition, &file, {}, {}, {}};
    const auto words = base::words(line);
    if (line.starts_with("@define ")) {
        part.kind = Part::Kind::macro;
        part.names = macros_in(line);
    } else if (line.starts_with("global ")) {
        part.kind = Part::Kind::global;
        part.names = globals_of(without_comments(line));
    } else if (line.starts_with("%{")) {
        part.kind = Part::Kind::c;
    } else if (is_handler(line)) {
        part.kind = Part::Kind::probe;
    } else if (!line.starts_with("%(") && words.size() > 1) {
        part.names = {name_at(words[1])};
    }
    return part;
}

/// Whether the part that FIRST began is whole with this line.
bool is_last_line(std::string_view first, std::string_view line) {
    if (first.starts_with("%{")) return line == "%}";
    if (first.starts_with("%(")) return line == "%)";
    return line == "}";
}

/// Macros without our prefix are their file's own.
bool names_macro(std::string_view code, const std::string& name) {
    const auto use = "@" + name;
    for (auto at = code.find(use); at != std::string_view::npos; at = code.find(use, at + 1)) {
        const auto end = at + use.size();
        if (end == code.size() || !base::is_word_character(code[end])) return true;
    }
    return false;
}

bool is_named(const Part& part, const std::string& code, const TapsetFile* by, const std::set<std::string>& names) {
    return std::ranges::any_of(part.names, [&](const std::string& name) {
        if (name.starts_with("stapgen")) return names.contains(name);
        return part.kind == Part::Kind::macro && part.file == by && names_macro(code, name);
    });
}

const TapsetFile* file_named(const std::vector<TapsetFile>& files, std::string_view name) {
    const auto found = std::ranges::find(files, name, &TapsetFile::name);
    return found == files.end() ? nullptr : &*found;
}

/// With those that it includes before it.
void include(const std::string& name, const std::vector<TapsetFile>& files, std::vector<const TapsetFile*>& included);

void include_those_of(std::string_view text, const std::vector<TapsetFile>& files,
                      std::vector<const TapsetFile*>& included) {
    constexpr std::string_view keyword = "#include \"";
    for (const auto line : base::split(text, '\n')) {
        if (!line.starts_with(keyword)) continue;
        auto name = line.substr(keyword.size());
        name = name.substr(0, name.find('"'));
        // From the tapset it is "c/x.h", and "x.h" from the C beside it.
        include(name.starts_with("c/") ? std::string(name) : "c/" + std::string(name), files, included);
    }
}

void include(const std::string& name, const std::vector<TapsetFile>& files, std::vector<const TapsetFile*>& included) {
    const auto* const file = file_named(files, name);
    if (file == nullptr || std::ranges::find(included, file) != included.end()) return;
    include_those_of(file->text, files, included);
    included.push_back(file);
}

}  // namespace

std::set<std::string> our_names(std::string_view text) {
    std::set<std::string> names;
    for (auto at = text.find("stapgen"); at != std::string_view::npos; at = text.find("stapgen", at + 1)) {
        auto name = name_at(text.substr(at));
        while (!name.empty() && name.back() == '.')
            name.pop_back();
        names.insert(std::move(name));
    }
    return names;
}

std::string without_comments(std::string_view text) {
    std::string code;
    for (const auto line : base::split(text, '\n'))
        code.append(line.substr(0, line.find("//"))).append(1, '\n');
    return code;
}

std::vector<Part> parts_of(const TapsetFile& file) {
    std::vector<Part> parts;
    std::string comment;
    std::string_view first;
    bool open = false;  // the last part goes on
    int paragraph = 0;
    for (const auto line : base::split(file.text, '\n')) {
        const bool in_block = open && (first.starts_with("%{") || first.starts_with("%("));
        // "%{" below a function's head is its body.
        const bool is_body = open && line.starts_with("%{") && first.starts_with("function ");
        // "%(" within a function is a part of it.
        const bool is_inside = open && line.starts_with("%(");
        if (!in_block && !is_body && !is_inside && begins_part(line)) {
            first = line;
            open = true;
            parts.push_back(begun_by(line, file));
            parts.back().text = std::exchange(comment, {});
            parts.back().paragraph = paragraph;
        } else if (!in_block && (line.starts_with("//") || line.empty())) {
            open = open && !line.empty();
            paragraph += line.empty() ? 1 : 0;
            if (line.empty())
                comment.clear();
            else
                comment.append(line).append(1, '\n');
            continue;
        }
        comment.clear();
        if (parts.empty()) continue;
        parts.back().text.append(line).append(1, '\n');
        if (is_last_line(first, line)) open = false;
    }
    for (auto& part : parts) {
        part.code = without_comments(part.text);
        if (!base::trim(part.code).starts_with("%(")) continue;
        part.names = definitions_in(part.code);
        if (std::ranges::any_of(base::split(part.code, '\n'), is_handler)) part.kind = Part::Kind::probe;
    }
    return parts;
}

std::vector<Part> used_by(std::string_view script, const std::vector<TapsetFile>& files) {
    std::vector<Part> all;
    for (const auto& file : files) {
        if (!file.name.ends_with(".stp") && !file.name.ends_with(".stpm")) continue;
        for (auto& part : parts_of(file))
            all.push_back(std::move(part));
    }
    std::vector<bool> is_used(all.size());
    struct Text {
        std::string code;
        const TapsetFile* file;
    };
    std::vector<Text> texts{{without_comments(script), nullptr}};
    const auto use = [&](std::size_t i) {
        if (is_used[i]) return;
        is_used[i] = true;
        texts.push_back({all[i].code, all[i].file});
    };
    for (std::size_t t = 0; t < texts.size(); ++t) {
        const auto text = texts[t];
        const auto names = our_names(text.code);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (is_used[i] || !is_named(all[i], text.code, text.file, names)) continue;
            use(i);
            if (all[i].kind == Part::Kind::macro) continue;
            for (std::size_t other = 0; other < all.size(); ++other) {
                if (all[other].kind == Part::Kind::probe && all[other].file == all[i].file) use(other);
            }
        }
    }
    // C of a file is there for its functions that are C.
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t c = 0; is_used[i] && c < all.size(); ++c) {
            if (all[c].kind == Part::Kind::c && all[c].file == all[i].file &&
                all[i].code.find("%{") != std::string::npos)
                is_used[c] = true;
        }
    }
    std::vector<Part> used;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_used[i]) used.push_back(std::move(all[i]));
    }
    return used;
}

std::vector<const TapsetFile*> included_by(const std::vector<Part>& parts, const std::vector<TapsetFile>& files) {
    std::vector<const TapsetFile*> included;
    for (const auto& part : parts)
        if (part.kind == Part::Kind::c) include_those_of(part.code, files, included);
    return included;
}

}  // namespace stapgen::render
