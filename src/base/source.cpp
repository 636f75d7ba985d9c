#include "base/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_source.h"
#include "base/unpacker.h"

namespace stapgen::base {

namespace {

class Input {
  public:
    Input(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
    Input(Input&& other) noexcept : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)) {}
    Input& operator=(Input&&) = delete;
    ~Input() {
        if (fd_ > STDIN_FILENO) ::close(fd_);
    }

    Result<std::size_t> read(std::span<char> into) {
        for (;;) {
            const auto count = ::read(fd_, into.data(), into.size());
            if (count >= 0) return static_cast<std::size_t>(count);
            if (errno == EINTR) continue;
            return bad_input(fmt::format("cannot read {}: {}", name_, std::strerror(errno)),
                             "name a file that can be read; - is stdin");
        }
    }
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    int fd_;
    std::string name_;
};

class PlainSource final : public Source {
  public:
    PlainSource(Input input, std::string beginning) : input_(std::move(input)), beginning_(std::move(beginning)) {}

    Result<std::size_t> read(std::span<char> into) override {
        if (beginning_.empty()) return input_.read(into);
        const auto count = beginning_.copy(into.data(), into.size());
        beginning_.erase(0, count);
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return false; }

  private:
    Input input_;
    std::string beginning_;
};

class PackedSource final : public Source {
  public:
    PackedSource(Input input, std::string_view beginning, std::unique_ptr<Unpacker> unpacker)
        : input_(std::move(input)), unpacker_(std::move(unpacker)), end_(beginning.size()) {
        std::ranges::copy(beginning, buffer_.begin());
    }

    Result<std::size_t> read(std::span<char> into) override {
        while (!damaged_) {
            const auto step = unpacker_->step({buffer_.data() + begin_, end_ - begin_}, into, last_);
            begin_ += step.taken;
            offset_ += step.taken;
            damaged_ = step.damaged;
            if (step.made > 0) return step.made;
            if (step.taken > 0 || damaged_) continue;
            if (last_) return std::size_t{0};
            if (auto filled = fill(); !filled) return tl::make_unexpected(filled.error());
        }
        return bad_input(fmt::format("{}: the compressed data is damaged at byte {}", input_.name(), offset_),
                         "copy it again");
    }
    [[nodiscard]] bool cut_short() const override { return !damaged_ && !unpacker_->complete(); }

  private:
    Result<void> fill() {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= std::exchange(begin_, 0);
        const auto count = input_.read(std::span(buffer_).subspan(end_));
        if (!count) return tl::make_unexpected(count.error());
        end_ += *count;
        last_ = *count == 0;
        return {};
    }

    Input input_;
    std::unique_ptr<Unpacker> unpacker_;
    std::vector<char> buffer_ = std::vector<char>(256 * 1024);
    std::size_t begin_ = 0, end_ = 0;
    std::uint64_t offset_ = 0;
    bool last_ = false, damaged_ = false;
};

}  // namespace

Result<std::unique_ptr<Source>> Source::open(const std::filesystem::path& path) {
    const bool is_stdin = path == "-";
    const int fd = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return bad_input(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                         "name a file that can be read; - is stdin");
    }
    Input input(fd, is_stdin ? "stdin" : path.string());
    std::string beginning(magic_size, '\0');
    std::size_t size = 0;
    while (size < beginning.size()) {
        const auto count = input.read(std::span(beginning).subspan(size));
        if (!count) return tl::make_unexpected(count.error());
        if (*count == 0) break;
        size += *count;
    }
    beginning.resize(size);
    if (auto unpacker = make_unpacker(beginning)) {
        return as_utf8(std::make_unique<PackedSource>(std::move(input), beginning, std::move(unpacker)));
    }
    return as_utf8(std::make_unique<PlainSource>(std::move(input), std::move(beginning)));
}

Result<std::string> read_unpacked(const std::filesystem::path& path, std::size_t limit) {
    return read_unpacked(path, [limit](std::string_view) { return limit; });
}

Result<std::string> read_unpacked(const std::filesystem::path& path,
                                  const std::function<std::size_t(std::string_view beginning)>& limit_of) {
    auto source = Source::open(path);
    if (!source) return tl::make_unexpected(source.error());
    constexpr std::size_t first_size = 1U << 20U;
    std::string content;
    for (std::size_t size = 0;;) {
        if (content.size() - size < first_size) content.resize(std::max(2 * content.size(), first_size));
        const auto count = (*source)->read(std::span(content).subspan(size));
        if (!count) return tl::make_unexpected(count.error());
        size += *count;
        if (const auto limit = limit_of(std::string_view(content).substr(0, size)); size > limit) {
            return bad_input(fmt::format("{} is larger than {} bytes, unpacked", path.string(), limit),
                             "check that it is the file you meant");
        }
        if (*count > 0) continue;
        if ((*source)->cut_short()) {
            return bad_input(fmt::format("{} ends in the middle of compressed data", path.string()),
                             "the file is damaged or was cut off; make it again");
        }
        content.resize(size);
        return content;
    }
}

}  // namespace stapgen::base
