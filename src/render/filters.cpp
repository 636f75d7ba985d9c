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
};

Marked split_at_marks(std::string_view text) {
    Marked marked;
    bool inside = false;
    for (const auto line : base::split(text, '\n')) {
        const auto mark = base::trim(line);
        const bool begins = mark == "// ---- filters", ends = mark == "// ---- end of filters";
        if (begins || ends)
            inside = begins;
        else
            (inside ? marked.inside : marked.outside).append(line).append(1, '\n');
    }
    return marked;
}

}  // namespace

std::vector<TapsetFile> with_filters(std::vector<TapsetFile> tapsets,
                                     const std::map<std::string, std::string>& globals) {
    for (auto& file : tapsets) {
        std::string text;
        for (const auto line : base::split(file.text, '\n')) {
            if (base::trim(line).starts_with("// ---- ") && base::trim(line).ends_with("filters")) continue;
            text.append(line).append(1, '\n');
        }
        for (const auto& [name, value] : globals)
            boost::replace_all(text, fmt::format("{} = 0", name), fmt::format("{} = {}", name, value));
        file.text = std::move(text);
    }
    return tapsets;
}

std::vector<TapsetFile> without_filters(std::string_view script, std::vector<TapsetFile> tapsets) {
    const auto named = our_names(without_comments(script));
    auto with = with_filters(tapsets, {});
    for (auto& file : tapsets) {
        auto [outside, inside] = split_at_marks(file.text);
        for (const auto& part : parts_of({file.name, std::move(inside)})) {
            const auto names_it = [&](const std::string& name) { return named.contains(name); };
            if (part.kind == Part::Kind::global && std::ranges::any_of(part.names, names_it)) return with;
        }
        file.text = std::move(outside);
    }
    return tapsets;
}

}  // namespace stapgen::render
