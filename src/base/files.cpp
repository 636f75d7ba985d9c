// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sha2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>

#include "base/text.h"

namespace stapgen::base {

namespace {

tl::unexpected<Error> system_error(std::string_view action, const std::filesystem::path& path) {
    const int why = errno;
    const auto what = fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(why));
    if (why == ENOSPC || why == EDQUOT) return cannot_here(what, "make room there");
    return failed(what);
}

std::filesystem::path cache_of_user() {
    if (const char* base = std::getenv("XDG_CACHE_HOME"); base != nullptr && base[0] == '/') {
        return std::filesystem::path(base) / "stapgen";
    }
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home != nullptr && home[0] == '/' ? home : "/root") / ".cache" / "stapgen";
}

namespace fs = std::filesystem;

/// Links that lead to each other end so, as in the kernel (ELOOP).
constexpr int max_links = 40;

bool others_write(const struct stat& status) {
    return (status.st_mode & S_IWOTH) != 0 || ((status.st_mode & S_IWGRP) != 0 && status.st_gid != 0);
}

/// Who may write a folder with the sticky bit cannot replace what is root's in it: enough, unless it is asked
/// `strictly`.
Result<void> look_at(const fs::path& place, const struct stat& status, bool strictly) {
    if (status.st_uid != 0) {
        return cannot_here(fmt::format("{} belongs to the user {} and not to root", place.string(), status.st_uid));
    }
    if (S_ISLNK(status.st_mode)) return {};  // its mode means nothing
    const bool keeps = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && !strictly;
    if (others_write(status) && !keeps) {
        return cannot_here(fmt::format("{} may be written by others than root (mode {:04o})", place.string(),
                                       status.st_mode & 07777U));
    }
    return {};
}

std::deque<fs::path> parts_of(const fs::path& path) {
    std::deque<fs::path> parts;
    for (const auto& part : path.relative_path()) {
        if (!part.empty() && part != ".") parts.push_back(part);
    }
    return parts;
}

Result<void> look_along(const fs::path& path, bool last_strictly) {
    std::error_code error;
    auto left = parts_of(fs::absolute(path, error));
    fs::path place = "/";
    for (int links = 0;;) {
        struct stat status {};
        if (error || ::lstat(place.c_str(), &status) != 0) {
            return failed(fmt::format("cannot examine {}: {}", place.string(), std::strerror(errno)));
        }
        if (auto trusted = look_at(place, status, left.empty() && last_strictly); !trusted) return trusted;
        if (S_ISLNK(status.st_mode)) {
            const auto target = fs::read_symlink(place, error);
            if (error || ++links > max_links) return failed(fmt::format("cannot follow {}", place.string()));
            auto parts = parts_of(target);
            left.insert(left.begin(), parts.begin(), parts.end());
            place = target.is_absolute() ? fs::path("/") : place.parent_path();
            continue;
        }
        if (left.empty()) return {};
        // The folders above were looked at on the way down.
        place = left.front() == ".." ? place.parent_path() : place / left.front();
        left.pop_front();
    }
}

/// The names in an open folder, sorted; closes it. Below 0: nothing.
std::vector<std::string> names_in_taken(int folder) {
    std::vector<std::string> names;
    DIR* const stream = folder < 0 ? nullptr : ::fdopendir(folder);
    if (stream == nullptr) {
        if (folder >= 0) ::close(folder);
        return names;
    }
    while (const auto* const entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(stream);
    std::ranges::sort(names);
    return names;
}

bool is_confined = false;

/// Where there is no openat2(2), before 5.6: no links at all.
int open_by_parts(int folder, const fs::path& path, int flags) {
    constexpr int on_the_way = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    auto parts = parts_of(path);
    const bool is_below =
        path.is_relative() && std::ranges::none_of(parts, [](const fs::path& part) { return part == ".."; });
    if (!is_below || parts.empty()) {
        errno = EXDEV;
        return -1;
    }
    auto open = std::make_unique<Descriptor>(::openat(folder, ".", on_the_way));
    for (; parts.size() > 1 && open->get() >= 0; parts.pop_front())
        open = std::make_unique<Descriptor>(::openat(open->get(), parts.front().c_str(), on_the_way));
    return open->get() < 0 ? -1 : ::openat(open->get(), parts.front().c_str(), flags | O_NOFOLLOW);
}

}  // namespace

