// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"

namespace stapgen::recording {

/// A new file of one zstd frame, mode 0600. What has been flushed can be read whatever happens afterwards. Every error
/// is `failed`; after one in a write the file is not to be written any further.
class PackedFile {
  public:
    /// Fails if `path` is there already, even as a dangling symbolic link. "-" is stdout.
    static base::Result<std::unique_ptr<PackedFile>> create(const std::filesystem::path& path);
    PackedFile(const PackedFile&) = delete;
    PackedFile& operator=(const PackedFile&) = delete;
    /// Closes it as it is.
    ~PackedFile() {
        if (fd_ >= 0) ::close(fd_);
        ZSTD_freeCCtx(packer_);
    }

    base::Result<void> write(std::string_view text) { return pack(text, ZSTD_e_continue); }
    /// All that was written is in the file.
    base::Result<void> flush() { return pack({}, ZSTD_e_flush); }
    /// Ends the frame and closes the file.
    base::Result<void> finish();

    [[nodiscard]] std::uint64_t size() const { return size_; }  ///< bytes in the file

  private:
    PackedFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd), packed_(ZSTD_CStreamOutSize()) {
        ZSTD_CCtx_setParameter(packer_, ZSTD_c_checksumFlag, 1);
    }
    [[nodiscard]] base::Result<void> write_error(int why) const;
    base::Result<void> pack(std::string_view text, ZSTD_EndDirective directive);
    base::Result<void> store(std::string_view bytes);

    std::filesystem::path path_;
    int fd_;
    ZSTD_CCtx* packer_ = ZSTD_createCCtx();
    std::vector<char> packed_;
    std::uint64_t size_ = 0;
};

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

base::Result<void> PackedFile::write_error(int why) const {
    return base::failed(fmt::format("cannot write {}: {}", path_.string(), std::strerror(why)),
                        "the file can be read up to here; use a disk with more space, or --rotate SIZE,N");
}

base::Result<void> PackedFile::pack(std::string_view text, ZSTD_EndDirective directive) {
    ZSTD_inBuffer input{text.data(), text.size(), 0};
    for (;;) {
        ZSTD_outBuffer output{packed_.data(), packed_.size(), 0};
        const auto left = ZSTD_compressStream2(packer_, &output, &input, directive);
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

namespace {

std::string random_id() {
    std::random_device random;
    std::string id;
    for (int i = 0; i < 4; ++i)
        id += fmt::format("{:08x}", random());
    return id;
}

}  // namespace

base::Result<Rotation> parse_rotation(std::string_view text) {
    const auto parts = base::split(text, ',');
    Rotation rotation;
    auto bytes = base::parse_size(parts[0]);
    if (!bytes) {
        bytes.error().what.insert(0, "--rotate: ");
        return tl::make_unexpected(bytes.error());
    }
    rotation.bytes = *bytes;
    const auto files = parts.size() == 2 ? base::to_int(parts[1]) : std::nullopt;
    if (files) rotation.files = *files;
    const bool files_fit = parts.size() == 1 || (files && *files >= 1 && *files <= 10000);
    if (rotation.bytes < 100'000 || !files_fit) {
        return base::bad_input(
            fmt::format("--rotate {}: not a size of 100 kB or more, or not 1 to 10000 files", base::printable(text)),
            "for example --rotate 64MB, or --rotate 64MB,5 to keep the newest five files");
    }
    return rotation;
}

std::filesystem::path part_path(const std::filesystem::path& file, std::int64_t part) {
    auto path = file;
    if (part > 0) path += fmt::format(".{}", part);
    return path;
}

Writer::Writer(const std::filesystem::path& first_path, std::unique_ptr<PackedFile> file, const Rotation& rotation)
    : file_(std::move(file)), first_path_(first_path), rotation_(rotation), run_id_(random_id()) {}

base::Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& file, const Rotation& rotation) {
    std::error_code ignored;
    if (const auto second = part_path(file, 1); rotation.bytes > 0 && std::filesystem::exists(second, ignored)) {
        return base::bad_input(
            fmt::format("{} exists and would be the second part", second.string()),
            "stapgen overwrites nothing: give another name, or remove the files of the earlier recording");
    }
    STAPGEN_LET(auto created, PackedFile::create(file));
    return std::unique_ptr<Writer>(new Writer(file, std::move(created), rotation));
}

Writer::~Writer() {
    std::error_code ignored;
    if (!begun_) std::filesystem::remove(first_path_, ignored);
}

bool Writer::note(const base::Result<void>& done) {
    if (!done) failure_ = done.error();
    return done.has_value();
}

bool Writer::is_full() const {
    return !failure_ && is_open_ && rotation_.bytes > 0 && lines_ > 0 && file_->size() >= rotation_.bytes;
}

void Writer::line(std::string_view text) {
    if (failure_ || !is_open_) return;
    if (!note(file_->write(text)) || !note(file_->write("\n"))) return;
    unflushed_ = true;
    ++lines_;
    if (rotation_.bytes > 0) keep_for_repeating(text);
}

void Writer::flush() {
    if (failure_ || !unflushed_) return;
    unflushed_ = false;
    note(file_->flush());
}

void Writer::end(Outcome outcome) {
    if (failure_ || !is_open_) return;
    write_trailer(std::move(outcome), false);
    ended_ = true;
}

void Writer::begin_part(Setup setup) {
    begun_ = is_open_ = true;
    const auto repeated = header_ + fields_ + ready_;
    const Header header{.run_id = run_id_,
                        .part = part_,
                        .lines_before = lines_before_,
                        .repeated = std::ranges::count(repeated, '\n'),
                        .start_epoch_ns = base::now_epoch_ns(),
                        .setup = std::move(setup)};
    note(file_->write(header_line(header) + repeated));
}

void Writer::write_trailer(Outcome outcome, bool continued) {
    is_open_ = false;
    if (note(file_->write(trailer_line({base::now_epoch_ns(), continued, lines_, std::move(outcome)}))))
        note(file_->finish());
}

void Writer::rotate(Outcome outcome) {
    // Without room for a further file this one goes on to be readable, so it is ended first.
    write_trailer(std::move(outcome), true);
    if (failure_) return;
    lines_before_ += std::exchange(lines_, 0);
    ++part_;
    auto next = PackedFile::create(part_path(first_path_, part_));
    if (!next) {
        failure_ = next.error();
        return;
    }
    file_ = *std::move(next);
    std::error_code ignored;
    if (rotation_.files > 0 && part_ >= rotation_.files) {
        std::filesystem::remove(part_path(first_path_, part_ - rotation_.files), ignored);
    }
}

void Writer::keep_for_repeating(std::string_view text) {
    const auto line = [&] { return std::string(text) + "\n"; };
    if (text.starts_with("stapgen\t") && header_.empty()) header_ = line();
    if (text.starts_with("fields\t") && fields_.size() < 65536) fields_ += line();
    if (text.starts_with("ready\t")) ready_ = line();
}

}  // namespace stapgen::recording
