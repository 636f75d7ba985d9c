#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stapgen::decode {

/// The newest format version this code reads. A recording says its own in its first line.
inline constexpr int format_version = 4;

/// What a field holds; the spelling in a header is the name here, except `int` for integer.
enum class FieldType {
    time,      ///< ns of the kernel's monotonic clock, never negative
    integer,   ///< any signed number
    text,      ///< escaped by the script, see unescape()
    stage,     ///< a duration in ns, never negative, or `-`: not seen
    value,     ///< a number that is no duration and whose statistics are wanted, or `-`
    address,   ///< bare hexadecimal, at most 64 bits
    reason,    ///< the kernel's number of a drop reason, -1: this kernel gives none
    count,     ///< how often, never negative
    endpoint,  ///< HIGH.LOW:PORT, see endpoint_text(); from version 2 on

    // Not in recordings of ours, which have numbers where others print text.
    place,        ///< where a packet was dropped, see parse_place()
    reason_name,  ///< the name of a drop reason, or its number; or `-`
};

/// What else a header says of a field, from version 3 on: `name:type,attribute`.
enum class Attribute {
    none,
    key,     ///< of int, text or endpoint: results are grouped by it if nothing else is asked for
    cpu,     ///< of a stage: it passed on the CPU of the field `cpu`
    thread,  ///< of a stage: the thread of the field `tid` spent it
    depth,   ///< of an int, 0 or more: the record is a call, nested so deep; it began its stages before its time
};

struct Field {
    std::string name;
    FieldType type = FieldType::integer;
    Attribute attribute = Attribute::none;
};

/// The fields of one kind of record. `index` 0 is the header's own kind, the one that accounting counts.
struct Schema {
    std::string tag;
    std::size_t index = 0;
    std::vector<Field> fields;

    /// The place of a field, nothing if there is none of that name.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
    /// The first field that has it.
    [[nodiscard]] std::optional<std::size_t> find(Attribute attribute) const;
};

/// What the first line says. `schemas` grows with every `fields` line; its elements never move.
struct Header {
    int version = format_version;
    std::string recipe;
    bool aggregated = false;  ///< its records are aggregated in the kernel
    bool silent = false;      ///< and its intervals are for that: nobody asked for reports of them
    std::deque<Schema> schemas;
};

/// One field of a record.
struct Value {
    std::string_view raw;
    std::int64_t number = 0;  ///< 0 for text and endpoint; the bits of an address, use address()
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

/// The field that tells ways apart ("rx", "tx"): a text named `way`.
std::optional<std::size_t> find_way(const Schema& schema);

/// Whether it is a stage that a record's total is made of: any but the one named `total`.
bool is_part(const Field& field);

/// Probes are live. Both clocks at one moment: epoch = time - monotonic_ns + epoch_ns.
struct Ready {
    std::int64_t epoch_ns = 0;
    std::int64_t monotonic_ns = 0;
};

/// One `key=number` of a tick or end line: a count since the start, never negative.
struct Count {
    std::string_view key;
    std::int64_t value = 0;
};

/// The time of a Tick or an End that does not tell it. Never in our own recordings.
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

// What a script that aggregates prints in place of records, from version 4 on, before each Tick and the End: what it
// aggregated since the last one. docs/recording-format.md has the lines and their bins.

/// Bins of a BinsLine are 256 to each doubling, up to 2^41; those of a SplitLine 32, of all numbers of 63 bits.
inline constexpr int bin_count = 34 * 256;
inline constexpr int split_count = 59 * 32;

struct BinCount {
    int index = 0;  ///< below bin_count
    std::int64_t count = 0;
};

/// How often a stage or value fell into some of the bins. There may be several lines of one field.
struct BinsLine {
    const Schema* schema = nullptr;
    std::size_t field = 0;
    std::span<const BinCount> bins{};
};

/// Of all of a field's numbers, those that are in no bin, too. n > 0, and n numbers from min to max can have that sum.
struct SumLine {
    const Schema* schema = nullptr;
    std::size_t field = 0;
    std::int64_t n = 0, sum = 0, min = 0, max = 0;
};

/// The records whose total is in one bin.
struct SplitLine {
    const Schema* schema = nullptr;
    std::string_view direction{};  ///< the field `way`, as it stands in the input; empty where there is none
    int index = 0;                 ///< below split_count
    std::int64_t n = 0;
    std::span<const std::int64_t> sums{};  ///< ns of each field for which is_part(), in their order; never negative
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

/// What a counter stood at when some tool printed it, of a text that has samples of counters. Not in recordings of
/// ours, which tell how far counters rose.
struct CounterReading {
    std::string_view format;    ///< a constant: "nstat"
    std::int64_t sample = 0;    ///< the number of the format's sample in this input, counted from 0
    std::string_view name, of;  ///< as the recipe softnet has them: "link.rx_dropped" of "eth0"
    std::uint64_t value = 0;
    bool part = false;                     ///< to be added to what the same sample told of it before
    bool is_rise = false;                  ///< the tool says how far it rose, and not what it stands at
    bool zeros_left_out = false;           ///< the format may leave out what is 0
    std::int64_t epoch_ns = unknown_time;  ///< the last time that the text told, or unknown_time
};

/// The first line was read; the header is the parser's and stays valid as long as the parser does.
struct HeaderLine {
    const Header* header = nullptr;
};

/// A further kind of record was declared.
struct FieldsLine {
    const Schema* schema = nullptr;
};

/// Why a line could not be read.
enum class Flaw {
    no_header,      ///< no header has been read yet, or it was refused
    newer_version,  ///< a header of a format version this code does not know
    bad_header,     ///< a header or `fields` line that makes no sense
    second_header,  ///< a header after the first one, and every line from there on
    unknown_tag,    ///< not a kind of line that was declared
    field_count,    ///< too few or too many fields
    bad_number,     ///< a number that is none, or is outside its type
    bad_text,       ///< control characters where the script would have escaped them
    unknown_kind,   ///< no kind of text that can be read, see FormatDetector
    no_line_end,    ///< the last line of the input, whose end may be missing
};

struct Unrecognised {
    Flaw flaw = Flaw::unknown_tag;
};

/// What one line turned out to be. Everything in it, except the header and its schemas, is valid until the
/// next line is fed and as long as the fed text lives.
using Line = std::variant<Unrecognised, Record, Tick, Ready, End, HeaderLine, FieldsLine, RunningMeans, ProbeTimes,
                          BinsLine, SumLine, SplitLine, SlowLine, CounterReading>;

/// For a person: "wrong number of fields".
std::string_view describe(Flaw flaw);

/// A text field as it was before the script's text_str() escaped it: \a \b \f \n \r \t \v \\ \" \ooo \uXXXX
/// \UXXXXXXXX. Anything else that follows a backslash stays as it is.
std::string unescape(std::string_view raw);

/// An endpoint field as people write it: "127.0.0.1:11211" or "[fe80::1]:80". What is no endpoint comes back as it is.
std::string endpoint_text(std::string_view raw);

}  // namespace stapgen::decode
