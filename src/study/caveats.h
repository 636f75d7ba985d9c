// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/why.h"

/// What an answer does not know.
namespace stapgen::study {

/// What is missing or not certain, if it is above 1 %. `rows`: the stages of all packets.
std::vector<std::string> caveats_of(const rows::Results& results, const std::vector<rows::Stage>& rows, const Why& why);
/// That no packet, or what else the noun says, was measured, and what to check.
std::string nothing_text(const rows::Results& results, std::string_view noun);

}  // namespace stapgen::study
