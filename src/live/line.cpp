#include "live/line.h"

#include <algorithm>

#include "base/text.h"
#include "report/text/table.h"

namespace stapgen::live {

namespace {

bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

}  // namespace

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::size_t width_of(const Line& line) {
    std::size_t width = 0;
    for (const auto& span : line)
        width += width_of(span.text);
    return width;
}

std::string cut(std::string_view text, std::size_t columns) {
    if (width_of(text) <= columns) return std::string(text);
    if (columns == 0) return {};
    std::size_t width = 0, end = 0;
    for (; end < text.size(); ++end) {
        if (begins_character(text[end]) && ++width == columns) break;
    }
    return std::string(text.substr(0, end)) + '~';
}

Line cut(const Line& line, std::size_t columns) {
    if (width_of(line) <= columns) return line;
    Line shorter;
    for (const auto& [text, style] : line) {
        const auto width = width_of(text);
        if (width >= columns) {
            // More follows, or this one is too long.
            shorter.push_back({cut(width > columns ? text : text + ' ', columns), style});
            break;
        }
        shorter.push_back({text, style});
        columns -= width;
    }
    return shorter;
}

std::string padded(std::string_view text, std::size_t columns, bool right) {
    const auto width = width_of(text);
    const std::string blanks(columns - std::min(width, columns), ' ');
    return right ? blanks + std::string(text) : std::string(text) + blanks;
}

std::string plain_text(std::string_view text) {
    return report::ascii(base::printable(text));
}

}  // namespace stapgen::live
