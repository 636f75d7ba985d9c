#include "recording/packed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace stapgen::recording {

struct PackedFile::State {
    std::filesystem::path path;
    int fd = -1;
    ZSTD_CCtx* packer = ZSTD_createCCtx();
    std::vector<char> packed = std::vector<char>(ZSTD_CStreamOutSize());
    std::uint64_t size = 0;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        if (fd >= 0) ::close(fd);
        ZSTD_freeCCtx(packer);
    }

    [[nodiscard]] base::Result<void> write_error(int why) const {
        return base::failed(fmt::format("cannot write {}: {}", path.string(), std::strerror(why)),
                            "what is in the file stays readable; take one with more room, or --rotate SIZE,N");
    }

    base::Result<void> pack(std::string_view text, ZSTD_EndDirective directive) {
        ZSTD_inBuffer input{text.data(), text.size(), 0};
        for (;;) {
            ZSTD_outBuffer output{packed.data(), packed.size(), 0};
            const auto left = ZSTD_compressStream2(packer, &output, &input, directive);
            if (ZSTD_isError(left)) return base::failed(fmt::format("cannot compress: {}", ZSTD_getErrorName(left)));
            if (auto stored = store({packed.data(), output.pos}); !stored) return stored;
            if (directive == ZSTD_e_continue ? input.pos == input.size : left == 0) return {};
        }
    }

    base::Result<void> store(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto count = ::write(fd, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return write_error(errno);
            size += static_cast<std::uint64_t>(count);
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return {};
    }
};

PackedFile::PackedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
PackedFile::PackedFile(PackedFile&&) noexcept = default;
PackedFile& PackedFile::operator=(PackedFile&&) noexcept = default;
PackedFile::~PackedFile() = default;

base::Result<PackedFile> PackedFile::create(const std::filesystem::path& path) {
    // A limit of file sizes is then an error of write(2), as a full disk is, and not our end.
    ::signal(SIGXFSZ, SIG_IGN);
    auto state = std::make_unique<State>();
    state->path = path;
    state->fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (state->fd < 0) {
        const int why = errno;
        auto what = fmt::format("cannot create {}: {}", path.string(), std::strerror(why));
        if (why == EEXIST) {
            return base::bad_input(std::move(what), "nothing is overwritten: give another name, or remove the file");
        }
        return base::failed(std::move(what), "give a name in a folder that is there and can be written");
    }
    ZSTD_CCtx_setParameter(state->packer, ZSTD_c_checksumFlag, 1);
    return PackedFile(std::move(state));
}

base::Result<void> PackedFile::write(std::string_view text) {
    return state_->pack(text, ZSTD_e_continue);
}

base::Result<void> PackedFile::flush() {
    return state_->pack({}, ZSTD_e_flush);
}

base::Result<void> PackedFile::finish() {
    if (auto packed = state_->pack({}, ZSTD_e_end); !packed) return packed;
    // Some file systems tell only now that there was no room.
    if (::close(std::exchange(state_->fd, -1)) != 0 && errno != EINTR) {
        return state_->write_error(errno);
    }
    return {};
}

const std::filesystem::path& PackedFile::path() const {
    return state_->path;
}

std::uint64_t PackedFile::size() const {
    return state_->size;
}

}  // namespace stapgen::recording
