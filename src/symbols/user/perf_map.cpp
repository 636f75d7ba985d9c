// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/perf_map.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace stapgen::symbols::user {

PerfMap::PerfMap(std::string text) : text_(std::move(text)) {
    const std::string_view all = text_;
    for (const auto line : base::split(all.substr(0, bytes), '\n')) {
        const auto first = line.find(' '), second = line.find(' ', std::min(first, line.size() - 1) + 1);
        if (line.empty() || first == std::string_view::npos || second == std::string_view::npos) continue;
        const auto begin = base::to_unsigned(line.substr(0, first), 16),
                   size = base::to_unsigned(line.substr(first + 1, second - first - 1), 16);
        const auto name = line.substr(second + 1);
        if (!begin || !size || *size == 0 || name.empty() || entries_.size() == most) continue;
        entries_.push_back({*begin, *size, static_cast<std::uint32_t>(name.data() - all.data()),
                            static_cast<std::uint32_t>(name.size())});
    }
    std::ranges::stable_sort(entries_, {}, &Entry::begin);
}

std::optional<std::string_view> PerfMap::find(std::uint64_t address) const {
    constexpr int looked_at = 16;
    auto at = std::ranges::upper_bound(entries_, address, {}, &Entry::begin);
    for (int i = 0; i < looked_at && at != entries_.begin(); ++i) {
        --at;
        if (address - at->begin < at->size) return std::string_view(text_).substr(at->name, at->length);
    }
    return std::nullopt;
}

}  // namespace stapgen::symbols::user
