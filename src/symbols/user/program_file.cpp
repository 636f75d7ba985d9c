// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/program_file.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace stapgen::symbols::user {

std::optional<ProgramFile> ProgramFile::take(int fd) {
    ProgramFile file;
    file.fd_ = std::make_shared<base::Descriptor>(fd);
    if (fd < 0 || ::fstat(fd, &file.status_) != 0 || !S_ISREG(file.status_.st_mode)) return std::nullopt;
    return file;
}

std::optional<std::string> ProgramFile::read(std::uint64_t offset, std::uint64_t size) const {
    if (size > piece || offset > std::uint64_t{1} << 62U) return std::nullopt;
    if (made_) {
        if (offset > made_->size() || size > made_->size() - offset) return std::nullopt;
        return made_->substr(offset, size);
    }
    // Before room is made for bytes that are not there.
    struct stat now {};
    if (::fstat(fd_->get(), &now) != 0 || now.st_size < 0 || offset + size > static_cast<std::uint64_t>(now.st_size))
        return std::nullopt;
    std::string bytes(size, '\0');
    for (std::size_t have = 0; have < bytes.size();) {
        const auto got =
            ::pread(fd_->get(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(offset + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        have += static_cast<std::size_t>(got);
    }
    return bytes;
}

}  // namespace stapgen::symbols::user
