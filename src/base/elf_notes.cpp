// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/elf_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace stapgen::base {

std::string parse_build_id(std::string_view notes) {
    // Elf32_Nhdr and Elf64_Nhdr are alike: sizes of name and content, type; both are padded to four bytes.
    constexpr std::size_t head = 12;
    constexpr std::uint32_t build_id = 3;  // NT_GNU_BUILD_ID
    const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    while (notes.size() >= head) {
        std::uint32_t name_size = 0, size = 0, type = 0;
        std::memcpy(&name_size, notes.data(), 4);
        std::memcpy(&size, notes.data() + 4, 4);
        std::memcpy(&type, notes.data() + 8, 4);
        const auto content = head + padded(name_size);
        if (content + size > notes.size()) return {};
        if (type == build_id && notes.substr(head, name_size) == std::string_view("GNU\0", 4)) {
            const auto id = notes.substr(content, size);
            return fmt::format("{:02x}", fmt::join(std::vector<unsigned char>(id.begin(), id.end()), ""));
        }
        notes.remove_prefix(std::min<std::uint64_t>(content + padded(size), notes.size()));
    }
    return {};
}

}  // namespace stapgen::base
