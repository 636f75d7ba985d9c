#include "host/stap_version.h"

#include <charconv>

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
    if (version) version->debian = version->text.find("Debian") != std::string::npos;
    return version;
}

}  // namespace stapgen::host
