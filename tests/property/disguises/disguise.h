// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats.h"

namespace stapgen::disguises {

/// What another tool puts before each line. `number` counts the lines from 0.
struct Prefix {
    std::string_view name;
    std::string (*of)(std::size_t number);
};

/// What a page, a ticket or a mail makes of some lines.
struct Quoting {
    std::string_view name;
    Lines (*of)(Lines lines);
};

struct LineEnds {
    std::string_view name;
    std::string (*join)(const Lines& lines);
};

struct Encoding {
    std::string_view name;
    std::string (*of)(std::string_view utf8);
};

/// The first of each changes nothing.
const std::vector<Prefix>& prefixes();
const std::vector<Quoting>& quotings();
const std::vector<LineEnds>& line_ends();
const std::vector<Encoding>& encodings();

Lines put_before(const Prefix& prefix, Lines lines);

}  // namespace stapgen::disguises
