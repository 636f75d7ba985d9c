#include "base/text_source.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stapgen::base {

namespace {

constexpr std::size_t peeked = 4;

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
    auto beginning = read_beginning(*source, peeked);
    const auto* const encoding = encoding_of(beginning.bytes);
    beginning.bytes.erase(0, mark_size(beginning.bytes));
    source = resumed(std::move(source), std::move(beginning));
    if (encoding == nullptr) return source;
    return std::make_unique<Converted>(std::move(source), encoding);
}

}  // namespace stapgen::base
