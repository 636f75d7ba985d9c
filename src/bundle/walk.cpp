// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/walk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/packed.h"
#include "base/text.h"
#include "bundle/tar.h"

namespace stapgen::bundle {

namespace {

constexpr int max_depth = 3;
constexpr std::int64_t max_files = 1'000'000;

/// What is left of a tar's file.
class TarFile final : public base::Source {
  public:
    explicit TarFile(Tar& tar) : tar_(tar) {}
    base::Result<std::size_t> read(std::span<char> into) override { return tar_.read(into); }
    [[nodiscard]] bool cut_short() const override { return tar_.cut_short(); }

  private:
    Tar& tar_;
};

class Walk {
  public:
    explicit Walk(const std::function<void(const File& file)>& take) : take_(take) {}

    /// Content as it stands in a file: an archive, or a text.
    base::Result<void> read(std::string path, std::unique_ptr<base::Source> raw, int depth) {
        if (++walked_.files > max_files)
            return base::bad_input(fmt::format("more than {} files", max_files), "name a folder in it");
        auto source = base::unpacked(std::move(raw), base::printable(path), base::Source::Use::lines);
        if (!source) return unreadable(source.error());
        auto peeked = base::peek(*std::move(source), tar_block);
        if (!peeked) return unreadable(peeked.error());
        if (begins_tar(peeked->beginning) && depth < max_depth) {
            --walked_.files;
            return read_tar(path, *peeked->source, depth);
        }
        take_({std::move(path), base::as_utf8(std::move(peeked->source))});
        return {};
    }

    base::Result<void> read_folder(const std::filesystem::path& folder) {
        std::error_code error;
        for (const auto& entry : base::entries_of(folder)) {
            const auto status = std::filesystem::symlink_status(entry, error);
            if (std::filesystem::is_directory(status)) {
                if (auto done = read_folder(entry); !done) return done;
            } else if (!std::filesystem::is_regular_file(status)) {
                ++walked_.passed_over;
            } else if (auto done = read_file(entry, 1); !done) {
                return done;
            }
        }
        return {};
    }

    base::Result<void> read_file(const std::filesystem::path& path, int depth) {
        auto source = base::open_raw(path);
        if (!source) {
            ++walked_.files;
            return unreadable(source.error());
        }
        return read(path.string(), *std::move(source), depth);
    }

    Walked result() { return std::move(walked_); }

  private:
    base::Result<void> read_tar(const std::string& path, base::Source& source, int depth) {
        Tar tar(source, base::printable(path));
        for (;;) {
            auto file = tar.next();
            if (!file) return damaged(file.error());
            if (!*file) break;
            auto inner = depth == 0 ? std::move((*file)->path) : fmt::format("{}: {}", path, (*file)->path);
            if (auto done = read(std::move(inner), std::make_unique<TarFile>(tar), depth + 1); !done) return done;
        }
        // Whether it is whole shows at its end, which is behind the tar's.
        char rest[4096];
        for (auto count = source.read(rest); count && *count > 0;)
            count = source.read(rest);
        walked_.passed_over += tar.passed_over();
        walked_.cut_short |= tar.cut_short() || source.cut_short();
        return {};
    }
    base::Result<void> unreadable(const base::Error& error) {
        ++walked_.unreadable;
        return damaged(error);
    }
    base::Result<void> damaged(const base::Error& error) {
        constexpr std::size_t max_said = 100;
        if (walked_.damaged.size() < max_said) walked_.damaged.push_back(error.what);
        return {};
    }

    const std::function<void(const File& file)>& take_;
    Walked walked_;
};

}  // namespace

base::Result<bool> is_archive(const std::filesystem::path& path) {
    auto source = base::open_raw(path);
    if (!source) return tl::make_unexpected(source.error());
    auto content = base::unpacked(*std::move(source), base::printable(path.string()), base::Source::Use::lines);
    if (!content) return tl::make_unexpected(content.error());
    const auto peeked = base::peek(*std::move(content), tar_block);
    if (!peeked) return tl::make_unexpected(peeked.error());
    return begins_tar(peeked->beginning);
}

base::Result<Walked> walk(const std::filesystem::path& path, const std::function<void(const File& file)>& take) {
    Walk walk(take);
    std::error_code error;
    const auto done = std::filesystem::is_directory(path, error) ? walk.read_folder(path) : walk.read_file(path, 0);
    if (!done) return tl::make_unexpected(done.error());
    return walk.result();
}

}  // namespace stapgen::bundle
