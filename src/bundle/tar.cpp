// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/limits.h"
#include "base/text.h"

namespace stapgen::bundle {

namespace {

/// Of what stands in front of a header: names, and attributes of any kind.
constexpr std::uint64_t max_text = 64U << 10U;

/// Fields of a header, as tar(5) has them: where one is, and its bytes.
struct Part {
    std::size_t at, size;
    [[nodiscard]] std::string_view of(std::string_view header) const { return header.substr(at, size); }
};
constexpr Part name_part{0, 100}, size_part{124, 12}, sum_part{148, 8}, magic_part{257, 6}, prefix_part{345, 155};
constexpr std::size_t type_at = 156;

std::string_view until_zero(std::string_view text) {
    return text.substr(0, text.find('\0'));
}

/// Octal digits with blanks around them; or GNU's: a first bit of 1, and then binary.
std::optional<std::uint64_t> number_of(std::string_view field) {
    if (static_cast<unsigned char>(field[0]) == 0x80) {
        std::uint64_t number = 0;
        for (const auto c : field.substr(field.size() - sizeof(number)))
            number = number << 8U | static_cast<unsigned char>(c);
        return number;
    }
    const auto digits = base::trim(until_zero(field));
    return digits.empty() ? 0 : base::to_unsigned(digits, 8);
}

/// All bytes, those of the sum itself as blanks.
std::uint64_t sum_of(std::string_view header) {
    const auto add = [](std::uint64_t sum, char c) { return sum + static_cast<unsigned char>(c); };
    const auto all = [&](std::string_view bytes) {
        return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}, add);
    };
    return all(header) - all(sum_part.of(header)) + sum_part.size * ' ';
}

bool is_header(std::string_view block) {
    const auto sum = number_of(sum_part.of(block));
    return sum && *sum == sum_of(block) && block[0] != 0;
}

/// What is said of the next file in front of its header.
struct Said {
    std::string path{};
    std::uint64_t size = 0;
    bool has_size = false;
};

/// Attributes of pax: "23 path=...\n", each with its length.
void read_attributes(std::string_view text, Said& said) {
    while (!text.empty()) {
        const auto blank = text.find(' ');
        const auto length = base::to_unsigned(text.substr(0, blank));
        if (blank == text.npos || !length || *length <= blank || *length > text.size()) return;
        const auto attribute = text.substr(blank + 1, *length - blank - 2);
        const auto equals = attribute.find('=');
        const auto key = attribute.substr(0, equals);
        const auto value = equals == attribute.npos ? "" : attribute.substr(equals + 1);
        if (key == "path" || key == "GNU.sparse.name") said.path = value;
        if (const auto size = base::to_unsigned(value); size && key == "size") {
            said.size = *size;
            said.has_size = true;
        }
        text.remove_prefix(*length);
    }
}

}  // namespace

bool begins_tar(std::string_view beginning) {
    return beginning.size() >= tar_block && is_header(beginning.substr(0, tar_block));
}

base::Result<bool> Tar::fill(std::span<char> whole) {
    for (std::size_t filled = 0; filled < whole.size();) {
        STAPGEN_LET(const auto count, source_.read(whole.subspan(filled)));
        if (count == 0) {
            cut_short_ |= filled > 0;
            return false;
        }
        filled += count;
        at_ += count;
    }
    return true;
}

base::Result<void> Tar::skip(std::uint64_t bytes) {
    std::array<char, 16U << 10U> thrown{};
    while (bytes > 0) {
        const auto part = std::min<std::uint64_t>(bytes, thrown.size());
        STAPGEN_LET(const auto whole, fill(std::span(thrown).first(part)));
        if (!whole) {
            cut_short_ = true;
            return {};
        }
        bytes -= part;
    }
    return {};
}

base::Result<void> Tar::end_file() {
    const auto rest = left_ + padding_;
    left_ = padding_ = 0;
    return skip(rest);
}

base::Result<std::string> Tar::read_text(std::uint64_t size) {
    if (size > max_text)
        return base::bad_input(fmt::format("{}: a name of {} bytes", name_, size), "it is damaged, or hostile");
    std::string text(size, '\0');
    STAPGEN_TRY(fill(text));
    STAPGEN_TRY(end_file());
    return text;
}

base::Result<std::optional<Tar::File>> Tar::next() {
    Said said;
    for (;;) {
        STAPGEN_TRY(end_file());
        const auto begin = at_;
        std::array<char, tar_block> block{};
        STAPGEN_LET(const auto whole, fill(block));
        const std::string_view header(block.data(), block.size());
        // What ends an archive: a block of zeros, or nothing.
        if (!whole || std::ranges::all_of(header, [](char c) { return c == 0; })) return std::optional<File>();
        const auto size = number_of(size_part.of(header));
        if (!is_header(header) || !size)
            return base::bad_input(fmt::format("{}: the archive is damaged at byte {}", name_, begin), "copy it again");
        left_ = said.has_size ? said.size : *size;
        padding_ = (tar_block - left_ % tar_block) % tar_block;
        const char type = header[type_at];
        if (type == 'L' || type == 'x') {
            padding_ = (tar_block - *size % tar_block) % tar_block;
            left_ = 0;
            STAPGEN_LET(auto text, read_text(*size));
            if (type == 'L') said.path = until_zero(text);
            if (type == 'x') read_attributes(text, said);
            continue;
        }
        if (type == '0' || type == '\0' || type == '7') {
            File file{std::move(said.path), left_};
            if (file.path.empty()) {
                const auto prefix =
                    magic_part.of(header) == std::string_view("ustar", 6) ? until_zero(prefix_part.of(header)) : "";
                file.path = fmt::format("{}{}{}", prefix, prefix.empty() ? "" : "/", until_zero(name_part.of(header)));
            }
            if (file.path.size() <= base::limits::path_bytes) return std::optional(std::move(file));
            ++refused_;
            said = {};
            continue;
        }
        // GNU's old sparse files: blocks of the map go on behind the header, as long as a byte of each says so.
        constexpr std::size_t header_goes_on = 482, map_goes_on = 504;
        for (bool more = type == 'S' && header[header_goes_on] != 0; more; more = block[map_goes_on] != 0) {
            STAPGEN_LET(const auto another, fill(block));
            if (!another) break;
        }
        passed_over_ += type == '5' || type == 'g' || type == 'K' ? 0 : 1;
        // Of a link the size says nothing: there is no content.
        if (type == '1' || type == '2' || type == '3' || type == '4' || type == '5' || type == '6')
            left_ = padding_ = 0;
        if (type != 'K' && type != 'g') said = {};
    }
}

base::Result<std::size_t> Tar::read(std::span<char> into) {
    const auto part = std::min<std::uint64_t>(left_, into.size());
    if (part == 0) return std::size_t{0};
    const auto count = source_.read(into.first(part));
    if (!count) return count;
    cut_short_ |= *count == 0;
    if (*count == 0) left_ = padding_ = 0;
    at_ += *count;
    left_ -= *count;
    return count;
}

}  // namespace stapgen::bundle
