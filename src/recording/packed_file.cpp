// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/packed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace stapgen::recording {

base::Result<std::unique_ptr<PackedFile>> PackedFile::create(const std::filesystem::path& path) {
    const int fd = path == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                               : ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) return std::unique_ptr<PackedFile>(new PackedFile(path, fd));
    const int why = errno;
    auto what = fmt::format("cannot create {}: {}", path.string(), std::strerror(why));
    if (why == EEXIST) {
        return base::bad_input(std::move(what), "stapgen overwrites nothing: give another name, or remove the file");
    }
    return base::failed(std::move(what), "give a name in an existing, writable folder");
}

PackedFile::PackedFile(std::filesystem::path path, int fd)
    : path_(std::move(path)), fd_(fd), packer_(ZSTD_createCCtx()), packed_(ZSTD_CStreamOutSize()) {
    ZSTD_CCtx_setParameter(packer_, ZSTD_c_checksumFlag, 1);
}

PackedFile::~PackedFile() {
    if (fd_ >= 0) ::close(fd_);
    ZSTD_freeCCtx(packer_);
}

base::Result<void> PackedFile::write(std::string_view text) {
    return pack(text, ZSTD_e_continue);
}

base::Result<void> PackedFile::flush() {
    return pack({}, ZSTD_e_flush);
}

base::Result<void> PackedFile::write_error(int why) const {
    return base::failed(fmt::format("cannot write {}: {}", path_.string(), std::strerror(why)),
                        "the file can be read up to here; use a disk with more space, or --rotate SIZE,N");
}

base::Result<void> PackedFile::pack(std::string_view text, int directive) {
    ZSTD_inBuffer input{text.data(), text.size(), 0};
    for (;;) {
        ZSTD_outBuffer output{packed_.data(), packed_.size(), 0};
        const auto left = ZSTD_compressStream2(packer_, &output, &input, static_cast<ZSTD_EndDirective>(directive));
        if (ZSTD_isError(left)) return base::failed(fmt::format("cannot compress: {}", ZSTD_getErrorName(left)));
        if (auto stored = store({packed_.data(), output.pos}); !stored) return stored;
        if (directive == ZSTD_e_continue ? input.pos == input.size : left == 0) return {};
    }
}

base::Result<void> PackedFile::store(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::write(fd_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return write_error(errno);
        size_ += static_cast<std::uint64_t>(count);
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

base::Result<void> PackedFile::finish() {
    if (auto packed = pack({}, ZSTD_e_end); !packed) return packed;
    // Some file systems say only now that there was no room.
    if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) return write_error(errno);
    return {};
}

}  // namespace stapgen::recording
