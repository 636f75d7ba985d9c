// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Lines around the output of commands that say whose it is.
namespace stapgen::decode {

/// Whether it can be a host's name or address, and not localhost, which is any.
bool is_host_name(std::string_view word);

/// A line at a shell's prompt.
struct PromptLine {
    std::string_view prompt;   ///< "[root@n1 ~]#" of "[root@n1 ~]# netstat -s"
    std::string_view host;     ///< "n1"; empty: the prompt does not name it
    std::string_view command;  ///< may be empty
};
/// Nothing: the line has none, or what may be one is prose.
std::optional<PromptLine> read_prompt(std::string_view line);

/// The name of a host, a container or a file in what some tool puts before each line: "n1" of "n1: " (pdsh), of "Nov 17
/// 00:26:51 n1 kernel: ". Empty: there is none.
std::string_view source_name(std::string_view prefix);

/// A line above others that a loop, a tool for many hosts or a person has written.
struct Heading {
    std::string text{};         ///< without its decoration; empty: it is nothing else
    std::string name{};         ///< the words that say whose it is: "node1" of "=== node1 before ==="; may be empty
    bool is_decorated = false;  ///< ">>>>> node1", "== eth0 ==", "n1 | CHANGED | rc=0 >>"; no "node1" or "Client:"
    bool is_word = false;       ///< a word without decoration, which may be anything
};
/// Nothing: it is none.
std::optional<Heading> read_heading(std::string_view line);

}  // namespace stapgen::decode
