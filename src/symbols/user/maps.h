// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::symbols::user {

/// A line of /proc/PID/maps.
struct Mapping {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t offset = 0;  ///< in its file
    std::uint64_t inode = 0;   ///< 0: no file
    bool executable = false;
    std::string path;  ///< of the file as the process sees it, "[heap]", "[stack]"; empty: anonymous

    [[nodiscard]] bool has_file() const { return inode != 0; }
    /// The last part of the path, without " (deleted)".
    [[nodiscard]] std::string_view name() const;
};

/// The mappings in the order of the text, which is that of their addresses; lines that are none, and those that overlap
/// the one before, are passed over. `most` of them.
std::vector<Mapping> parse_maps(std::string_view text, std::size_t most);

/// The one that an address lies in; null: there is none.
const Mapping* find(const std::vector<Mapping>& mappings, std::uint64_t address);
/// That of the file which an address belongs to: the one it lies in, or, of memory without a file right behind
/// mappings of one (.bss), the last of these. Null: there is none.
const Mapping* file_of(const std::vector<Mapping>& mappings, std::uint64_t address);

}  // namespace stapgen::symbols::user
