// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stapgen::table {

/// Whose counters a text has, as far as it says so. Samples are compared within one source only.
struct CounterSource {
    std::string host{};     ///< of a prompt, of what is before each line, of watch's heading; empty: not known
    std::string reached{};  ///< that its command ran on by ssh; empty: on `host`
    std::string inside{};   ///< what it ran in there: "netns blue", "container web"; empty: in nothing
    std::string heading{};  ///< a line above that a loop or a person has written: "node1", "Client"; empty: none

    bool operator==(const CounterSource&) const = default;
    /// Whether nothing speaks against both being one: a host that is not known may be any but one that was reached.
    [[nodiscard]] bool may_be(const CounterSource& other) const;
    /// It is `other`, too, which it may be.
    void join(const CounterSource& other);
    /// What is `of` here, with the source: "eth0 in netns blue on n1"; of "-" the source alone, if it has a name.
    [[nodiscard]] std::string text(std::string_view of) const;
    /// The parts that have a name: "host n1, netns blue"; "no name" if there is none.
    [[nodiscard]] std::string description() const;
};

/// The one among `sources` that `source` is: an equal one, or the only one that it may be. Nothing: it is none of them,
/// or several are as likely.
std::optional<std::size_t> find_source(std::span<const CounterSource> sources, const CounterSource& source);

}  // namespace stapgen::table
