// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "schema/schema.h"
#include "table/counter_tracks.h"

namespace stapgen::decode {

using schema::Attribute;
using schema::Field;
using schema::FieldType;
using schema::Header;
using schema::Schema;

/// One field of a record.
struct Value {
    std::string_view raw;
    std::int64_t number = 0;  ///< 0 for text, endpoint and stack; the bits of an address, use address()
    bool seen = true;         ///< false for `-`

    [[nodiscard]] std::uint64_t address() const { return static_cast<std::uint64_t>(number); }
};

/// A field's value that is not there: `-`.
inline constexpr Value not_seen{"-", 0, false};

/// One measurement: as many values as its schema has fields.
struct Record {
    const Schema* schema = nullptr;
    std::span<const Value> values;
};

/// Probes are live. Both clocks at one moment: epoch = time - monotonic_ns + epoch_ns.
struct Ready {
    std::int64_t epoch_ns = 0;
    std::int64_t monotonic_ns = 0;
};

/// The key of how many counts of an end line were below zero, which is a fault of the script: they are 0 then.
inline constexpr std::string_view below_zero_count = "below-zero";

/// One `key=number` of a tick or end line: a count since the start, never negative.
struct Count {
    std::string_view key;
    std::int64_t value = 0;
};

/// The time of a Tick or an End without one. Never in our own recordings.
inline constexpr std::int64_t unknown_time = -1;

/// An interval ended.
struct Tick {
    std::int64_t epoch_ns = 0;  ///< or unknown_time
    std::span<const Count> counts;
};

/// The script ended in good order.
struct End {
    std::int64_t epoch_ns = 0;  ///< or unknown_time
    std::span<const Count> counts;
};

// What a script that aggregates prints instead of records, from version 4 on, before each Tick and the End: what it
// aggregated since the last one. docs/reference/recording-format.md has the lines, schema/bins.h their bins.

struct BinCount {
    int index = 0;  ///< below schema::bins::count
    std::int64_t count = 0;
};

/// How often a stage or value fell into some of the bins. There may be several lines of one field.
struct BinsLine {
    const Schema* schema = nullptr;
    std::size_t field = 0;
    std::span<const BinCount> bins{};
};

/// The sum of all of a field's numbers, those that are in no bin, too. n > 0, and n numbers from min to max can have
/// that sum.
struct SumLine {
    const Schema* schema = nullptr;
    std::size_t field = 0;
    std::int64_t n = 0, sum = 0, min = 0, max = 0;
};

/// The records whose total is in one bin.
struct SplitLine {
    const Schema* schema = nullptr;
    std::string_view direction{};  ///< the field `way`, as it stands in the input; empty where there is none
    int index = 0;                 ///< below schema::bins::split_count
    std::int64_t n = 0;
    std::span<const std::int64_t>
        sums{};  ///< ns of each field for which divides_total(), in their order; never negative
};

/// A record that is in the other lines as well: it was among the slowest when it was printed.
struct SlowLine {
    Record record;
};

/// The mean of something since the start of the measurement, its fraction cut off.
struct RunningMean {
    enum class Unit { ns, thousandths };
    std::string_view name;  ///< a constant
    std::int64_t value = 0;
    Unit unit = Unit::ns;
};

/// Means since the start; of what is counted in ns there are `count` since then. Not in recordings of ours.
struct RunningMeans {
    std::int64_t line = 0;  ///< of the input, counted from 1
    std::int64_t count = 0;
    std::span<const RunningMean> means;
};

/// One probe point's line of `stap -t`, behind the script's last one; `point` is empty in the report's headings, and in
/// what it says of itself.
struct ProbeTimes {
    std::string_view point;  ///< "kernel.trace("netif_receive_skb")", as the script or the tapset has it
    std::int64_t hits = 0;
    std::int64_t mean_cycles = 0, max_cycles = 0;
};

using table::CounterReading;

/// The first line was read; the header is the parser's and stays valid as long as the parser does.
struct HeaderLine {
    const Header* header = nullptr;
};

/// A further kind of record was declared.
struct FieldsLine {
    const Schema* schema = nullptr;
};

/// A line of another recording: nothing of it is in this one's results.
struct KeptLine {};

/// Why a line could not be read.
enum class Flaw {
    no_header,      ///< no header has been read yet, or it was refused
    newer_version,  ///< a header of a format version this code does not know
    bad_header,     ///< an invalid header or `fields` line
    second_header,  ///< a header after the first one, and every line from there on
    unknown_tag,    ///< not a kind of line that was declared
    field_count,    ///< too few or too many fields
    bad_number,     ///< a number that is none, or is outside its type
    bad_text,       ///< control characters where the script would have escaped them
    unknown_kind,   ///< no kind of text that can be read, see FormatDetector
    over_limit,     ///< it declares more than a recording may, or is too long: base/limits.h
    broken_off,     ///< the beginning of a record, whose rest does not follow
    no_line_end,    ///< the last line of the input, whose end may be missing
};

struct Unrecognised {
    Flaw flaw = Flaw::unknown_tag;
};

/// One line, parsed. Everything in it, except the header and its schemas, is valid until the
/// next line is fed and as long as the fed text lives.
using Line = std::variant<Unrecognised, Record, Tick, Ready, End, HeaderLine, FieldsLine, RunningMeans, ProbeTimes,
                          BinsLine, SumLine, SplitLine, SlowLine, KeptLine, CounterReading>;

/// Receives what lines turned out to be. What it is handed is valid during the call only, headers and schemas aside.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual void record(const Record& record) = 0;
    /// Any other line that was understood: header, fields, ready, tick, end.
    virtual void line(const Line& line) = 0;
};

/// The subject of a note.
enum class NoteKind {
    meaning,  ///< what the numbers mean: inputs that differ in it are not compared
    clock,    ///< when things happened
    count,    ///< how much of something this input had
};

/// A fact that a reader of the numbers must know of an input: "requests above 100 us are cut off".
struct Note {
    Note(std::string note, NoteKind of = NoteKind::meaning) : kind(of), text(std::move(note)) {}

    NoteKind kind;
    std::string text;

    bool operator==(const Note&) const = default;
};

/// For a person: "wrong number of fields".
std::string_view describe(Flaw flaw);

/// A text field as it was before the script's text_str() escaped it: \a \b \f \n \r \t \v \\ \" \ooo \uXXXX
/// \UXXXXXXXX. Anything else that follows a backslash stays as it is.
std::string unescape(std::string_view raw);

/// The addresses of a field stack.
std::vector<std::uint64_t> stack_addresses(std::string_view raw);

/// The value of a field endpoint or ip. IPv4 addresses are ::ffff:a.b.c.d.
struct Endpoint {
    std::array<unsigned char, 16> address{};
    std::string_view port;  ///< empty where there is none
};

/// Nothing where it is none.
std::optional<Endpoint> endpoint_of(std::string_view raw);

/// A field endpoint or ip as people write it: "127.0.0.1:11211", "[fe80::1]:80", "fe80::1". What is none comes back as
/// it is.
std::string endpoint_text(std::string_view raw);

}  // namespace stapgen::decode