int open_beneath(int folder, const fs::path& path, int flags) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    // It is asked again where a folder is moved at that moment: openat2(2).
    for (int times = 0; times < 100; ++times) {
        const auto file = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
        // Containers' filters of system calls answer EPERM to what they do not know.
        if (file < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_parts(folder, path, flags);
        if (file >= 0 || errno != EAGAIN) return static_cast<int>(file);
    }
    return -1;
}

void confine_relative_paths() {
    is_confined = true;
}

int open_to_read(const fs::path& path, int flags) {
    flags |= O_RDONLY | O_CLOEXEC;
    if (!is_confined || path.is_absolute()) return ::open(path.c_str(), flags);
    // A pipe is not waited for.
    const int file = open_beneath(AT_FDCWD, path, flags | O_NONBLOCK);
    struct stat status {};
    if (file < 0 || (::fstat(file, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))) return file;
    ::close(file);
    errno = EINVAL;
    return -1;
}

Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    for (const auto& name : names_in_taken(open_to_read(folder, O_DIRECTORY)))
        entries.push_back(folder / name);
    return entries;
}

std::vector<fs::path> files_at(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return {path};
    auto files = entries_of(path);
    std::erase_if(files, [](const fs::path& entry) {
        std::error_code ignored;
        return !fs::is_regular_file(entry, ignored);
    });
    return files;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : entries_of(folder))
        names.push_back(entry.filename());
    return names;
}

std::vector<std::string> names_in(int folder) {
    return names_in_taken(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
    const Descriptor file(open_to_read(path));
    if (file.get() < 0) return system_error("open", path);
    std::string content;
    struct stat status {};
    if (::fstat(file.get(), &status) == 0) {
        content.reserve(std::min<std::size_t>(static_cast<std::size_t>(status.st_size) + 256 * 1024, limit));
    }
    for (;;) {
        const auto old_size = content.size();
        const auto step = std::min<std::size_t>(256 * 1024, limit - old_size);
        content.resize(old_size + step);
        const auto count = ::read(file.get(), content.data() + old_size, step);
        content.resize(old_size + static_cast<std::size_t>(count < 0 ? 0 : count));
        if (count < 0 && errno != EINTR) return system_error("read", path);
        if (count == 0) return content;
    }
}

Result<std::string> read_named(const std::filesystem::path& path, std::size_t limit) {
    auto content = read_file(path, limit + 1);
    if (!content || content->size() <= limit) return content;
    return bad_input(fmt::format("{} is larger than {} bytes", printable(path.string()), limit),
                     "check that it is the file you meant");
}

Result<std::string> read_found(const std::filesystem::path& path, std::size_t limit) {
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        return bad_input(fmt::format("{} is not a regular file", printable(path.string())), "remove it");
    return read_named(path, limit);
}

Result<void> create_file(const std::filesystem::path& path, std::string_view content) {
    int created = -1;
    const Unfinished unfinished([&] {
        created = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        return created < 0 ? fs::path() : path;
    });
    if (created < 0) return system_error("create", path);
    const Descriptor file(created);
    while (!content.empty()) {
        const auto count = ::write(file.get(), content.data(), content.size());
        if (count < 0 && errno != EINTR) {
            auto error = system_error("write", path);
            ::unlink(path.c_str());
            return error;
        }
        content.remove_prefix(static_cast<std::size_t>(count < 0 ? 0 : count));
    }
    return {};
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view content) {
    auto temporary = path;
    // Its own, whatever an earlier process of our number has left.
    temporary += fmt::format(".{:08x}.tmp", std::random_device()());
    const Unfinished unfinished([&] { return temporary; });
    if (auto created = create_file(temporary, content); !created) return created;
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        auto error = system_error("replace", path);
        ::unlink(temporary.c_str());
        return error;
    }
    return {};
}

