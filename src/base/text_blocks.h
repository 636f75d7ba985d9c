// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/source.h"

namespace stapgen::base {

/// The text of a source in blocks that end where a word does. A block is what one read gives, but a word at its end,
/// which may go on: nothing waits for more than that.
class TextBlocks {
  public:
    using IsBetweenWords = bool (*)(char);
    static constexpr std::size_t read_size = std::size_t{256} << 10U;  ///< bytes, at most

    TextBlocks(Source& source, IsBetweenWords is_between_words)
        : source_(source), is_between_words_(is_between_words) {}

    /// False, and the block is empty: there is no more, or reading failed.
    bool next(std::string& block);
    /// The error that ended reading; the text before it has been given out.
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  private:
    Source& source_;
    IsBetweenWords is_between_words_;
    std::string rest_;  ///< read, and behind the last block
    std::optional<Error> error_;
    bool at_end_ = false;
};

}  // namespace stapgen::base
