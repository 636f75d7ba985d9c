#include "base/text_source.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stapgen::base {

namespace {

constexpr std::size_t peeked = 4;

/// Gives out first what has been read of another source already.
class Resumed final : public Source {
  public:
    Resumed(std::unique_ptr<Source> source, std::string beginning, std::optional<Error> error)
        : source_(std::move(source)), beginning_(std::move(beginning)), error_(std::move(error)) {}

    Result<std::size_t> read(std::span<char> into) override {
        if (beginning_.empty()) return error_ ? tl::make_unexpected(*error_) : source_->read(into);
        const auto count = beginning_.copy(into.data(), into.size());
        beginning_.erase(0, count);
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return source_->cut_short(); }

  private:
    std::unique_ptr<Source> source_;
    std::string beginning_;
    std::optional<Error> error_;  ///< that came behind it
};

class Converted final : public Source {
  public:
    Converted(std::unique_ptr<Source> source, const char* encoding)
        : source_(std::move(source)), converter_(::iconv_open("UTF-8", encoding)) {}
    Converted(const Converted&) = delete;
    Converted& operator=(const Converted&) = delete;
    ~Converted() override { ::iconv_close(converter_); }

    Result<std::size_t> read(std::span<char> into) override {
        while (out_.empty()) {
            const auto before = in_.size();
            in_.resize(before + piece);
            const auto count = source_->read(std::span(in_).subspan(before));
            if (!count) return tl::make_unexpected(count.error());
            in_.resize(before + *count);
            if (*count == 0) return std::size_t{0};
            convert();
        }
        const auto count = out_.copy(into.data(), into.size());
        out_.erase(0, count);
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return source_->cut_short(); }

  private:
    static constexpr std::size_t piece = 64U << 10U;

    /// What cannot be converted becomes a '?'; half a character waits for its other half.
    void convert() {
        char* from = in_.data();
        std::size_t left = in_.size();
        while (left > 0) {
            std::vector<char> room(2 * left + 8);
            char* to = room.data();
            std::size_t space = room.size();
            const auto done = ::iconv(converter_, &from, &left, &to, &space);
            out_.append(room.data(), room.size() - space);
            if (done != static_cast<std::size_t>(-1) || errno == EINVAL) break;
            if (errno != EILSEQ) continue;
            out_ += '?';
            const auto unit = std::min<std::size_t>(left, 2);
            from += unit;
            left -= unit;
        }
        in_.erase(0, in_.size() - left);
    }

    std::unique_ptr<Source> source_;
    iconv_t converter_;
    std::string in_, out_;
};

/// Of UTF-16, by its first bytes; null: it is none.
const char* encoding_of(std::string_view beginning) {
    if (beginning.starts_with("\xff\xfe")) return "UTF-16LE";
    if (beginning.starts_with("\xfe\xff")) return "UTF-16BE";
    if (beginning.size() < peeked) return nullptr;
    const auto looks = [&](std::size_t text, std::size_t zero) {
        const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; };
        return beginning[zero] == 0 && beginning[zero + 2] == 0 && is_text(beginning[text]) &&
               is_text(beginning[text + 2]);
    };
    if (looks(0, 1)) return "UTF-16LE";
    return looks(1, 0) ? "UTF-16BE" : nullptr;
}

/// Of a byte order mark, in bytes.
std::size_t mark_size(std::string_view beginning) {
    if (beginning.starts_with("\xef\xbb\xbf")) return 3;
    return beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff") ? 2 : 0;
}

}  // namespace

bool changes_as_utf8(std::string_view beginning) {
    return mark_size(beginning) > 0 || encoding_of(beginning) != nullptr;
}

std::unique_ptr<Source> as_utf8(std::unique_ptr<Source> source) {
    std::string beginning(peeked, '\0');
    std::size_t size = 0;
    std::optional<Error> error;
    while (size < beginning.size()) {
        const auto count = source->read(std::span(beginning).subspan(size));
        if (!count) error = count.error();
        if (!count || *count == 0) break;
        size += *count;
    }
    beginning.resize(size);
    const auto* const encoding = encoding_of(beginning);
    auto resumed = std::make_unique<Resumed>(std::move(source), beginning.substr(mark_size(beginning)), error);
    if (encoding == nullptr) return resumed;
    return std::make_unique<Converted>(std::move(resumed), encoding);
}

}  // namespace stapgen::base
