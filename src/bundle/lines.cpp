// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/lines.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/limits.h"

namespace stapgen::bundle {

namespace {

constexpr std::size_t piece = 64U << 10U;

}  // namespace

bool Lines::next(std::string_view& line) {
    if (at_heading_ || !read(line)) return false;
    at_heading_ = line.starts_with("#==[ ");
    has_sections_ |= at_heading_;
    return !at_heading_;
}

bool Lines::next_section() {
    std::string_view line;
    while (has_sections_ && next(line)) {
    }
    if (!at_heading_) return false;
    at_heading_ = false;
    // A heading right below another one has no title of its own.
    if (!next(line)) return at_heading_;
    title_ = line.starts_with("# ") ? line.substr(2) : "";
    return true;
}

bool Lines::read(std::string_view& line) {
    for (;;) {
        const std::string_view held(buffer_.data() + begin_, end_ - begin_);
        const auto newline = held.find('\n', searched_);
        if (newline != held.npos || held.size() >= base::limits::line_bytes || (at_end_ && !held.empty())) {
            line = held.substr(0, newline);
            begin_ += std::min(held.size(), line.size() + (newline == held.npos ? 0 : 1));
            searched_ = 0;
            ++number_;
            return true;
        }
        if (at_end_) return false;
        searched_ = held.size();
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= std::exchange(begin_, 0);
        if (buffer_.size() - end_ < piece) buffer_.resize(end_ + piece);
        const auto count = source_.read(std::span(buffer_).subspan(end_));
        at_end_ = !count || *count == 0;
        if (at_end_) continue;
        is_text_ = is_text_ && std::string_view(buffer_.data() + end_, *count).find('\0') == std::string_view::npos;
        end_ += *count;
    }
}

}  // namespace stapgen::bundle
