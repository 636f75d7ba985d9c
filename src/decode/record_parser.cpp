// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/record_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/limits.h"
#include "decode/read_field.h"

namespace stapgen::decode {

namespace {

constexpr Flaw fine = static_cast<Flaw>(-1);

/// Tag and fields of a record.
bool begins_with(std::string_view lines, std::string_view tag) {
    if (lines.size() <= tag.size() || lines[tag.size()] != '\t') return false;
    // Tags are short: calling memcmp takes longer.
    for (std::size_t i = 0; i < tag.size(); ++i) {
        if (lines[i] != tag[i]) return false;
    }
    return true;
}

/// Whether `text` begins with `word` and a tab; if so both are taken off.
bool take_word(std::string_view& text, std::string_view word) {
    if (!begins_with(text, word)) return false;
    text.remove_prefix(word.size() + 1);
    return true;
}

/// Stages and values of all these.
std::size_t measures_of(const auto& schemas) {
    std::size_t measures = 0;
    for (const Schema& schema : schemas)
        measures += static_cast<std::size_t>(std::ranges::count_if(schema.fields, schema::has_statistics));
    return measures;
}

}  // namespace

std::size_t RecordParser::measures() const {
    return header_ ? measures_of(header_->schemas) : 0;
}

Line RecordParser::feed(std::string_view line) {
    ++input_.lines;
    Line parsed = parse(pad(line, "\n"));
    if (const auto* unrecognised = std::get_if<Unrecognised>(&parsed)) {
        ++input_.unrecognised;
        if (input_.first_flaws.size() < InputCounts::kept_flaws) {
            input_.first_flaws.push_back({input_.lines, unrecognised->flaw});
        }
    } else {
        ++input_.recognised;
    }
    return parsed;
}

std::size_t RecordParser::take(std::string_view lines, Sink& sink) {
    lines = lines.substr(0, lines.rfind('\n') + 1);
    // The last lines have too little behind them.
    const auto enough = lines.size() - std::min(lines.size(), fields::padding);
    const auto padded = enough > 0 ? lines.rfind('\n', enough - 1) + 1 : 0;
    const auto taken = take_padded(lines.substr(0, padded), sink);
    if (taken < padded) return taken;
    return padded + take_padded(pad(lines.substr(padded), {}), sink);
}

std::string_view RecordParser::pad(std::string_view lines, std::string_view end) {
    padded_.assign(lines);
    padded_ += end;
    const auto size = padded_.size();
    padded_.append(fields::padding, '\0');
    return std::string_view(padded_).substr(0, size);
}

std::size_t RecordParser::take_padded(std::string_view lines, Sink& sink) {
    std::size_t taken = 0;
    while (taken < lines.size()) {
        auto rest = lines.substr(taken);
        if (last_schema_ != nullptr && begins_with(rest, last_schema_->tag)) {
            if (read_record(*last_schema_, rest) != fine) break;
            ++input_.lines;
            ++input_.recognised;
            taken = static_cast<std::size_t>(rest.data() - lines.data());
            sink.record({last_schema_, std::span<const Value>(values_.data(), last_schema_->fields.size())});
            continue;
        }
        if (header_ && rest.starts_with("stapgen\t")) break;
        const auto size = rest.find('\n') + 1;
        const Line parsed = parse(rest.substr(0, size));
        if (std::holds_alternative<Unrecognised>(parsed)) break;
        taken += size;
        ++input_.lines;
        ++input_.recognised;
        if (const auto* record = std::get_if<Record>(&parsed)) {
            sink.record(*record);
        } else {
            sink.line(parsed);
        }
    }
    return taken;
}

Line RecordParser::parse(std::string_view line) {
    if (after_second_header_) return Unrecognised{Flaw::second_header};
    if (header_) {
        for (const auto& schema : header_->schemas) {
            if (begins_with(line, schema.tag)) return parse_record(schema, line);
        }
        if (header_->version >= schema::first_aggregating_version && take_word(line, "slow")) return parse_slow(line);
    }
    line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
    if (take_word(line, "stapgen")) return parse_header(line);
    if (!header_) return Unrecognised{Flaw::no_header};
    if (take_word(line, "fields")) return parse_fields_line(line);
    return other_lines_.read(*header_, line);
}

Line RecordParser::parse_record(const Schema& schema, std::string_view line) {
    last_schema_ = &schema;
    const Flaw flaw = read_record(schema, line);
    if (flaw != fine) return Unrecognised{flaw};
    if (!line.empty()) return Unrecognised{Flaw::bad_text};  // what was fed has a line end within it
    return Record{&schema, std::span<const Value>(values_.data(), schema.fields.size())};
}

Line RecordParser::parse_slow(std::string_view line) {
    for (const auto& schema : header_->schemas) {
        if (!begins_with(line, schema.tag)) continue;
        const auto record = parse_record(schema, line);
        if (const auto* slow = std::get_if<Record>(&record)) return SlowLine{*slow};
        return record;
    }
    return Unrecognised{Flaw::unknown_tag};
}

Flaw RecordParser::read_record(const Schema& schema, std::string_view& lines) {
    const char* at = lines.data() + schema.tag.size();
    Value* value = values_.data();
    for (const auto& field : schema.fields) {
        if (*at != '\t') return Flaw::field_count;
        const char* const begin = ++at;
        at = fields::read(at, field.type, *value);
        if (at == nullptr || !fields::at_border(at)) {
            return field.type == FieldType::text ? Flaw::bad_text : Flaw::bad_number;
        }
        value->raw = std::string_view(begin, static_cast<std::size_t>(at - begin));
        ++value;
    }
    if (*at == '\t') return Flaw::field_count;
    at += *at == '\r' ? 2 : 1;
    const auto length = static_cast<std::size_t>(at - lines.data());
    if (length > base::limits::record_bytes) return Flaw::over_limit;
    lines.remove_prefix(length);
    return fine;
}

Line RecordParser::refuse(Flaw flaw, base::Error error) {
    refusal_ = std::move(error);
    return Unrecognised{flaw};
}

Line RecordParser::parse_header(std::string_view fields) {
    if (refusal_) return Unrecognised{Flaw::no_header};
    if (header_) {
        after_second_header_ = true;
        last_schema_ = nullptr;
        return Unrecognised{Flaw::second_header};
    }
    if (static_cast<std::size_t>(std::ranges::count(fields, '\t')) > base::limits::fields + 2)
        return refuse_size("fields", base::limits::fields);
    auto header = schema::parse_header(fields);
    if (header && header->version > schema::format_version) {
        return refuse(Flaw::newer_version,
                      {base::ErrorKind::bad_input,
                       fmt::format("line {} has format version {}; this stapgen reads versions up to {}",
                                   lines_before_ + input_.lines, header->version, schema::format_version),
                       "read it with the stapgen that recorded it, or a newer one"});
    }
    if (!header) {
        return refuse(Flaw::bad_header,
                      {base::ErrorKind::bad_input,
                       fmt::format("line {} starts like a header of stapgen, but the rest is invalid",
                                   lines_before_ + input_.lines),
                       "check whether the file was edited or damaged; docs/reference/recording-format.md"});
    }
    if (!header->schemas.empty() && measures_of(header->schemas) > base::limits::measures)
        return refuse_size("stages and values", base::limits::measures);
    header_ = std::move(header);
    last_schema_ = &header_->schemas.front();
    values_.resize(last_schema_->fields.size());
    return HeaderLine{&*header_};
}

Line RecordParser::refuse_size(std::string_view what, std::size_t limit) {
    return refuse(Flaw::over_limit,
                  {base::ErrorKind::bad_input,
                   fmt::format("line {} declares more than {} {}", lines_before_ + input_.lines, limit, what),
                   "no recipe of stapgen's has as many; measure with several scripts, or check who made the file"});
}

Line RecordParser::parse_fields_line(std::string_view fields) {
    if (header_->schemas.size() >= base::limits::kinds_of_records ||
        static_cast<std::size_t>(std::ranges::count(fields, '\t')) > base::limits::fields)
        return Unrecognised{Flaw::over_limit};
    auto declared = schema::parse_schema(fields, header_->version);
    if (!declared || std::ranges::find(header_->schemas, declared->tag, &Schema::tag) != header_->schemas.end()) {
        return Unrecognised{Flaw::bad_header};
    }
    const auto measures = measures_of(std::span(&*declared, 1));
    if (measures > 0 && (is_declared_ || this->measures() + measures > base::limits::measures))
        return Unrecognised{Flaw::over_limit};
    declared->index = header_->schemas.size();
    values_.resize(std::max(values_.size(), declared->fields.size()));
    return FieldsLine{&header_->schemas.emplace_back(*std::move(declared))};
}

}  // namespace stapgen::decode
