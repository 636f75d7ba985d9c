// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "base/toml_table.h"

namespace stapgen::recipe {

namespace {

/// Major and minor number: "4.19" of "4.19.0-6-amd64".
std::optional<std::pair<std::uint64_t, std::uint64_t>> number_of(std::string_view release) {
    const auto parts = base::split(release, '.');
    if (parts.size() < 2) return std::nullopt;
    const auto major = base::to_unsigned(parts[0]);
    const auto minor = base::to_unsigned(parts[1].substr(0, parts[1].find_first_not_of("0123456789")));
    if (!major || !minor) return std::nullopt;
    return std::pair(*major, *minor);
}

/// "el8" of "4.18.0-240.el8_3.x86_64"; empty for others.
std::string_view redhat_of(std::string_view release) {
    const auto at = release.find(".el");
    if (at == std::string_view::npos) return {};
    const auto rest = release.substr(at + 1);
    return rest.substr(0, rest.find_first_not_of("0123456789", 2));
}

bool means(std::string_view match, std::string_view release) {
    if (match == threaded_interrupts) return match == release;
    if (const auto redhat = redhat_of(release); !redhat.empty() || match.starts_with("el")) return match == redhat;
    const auto number = number_of(release);
    const auto dash = match.find('-');
    const auto first = number_of(match.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(match.substr(dash + 1));
    return number && first && last && *first <= *number && *number <= *last;
}

}  // namespace

std::string KernelRange::state_text() const {
    const auto* shown = state == "run" ? "run" : "probes resolved, not run";
    return lost.empty() ? shown : fmt::format("{}. Lost: {}", shown, lost);
}

const KernelRange* range_of(const std::vector<KernelRange>& ranges, std::string_view release,
                            std::string_view architecture) {
    for (const auto& range : ranges) {
        const auto& of = range.architectures;
        if (!of.empty() && std::ranges::find(of, architecture) == of.end()) continue;
        for (const auto& match : range.matches) {
            if (means(match, release)) return &range;
        }
    }
    return nullptr;
}

bool is_before(std::string_view release, std::string_view version) {
    const auto number = number_of(release), other = number_of(version);
    return number && other && *number < *other;
}

base::Result<std::vector<KernelRange>> kernels_of(const std::string& recipe, const std::filesystem::path& file) {
    STAPGEN_LET(auto text, base::read_file(file));
    constexpr std::string_view hint = "see the comment at the top of the kernels.toml that came with stapgen";
    std::vector<KernelRange> ranges;
    const auto read = [&](base::TomlTable& root) {
        for (auto& row : root.tables("kernels")) {
            KernelRange range{
                row.text("range"), row.text("state"), {}, row.texts("matches"), row.texts("architectures")};
            if (range.state != "run" && range.state != "resolved") {
                row.wrong({}, "'state' is neither \"run\" nor \"resolved\"");
            }
            if (range.matches.empty()) row.wrong({}, "'matches' is missing");
            if (auto lost = row.table("lost")) range.lost = lost->text_or(recipe, lost->text_or("all"));
            ranges.push_back(std::move(range));
        }
        if (ranges.empty()) root.wrong({}, "no [[kernels]] given");
    };
    return base::read_toml({text, file.native(), "kernels.toml", hint, hint}, read).map([&] { return ranges; });
}

base::Result<std::vector<KernelRange>> kernels_of(const Recipe& recipe, const ProgramFiles& files) {
    const bool is_ours = recipe.folder.parent_path() == files.templates;
    if (!is_ours || recipe.source != Source::script) return std::vector<KernelRange>{};
    return kernels_of(recipe.name, files.kernels);
}

}  // namespace stapgen::recipe
