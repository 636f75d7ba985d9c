// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <initializer_list>
#include <string_view>

#include "launch/messages.h"

using stapgen::launch::MessageContext;
using stapgen::launch::MessageReader;

inline const MessageContext context{"6.1.0-56-amd64", "linux-headers-6.1.0-56-amd64", "linux-image-6.1.0-56-amd64-dbg"};

inline MessageReader read(std::initializer_list<std::string_view> lines) {
    MessageReader reader(context);
    for (const auto line : lines)
        reader.line(line);
    return reader;
}
