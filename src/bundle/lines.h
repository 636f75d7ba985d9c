// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace stapgen::bundle {

/// The lines of a text by sections. supportconfig puts what many commands print into one file, each below a heading:
///     #==[ Command ]======================================#
///     # /sbin/ip -stats link
/// A text without headings is one section without a title.
class Lines {
  public:
    explicit Lines(base::Source& source) : source_(source) {}

    /// The next line of this section, without its end; valid until the next call. False at the end of the section, and
    /// where the text cannot be read further: who unpacks it says why. A line longer than any (base::limits) is
    /// several.
    bool next(std::string_view& line);

    /// Goes on to the next section, whatever is left of this one. False: there is none, or no heading was in what has
    /// been read so far.
    bool next_section();

    /// "/sbin/ip -stats link"
    [[nodiscard]] const std::string& title() const { return title_; }
    /// Number of the last line, from 1.
    [[nodiscard]] std::int64_t number() const { return number_; }
    /// Whether it can be a text: no zero byte was in what is read so far.
    [[nodiscard]] bool is_text() const { return is_text_; }

  private:
    bool read(std::string_view& line);

    base::Source& source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0, searched_ = 0;
    std::int64_t number_ = 0;
    std::string title_;
    bool at_end_ = false, at_heading_ = false, has_sections_ = false, is_text_ = true;
};

}  // namespace stapgen::bundle
