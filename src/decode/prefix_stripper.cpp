#include "decode/prefix_stripper.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <vector>

#include "base/text.h"
#include "decode/format_detector.h"
#include "decode/prompt_stripper.h"

namespace stapgen::decode {

namespace {

constexpr std::ptrdiff_t enough_lines = 64;
constexpr std::size_t enough_bytes = 64U << 10U;
constexpr std::string_view no_break_space = "\xc2\xa0";

class Nowhere final : public FormatDetector::Sink {
  public:
    void record(FormatDetector::Source& /*source*/, const Record& /*record*/) override {}
    void line(FormatDetector::Source& /*source*/, const Line& /*line*/) override {}
    void message(std::string_view /*text*/) override {}
};

/// Of each line whether it is understood and not blank.
std::vector<bool> understood(std::string_view lines) {
    FormatDetector detector;
    Nowhere nowhere;
    PromptStripper plain;
    std::vector<bool> flags;
    while (!lines.empty()) {
        const auto end = std::min(lines.find('\n'), lines.size() - 1) + 1;
        const auto line = lines.substr(0, end);
        const auto before = detector.input().recognised;
        detector.feed(line, nowhere);
        plain.set(base::trim(line));
        flags.push_back(!plain.text().empty() && detector.input().recognised > before);
        lines.remove_prefix(end);
    }
    return flags;
}

std::string with_plain_blanks(std::string_view text) {
    std::string plain(text);
    boost::algorithm::replace_all(plain, no_break_space, " ");
    return plain;
}

}  // namespace

std::string_view PrefixStripper::feed(std::string_view lines) {
    if (!learned_) {
        text_ += lines;
        const bool is_enough = text_.size() >= enough_bytes || std::ranges::count(text_, '\n') >= enough_lines;
        return is_enough ? finish() : std::string_view();
    }
    if (lines.find(no_break_space) != std::string_view::npos) {
        text_ = prefix_.without(with_plain_blanks(lines));
        return text_;
    }
    if (prefix_.is_empty()) return lines;
    text_ = prefix_.without(lines);
    return text_;
}

std::string_view PrefixStripper::finish() {
    if (learned_) return {};
    learned_ = true;
    std::size_t end = 0;
    for (std::ptrdiff_t lines = 0; lines < enough_lines && end < std::min(text_.size(), enough_bytes); ++lines)
        end = std::min(text_.find('\n', end), text_.size() - 1) + 1;
    prefix_.learn(with_plain_blanks(std::string_view(text_).substr(0, end)), understood);
    text_ = prefix_.without(with_plain_blanks(text_));
    return text_;
}

std::string PrefixStripper::last_line(std::string_view line) const {
    return prefix_.without(with_plain_blanks(line));
}

}  // namespace stapgen::decode
