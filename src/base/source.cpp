// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <locale>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/limits.h"
#include "base/packed.h"
#include "base/unpacker.h"

namespace stapgen::base {

namespace {

base::Error read_error(const std::string& name) {
    return {ErrorKind::bad_input, fmt::format("cannot read {}: {}", name, std::strerror(errno)),
            "name a file that can be read; - is stdin"};
}

/// For messages.
std::string name_of(const std::filesystem::path& path) {
    return path == "-" ? "stdin" : path.string();
}

class FileSource final : public Source {
  public:
    /// Without a budget its bytes are those of a copy.
    FileSource(int fd, std::string name, std::shared_ptr<Budget> budget)
        : fd_(fd), name_(std::move(name)), budget_(std::move(budget)) {}
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource() override {
        if (fd_ > STDIN_FILENO) ::close(fd_);
    }

    Result<std::size_t> read(std::span<char> into) override {
        for (;;) {
            const auto count = ::read(fd_, into.data(), into.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return tl::make_unexpected(read_error(name_));
            if (budget_) {
                STAPGEN_TRY(budget_->read(static_cast<std::uint64_t>(count)));
            }
            return static_cast<std::size_t>(count);
        }
    }
    [[nodiscard]] bool cut_short() const override { return false; }

  private:
    int fd_;
    std::string name_;
    std::shared_ptr<Budget> budget_;
};

class PackedSource final : public Source {
  public:
    PackedSource(std::unique_ptr<Source> source, std::string name, std::unique_ptr<Unpacker> unpacker,
                 std::shared_ptr<Budget> budget)
        : source_(std::move(source)),
          name_(std::move(name)),
          unpacker_(std::move(unpacker)),
          budget_(std::move(budget)) {}

    Result<std::size_t> read(std::span<char> into) override {
        while (!damaged_) {
            const auto step = unpacker_->step({buffer_.data() + begin_, end_ - begin_}, into, last_);
            begin_ += step.taken;
            offset_ += step.taken;
            damaged_ = step.damaged;
            STAPGEN_TRY(budget_->unpack(step.made));
            if (step.made > 0) return step.made;
            if (step.taken > 0 || damaged_) continue;
            if (last_) return std::size_t{0};
            STAPGEN_TRY(fill());
        }
        if (unpacker_->wants_memory()) {
            return bad_input(
                fmt::format("{}: unpacking takes more than {} MB", name_, limits::unpacker_bytes / limits::mega),
                "unpack it yourself, or pack it again with a smaller window: 'xz -9' and 'zstd -19' have one");
        }
        return bad_input(fmt::format("{}: the compressed data is damaged at byte {}", name_, offset_), "copy it again");
    }
    [[nodiscard]] bool cut_short() const override { return !damaged_ && !unpacker_->complete(); }

  private:
    Result<void> fill() {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= std::exchange(begin_, 0);
        STAPGEN_LET(const auto count, source_->read(std::span(buffer_).subspan(end_)));
        end_ += count;
        last_ = count == 0;
        return {};
    }

    std::unique_ptr<Source> source_;
    std::string name_;
    std::unique_ptr<Unpacker> unpacker_;
    std::vector<char> buffer_ = std::vector<char>(256 * 1024);
    std::size_t begin_ = 0, end_ = 0;
    std::shared_ptr<Budget> budget_;
    std::uint64_t offset_ = 0;
    bool last_ = false, damaged_ = false;
};

/// The beginning of a source, and the error that came behind it.
struct Beginning {
    std::string bytes;
    std::optional<Error> error;
};
/// A source that gives out again what was read of this one.
class Resumed final : public Source {
  public:
    Resumed(std::unique_ptr<Source> source, Beginning beginning)
        : source_(std::move(source)), beginning_(std::move(beginning)) {}

    Result<std::size_t> read(std::span<char> into) override {
        auto& [bytes, error] = beginning_;
        if (bytes.empty()) return error ? tl::make_unexpected(*error) : source_->read(into);
        const auto count = bytes.copy(into.data(), into.size());
        bytes.erase(0, count);
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return source_->cut_short(); }

