#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::cli {

using Rows = std::vector<std::pair<std::string, std::string>>;

/// Two columns, the first as wide as it needs.
inline void write_columns(std::ostream& out, const Rows& rows, std::string_view indent) {
    std::size_t width = 0;
    for (const auto& [left, right] : rows)
        width = std::max(width, left.size());
    for (const auto& [left, right] : rows) {
        out << indent << left << std::string(width - left.size() + 2, ' ') << right << '\n';
    }
}

}  // namespace stapgen::cli
