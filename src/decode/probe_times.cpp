#include "decode/probe_times.h"

#include "base/text.h"

namespace stapgen::decode {

namespace {

/// Takes the number off the front, and `word` behind it.
std::optional<std::int64_t> take_number(std::string_view& text, std::string_view word) {
    const auto digits = text.substr(0, text.find_first_not_of("-0123456789"));
    const auto number = base::to_int(digits);
    if (!number || !text.substr(digits.size()).starts_with(word)) return std::nullopt;
    text.remove_prefix(digits.size() + word.size());
    return number;
}

/// begin, end and error come before the other probes are there and behind them: they slow no packet down.
bool is_outside(std::string_view point) {
    const auto name = point.substr(0, point.find('('));
    return name == "begin" || name == "end" || name == "error";
}

bool is_said_of_itself(std::string_view line) {
    return (line.starts_with("----- ") && line.find(" report:") != std::string_view::npos) ||
           (line.starts_with('\'') && line.find("' lock contention occurred ") != std::string_view::npos);
}

}  // namespace

std::optional<ProbeTimes> parse_probe_times(std::string_view line) {
    if (is_said_of_itself(line)) return ProbeTimes{};
    constexpr std::string_view before_hits = "hits: ";
    const auto at = line.find(before_hits);
    if (at == std::string_view::npos) return std::nullopt;
    const auto point = line.substr(0, at);
    auto rest = line.substr(at + before_hits.size());
    const auto hits = take_number(rest, ", cycles: ");
    const auto min = hits ? take_number(rest, "min/") : std::nullopt;
    const auto mean = min ? take_number(rest, "avg/") : std::nullopt;
    const auto max = mean ? take_number(rest, "max") : std::nullopt;
    if (!max) return std::nullopt;
    // Of the whole runtime's start the cycles may have more than 32 bits, which are negative then.
    if (*hits < 0 || *mean < 0 || *max < 0) return ProbeTimes{};
    // The file and line in parentheses are of a folder that is gone; `!` and `?` say how the point was found.
    auto name = point.substr(0, point.rfind(", ("));
    while (name.ends_with('!') || name.ends_with('?'))
        name.remove_suffix(1);
    return is_outside(name) ? ProbeTimes{} : ProbeTimes{name, *hits, *mean, *max};
}

}  // namespace stapgen::decode
