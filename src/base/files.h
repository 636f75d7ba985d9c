#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace stapgen::base {

/// The whole file, or its first `limit` bytes. Files of /proc, whose size reads as 0, are fine.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t limit = std::numeric_limits<std::size_t>::max());

/// Creates `path` with `content`, readable by the owner only. Fails if it is there already, even as a
/// dangling symbolic link. What cannot be written whole is not left behind.
Result<void> create_file(const std::filesystem::path& path, std::string_view content);

/// Puts `content` at `path` in one step: a reader sees the old file or the whole new one. Mode 0600.
Result<void> replace_file(const std::filesystem::path& path, std::string_view content);

/// A folder of our own under the system's temporary folder, mode 0700, removed with what is in it. As root $TMPDIR
/// counts only where nobody else could put another folder in its place; else it is /tmp.
class PrivateDirectory {
  public:
    static Result<PrivateDirectory> create();
    PrivateDirectory(PrivateDirectory&& other) noexcept;
    PrivateDirectory& operator=(PrivateDirectory&&) = delete;
    ~PrivateDirectory();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    explicit PrivateDirectory(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

/// Where stapgen keeps what it can make again: $XDG_CACHE_HOME/stapgen or ~/.cache/stapgen. Modules that are loaded
/// come from there, so as root (a sudo that kept somebody's $HOME) it is /var/cache/stapgen where others can write that
/// one. Nothing is made.
std::filesystem::path cache_directory();

/// Makes that folder, for its owner only, if it is not there and can be made. To be called before stap is started,
/// which makes it otherwise: create_dir() of its util.cxx sets the umask to 0, and others may write what it makes.
void make_cache(const std::filesystem::path& cache);

}  // namespace stapgen::base
