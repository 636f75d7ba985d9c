#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/messages.h"

namespace stapgen::launch {

/// One message of stap or staprun as it may be met in a line. In `pattern` a * stands for any text, which
/// `cause` and `remedy` may use as {1}, {2}, ...; they may also say {release}, {headers}, {debuginfo}.
struct MessageRow {
    std::string_view id;
    int pass;
    MessageKind kind;
    int rank;
    std::string_view checks;  ///< ids of doctor's checks that may say why, by blanks; "workarounds": all of them
    std::string_view pattern;
    std::string_view cause;
    std::string_view remedy;
    std::string_view explains = {};  ///< the rows whose deeper cause this is, by blanks
};

/// The first row that fits a line counts.
std::span<const MessageRow> message_table();

/// What the stars stand for, if the pattern is found in the line. The last star takes all that is left.
std::optional<std::vector<std::string_view>> match(std::string_view pattern, std::string_view line);

}  // namespace stapgen::launch
