// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

#include "base/text.h"
#include "render/parts.h"

namespace stapgen::render {

namespace {

struct Marked {
    std::string outside, inside;
    std::string all;  ///< both, without the marks
};

Marked split_at_marks(std::string_view text) {
    Marked marked;
    bool inside = false;
    for (const auto line : base::split(text, '\n')) {
        const auto mark = base::trim(line);
        const bool begins = mark == "// ---- filters", ends = mark == "// ---- end of filters";
        if (begins || ends) {
            inside = begins;
        } else {
            (inside ? marked.inside : marked.outside).append(line).append(1, '\n');
            marked.all.append(line).append(1, '\n');
        }
    }
    return marked;
}

/// Those of an array in C: NAME[SIZE] = {0};
void set_elements(const std::string& name, const std::string& value, std::string& text) {
    const auto begin = text.find(name + "["), none = text.find(" = {0};", begin);
    if (begin != std::string::npos && none < text.find('\n', begin)) text.replace(none, 7, " = {" + value + "};");
}

}  // namespace

std::vector<TapsetFile> with_filters(std::vector<TapsetFile> tapsets,
                                     const std::map<std::string, std::string>& globals) {
    for (auto& file : tapsets) {
        file.text = split_at_marks(file.text).all;
        for (const auto& [name, value] : globals) {
            boost::replace_all(file.text, fmt::format("{} = 0", name), fmt::format("{} = {}", name, value));
            set_elements(name, value, file.text);
        }
    }
    return tapsets;
}

std::vector<TapsetFile> without_filters(std::string_view script, std::vector<TapsetFile> tapsets) {
    const auto named = our_names(without_comments(script));
    const auto names_it = [&](const std::string& name) { return named.contains(name); };
    std::vector<TapsetFile> without;
    for (const auto& file : tapsets) {
        auto marked = split_at_marks(file.text);
        for (const auto& part : parts_of({file.name, std::move(marked.inside)}))
            if (part.kind == Part::Kind::global && std::ranges::any_of(part.names, names_it))
                return with_filters(std::move(tapsets), {});
        without.push_back({file.name, std::move(marked.outside)});
    }
    return without;
}

}  // namespace stapgen::render
