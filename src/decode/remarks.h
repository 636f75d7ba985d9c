#pragma once

#include <string_view>

namespace stapgen::decode {

/// What tools print beside data.
enum class Remark {
    none,
    systemtap,  ///< a message of stap or staprun; launch/messages.h reads what it says
    other,      ///< headings of ftrace and perf, our own messages
};

/// What a line is, by how it begins.
Remark remark(std::string_view line);

}  // namespace stapgen::decode
