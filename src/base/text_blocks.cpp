// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text_blocks.h"

#include <algorithm>
#include <span>

namespace stapgen::base {

bool TextBlocks::next(std::string& block) {
    block.assign(rest_);
    rest_.clear();
    while (!at_end_) {
        const auto before = block.size();
        block.resize(before + read_size);
        const auto count = source_.read(std::span(block).subspan(before));
        block.resize(before + count.value_or(0));
        if (!count) error_ = count.error();
        at_end_ = count.value_or(0) == 0;
        const auto added = static_cast<std::ptrdiff_t>(block.size() - before);
        const auto end = std::find_if(block.rbegin(), block.rbegin() + added, is_between_words_).base();
        if (end == block.begin() + static_cast<std::ptrdiff_t>(before)) continue;  // one word so far
        rest_.assign(end, block.end());
        block.erase(end, block.end());
        break;
    }
    return !block.empty();
}

}  // namespace stapgen::base