  private:
    std::unique_ptr<Source> source_;
    Beginning beginning_;
};

/// Reads `size` bytes; fewer at the end and at an error.
Beginning read_beginning(Source& source, std::size_t size) {
    Beginning beginning{std::string(size, '\0'), {}};
    std::size_t filled = 0;
    while (filled < size) {
        const auto count = source.read(std::span(beginning.bytes).subspan(filled));
        if (!count) beginning.error = count.error();
        if (!count || *count == 0) break;
        filled += *count;
    }
    beginning.bytes.resize(filled);
    return beginning;
}

constexpr std::size_t peeked = 4;

/// In the order of the first byte of a UTF-16 unit: the low or the high one.
enum class Utf16 { little, big };

class Converted final : public Source {
  public:
    Converted(std::unique_ptr<Source> source, Utf16 order) : source_(std::move(source)), order_(order) {}

    Result<std::size_t> read(std::span<char> into) override {
        while (out_.empty()) {
            const auto before = in_.size();
            in_.resize(before + piece);
            STAPGEN_LET(const auto count, source_->read(std::span(in_).subspan(before)));
            in_.resize(before + count);
            if (count == 0) return std::size_t{0};
            convert();
        }
        const auto count = out_.copy(into.data(), into.size());
        out_.erase(0, count);
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return source_->cut_short(); }

  private:
    static constexpr std::size_t piece = 64U << 10U;

    /// A byte that cannot be converted becomes a '?'; half a character waits for its other half. The library's own, and
    /// not iconv, which loads UTF-16 as a plug-in of the C library: a static program cannot.
    void convert() {
        std::u16string units(in_.size() / 2, u'\0');
        for (std::size_t i = 0; i < units.size(); ++i) {
            const auto first = static_cast<unsigned char>(in_[2 * i]),
                       second = static_cast<unsigned char>(in_[2 * i + 1]);
            units[i] = static_cast<char16_t>(order_ == Utf16::little ? first | second << 8 : first << 8 | second);
        }
        const char16_t *from = units.data(), *const end = from + units.size();
        std::u8string room(3 * units.size(), u8'\0');
        while (from < end) {
            std::mbstate_t state{};
            char8_t* to = room.data();
            const auto done = converter_.out(state, from, end, from, to, to + room.size(), to);
            out_.append(room.data(), to);
            if (done != converter_.error) break;
            out_ += '?';
            ++from;
        }
        in_.erase(0, in_.size() / 2 * 2 - 2 * static_cast<std::size_t>(end - from));
    }

    struct Converter : std::codecvt<char16_t, char8_t, std::mbstate_t> {};

