#include "recipe/kernels.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/text.h"

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
    if (const auto redhat = redhat_of(release); !redhat.empty() || match.starts_with("el")) return match == redhat;
    const auto number = number_of(release);
    const auto dash = match.find('-');
    const auto first = number_of(match.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(match.substr(dash + 1));
    return number && first && last && *first <= *number && *number <= *last;
}

}  // namespace

const KernelRange* range_of(const std::vector<KernelRange>& ranges, std::string_view release) {
    for (const auto& range : ranges) {
        for (const auto& match : range.matches) {
            if (means(match, release)) return &range;
        }
    }
    return nullptr;
}

base::Result<std::vector<KernelRange>> kernels_of(const std::string& recipe, const std::filesystem::path& file) {
    const auto wrong = [&file](const toml::source_position& where, std::string_view what) {
        return base::bad_input(fmt::format("{}:{}:{}: {}", file.string(), where.line, where.column, what),
                               "see the comment at the top of the kernels.toml that came with stapgen");
    };
    auto text = base::read_file(file);
    if (!text) return tl::make_unexpected(text.error());
    toml::table root;
    try {
        root = toml::parse(*text);
    } catch (const toml::parse_error& error) {
        return wrong(error.source().begin, error.description());
    }
    const auto* rows = root["kernels"].as_array();
    if (rows == nullptr || !rows->is_array_of_tables()) return wrong({1, 1}, "there are no [[kernels]]");
    std::vector<KernelRange> ranges;
    for (const auto& item : *rows) {
        const auto& row = *item.as_table();
        KernelRange range{row["range"].value_or(std::string{}), row["state"].value_or(std::string{}), {}, {}};
        if (range.range.empty()) return wrong(row.source().begin, "'range' is missing");
        if (range.state != "run" && range.state != "resolved") {
            return wrong(row.source().begin, "'state' is neither \"run\" nor \"resolved\"");
        }
        if (const auto* matches = row["matches"].as_array()) {
            for (const auto& match : *matches)
                range.matches.push_back(match.value_or(std::string{}));
        }
        if (range.matches.empty()) return wrong(row.source().begin, "'matches' is missing");
        const auto lost = row["lost"];
        range.lost = lost[recipe].value_or(lost["all"].value_or(std::string{}));
        ranges.push_back(std::move(range));
    }
    return ranges;
}

}  // namespace stapgen::recipe
