// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/maps.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace stapgen::symbols::user {

namespace {

/// The next word, taken off; empty: there is none.
std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

/// "7f00-7f10 r-xp 00001000 fe:01 4711   /usr/bin/app"
std::optional<Mapping> parse_line(std::string_view line) {
    const auto range = take_word(line), flags = take_word(line), offset = take_word(line);
    take_word(line);  // the device
    const auto inode = base::to_unsigned(take_word(line));
    const auto dash = range.find('-');
    if (dash == std::string_view::npos || flags.size() < 4 || !inode) return std::nullopt;
    const auto begin = base::to_unsigned(range.substr(0, dash), 16),
               end = base::to_unsigned(range.substr(dash + 1), 16), from = base::to_unsigned(offset, 16);
    if (!begin || !end || !from || *begin >= *end) return std::nullopt;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return Mapping{*begin, *end, *from, *inode, flags[2] == 'x', std::string(line)};
}

}  // namespace

std::string_view Mapping::name() const {
    std::string_view text = path;
    constexpr std::string_view deleted = " (deleted)";
    if (text.ends_with(deleted)) text.remove_suffix(deleted.size());
    return text.substr(text.rfind('/') + 1);
}

std::vector<Mapping> parse_maps(std::string_view text, std::size_t most) {
    std::vector<Mapping> mappings;
    for (const auto line : base::split(text, '\n')) {
        if (mappings.size() == most) break;
        auto mapping = parse_line(line);
        if (mapping && (mappings.empty() || mappings.back().end <= mapping->begin))
            mappings.push_back(*std::move(mapping));
    }
    return mappings;
}

const Mapping* find(const std::vector<Mapping>& mappings, std::uint64_t address) {
    const auto behind = std::ranges::upper_bound(mappings, address, {}, &Mapping::begin);
    if (behind == mappings.begin()) return nullptr;
    const auto& mapping = *std::prev(behind);
    return address < mapping.end ? &mapping : nullptr;
}

const Mapping* file_of(const std::vector<Mapping>& mappings, std::uint64_t address) {
    const auto* mapping = find(mappings, address);
    while (mapping != nullptr && !mapping->has_file() && mapping->path.empty()) {
        if (mapping == mappings.data() || std::prev(mapping)->end != mapping->begin) return nullptr;
        --mapping;
    }
    return mapping != nullptr && mapping->has_file() ? mapping : nullptr;
}

}  // namespace stapgen::symbols::user
