// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::kinds::latency {

/// What is known of what packets wait for in a stage, or in a part of it: `stapgen help waits` prints it, and
/// `stapgen why` takes its words.
struct Wait {
    std::string_view stages;  ///< "tcp-app udp-app": it is alike in these
    std::string_view cause;   ///< "run-queue": of the parts "tcp-app.run-queue" and its like; empty: the whole stage
    std::string_view what;    ///< follows "a packet waits" and "1,009 packets waited"; how long is put before a ':'
    std::string_view known;   ///< the events and fields of the kernel that show it
    std::string_view remedy;  ///< what can be done about it
    std::string_view noun = "packet";  ///< what waits

    /// "tcp-app.run-queue", "udp-app.run-queue".
    [[nodiscard]] std::vector<std::string> names() const;
};

/// All of them, in the order of a packet's way and of tapsets/c/causes.h.
std::span<const Wait> known_waits();

/// Of a stage or a part, by its name: "app-tcp.nagle", "qdisc"; null: nothing is known.
const Wait* wait_of(std::string_view name);

/// Whether it is the part of a stage that could not be divided: "tcp-app.undivided".
bool is_undivided(std::string_view name);

}  // namespace stapgen::kinds::latency