std::optional<std::string> trusted_folder(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr || (::geteuid() == 0 && !only_root_makes(value))) return std::nullopt;
    return value;
}

Result<PrivateDirectory> PrivateDirectory::create() {
    std::error_code error;
    auto folder = std::filesystem::temp_directory_path(error);
    if (error || (::geteuid() == 0 && !only_root_replaces(folder))) folder = "/tmp";
    return create_beside(folder / "stapgen");
}

Result<PrivateDirectory> PrivateDirectory::create_beside(const std::filesystem::path& path) {
    auto pattern = path.string() + "-XXXXXX";
    auto made = std::make_unique<Unfinished>(
        [&] { return ::mkdtemp(pattern.data()) == nullptr ? fs::path() : fs::path(pattern); });
    if (made->path().empty()) return system_error("make a temporary folder", pattern);
    return PrivateDirectory(std::move(made));
}

PrivateDirectory::~PrivateDirectory() {
    std::error_code ignored;
    if (unfinished_) std::filesystem::remove_all(path(), ignored);
}

std::optional<std::filesystem::path> config_directory() {
    if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && config[0] == '/')
        return fs::path(config) / "stapgen";
    const char* home = std::getenv("HOME");
    if (home == nullptr || home[0] != '/') return std::nullopt;
    return fs::path(home) / ".config/stapgen";
}

std::filesystem::path cache_directory() {
    auto cache = cache_of_user();
    if (::geteuid() == 0 && !only_root_makes(cache)) cache = "/var/cache/stapgen";
    return cache;
}

void make_cache(const std::filesystem::path& cache) {
    std::error_code ignored;
    std::filesystem::create_directories(cache.parent_path(), ignored);
    ::mkdir(cache.c_str(), S_IRWXU);
}

fs::path cache_entry(const fs::path& folder, std::string_view name, std::string_view decides) {
    constexpr std::size_t digits = 16;
    return folder / fmt::format("{}-{}", name, sha256(decides).substr(0, digits));
}

Result<void> make_cache_entry(const fs::path& entry, const std::function<Result<void>(const fs::path& fresh)>& fill) {
    std::error_code error;
    if (fs::is_directory(entry, error)) return {};
    fs::create_directories(entry.parent_path(), error);
    if (!error) {
        STAPGEN_LET(const auto fresh, PrivateDirectory::create_beside(entry));
        if (auto filled = fill(fresh.path()); !filled) return filled;
        fs::rename(fresh.path(), entry, error);
    }
    // Another stapgen may have been quicker; its folder is as good.
    if (!error || fs::is_directory(entry)) return {};
    return failed(fmt::format("cannot make {}: {}", entry.string(), error.message()),
                  "the cache can be moved with $XDG_CACHE_HOME");
}

Result<void> only_root_writes(const fs::path& path) {
    return look_along(path, true);
}

Result<void> only_root_makes(const fs::path& path) {
    std::error_code error;
    auto there = fs::absolute(path, error);
    while (!fs::exists(fs::symlink_status(there, error)) && there.has_relative_path())
        there = there.parent_path();
    return only_root_writes(there);
}

Result<void> only_root_replaces(const fs::path& folder) {
    return look_along(folder, false);
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> digest{};
    if (::SHA256File(path.c_str(), digest.data()) == nullptr)
        return bad_input(fmt::format("cannot read {}: {}", printable(path.string()), std::strerror(errno)),
                         "name a file that can be read");
    return digest.data();
}

}  // namespace stapgen::base
