#include "decode/aggregate_lines.h"

#include <algorithm>

#include "schema/bins.h"

namespace stapgen::decode {

namespace {

/// The text of the next field; nothing where the line ends before it or it has control characters.
std::optional<std::string_view> next_text(Cursor& cursor) {
    const char* const begin = cursor.at;
    if (begin == cursor.end || !cursor.read_text()) return std::nullopt;
    const std::string_view text(begin, static_cast<std::size_t>(cursor.at - begin));
    cursor.skip_tab();
    return text;
}

const Schema* next_schema(const Header& header, Cursor& cursor) {
    const auto tag = next_text(cursor);
    const auto found = std::ranges::find(header.schemas, tag.value_or(""), &Schema::tag);
    return found == header.schemas.end() ? nullptr : &*found;
}

/// The place of the field that has statistics and is named next.
std::optional<std::size_t> next_field(const Schema& schema, Cursor& cursor) {
    const auto field = schema.find(next_text(cursor).value_or(""));
    if (!field || !has_statistics(schema.fields[*field])) return std::nullopt;
    return field;
}

/// Whether `n` numbers from `min` to `max` can have that sum.
bool is_possible(const SumLine& line) {
    __extension__ using Wide = __int128;
    return line.n > 0 && line.min <= line.max && Wide{line.n} * line.min <= line.sum &&
           line.sum <= Wide{line.n} * line.max;
}

}  // namespace

std::optional<Line> AggregateLines::read(const Header& header, std::string_view line) {
    Cursor cursor(line);
    const auto word = next_text(cursor);
    if (word == "bin") return read_bins(header, cursor);
    if (word == "sum") return read_sum(header, cursor);
    if (word == "split") return read_split(header, cursor);
    return std::nullopt;
}

Line AggregateLines::read_bins(const Header& header, Cursor cursor) {
    BinsLine line{.schema = next_schema(header, cursor)};
    if (line.schema == nullptr) return Unrecognised{Flaw::unknown_tag};
    const auto field = next_field(*line.schema, cursor);
    if (!field) return Unrecognised{Flaw::unknown_tag};
    line.field = *field;
    if (cursor.at == cursor.end) return Unrecognised{Flaw::field_count};
    bins_.clear();
    do {
        BinCount bin;
        const auto [stop, error] = std::from_chars(cursor.at, cursor.end, bin.index);
        if (error != std::errc{} || stop == cursor.end || *stop != ':') return Unrecognised{Flaw::bad_number};
        cursor.at = stop + 1;
        if (!cursor.read_number(bin.count)) return Unrecognised{Flaw::bad_number};
        if (bin.index < 0 || bin.index >= schema::bins::count || bin.count < 0) return Unrecognised{Flaw::bad_number};
        bins_.push_back(bin);
    } while (cursor.skip_tab());
    line.bins = bins_;
    return line;
}

Line AggregateLines::read_sum(const Header& header, Cursor cursor) {
    SumLine line{.schema = next_schema(header, cursor)};
    if (line.schema == nullptr) return Unrecognised{Flaw::unknown_tag};
    const auto field = next_field(*line.schema, cursor);
    if (!field) return Unrecognised{Flaw::unknown_tag};
    line.field = *field;
    for (auto* number : {&line.n, &line.sum, &line.min, &line.max}) {
        if (cursor.at == cursor.end) return Unrecognised{Flaw::field_count};
        if (!cursor.read_number(*number)) return Unrecognised{Flaw::bad_number};
        if (number != &line.max && !cursor.skip_tab()) return Unrecognised{Flaw::field_count};
    }
    if (cursor.at != cursor.end) return Unrecognised{Flaw::field_count};
    const bool may_be_negative = line.schema->fields[line.field].type == FieldType::value;
    if (!is_possible(line) || (line.min < 0 && !may_be_negative)) return Unrecognised{Flaw::bad_number};
    return line;
}

Line AggregateLines::read_split(const Header& header, Cursor cursor) {
    SplitLine line{.schema = next_schema(header, cursor)};
    if (line.schema == nullptr) return Unrecognised{Flaw::unknown_tag};
    const auto direction = next_text(cursor);
    if (!direction) return Unrecognised{cursor.at == cursor.end ? Flaw::field_count : Flaw::bad_text};
    if (find_direction(*line.schema)) {
        line.direction = *direction;
    } else if (direction != "-") {
        return Unrecognised{Flaw::bad_text};
    }
    if (!cursor.read_number(line.index)) return Unrecognised{Flaw::bad_number};
    if (line.index < 0 || line.index >= schema::bins::split_count) return Unrecognised{Flaw::bad_number};
    sums_.clear();
    while (cursor.skip_tab()) {
        if (!cursor.read_number(sums_.emplace_back()) || sums_.back() < 0) return Unrecognised{Flaw::bad_number};
    }
    const auto parts = std::ranges::count_if(line.schema->fields, schema::is_part);
    if (sums_.size() != static_cast<std::size_t>(parts) + 1) return Unrecognised{Flaw::field_count};
    line.n = sums_.front();
    line.sums = std::span<const std::int64_t>(sums_).subspan(1);
    return line;
}

}  // namespace stapgen::decode
