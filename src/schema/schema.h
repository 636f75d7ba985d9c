// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The form of recordings: docs/reference/recording-format.md. A recipe declares a schema, its script prints it in
/// the header line, and whoever reads the records has it from there.
namespace stapgen::schema {

/// The newest version of the format. A recording says its own in its header line: the oldest that has all that is in
/// it.
inline constexpr int format_version = 5;

/// From this version on a script can aggregate its records in the kernel.
inline constexpr int first_aggregating_version = 4;

/// From this version on stages have parts.
inline constexpr int first_version_with_parts = 5;

/// Types of fields; the spelling in a header is the name here, except `int` for integer.
enum class FieldType {
    time,      ///< ns of the kernel's monotonic clock, never negative
    integer,   ///< any signed number
    text,      ///< escaped by the script, see decode::unescape()
    stage,     ///< a duration in ns, never negative, or `-`: not seen
    value,     ///< a number that is no duration and whose statistics are wanted, or `-`
    address,   ///< bare hexadecimal, at most 64 bits
    reason,    ///< the kernel's number of a drop reason, -1: this kernel gives none
    count,     ///< how often, never negative
    endpoint,  ///< HIGH.LOW:PORT, see decode::endpoint_text(); from version 2 on
    ip,        ///< HIGH.LOW likewise; from version 4 on
    stack,     ///< a call path: addresses as above with commas between, the innermost first; from version 4 on

    // Not in recordings of ours, which have numbers where others print text.
    place,        ///< where a packet was dropped, see decode::parse_place()
    reason_name,  ///< the name of a drop reason, or its number; or `-`
};

/// Attributes of a field in a header, from version 3 on: `name:type,attribute`.
enum class Attribute {
    none,
    key,     ///< of int, text, ip or endpoint: results are grouped by it if nothing else is asked for
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
    std::string tag{};
    std::size_t index = 0;
    std::vector<Field> fields{};

    /// The place of a field, nothing if there is none of that name.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
    /// The first field that has it.
    [[nodiscard]] std::optional<std::size_t> find(Attribute attribute) const;
    /// The names of the fields with the attribute `key`.
    [[nodiscard]] std::vector<std::string> keys() const;
};

/// The header line. `schemas` grows with every `fields` line; its elements never move.
struct Header {
    int version = first_aggregating_version;
    std::string recipe{};
    bool aggregated = false;  ///< its records are aggregated in the kernel
    bool silent = false;      ///< and its intervals are for that: nobody asked for reports of them
    std::deque<Schema> schemas{};

    /// As a script prints it, with the first schema and without the line's end. Not with a type that is in no
    /// recording.
    [[nodiscard]] std::string line() const;
};

/// Values of the field of find_direction(), in the order in which a script that aggregates counts them.
inline constexpr std::array<std::string_view, 2> directions{"rx", "tx"};

/// Whether one of the fields is of that type; of a header, of any of its kinds of records.
bool has_type(const Schema& schema, FieldType type);
bool has_type(const Header& header, FieldType type);

/// The field for the direction: a text named `way`.
std::optional<std::size_t> find_direction(const Schema& schema);

/// Whether its records are waits of a thread: a text `waited` says what it waited for, and a count `n` how often.
bool tells_waits(const Schema& schema);
/// Whether they are of threads with requests to answer: a text `waker` says who woke them.
bool tells_wakers(const Schema& schema);

/// Whether its records are entries of a ledger: texts `entry` and `of`, and a count.
bool is_ledger(const Schema& schema);

/// Whether its records are samples of where threads were: `frames` are addresses of the process `pid`, and not of the
/// kernel; `call` is the system call that they were in.
bool samples_code(const Schema& schema);

/// Whether a report has a row for it: a stage or a value.
bool has_statistics(const Field& field);

/// The stage that a part divides: "app-tcp" of "app-tcp.nagle", which says for how long a packet waited for that in
/// there. Parts add up to their stage. Empty: it is no part.
std::string_view divided_stage(std::string_view name);
/// Whether a stage of that name is a part of another one.
bool is_part(std::string_view name);
/// The cause of a part: "nagle".
std::string_view cause_of(std::string_view part);

/// Whether a field is no part, or one of a stage that the schema has.
bool has_what_it_divides(const Schema& schema, const Field& field);

/// Whether it is a stage or a part that a record's total is divided into: any stage but the one named `total`.
bool divides_total(const Field& field);

/// The first word of lines of another recording, which are passed over. No recipe has it as its tag; recordings of
/// former ones may.
inline constexpr std::string_view kept_word = "kept";

/// Whether lines of this first word are something else than records, so that no record can have it as its tag.
bool is_reserved(std::string_view tag, int version = format_version);

/// All that can follow the colon of `name:type`, for a person.
std::string type_names();

/// "name:type" or "name:type,attribute"; nothing if it is none.
std::optional<Field> parse_field(std::string_view text);

/// Tag and fields, separated by tabs; nothing if it is invalid.
std::optional<Schema> parse_schema(std::string_view text, int version);

/// A header line after its first word and tab; nothing if it is invalid. Of a version above format_version nothing
/// but the version is read.
std::optional<Header> parse_header(std::string_view text);

}  // namespace stapgen::schema
