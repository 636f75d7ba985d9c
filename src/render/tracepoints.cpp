// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/tracepoints.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stapgen::render {

namespace {

constexpr std::string_view blanks = " \t\n";

/// False if a kernel.trace of the text has no plain name.
bool add_names(std::string_view text, std::set<std::string>& names) {
    constexpr std::string_view probe = "kernel.trace";
    for (auto at = text.find(probe); at != std::string_view::npos; at = text.find(probe, at + 1)) {
        auto rest = text.substr(at + probe.size());
        for (const char expected : {'(', '"'}) {
            rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
            if (!rest.starts_with(expected)) return false;
            rest.remove_prefix(1);
        }
        auto name = rest.substr(0, rest.find('"'));
        if (const auto colon = name.find(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
        if (name.empty() || !std::ranges::all_of(name, base::is_word_character)) return false;
        names.emplace(name);
    }
    return true;
}

/// The words of probe points like "kprobe.function("f").return ?, @macro(x) !": whether each begins with a word that is
/// ours or of stap itself.
bool all_known(std::string_view points) {
    // The word that stap's own program defines (register_standard_tapsets), and "stapgen".
    constexpr std::array<std::string_view, 12> families{"begin",  "end",   "error",   "kernel", "kprobe",  "module",
                                                        "procfs", "never", "process", "timer",  "stapgen", "netfilter"};
    for (std::size_t at = 0; at < points.size();) {
        if (points[at] == '"') {
            at = std::min(points.find('"', at + 1), points.size() - 1) + 1;
        } else if (!base::is_word_character(points[at])) {
            ++at;
        } else {
            const auto rest = points.substr(at);
            const auto word = rest.substr(0, std::ranges::find_if_not(rest, base::is_word_character) - rest.begin());
            const auto end = at + word.size();
            const bool first = at == 0 || std::string_view(".@$").find(points[at - 1]) == std::string_view::npos;
            const bool has_more = end < points.size() && points[end] == '.';
            if (first && has_more && std::ranges::find(families, word) == families.end()) return false;
            at = end;
        }
    }
    return true;
}

bool probes_known(std::string_view text) {
    constexpr std::string_view keyword = "probe";
    for (auto at = text.find(keyword); at != std::string_view::npos; at = text.find(keyword, at + 1)) {
        if (at > 0 && (base::is_word_character(text[at - 1]) || text[at - 1] == '.')) continue;
        const auto rest = text.substr(at + keyword.size());
        if (rest.empty() || blanks.find(rest.front()) == std::string_view::npos) continue;
        if (!all_known(rest.substr(0, rest.find('{')))) return false;
    }
    return true;
}

}  // namespace

std::optional<std::set<std::string>> tracepoints_of(std::string_view script, const std::vector<TapsetFile>& tapsets) {
    std::set<std::string> names;
    for (const auto& part : used_parts(script, tapsets)) {
        if (!add_names(part, names) || !probes_known(part)) return std::nullopt;
    }
    return names;
}

}  // namespace stapgen::render
