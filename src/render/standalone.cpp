#include "render/standalone.h"

#include <fmt/format.h>

#include <set>

namespace stapgen::render {

namespace {

constexpr std::string_view word_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

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
    for (const char* keyword : {"function ", "probe ", "@define "}) {
        const auto at = file.text.find(keyword + name);
        if (at == std::string::npos) continue;
        const auto end = file.text.find_first_not_of(word_characters, at + std::string_view(keyword).size());
        const bool whole = end == at + std::string_view(keyword).size() + name.size();
        // "probe x {" uses an alias, "probe x = ..." defines it.
        if (whole && (keyword[0] != 'p' || file.text.compare(end, 2, " =") == 0)) return true;
    }
    return file.text.find("global " + name) != std::string::npos;
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
        opening = script.find('\n', opening) + 1;
    return fmt::format("{}{}\n// ---- the script\n\n{}{}", script.substr(0, opening), macros,
                       script.substr(opening), library);
}

}  // namespace stapgen::render
