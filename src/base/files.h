// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace stapgen::base {

/// A file, closed with it. Below 0: none.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    [[nodiscard]] int get() const { return fd_; }

  private:
    int fd_;
};

/// Opens what a relative path names below an open folder, be links on the way or not: none leads out of it, and no
/// "..". `flags` are those of open(2). Below 0, with errno: it cannot be opened.
int open_beneath(int folder, const std::filesystem::path& path, int flags);

/// From now on what a relative path names is opened below the working folder or not at all, by open_beneath(), and only
/// if it is a regular file or a folder. For who reads what another program has named.
void confine_relative_paths();
/// Opens a file to be read; `flags`: further ones of open(2). Below 0, with errno: it cannot be opened.
int open_to_read(const std::filesystem::path& path, int flags = 0);

/// The entries of a folder, sorted by name; none where it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);
/// The regular files in a folder, sorted by name; of anything else itself, be it there or not.
std::vector<std::filesystem::path> files_at(const std::filesystem::path& path);
/// Their names.
std::vector<std::string> names_in(const std::filesystem::path& folder);
/// The same of an open one.
std::vector<std::string> names_in(int folder);

/// The whole file, or its first `limit` bytes. Files of /proc, whose size reads as 0, are fine.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t limit = std::numeric_limits<std::size_t>::max());

/// The whole of a file that a user named: a pipe, too. Error (bad_input): it is larger than `limit`.
Result<std::string> read_named(const std::filesystem::path& path, std::size_t limit);
/// The whole of a file that was found and that nobody named: the same, and an error if it is no regular file, for a
/// pipe would wait for its writer.
Result<std::string> read_found(const std::filesystem::path& path, std::size_t limit);

/// Creates `path` with `content`, readable by the owner only. Fails if it exists, even as a
/// dangling symbolic link. What cannot be written whole is not left behind.
Result<void> create_file(const std::filesystem::path& path, std::string_view content);

/// Puts `content` at `path` in one step: a reader sees the old file or the whole new one. Mode 0600.
Result<void> replace_file(const std::filesystem::path& path, std::string_view content);

/// A folder of our own under the system's temporary folder, mode 0700, removed with what is in it. As root $TMPDIR
/// counts only where nobody else could put another folder in its place; else it is /tmp.
class PrivateDirectory {
  public:
    static Result<PrivateDirectory> create();
    /// The same in the folder of `path`, its name what this path and six characters are.
    static Result<PrivateDirectory> create_beside(const std::filesystem::path& path);
    PrivateDirectory(PrivateDirectory&&) noexcept = default;
    PrivateDirectory& operator=(PrivateDirectory&&) = delete;
    ~PrivateDirectory();

    [[nodiscard]] const std::filesystem::path& path() const { return unfinished_->path(); }

  private:
    explicit PrivateDirectory(std::unique_ptr<Unfinished> unfinished) : unfinished_(std::move(unfinished)) {}
    std::unique_ptr<Unfinished> unfinished_;
};

/// The folder of a user's recipes and settings: $XDG_CONFIG_HOME/stapgen or ~/.config/stapgen. Nothing without
/// $HOME.
std::optional<std::filesystem::path> config_directory();
/// The same folder of the machine's root.
inline constexpr const char* system_config_directory = "/etc/stapgen";

/// The folder that this variable of the environment names; as root only if nobody else could put something there (a
/// sudo that kept another user's $HOME).
std::optional<std::string> trusted_folder(const char* variable);

/// Where stapgen keeps what it can make again: $XDG_CACHE_HOME/stapgen or ~/.cache/stapgen. Modules that are loaded
/// come from there, so as root (a sudo that kept another user's $HOME) it is /var/cache/stapgen where others can write
/// that one. Nothing is made.
std::filesystem::path cache_directory();

/// Makes that folder, for its owner only, if it is not there and can be made. To be called before stap is started,
/// which makes it otherwise: create_dir() of its util.cxx sets the umask to 0, and others may write what it makes.
void make_cache(const std::filesystem::path& cache);

/// The place of a folder below `folder` that is made once from `decides`: NAME- and 16 digits of its SHA-256.
std::filesystem::path cache_entry(const std::filesystem::path& folder, std::string_view name, std::string_view decides);

/// Makes a folder of the cache, mode 0700, where it is not there yet: whole or not at all, for `fill` puts what belongs
/// in it into another one beside it, which is then renamed. Its parents are made, too. Error: that of `fill`, or it
/// cannot be made (failed; cannot_here: the disk is full).
Result<void> make_cache_entry(const std::filesystem::path& entry,
                              const std::function<Result<void>(const std::filesystem::path& fresh)>& fill);

/// Fails where another user than root could change `path`, or put something else there: a file
/// or folder on the way, or the last one, is not root's, or others may write it. A symbolic link counts, and what it
/// leads to. In a folder with the sticky bit (/tmp) nobody can replace what is root's, so that one may be on the way.
/// Access control lists show in the group's bits of the mode, which they mask (acl(5)). The error names the place and
/// why. It has no hint: another user's place is theirs (a home that is root's locks its user out), so the caller says
/// where else to go.
Result<void> only_root_writes(const std::filesystem::path& path);

/// The same for what may not be there yet: then the nearest folder on the way counts that is there.
Result<void> only_root_makes(const std::filesystem::path& path);

/// The same for a folder in which root will make something: the sticky bit is enough.
Result<void> only_root_replaces(const std::filesystem::path& folder);

/// sha256() of a file's bytes, however many these are.
Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace stapgen::base
