#include "host/stap_version.h"

#include <charconv>

#include "base/text.h"

namespace stapgen::host {

std::optional<StapVersion> parse_version_number(std::string_view number) {
    StapVersion version;
    const char* const end = number.data() + number.size();
    auto [after_major, error] = std::from_chars(number.data(), end, version.major);
    if (error != std::errc{} || after_major == end || *after_major != '.') return std::nullopt;
    if (std::from_chars(after_major + 1, end, version.minor).ec != std::errc{}) return std::nullopt;
    version.text = number;
    return version;
}

std::optional<StapVersion> parse_stap_version(std::string_view output) {
    constexpr std::string_view mark = "(version ";
    const auto begin = output.find(mark);
    if (begin == std::string_view::npos) return std::nullopt;
    output.remove_prefix(begin + mark.size());
    auto version = parse_version_number(output.substr(0, output.find_first_of(")\n")));
    if (!version) return std::nullopt;
    version->debian = version->text.find("Debian") != std::string::npos;
    // "tested kernel versions: 2.6.32 ... 6.9-rc0", from SystemTap 1.8 on.
    constexpr std::string_view tested = "tested kernel versions: ";
    if (const auto line = output.find(tested); line != std::string_view::npos) {
        const auto words =
            base::words(output.substr(line + tested.size(), output.find('\n', line) - line - tested.size()));
        if (words.size() == 3 && words[1] == "...") version->tested_to = words[2];
    }
    return version;
}

}  // namespace stapgen::host
