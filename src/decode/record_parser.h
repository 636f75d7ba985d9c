// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.h"
#include "decode/other_lines.h"
#include "decode/record.h"

namespace stapgen::decode {

/// How much of the input could be read. lines == recognised + unrecognised, always.
struct InputCounts {
    /// Limit of unrecognised lines kept by number; the rest is only counted.
    static constexpr std::size_t kept_flaws = 5;

    struct FlawedLine {
        std::int64_t number = 0;  ///< counted from 1
        Flaw flaw = Flaw::unknown_tag;
        std::string excerpt = {};  ///< how it begins, as it was read: any bytes; empty where it was not kept
    };

    std::int64_t lines = 0;
    std::int64_t recognised = 0;
    std::int64_t unrecognised = 0;
    std::vector<FlawedLine> first_flaws;
    /// Unrecognised lines for which may_count_losses(): one is kept instead of the last that is none.
    std::int64_t possible_losses = 0;
};

/// Reads what our own scripts print, line by line. Pure: no input or output, no clock. Any bytes may be fed;
/// what is invalid is counted and returned as Unrecognised. Not copyable, since records point into it.
/// Nothing is allocated for a record.
class RecordParser {
  public:
    /// `lines_before`: number of lines before the first one that is fed; for error messages only.
    explicit RecordParser(std::int64_t lines_before = 0) : lines_before_(lines_before) {}
    RecordParser(const RecordParser&) = delete;
    RecordParser& operator=(const RecordParser&) = delete;

    /// One line without its '\n'; one '\r' at the end is forgiven. Do not feed the last line of an input that
    /// does not end in '\n': its last number may have been cut short.
    Line feed(std::string_view line);

    /// Stops at the first line that it cannot read, and at a second header; only what is taken is in input(). Reads
    /// exactly what feed() reads.
    std::size_t take(std::string_view lines, Sink& sink);

    /// The header once it has been read, else null.
    [[nodiscard]] const Header* header() const { return header_ ? &*header_ : nullptr; }

    /// Why the header was refused (a newer version, or nonsense), if it was: nothing more will be recognised.
    [[nodiscard]] const std::optional<base::Error>& refusal() const { return refusal_; }

    [[nodiscard]] const InputCounts& input() const { return input_; }

    /// Stages and values of all that was declared.
    [[nodiscard]] std::size_t measures() const;
    /// No more are taken.
    void end_declarations() { is_declared_ = true; }

  private:
    std::size_t take_padded(std::string_view lines, Sink& sink);
    /// A copy in padded_, with what read_field.h needs behind it.
    std::string_view pad(std::string_view lines, std::string_view end);
    Line parse(std::string_view line);
    Line parse_record(const Schema& schema, std::string_view line);
    Line parse_slow(std::string_view line);
    /// Takes the first line off the front if it is sound; its fields are in values_ then.
    Flaw read_record(const Schema& schema, std::string_view& lines);
    Line parse_header(std::string_view fields);
    Line parse_fields_line(std::string_view fields);
    Line refuse(Flaw flaw, base::Error error);
    Line refuse_size(std::string_view what, std::size_t limit);

    std::optional<Header> header_;
    std::optional<base::Error> refusal_;
    bool after_second_header_ = false, is_declared_ = false;
    const Schema* last_schema_ = nullptr;
    std::vector<Value> values_;
    std::string padded_;
    OtherLines other_lines_;
    InputCounts input_;
    std::int64_t lines_before_;
};

}  // namespace stapgen::decode
