// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/copies.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/text.h"
#include "bundle/walk.h"

namespace stapgen::bundle {

namespace {

constexpr std::size_t max_bytes = 64U << 20U, max_copies = 64;

/// The last part of a path, without what a file's name had better not have.
std::string plain_name(std::string_view path) {
    std::string name(path.substr(path.rfind('/') + 1));
    std::ranges::replace_if(
        name, [](char c) { return !base::is_word_character(c) && c != '.' && c != '-' && c != '+'; }, '_');
    return name;
}

/// Nothing: it is too large, or it cannot be read to its end.
std::optional<std::string> content_of(base::Source& source) {
    std::string content;
    std::array<char, 64U << 10U> piece{};
    for (;;) {
        const auto count = source.read(piece);
        if (!count || content.size() + *count > max_bytes) return std::nullopt;
        if (*count == 0) return content;
        content.append(piece.data(), *count);
    }
}

}  // namespace

base::Result<Copies> copies_of(const std::filesystem::path& archive, const std::set<std::string>& wanted) {
    auto folder = base::PrivateDirectory::create();
    if (!folder) return tl::make_unexpected(folder.error());
    Copies copies{*std::move(folder), {}};
    std::optional<base::Error> failed;
    const auto walked = walk(archive, [&](const File& file) {
        if (!wanted.contains(file.path) || copies.files.size() >= max_copies || failed) return;
        const auto content = content_of(*file.content);
        if (!content) return;
        // A folder each: names may be the same.
        const auto own = copies.folder.path() / std::to_string(copies.files.size());
        std::error_code error;
        std::filesystem::create_directory(own, error);
        const auto path = own / plain_name(file.path);
        if (auto done = base::replace_file(path, *content); !done) failed = done.error();
        copies.files.try_emplace(file.path, path);
    });
    if (!walked) return tl::make_unexpected(walked.error());
    if (failed) return tl::make_unexpected(*failed);
    return copies;
}

}  // namespace stapgen::bundle
