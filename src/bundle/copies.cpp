// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/copies.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/limits.h"
#include "base/text.h"
#include "bundle/walk.h"

namespace stapgen::bundle {

namespace {

/// The last part of a path, without what a file's name had better not have.
std::string plain_name(std::string_view path) {
    auto name = std::string(path.substr(path.rfind('/') + 1)).substr(0, base::limits::name_bytes);
    std::ranges::replace_if(
        name, [](char c) { return !base::is_word_character(c) && c != '.' && c != '-' && c != '+'; }, '_');
    return name;
}

/// Error: it cannot be read to its end or written, or there is no room for it.
base::Result<void> copy(base::Source& source, const std::filesystem::path& path, base::Budget& budget) {
    const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return base::failed(fmt::format("cannot be copied: {}", std::strerror(errno)));
    std::array<char, 64U << 10U> piece{};
    for (;;) {
        STAPGEN_LET(const auto count, source.read(piece));
        if (count == 0) return {};
        if (!budget.copy(count)) return base::failed("there is no room for a copy of it");
        if (::write(file.get(), piece.data(), count) != static_cast<ssize_t>(count))
            return base::failed(fmt::format("cannot be copied: {}", std::strerror(errno)));
    }
}

}  // namespace

base::Result<Copies> copies_of(const std::filesystem::path& archive, const std::set<std::string>& wanted,
                               const std::shared_ptr<base::Budget>& budget) {
    STAPGEN_LET(auto folder, base::PrivateDirectory::create());
    Copies copies{std::move(folder), {}, {}};
    STAPGEN_TRY(walk(archive, budget, [&](const File& file) {
        if (!wanted.contains(*file.path) || copies.files.contains(*file.path)) return;
        // A folder each: names may be the same.
        const auto own = copies.folder.path() / std::to_string(copies.files.size() + copies.left_out.size());
        std::error_code error;
        std::filesystem::create_directory(own, error);
        const auto path = own / plain_name(*file.path);
        if (const auto done = copy(*file.content, path, *budget)) {
            copies.files.try_emplace(*file.path, path);
        } else {
            std::filesystem::remove_all(own, error);
            copies.left_out.push_back(fmt::format("{}: {}", *file.path, done.error().what));
        }
    }));
    return copies;
}

}  // namespace stapgen::bundle