    std::unique_ptr<Source> source_;
    Utf16 order_;
    Converter converter_;
    std::string in_, out_;
};

/// The order of UTF-16, by its first bytes.
std::optional<Utf16> encoding_of(std::string_view beginning) {
    if (beginning.starts_with("\xff\xfe")) return Utf16::little;
    if (beginning.starts_with("\xfe\xff")) return Utf16::big;
    if (beginning.size() < peeked) return std::nullopt;
    const auto looks = [&](std::size_t text, std::size_t zero) {
        const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; };
        return beginning[zero] == 0 && beginning[zero + 2] == 0 && is_text(beginning[text]) &&
               is_text(beginning[text + 2]);
    };
    if (looks(0, 1)) return Utf16::little;
    return looks(1, 0) ? std::optional(Utf16::big) : std::nullopt;
}

/// Length of a byte order mark, in bytes.
std::size_t mark_size(std::string_view beginning) {
    if (beginning.starts_with("\xef\xbb\xbf")) return 3;
    return beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff") ? 2 : 0;
}

}  // namespace

namespace {

/// `budget`: of what comes from outside; null: of a copy.
Result<std::unique_ptr<Source>> open_file(const std::filesystem::path& path, std::shared_ptr<Budget> budget) {
    const bool is_stdin = path == "-";
    const int fd = is_stdin ? STDIN_FILENO : open_to_read(path);
    if (fd < 0) {
        return bad_input(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                         "name a file that can be read; - is stdin");
    }
    return std::make_unique<FileSource>(fd, name_of(path), std::move(budget));
}

Result<std::unique_ptr<Source>> open_text(const std::filesystem::path& path, Result<std::unique_ptr<Source>> file,
                                          std::shared_ptr<Budget> budget) {
    if (!file) return file;
    auto source = unpacked(*std::move(file), name_of(path), std::move(budget));
    if (!source) return source;
    return as_utf8(*std::move(source));
}

}  // namespace

Result<std::unique_ptr<Source>> open_raw(const std::filesystem::path& path, std::shared_ptr<Budget> budget) {
    return open_file(path, std::move(budget));
}

std::unique_ptr<Source> take_raw(int fd, std::string name, std::shared_ptr<Budget> budget) {
    return std::make_unique<FileSource>(fd, std::move(name), std::move(budget));
}

Result<std::unique_ptr<Source>> Source::open(const std::filesystem::path& path, Use use) {
    const auto budget =
        std::make_shared<Budget>(name_of(path), use == Use::held ? limits::held_bytes : limits::unpacked_bytes);
    return open_text(path, open_raw(path, budget), budget);
}

Result<std::unique_ptr<Source>> Source::open_copy(const std::filesystem::path& path, std::shared_ptr<Budget> budget) {
    return open_text(path, open_file(path, nullptr), std::move(budget));
}

Result<Peeked> peek(std::unique_ptr<Source> source, std::size_t size) {
    auto beginning = read_beginning(*source, size);
    if (beginning.error) return tl::make_unexpected(*beginning.error);
    auto bytes = beginning.bytes;
    return Peeked{std::move(bytes), std::make_unique<Resumed>(std::move(source), std::move(beginning))};
}

Result<std::unique_ptr<Source>> unpacked(std::unique_ptr<Source> source, const std::string& name,
                                         std::shared_ptr<Budget> budget) {
    STAPGEN_LET(auto packed, peek(std::move(source), magic_size));
    auto unpacker = make_unpacker(packed.beginning);
    if (!unpacker) return std::move(packed.source);
    return std::make_unique<PackedSource>(std::move(packed.source), name, std::move(unpacker), std::move(budget));
}

Result<std::string> read_unpacked(const std::filesystem::path& path, std::size_t limit) {
    return read_unpacked(path, [limit](std::string_view) { return limit; });
}

Result<std::string> read_unpacked(const std::filesystem::path& path,
                                  const std::function<std::size_t(std::string_view beginning)>& limit_of) {
    STAPGEN_LET(auto source, Source::open(path, Source::Use::held));
    constexpr std::size_t first_size = 1U << 20U;
    std::string content;
    for (std::size_t size = 0;;) {
        if (content.size() - size < first_size) content.resize(std::max(2 * content.size(), first_size));
        STAPGEN_LET(const auto count, source->read(std::span(content).subspan(size)));
        size += count;
        if (const auto limit = limit_of(std::string_view(content).substr(0, size)); size > limit) {
            return bad_input(fmt::format("{} is larger than {} bytes, unpacked", path.string(), limit),
                             "check that it is the file you meant");
        }
        if (count > 0) continue;
        if (source->cut_short()) {
            return bad_input(fmt::format("{} ends in the middle of compressed data", path.string()),
                             "the file is damaged or was cut off; make it again");
        }
        content.resize(size);
        return content;
    }
}

bool changes_as_utf8(std::string_view beginning) {
    return mark_size(beginning) > 0 || encoding_of(beginning);
}

std::unique_ptr<Source> as_utf8(std::unique_ptr<Source> source) {
    auto beginning = read_beginning(*source, peeked);
    const auto encoding = encoding_of(beginning.bytes);
    beginning.bytes.erase(0, mark_size(beginning.bytes));
    source = std::make_unique<Resumed>(std::move(source), std::move(beginning));
    if (!encoding) return source;
    return std::make_unique<Converted>(std::move(source), *encoding);
}

}  // namespace stapgen::base
