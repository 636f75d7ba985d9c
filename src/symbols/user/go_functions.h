// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stapgen::symbols::user {

struct GoFunction {
    std::uint64_t begin = 0, size = 0;
    std::uint32_t name = 0;  ///< where in the table
};

/// The functions in a .gopclntab of Go 1.16 and later, which a stripped program has, too: at most `most`. None where it
/// is of another version, or damaged. `code`: where .text begins, which Go 1.26 does not say.
std::vector<GoFunction> go_functions(std::string_view table, std::uint64_t code, std::size_t most);

}  // namespace stapgen::symbols::user
