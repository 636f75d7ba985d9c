// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/other_lines.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "base/text.h"
#include "schema/bins.h"

namespace stapgen::decode {

/// Walks over tab-separated fields; number() and text() leave `rest` at the tab behind, if they return something.
struct OtherLines::Cursor {
    std::string_view rest;

    template <class Number>
    bool number(Number& number) {
        const auto [stop, error] = std::from_chars(rest.begin(), rest.end(), number);
        rest.remove_prefix(static_cast<std::size_t>(stop - rest.begin()));
        return error == std::errc{} && (rest.empty() || rest[0] == '\t');
    }

    /// Nothing if it has control characters.
    std::optional<std::string_view> text() {
        const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
        const auto* const end = std::ranges::find_if(rest, is_control);
        if (end != rest.end() && *end != '\t') return std::nullopt;
        const auto text = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
        rest.remove_prefix(text.size());
        return text;
    }

    /// Steps over a tab, if one is here.
    bool tab() {
        if (!rest.starts_with('\t')) return false;
        rest.remove_prefix(1);
        return true;
    }

    /// The schema that is named here, and of it the field that has statistics and is named next; null if there is none.
    const Schema* schema(const Header& header) {
        const auto found = std::ranges::find(header.schemas, text().value_or(""), &Schema::tag);
        tab();
        return found == header.schemas.end() ? nullptr : &*found;
    }
    const Schema* schema(const Header& header, std::size_t& field) {
        const auto* const of = schema(header);
        const auto name = text().value_or("");
        tab();
        if (of == nullptr) return nullptr;
        const auto place = of->find(name);
        if (!place || !has_statistics(of->fields[*place])) return nullptr;
        field = *place;
        return of;
    }
};

namespace {

/// Whether `n` numbers from `min` to `max` can have that sum.
bool is_possible(const SumLine& line) {
    __extension__ using Wide = __int128;
    return line.n > 0 && line.min <= line.max && Wide{line.n} * line.min <= line.sum &&
           line.sum <= Wide{line.n} * line.max;
}

/// begin, end and error come before the other probes are there and behind them: they slow no packet down.
bool is_outside(std::string_view point) {
    const auto name = point.substr(0, point.find('('));
    return name == "begin" || name == "end" || name == "error";
}

bool is_said_of_itself(std::string_view line) {
    return (line.starts_with("----- ") && line.find(" report:") != std::string_view::npos) ||
           (line.starts_with('\'') && line.find("' lock contention occurred ") != std::string_view::npos);
}

}  // namespace

Line OtherLines::read(const Header& header, std::string_view line) {
    const auto tab = line.find('\t');
    if (tab != std::string_view::npos) {
        const auto word = line.substr(0, tab);
        Cursor cursor{line.substr(tab + 1)};
        if (word == "tick" || word == "end") return read_counts(cursor, word == "end");
        if (word == "ready") {
            Ready ready;
            if (!cursor.number(ready.epoch_ns)) return Unrecognised{Flaw::bad_number};
            if (!cursor.tab()) return Unrecognised{Flaw::field_count};
            if (!cursor.number(ready.monotonic_ns)) return Unrecognised{Flaw::bad_number};
            if (!cursor.rest.empty()) return Unrecognised{Flaw::field_count};
            if (ready.epoch_ns < 0 || ready.monotonic_ns < 0) return Unrecognised{Flaw::bad_number};
            return ready;
        }
        if (word == schema::kept_word) return KeptLine{};
        if (header.version >= schema::first_aggregating_version) {
            if (word == "bin") return read_bins(header, cursor);
            if (word == "sum") return read_sum(header, cursor);
            if (word == "split") return read_split(header, cursor);
        }
    }
    if (const auto times = parse_probe_times(line)) return *times;
    return Unrecognised{Flaw::unknown_tag};
}

Line OtherLines::read_counts(Cursor cursor, bool is_end) {
    counts_.clear();
    std::int64_t epoch_ns = 0, below_zero = 0;
    if (!cursor.number(epoch_ns) || epoch_ns < 0) return Unrecognised{Flaw::bad_number};
    while (cursor.tab()) {
        if (counts_.size() >= base::limits::counts) return Unrecognised{Flaw::over_limit};
        const auto pair = cursor.text();
        if (!pair) return Unrecognised{Flaw::bad_text};
        const auto equals = std::min(pair->find('='), pair->size());
        const auto number = base::to_int(pair->substr(std::min(equals + 1, pair->size())));
        if (equals == 0 || !number) return Unrecognised{Flaw::bad_number};
        // A tick's counters are read one after the other while packets pass: a difference of some may be below 0.
        counts_.push_back({pair->substr(0, equals), std::max(*number, std::int64_t{0})});
        if (*number < 0) ++below_zero;
    }
    if (is_end && below_zero > 0) counts_.push_back({below_zero_count, below_zero});
    if (is_end) return End{epoch_ns, counts_};
    return Tick{epoch_ns, counts_};
}

Line OtherLines::read_bins(const Header& header, Cursor cursor) {
    BinsLine line;
    line.schema = cursor.schema(header, line.field);
    if (line.schema == nullptr) return Unrecognised{Flaw::unknown_tag};
    if (cursor.rest.empty()) return Unrecognised{Flaw::field_count};
    bins_.clear();
    do {
        BinCount bin;
        const auto& rest = cursor.rest;
        const auto [stop, error] = std::from_chars(rest.begin(), rest.end(), bin.index);
        if (error != std::errc{} || stop == rest.end() || *stop != ':') return Unrecognised{Flaw::bad_number};
        cursor.rest.remove_prefix(static_cast<std::size_t>(stop + 1 - rest.begin()));
        if (!cursor.number(bin.count)) return Unrecognised{Flaw::bad_number};
        if (bin.index < 0 || bin.index >= schema::bins::count || bin.count < 0) return Unrecognised{Flaw::bad_number};
        bins_.push_back(bin);
    } while (cursor.tab());
    line.bins = bins_;
    return line;
}

Line OtherLines::read_sum(const Header& header, Cursor cursor) {
    SumLine line;
    line.schema = cursor.schema(header, line.field);
    if (line.schema == nullptr) return Unrecognised{Flaw::unknown_tag};
    for (auto* number : {&line.n, &line.sum, &line.min, &line.max}) {
        if (cursor.rest.empty()) return Unrecognised{Flaw::field_count};
        if (!cursor.number(*number)) return Unrecognised{Flaw::bad_number};
        if (number != &line.max && !cursor.tab()) return Unrecognised{Flaw::field_count};
    }
    if (!cursor.rest.empty()) return Unrecognised{Flaw::field_count};
    const bool may_be_negative = line.schema->fields[line.field].type == FieldType::value;
    if (!is_possible(line) || (line.min < 0 && !may_be_negative)) return Unrecognised{Flaw::bad_number};
    return line;
}

Line OtherLines::read_split(const Header& header, Cursor cursor) {
    SplitLine line{.schema = cursor.schema(header)};
    if (line.schema == nullptr) return Unrecognised{Flaw::unknown_tag};
    if (cursor.rest.empty()) return Unrecognised{Flaw::field_count};
    const bool has_direction = find_direction(*line.schema).has_value();
    const auto direction = cursor.text();
    if (!direction || (!has_direction && direction != "-")) return Unrecognised{Flaw::bad_text};
    if (has_direction) line.direction = *direction;
    cursor.tab();
    if (!cursor.number(line.index)) return Unrecognised{Flaw::bad_number};
    if (line.index < 0 || line.index >= schema::bins::split_count) return Unrecognised{Flaw::bad_number};
    sums_.clear();
    while (cursor.tab()) {
        if (!cursor.number(sums_.emplace_back()) || sums_.back() < 0) return Unrecognised{Flaw::bad_number};
    }
    const auto parts = std::ranges::count_if(line.schema->fields, schema::divides_total);
    if (sums_.size() != static_cast<std::size_t>(parts) + 1) return Unrecognised{Flaw::field_count};
    line.n = sums_.front();
    line.sums = std::span<const std::int64_t>(sums_).subspan(1);
    return line;
}

std::optional<ProbeTimes> parse_probe_times(std::string_view line) {
    if (is_said_of_itself(line)) return ProbeTimes{};
    const auto found = base::match("*hits: *, cycles: *min/*avg/*max*", line);
    if (!found) return std::nullopt;
    const auto hits = base::to_int((*found)[1]), min = base::to_int((*found)[2]), mean = base::to_int((*found)[3]),
               max = base::to_int((*found)[4]);
    if (!hits || !min || !mean || !max) return std::nullopt;
    // The cycles since the runtime's start may have more than 32 bits, which are negative then.
    if (*hits < 0 || *mean < 0 || *max < 0) return ProbeTimes{};
    // The file and line in parentheses are of a folder that is gone; `!` and `?` say how the point was found.
    auto point = (*found)[0].substr(0, (*found)[0].rfind(", ("));
    while (point.ends_with('!') || point.ends_with('?'))
        point.remove_suffix(1);
    return is_outside(point) ? ProbeTimes{} : ProbeTimes{point, *hits, *mean, *max};
}

}  // namespace stapgen::decode
