// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/below.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace stapgen::base {

namespace fs = std::filesystem;

Result<OpenFolder> open_below(const fs::path& folder, const fs::path& inner, bool make) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    constexpr mode_t mode = 0777;  // less the umask
    const int no_links = ::geteuid() == 0 ? O_NOFOLLOW : 0;
    std::error_code error;
    if (make) fs::create_directories(folder, error);
    auto place = folder;
    auto open = std::make_unique<Descriptor>(::open(folder.c_str(), flags));
    for (const auto& part : inner) {
        if (open->get() < 0) break;
        if (part.empty() || part == ".") continue;
        place /= part;
        if (make) ::mkdirat(open->get(), part.c_str(), mode);
        open = std::make_unique<Descriptor>(::openat(open->get(), part.c_str(), flags | no_links));
    }
    if (open->get() >= 0) return open;
    const bool is_link = errno == ELOOP || errno == ENOTDIR;
    return failed(fmt::format("cannot open the folder {}: {}", printable(place.string()),
                              is_link ? "a link or a file" : std::strerror(errno)),
                  is_link ? "as root, stapgen follows no links there: give the folder that the link leads to, or run "
                            "as the folder's owner"
                          : "");
}

fs::path path_of(const OpenFolder& folder) {
    return fmt::format("/dev/fd/{}", folder->get());
}

}  // namespace stapgen::base
