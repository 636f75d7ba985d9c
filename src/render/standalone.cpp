#include "render/standalone.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace stapgen::render {

namespace {

constexpr std::string_view word_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

/// Words that begin with "stapgen", comments included: naming too many costs nothing but length.
std::set<std::string> our_names(std::string_view text) {
    std::set<std::string> names;
    for (auto at = text.find("stapgen"); at != std::string_view::npos; at = text.find("stapgen", at + 1)) {
        auto name = text.substr(at, text.find_first_not_of(word_characters, at) - at);
        while (!name.empty() && name.back() == '.')
            name.remove_suffix(1);
        names.emplace(name);
    }
    return names;
}

bool defines(const TapsetFile& file, const std::string& name) {
    for (const std::string_view keyword : {"function ", "probe ", "@define ", "global "}) {
        const auto words = std::string(keyword) + name;
        for (auto at = file.text.find(words); at != std::string::npos; at = file.text.find(words, at + 1)) {
            const auto end = at + words.size();
            if (file.text.find_first_not_of(word_characters, end) != end) continue;  // the start of a longer name
            // "probe x {" uses an alias, "probe x = ..." defines it.
            if (keyword != "probe " || file.text.compare(end, 2, " =") == 0) return true;
        }
    }
    return false;
}

}  // namespace

std::string with_tapsets(std::string_view script, const std::vector<TapsetFile>& tapsets) {
    std::set<const TapsetFile*> needed;
    std::string all(script);
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto& name : our_names(all)) {
            for (const auto& file : tapsets) {
                if (needed.contains(&file) || !defines(file, name)) continue;
                needed.insert(&file);
                all += "\n" + file.text;
                grown = true;
            }
        }
    }
    std::string macros, library;
    for (const auto& file : tapsets) {
        if (!needed.contains(&file)) continue;
        auto& part = file.name.ends_with(".stpm") ? macros : library;
        part += fmt::format("\n// ---- tapset {}\n\n{}", file.name, file.text);
    }
    if (macros.empty() && library.empty()) return std::string(script);
    // stap wants to have read a macro before its use: they go behind the comment that the script opens with.
    std::size_t opening = 0;
    while (script.substr(opening).starts_with("//"))
        opening = std::min(script.find('\n', opening), script.size() - 1) + 1;
    // In a tapset C is as good as a script; in a script stap wants to be asked for it.
    const auto* guru = library.find("%{") == std::string::npos ? "" : "// There is C in it: give stap -g.\n";
    return fmt::format("{}{}{}\n// ---- the script\n{}{}", script.substr(0, opening), guru, macros,
                       script.substr(opening), library);
}

}  // namespace stapgen::render
