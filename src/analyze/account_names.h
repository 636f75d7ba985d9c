// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace stapgen::analyze {

/// One count of the account: what is in it.
struct AccountName {
    std::string_view name;     ///< as the script prints it, without "incomplete."; of lost ones with "lost."
    std::string_view of;       ///< recipes, by their first word
    std::string_view meaning;  ///< a sentence without its end
};

/// Those that several recipes have, or the tapset prints for one; a recipe's own are in its recipe.toml.
std::span<const AccountName> account_names();

}  // namespace stapgen::analyze
