#include "base/trust.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>

namespace stapgen::base {

namespace {

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
            return failed(fmt::format("cannot look at {}: {}", place.string(), std::strerror(errno)));
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
        // What is above has been looked at on the way down.
        place = left.front() == ".." ? place.parent_path() : place / left.front();
        left.pop_front();
    }
}

}  // namespace

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

}  // namespace stapgen::base
