// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/unpacker.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

#include "base/limits.h"

namespace stapgen::base {

namespace {

class ZstdUnpacker final : public Unpacker {
  public:
    ZstdUnpacker() { ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, limits::zstd_window_bits); }
    ZstdUnpacker(const ZstdUnpacker&) = delete;
    ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;
    ~ZstdUnpacker() override { ZSTD_freeDCtx(context_); }

    Step step(std::string_view packed, std::span<char> text, bool) override {
        // One block at a time: a call that fails hands out nothing, not even of the good blocks before. What zstd wants
        // next is a block and the head of the one behind it.
        constexpr std::size_t block_head = 3;
        const auto wanted = wanted_ > block_head ? wanted_ - block_head : std::max<std::size_t>(wanted_, 1);
        ZSTD_inBuffer input{packed.data(), std::min(packed.size(), wanted), 0};
        ZSTD_outBuffer output{text.data(), text.size(), 0};
        const auto left = ZSTD_decompressStream(context_, &output, &input);
        wants_memory_ = ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
        if (ZSTD_isError(left)) return {input.pos, output.pos, true};
        if (input.pos > 0 || output.pos > 0) wanted_ = left;
        return {input.pos, output.pos, false};
    }
    [[nodiscard]] bool complete() const override { return wanted_ == 0; }
    [[nodiscard]] bool wants_memory() const override { return wants_memory_; }

  private:
    bool wants_memory_ = false;
    ZSTD_DCtx* context_ = ZSTD_createDCtx();
    std::size_t wanted_ = 0;  ///< bytes of input; 0 between two frames
};

/// zlib, libbz2 and liblzma: what they take and what they fill is in a struct with the same names.
template <class Stream>
class StreamUnpacker : public Unpacker {
  public:
    StreamUnpacker() = default;
    StreamUnpacker(const StreamUnpacker&) = delete;
    StreamUnpacker& operator=(const StreamUnpacker&) = delete;
    [[nodiscard]] bool complete() const final { return complete_; }

  protected:
    /// `call` says whether all went well.
    template <class Call>
    Step step_by(std::string_view packed, std::span<char> text, Call call) {
        stream_.next_in = reinterpret_cast<decltype(stream_.next_in)>(const_cast<char*>(packed.data()));
        stream_.avail_in = static_cast<decltype(stream_.avail_in)>(packed.size());
        stream_.next_out = reinterpret_cast<decltype(stream_.next_out)>(text.data());
        stream_.avail_out = static_cast<decltype(stream_.avail_out)>(text.size());
        const bool fine = call();
        return {packed.size() - stream_.avail_in, text.size() - stream_.avail_out, !fine};
    }

    Stream stream_{};
    bool complete_ = false;
};

class GzipUnpacker final : public StreamUnpacker<z_stream> {
  public:
    GzipUnpacker() { ::inflateInit2(&stream_, MAX_WBITS + 16); }
    ~GzipUnpacker() override { ::inflateEnd(&stream_); }

    Step step(std::string_view packed, std::span<char> text, bool) override {
        if (complete_ && !packed.empty()) {
            ::inflateReset(&stream_);
            complete_ = false;
        }
        return step_by(packed, text, [this] {
            const int result = ::inflate(&stream_, Z_NO_FLUSH);
            complete_ = complete_ || result == Z_STREAM_END;
            return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
        });
    }
};

class Bzip2Unpacker final : public StreamUnpacker<bz_stream> {
  public:
    Bzip2Unpacker() { ::BZ2_bzDecompressInit(&stream_, 0, 0); }
    ~Bzip2Unpacker() override { ::BZ2_bzDecompressEnd(&stream_); }

    Step step(std::string_view packed, std::span<char> text, bool) override {
        if (complete_) {
            if (packed.empty()) return {};
            ::BZ2_bzDecompressEnd(&stream_);
            stream_ = {};
            ::BZ2_bzDecompressInit(&stream_, 0, 0);
        }
        return step_by(packed, text, [this] {
            const int result = ::BZ2_bzDecompress(&stream_);
            complete_ = result == BZ_STREAM_END;
            return result == BZ_OK || complete_;
        });
    }
};

class XzUnpacker final : public StreamUnpacker<lzma_stream> {
  public:
    XzUnpacker() { fine_ = ::lzma_stream_decoder(&stream_, limits::unpacker_bytes, LZMA_CONCATENATED) == LZMA_OK; }
    ~XzUnpacker() override { ::lzma_end(&stream_); }

    Step step(std::string_view packed, std::span<char> text, bool last) override {
        if (!fine_) return {0, 0, true};
        if (complete_) return {};
        return step_by(packed, text, [&] {
            const auto result = ::lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
            complete_ = result == LZMA_STREAM_END;
            wants_memory_ = result == LZMA_MEMLIMIT_ERROR;
            return fine_ = result == LZMA_OK || result == LZMA_STREAM_END || result == LZMA_BUF_ERROR;
        });
    }

    [[nodiscard]] bool wants_memory() const override { return wants_memory_; }

  private:
    bool fine_ = true, wants_memory_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> make_unpacker(std::string_view beginning) {
    if (beginning.starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<ZstdUnpacker>();
    if (beginning.starts_with("\x1f\x8b")) return std::make_unique<GzipUnpacker>();
    if (beginning.starts_with("BZh")) return std::make_unique<Bzip2Unpacker>();
    constexpr std::string_view xz("\3757zXZ\0", 6);
    if (beginning.starts_with(xz)) return std::make_unique<XzUnpacker>();
    return nullptr;
}

Unpacked unpack(std::string_view packed, std::size_t limit) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    Unpacked unpacked;
    const auto unpacker = make_unpacker(packed);
    if (!unpacker) return unpacked;
    auto& bytes = unpacked.bytes;
    Unpacker::Step step;
    std::size_t made = 0;
    do {
        if (bytes.size() - made < piece) bytes.resize(std::max(2 * bytes.size(), piece));
        step = unpacker->step(packed, std::span(bytes).subspan(made), true);
        packed.remove_prefix(step.taken);
        made += step.made;
    } while (!step.damaged && made <= limit && step.taken + step.made > 0);
    bytes.resize(made);
    unpacked.whole = !step.damaged && made <= limit && unpacker->complete();
    return unpacked;
}

}  // namespace stapgen::base
