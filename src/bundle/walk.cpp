// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/walk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "base/packed.h"
#include "base/text.h"
#include "bundle/tar.h"

namespace stapgen::bundle {

namespace {

/// What is left of a tar's file.
class TarFile final : public base::Source {
  public:
    explicit TarFile(Tar& tar) : tar_(tar) {}
    base::Result<std::size_t> read(std::span<char> into) override { return tar_.read(into); }
    /// Where the archive ends, its reader says so.
    [[nodiscard]] bool cut_short() const override { return false; }

  private:
    Tar& tar_;
};

/// A file's content, which notes why it cannot be read further: who reads lines has no use for it.
class Noted final : public base::Source {
  public:
    Noted(std::unique_ptr<base::Source> source, std::string name, std::optional<base::Error>& error)
        : source_(std::move(source)), name_(std::move(name)), error_(error) {}

    base::Result<std::size_t> read(std::span<char> into) override {
        auto count = source_->read(into);
        if (!count) error_ = count.error();
        if (count && *count == 0 && source_->cut_short())
            error_ = base::Error{base::ErrorKind::bad_input, fmt::format("{} ends in the middle", name_), {}};
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return source_->cut_short(); }

  private:
    std::unique_ptr<base::Source> source_;
    std::string name_;
    std::optional<base::Error>& error_;
};

class Walk {
  public:
    Walk(std::shared_ptr<base::Budget> budget, const std::function<void(const File& file)>& take)
        : budget_(std::move(budget)), take_(take) {}

    /// Content as it stands in a file: an archive, or a text.
    void read(const std::string& path, std::unique_ptr<base::Source> raw, std::size_t depth) {
        if (auto counted = budget_->add_member(); !counted) return damaged(counted.error());
        ++walked_.files;
        auto source = base::unpacked(std::move(raw), base::printable(path), budget_);
        if (!source) return unreadable(source.error());
        auto peeked = base::peek(*std::move(source), tar_block);
        if (!peeked) return unreadable(peeked.error());
        if (begins_tar(peeked->beginning) && depth < base::limits::archive_depth) {
            --walked_.files;
            return read_tar(path, *peeked->source, depth);
        }
        std::optional<base::Error> error;
        take_({std::make_shared<const std::string>(path),
               std::make_unique<Noted>(base::as_utf8(std::move(peeked->source)), base::printable(path), error)});
        if (error) damaged(*error);
    }

    /// By descriptors: whoever may write there cannot put a link in the place of a folder or file that was looked at.
    void read_folder(int folder, const std::string& path) {
        for (const auto& name : base::names_in(folder)) {
            if (budget_->over()) return;
            auto entry = path + '/' + name;
            const base::Descriptor inner(
                ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (inner.get() >= 0) {
                read_folder(inner.get(), entry);
                continue;
            }
            struct stat status {};
            constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
            const bool is_file =
                ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
            const int file = is_file ? ::openat(folder, name.c_str(), flags) : -1;
            if (!is_file) {
                ++walked_.passed_over;
            } else if (file < 0) {
                ++walked_.files;
                unreadable({base::ErrorKind::bad_input,
                            fmt::format("cannot open {}: {}", base::printable(entry), std::strerror(errno)),
                            {}});
            } else {
                auto source = base::take_raw(file, entry, budget_);
                read(entry, std::move(source), 1);
            }
        }
    }

    Walked result() { return std::move(walked_); }

  private:
    void read_tar(const std::string& path, base::Source& source, std::size_t depth) {
        Tar tar(source, base::printable(path));
        while (!budget_->over()) {
            auto file = tar.next();
            if (!file) return damaged(file.error());
            if (!*file) break;
            auto inner = depth == 0 ? std::move((*file)->path) : fmt::format("{}: {}", path, (*file)->path);
            read(inner, std::make_unique<TarFile>(tar), depth + 1);
        }
        if (budget_->over()) return damaged(*budget_->over());
        // Whether it is whole shows at its end, which is behind the tar's.
        char rest[4096];
        auto count = source.read(rest);
        while (count && *count > 0)
            count = source.read(rest);
        if (!count) damaged(count.error());
        walked_.passed_over += tar.passed_over();
        if (const auto refused = tar.refused(); refused > 0) {
            walked_.files += refused;
            walked_.unreadable += refused;
            walked_.damaged.push_back(fmt::format("{}: {} files have a name that is longer than {} bytes",
                                                  base::printable(path), refused, base::limits::path_bytes));
        }
        walked_.cut_short |= tar.cut_short() || source.cut_short();
    }
    void unreadable(const base::Error& error) {
        ++walked_.unreadable;
        damaged(error);
    }
    void damaged(const base::Error& error) {
        constexpr std::size_t max_said = 100;
        auto& said = walked_.damaged;
        if (said.size() < max_said && std::ranges::find(said, error.what) == said.end()) said.push_back(error.what);
    }

    std::shared_ptr<base::Budget> budget_;
    const std::function<void(const File& file)>& take_;
    Walked walked_;
};

}  // namespace

base::Result<bool> is_archive(const std::filesystem::path& path) {
    const auto name = base::printable(path.string());
    const auto budget = std::make_shared<base::Budget>(name);
    STAPGEN_LET(auto source, base::open_raw(path, budget));
    STAPGEN_LET(auto content, base::unpacked(std::move(source), name, budget));
    STAPGEN_LET(const auto peeked, base::peek(std::move(content), tar_block));
    return begins_tar(peeked.beginning);
}

base::Result<Walked> walk(const std::filesystem::path& path, const std::shared_ptr<base::Budget>& budget,
                          const std::function<void(const File& file)>& take) {
    Walk walk(budget, take);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        const base::Descriptor folder(base::open_to_read(path, O_DIRECTORY));
        if (folder.get() < 0) {
            return base::bad_input(
                fmt::format("cannot open {}: {}", base::printable(path.string()), std::strerror(errno)),
                "name a folder that can be read");
        }
        auto name = path.string();
        while (name.size() > 1 && name.ends_with('/'))
            name.pop_back();
        walk.read_folder(folder.get(), name);
        return walk.result();
    }
    STAPGEN_LET(auto source, base::open_raw(path, budget));
    walk.read(path.string(), std::move(source), 0);
    return walk.result();
}

}  // namespace stapgen::bundle
