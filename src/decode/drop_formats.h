// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "decode/importer.h"

namespace stapgen::decode {

/// A kind of line. Each '*' of `pattern` is what a word of `captures` says, the shortest that makes the line fit; a
/// blank is any number of them.
///     reason      its text; number: the kernel's number of it
///     place       where it was dropped
///     count       a decimal number of drops; 1 without
///     total       the same since the tool began, of what the line has before it
///     clock int endpoint word    "20:49:06", "17", "10.0.0.1:443" or "fe80::1:443", a text without blanks
///     -           anything
struct DropShape {
    std::string_view pattern, captures;
    /// A drop, a line that begins the tool's output, or one that says nothing: in that output, or wherever it is.
    enum class Kind { drop, heading, below, remark };
    Kind kind = Kind::drop;
};

/// How a tool prints drops, a row each.
struct DropFormat {
    std::string_view title;   ///< for a person
    std::string_view recipe;  ///< of the records
    std::span<const DropShape> shapes;
    std::string_view owner{};         ///< of reasons that are numbers, "Cilium's"; empty: the kernel's
    bool has_stacks = false;          ///< the calls that led to a drop may be below it, and say the place
    std::string_view note{};          ///< for a reader of the counts
    std::string_view numbers_note{};  ///< where a reason is a number
};

/// Every format of that kind. A line is offered to the last one first.
std::span<const DropFormat> drop_formats();

/// The importer of one.
std::unique_ptr<Importer> make_drop_rows(const DropFormat& format);

}  // namespace stapgen::decode
