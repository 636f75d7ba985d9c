#include "base/unpacker.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace stapgen::base {

namespace {

class ZstdUnpacker final : public Unpacker {
  public:
    ZstdUnpacker() = default;
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
        if (ZSTD_isError(left)) return {input.pos, output.pos, true};
        if (input.pos > 0 || output.pos > 0) wanted_ = left;
        return {input.pos, output.pos, false};
    }
    [[nodiscard]] bool complete() const override { return wanted_ == 0; }

  private:
    ZSTD_DCtx* context_ = ZSTD_createDCtx();
    std::size_t wanted_ = 0;  ///< bytes of input; 0 between two frames
};

class GzipUnpacker final : public Unpacker {
  public:
    GzipUnpacker() { ::inflateInit2(&stream_, MAX_WBITS + 16); }
    GzipUnpacker(const GzipUnpacker&) = delete;
    GzipUnpacker& operator=(const GzipUnpacker&) = delete;
    ~GzipUnpacker() override { ::inflateEnd(&stream_); }

    Step step(std::string_view packed, std::span<char> text, bool) override {
        if (complete_ && !packed.empty()) {
            ::inflateReset(&stream_);
            complete_ = false;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
        stream_.avail_in = static_cast<uInt>(packed.size());
        stream_.next_out = reinterpret_cast<Bytef*>(text.data());
        stream_.avail_out = static_cast<uInt>(text.size());
        const int result = ::inflate(&stream_, Z_NO_FLUSH);
        complete_ = complete_ || result == Z_STREAM_END;
        const bool fine = result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
        return {packed.size() - stream_.avail_in, text.size() - stream_.avail_out, !fine};
    }
    [[nodiscard]] bool complete() const override { return complete_; }

  private:
    z_stream stream_{};
    bool complete_ = false;
};

class Bzip2Unpacker final : public Unpacker {
  public:
    Bzip2Unpacker() { begin(); }
    Bzip2Unpacker(const Bzip2Unpacker&) = delete;
    Bzip2Unpacker& operator=(const Bzip2Unpacker&) = delete;
    ~Bzip2Unpacker() override { ::BZ2_bzDecompressEnd(&stream_); }

    Step step(std::string_view packed, std::span<char> text, bool) override {
        if (complete_) {
            if (packed.empty()) return {};
            ::BZ2_bzDecompressEnd(&stream_);
            begin();
        }
        stream_.next_in = const_cast<char*>(packed.data());
        stream_.avail_in = static_cast<unsigned>(packed.size());
        stream_.next_out = text.data();
        stream_.avail_out = static_cast<unsigned>(text.size());
        const int result = ::BZ2_bzDecompress(&stream_);
        complete_ = result == BZ_STREAM_END;
        return {packed.size() - stream_.avail_in, text.size() - stream_.avail_out, result != BZ_OK && !complete_};
    }
    [[nodiscard]] bool complete() const override { return complete_; }

  private:
    void begin() {
        stream_ = {};
        complete_ = false;
        ::BZ2_bzDecompressInit(&stream_, 0, 0);
    }

    bz_stream stream_{};
    bool complete_ = false;
};

class XzUnpacker final : public Unpacker {
  public:
    XzUnpacker() {
        constexpr std::uint64_t memory_limit = 128 << 20;  // xz -9 needs 65 MiB
        fine_ = ::lzma_stream_decoder(&stream_, memory_limit, LZMA_CONCATENATED) == LZMA_OK;
    }
    XzUnpacker(const XzUnpacker&) = delete;
    XzUnpacker& operator=(const XzUnpacker&) = delete;
    ~XzUnpacker() override { ::lzma_end(&stream_); }

    Step step(std::string_view packed, std::span<char> text, bool last) override {
        if (!fine_) return {0, 0, true};
        if (complete_) return {};
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
        stream_.avail_in = packed.size();
        stream_.next_out = reinterpret_cast<std::uint8_t*>(text.data());
        stream_.avail_out = text.size();
        const auto result = ::lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
        complete_ = result == LZMA_STREAM_END;
        fine_ = result == LZMA_OK || result == LZMA_STREAM_END || result == LZMA_BUF_ERROR;
        return {packed.size() - stream_.avail_in, text.size() - stream_.avail_out, !fine_};
    }
    [[nodiscard]] bool complete() const override { return complete_; }

  private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool fine_ = true, complete_ = false;
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

}  // namespace stapgen::base
