// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/used_c.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"

namespace stapgen::render {

namespace {

/// One definition, or lines of the preprocessor that belong together.
struct Chunk {
    const TapsetFile* file = nullptr;
    std::string text;
    int paragraph = 0;
    bool is_comment = false;  ///< and nothing else: of what is behind it
    std::set<std::string> names;
    bool has_counters = false;
    bool used = false;
};

std::set<std::string> names_in(std::string_view text) {
    std::set<std::string> names;
    for (std::size_t at = 0; at < text.size();) {
        const auto rest = text.substr(at);
        const auto word = rest.substr(0, std::ranges::find_if_not(rest, base::is_word_character) - rest.begin());
        if (word.starts_with("stapgen_") || word.starts_with("STAPGEN_")) names.emplace(word);
        at += std::max<std::size_t>(word.size(), 1);
    }
    return names;
}

std::string without_c_comments(std::string_view text) {
    std::string code;
    for (auto begin = text.find("/*"); begin != std::string_view::npos; begin = text.find("/*")) {
        code += text.substr(0, begin);
        const auto end = text.find("*/", begin);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    }
    return code += text;
}

/// Whether what begins with FIRST is whole with these lines.
bool is_whole(std::string_view first, std::string_view text) {
    const auto last = base::trim(text.substr(text.find_last_of('\n', text.size() - 2) + 1));
    if (first.starts_with("/*")) return text.find("*/") != std::string_view::npos;
    if (first.starts_with("#if")) {
        int depth = 0;
        for (const auto line : base::split(text, '\n'))
            depth += line.starts_with("#if") ? 1 : line.starts_with("#endif") ? -1 : 0;
        return depth == 0;
    }
    if (first.starts_with("#")) return !last.ends_with("\\");
    const auto code = without_c_comments(text);
    const auto end = base::trim(code);
    return std::ranges::count(code, '{') == std::ranges::count(code, '}') && (end.ends_with(";") || end.ends_with("}"));
}

/// Lines that a file needs as a file are left out.
bool is_of_the_file(std::string_view line) {
    const bool is_guard = line.starts_with("#ifndef STAPGEN_") && line.ends_with("_H");
    return is_guard || (line.starts_with("#define STAPGEN_") && line.ends_with("_H")) ||
           line.starts_with("#include \"") || line.starts_with("/* clang-format");
}

std::vector<Chunk> chunks_of(const TapsetFile& file) {
    std::string text = file.text.substr(0, file.text.rfind("#endif"));  // the guard's end
    std::vector<Chunk> chunks;
    std::string comment, open, first;
    int paragraph = 0;
    const auto add = [&](std::string of, bool is_comment) {
        const auto code = without_c_comments(of);
        chunks.push_back({&file, std::move(of), paragraph, is_comment, names_in(code),
                          code.find("#define STAPGEN_COUNTERS(") != std::string::npos, false});
    };
    for (const auto line : base::split(text, '\n')) {
        if (open.empty() && is_of_the_file(line)) continue;
        if (open.empty() && line.empty()) {
            if (!comment.empty()) add(std::exchange(comment, {}), true);
            ++paragraph;
            continue;
        }
        if (open.empty()) first = line;
        open.append(line).append(1, '\n');
        if (!is_whole(first, open)) continue;
        if (first.starts_with("/*") && base::trim(open).ends_with("*/"))
            comment += open;
        else
            add(std::exchange(comment, {}) + open, false);
        open.clear();
    }
    return chunks;
}

/// A function or a variable may have the name of the struct before it: "struct stapgen_lock", and "stapgen_lock(".
bool declares(const Chunk& chunk, const std::string& name) {
    const auto code = without_c_comments(chunk.text);
    const auto head = base::trim(std::string_view(code).substr(0, code.find_first_of("{;=")));
    const bool by_macro = head.starts_with("STAPGEN_");
    return (by_macro && head.ends_with(", " + name + ")")) ||
           (head.starts_with("static ") && head.find(" " + name + "(") != std::string_view::npos);
}

/// The rows of the list of counters that something names.
std::string without_unused_rows(const std::string& text, const std::string& all) {
    std::vector<std::string> rows;
    for (const auto line : base::split(text, '\n')) {
        constexpr std::string_view row = "    counter(";
        if (line.starts_with(row)) {
            const auto name = std::string(line.substr(row.size(), line.find(')') - row.size()));
            if (all.find("(" + name + ")") == std::string::npos && all.find('"' + name + '"') == std::string::npos)
                continue;
        }
        rows.emplace_back(line);
    }
    std::string out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        // The last row goes on no more.
        if (i + 2 == rows.size() && rows[i].ends_with(" \\")) rows[i].resize(rows[i].size() - 2);
        out.append(rows[i]).append(i + 1 < rows.size() ? "\n" : "");
    }
    return out;
}

}  // namespace

std::string used_c_of(const std::vector<const TapsetFile*>& headers, std::string_view text) {
    std::vector<Chunk> chunks;
    for (const auto* header : headers)
        for (auto& chunk : chunks_of(*header))
            chunks.push_back(std::move(chunk));
    std::multimap<std::string, Chunk*> defined_by;
    for (auto& chunk : chunks) {
        for (const auto& name : chunk.names)
            if (!defined_by.contains(name) || declares(chunk, name)) defined_by.emplace(name, &chunk);
    }
    std::vector<std::set<std::string>> wanted{names_in(text)};
    std::set<const TapsetFile*> files;
    std::string all(text);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        for (const auto& name : std::set<std::string>(wanted[i])) {
            const auto [begin, end] = defined_by.equal_range(name);
            for (auto found = begin; found != end; ++found) {
                auto& chunk = *found->second;
                if (std::exchange(chunk.used, true)) continue;
                files.insert(chunk.file);
                if (!chunk.has_counters) all += chunk.text;
                wanted.push_back(chunk.names);
            }
        }
    }
    // A line that defines nothing (#include) goes with its file, a comment with what is behind it.
    for (auto& chunk : chunks)
        if (!chunk.is_comment && chunk.names.empty()) chunk.used = files.contains(chunk.file);
    std::string out;
    const Chunk *last = nullptr, *comment = nullptr;
    std::set<std::string> included;
    for (const auto& chunk : chunks) {
        if (chunk.is_comment) comment = &chunk;
        if (!chunk.used || (chunk.text.starts_with("#include") && !included.insert(chunk.text).second)) continue;
        for (const auto* shown : {comment != nullptr && comment->file == chunk.file ? comment : nullptr, &chunk}) {
            if (shown == nullptr) continue;
            if (last != nullptr && (last->file != shown->file || last->paragraph != shown->paragraph)) out += '\n';
            out += shown->has_counters ? without_unused_rows(shown->text, all) : shown->text;
            last = shown;
        }
        comment = nullptr;
    }
    return out;
}

}  // namespace stapgen::render
