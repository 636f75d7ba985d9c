#include "render/standalone.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"

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

/// Text without what follows "//" in its lines.
std::string without_comments(std::string_view text) {
    std::string code;
    for (const auto line : base::split(text, '\n'))
        code.append(line.substr(0, line.find("//"))).append(1, '\n');
    return code;
}

/// A tapset file taken apart.
struct Tapset {
    std::map<std::string, std::string> definitions;  ///< from the line that begins one to the next; of globals nothing
    std::string probes;                              ///< those that are no alias: stap sets them if it needs the file
};

Tapset parts_of(const TapsetFile& file) {
    Tapset tapset;
    const auto code = without_comments(file.text);
    std::string* part = nullptr;
    for (const auto line : base::split(code, '\n')) {
        const auto words = base::words(line);
        const bool begins = line.starts_with("function ") || line.starts_with("probe ") ||
                            line.starts_with("@define ") || line.starts_with("global ");
        if (begins && words[0] == "global") {
            part = nullptr;
            for (const auto& name : our_names(line))
                tapset.definitions[name];
        } else if (begins && words[0] == "probe" && (words.size() < 3 || words[2] != "=")) {
            part = &tapset.probes;
        } else if (begins && words.size() > 1) {
            part = &tapset.definitions[std::string(words[1].substr(0, words[1].find_first_not_of(word_characters)))];
        }
        if (part != nullptr) part->append(line).append(1, '\n');
    }
    return tapset;
}

}  // namespace

std::vector<std::string> used_parts(std::string_view script, const std::vector<TapsetFile>& files) {
    std::vector<Tapset> tapsets;
    for (const auto& file : files)
        tapsets.push_back(parts_of(file));
    std::vector<std::string> parts{without_comments(script)};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (const auto& name : our_names(parts[i])) {
            for (auto& tapset : tapsets) {
                const auto found = tapset.definitions.find(name);
                if (found == tapset.definitions.end()) continue;
                // Each is looked at once.
                parts.push_back(std::exchange(found->second, {}));
                parts.push_back(std::exchange(tapset.probes, {}));
            }
        }
    }
    return parts;
}

bool probes_functions(std::string_view script, const std::vector<TapsetFile>& tapsets) {
    const auto parts = used_parts(script, tapsets);
    return std::any_of(parts.begin(), parts.end(),
                       [](const std::string& part) { return part.find("kprobe.function(") != std::string::npos; });
}

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
