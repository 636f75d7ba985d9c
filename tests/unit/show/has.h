// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

inline bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}
