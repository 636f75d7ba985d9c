#include "decode/unprefixed.h"

#include <algorithm>

#include "decode/recogniser.h"

namespace stapgen::decode {

namespace {

constexpr std::ptrdiff_t enough_lines = 64;
constexpr std::size_t enough_bytes = 64U << 10U;

class Nowhere final : public Recogniser::Sink {
  public:
    void record(Recogniser::Source& /*source*/, const Record& /*record*/) override {}
    void line(Recogniser::Source& /*source*/, const Line& /*line*/) override {}
    void message(std::string_view /*text*/) override {}
};

/// How many lines are understood that are not blank.
std::size_t understood(std::string_view lines) {
    Recogniser recogniser;
    Nowhere nowhere;
    std::size_t blank = 0;
    while (!lines.empty()) {
        const auto end = std::min(lines.find('\n'), lines.size() - 1) + 1;
        const auto line = lines.substr(0, end);
        if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) ++blank;
        recogniser.feed(line, nowhere);
        lines.remove_prefix(end);
    }
    return static_cast<std::size_t>(recogniser.input().recognised) - blank;
}

}  // namespace

std::string_view Unprefixed::feed(std::string_view lines) {
    if (learned_) {
        if (prefix_.is_empty()) return lines;
        text_ = prefix_.without(lines);
        return text_;
    }
    text_ += lines;
    if (text_.size() < enough_bytes && std::ranges::count(text_, '\n') < enough_lines) return {};
    return finish();
}

std::string_view Unprefixed::finish() {
    if (learned_) return {};
    learned_ = true;
    std::size_t end = 0;
    for (std::ptrdiff_t lines = 0; lines < enough_lines && end < std::min(text_.size(), enough_bytes); ++lines)
        end = std::min(text_.find('\n', end), text_.size() - 1) + 1;
    prefix_.learn(std::string_view(text_).substr(0, end), understood);
    if (!prefix_.is_empty()) text_ = prefix_.without(text_);
    return text_;
}

}  // namespace stapgen::decode
