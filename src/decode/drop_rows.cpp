// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "decode/drop_formats.h"

namespace stapgen::decode {

namespace {

using Row = DropShape::Kind;

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/// Whether a character of a pattern, no star, is one of a line.
bool is_like(char pattern, char c) {
    return pattern == ' ' ? is_blank(c) : pattern == c;
}

/// "20:49:06".
bool is_clock(std::string_view text) {
    return text.size() == 8 && text[2] == ':' && text[5] == ':' && base::is_decimal(text.substr(0, 2)) &&
           base::is_decimal(text.substr(3, 2)) && base::is_decimal(text.substr(6));
}

bool is_endpoint(std::string_view text) {
    const auto colon = text.rfind(':');
    return colon != text.npos && colon > 0 && base::is_decimal(text.substr(colon + 1));
}

/// The parts of a line that say what was dropped; empty: the shape has none of that name.
struct Captured {
    std::string_view reason, number, place, count, total;

    /// Whether `text` may be what the word says, and then it is.
    bool take(std::string_view word, std::string_view text) {
        if (word == "-") return true;
        if (text.empty()) return false;
        if (word == "clock") return is_clock(text);
        if (word == "endpoint") return is_endpoint(text);
        if (word == "int") return base::is_decimal(text);
        if (word == "number") return base::is_decimal(number = text);
        if (word == "count") return base::is_decimal(count = text);
        if (word == "total") return base::is_decimal(total = text);
        if (word == "reason") reason = text;
        if (word == "place") place = text;
        return true;
    }
};

/// Fits lines into shapes.
class Fitting {
  public:
    /// Whether the line has the shape; then `captured` says what is in it.
    bool fits(const DropShape& shape, std::string_view line) {
        steps_ = max_steps;
        captured = {};
        return fits(shape.pattern, shape.captures, line);
    }

    Captured captured;

  private:
    bool fits(std::string_view pattern, std::string_view captures, std::string_view text) {
        for (; !pattern.empty() && pattern[0] != '*'; pattern.remove_prefix(1)) {
            if (text.empty() || !is_like(pattern[0], text[0])) return false;
            text.remove_prefix(pattern[0] == ' ' ? std::min(text.find_first_not_of(" \t"), text.size()) : 1);
        }
        if (pattern.empty()) return text.empty();
        pattern.remove_prefix(1);
        const auto word = captures.substr(0, captures.find(' '));
        captures.remove_prefix(std::min(word.size() + 1, captures.size()));
        const bool has_blanks = word == "-" || word == "reason" || word == "place";
        for (auto end = pattern.empty() ? text.size() : 0; end <= text.size() && steps_-- > 0; ++end) {
            if (!has_blanks && end > 0 && is_blank(text[end - 1])) return false;
            const bool may_end =
                pattern.empty() || pattern[0] == '*' || (end < text.size() && is_like(pattern[0], text[end]));
            if (may_end && captured.take(word, text.substr(0, end)) && fits(pattern, captures, text.substr(end)))
                return true;
        }
        return false;
    }

    /// Limit for one line and shape: what is hostile ends there.
    static constexpr int max_steps = 16384;
    int steps_ = 0;
};

/// The importer of drops that are rows.
class DropRows final : public DropImporter {
  public:
    explicit DropRows(const DropFormat& format) : DropImporter(format.title, format.recipe), format_(format) {}

    std::vector<Note> notes() const override {
        auto notes = DropImporter::notes();
        if (!format_.note.empty()) notes.emplace_back(std::string(format_.note));
        if (has_numbers_) notes.emplace_back(std::string(format_.numbers_note));
        add_count(notes, stackless_, "drops have no stack, so no place");
        return notes;
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        const auto text = base::trim(line);
        for (const auto& shape : format_.shapes) {
            if ((shape.kind == Row::below && !begun()) || !fitting_.fits(shape, text)) continue;
            if (shape.kind == Row::heading) begin(sink);
            return shape.kind != Row::drop || take(text, sink);
        }
        return drop_ && drop_->stack.add(line);
    }

    /// False: there is more to keep than an importer may.
    bool take(std::string_view text, Sink& sink) {
        const auto& [reason, number, place, count, total] = fitting_.captured;
        has_numbers_ |= !number.empty() && !format_.numbers_note.empty();
        std::string shown(number.empty() ? reason : number);
        if (!format_.owner.empty() && base::is_decimal(shown)) shown = fmt::format("{} {}", format_.owner, shown);
        if (format_.has_stacks) {
            auto& drop = open_drop(sink);
            drop.reason = shown;
            drop.place = place;
            begin(sink);
            return true;
        }
        const auto raw = total.empty() ? count : total;
        auto drops = raw.empty() ? 1 : base::to_int(raw).value_or(-1);
        if (drops < 0) return false;
        if (!total.empty()) {
            if (totals_.size() >= max_totals) return false;
            auto& last = totals_[std::string(text.substr(0, static_cast<std::size_t>(total.begin() - text.begin())))];
            // One that went down has begun anew.
            const auto before = std::exchange(last, drops);
            if (drops >= before) drops -= before;
        }
        report_drop(place, shown, sink, {raw.empty() ? "1" : raw, drops});
        return true;
    }

    void close(Sink& sink) override {
        if (drop_ && drop_->place.empty() && drop_->stack.place().empty() && !drop_->stack.lacks_place()) ++stackless_;
        DropImporter::close(sink);
    }

    static constexpr std::size_t max_totals = 65536;
    const DropFormat& format_;
    Fitting fitting_;
    std::map<std::string, std::int64_t> totals_;
    std::int64_t stackless_ = 0;
    bool has_numbers_ = false;
};

}  // namespace

std::unique_ptr<Importer> make_drop_rows(const DropFormat& format) {
    return std::make_unique<DropRows>(format);
}

}  // namespace stapgen::decode
