#include "decode/record_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "decode/cursor.h"
#include "decode/probe_times.h"
#include "decode/read_field.h"

namespace stapgen::decode {

namespace {

constexpr std::array keywords{std::string_view("stapgen"), std::string_view("fields"), std::string_view("ready"),
                              std::string_view("tick"), std::string_view("end")};

/// From version 4 on.
constexpr std::array aggregate_keywords{std::string_view("bin"), std::string_view("sum"), std::string_view("split"),
                                        std::string_view("slow")};
constexpr int first_aggregating_version = 4;

bool is_keyword(std::string_view tag, int version) {
    return std::ranges::find(keywords, tag) != keywords.end() ||
           (version >= first_aggregating_version &&
            std::ranges::find(aggregate_keywords, tag) != aggregate_keywords.end());
}

constexpr std::array types{std::pair{std::string_view("time"), FieldType::time},
                           std::pair{std::string_view("int"), FieldType::integer},
                           std::pair{std::string_view("text"), FieldType::text},
                           std::pair{std::string_view("stage"), FieldType::stage},
                           std::pair{std::string_view("value"), FieldType::value},
                           std::pair{std::string_view("address"), FieldType::address},
                           std::pair{std::string_view("reason"), FieldType::reason},
                           std::pair{std::string_view("count"), FieldType::count},
                           std::pair{std::string_view("endpoint"), FieldType::endpoint}};

struct AttributeRule {
    std::string_view name;
    Attribute attribute;
    std::array<FieldType, 3> types;  ///< that may have it
};

constexpr std::array attributes{
    AttributeRule{"key", Attribute::key, {FieldType::integer, FieldType::text, FieldType::endpoint}},
    AttributeRule{"cpu", Attribute::cpu, {FieldType::stage, FieldType::stage, FieldType::stage}},
    AttributeRule{"thread", Attribute::thread, {FieldType::stage, FieldType::stage, FieldType::stage}},
    AttributeRule{"depth", Attribute::depth, {FieldType::integer, FieldType::integer, FieldType::integer}}};

bool has_control(const char* at, const char* end) {
    return std::any_of(at, end, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

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

/// "type" or "type,attribute".
bool read_type(std::string_view text, Field& field) {
    const auto comma = std::min(text.find(','), text.size());
    const auto type = std::ranges::find(types, text.substr(0, comma), &std::pair<std::string_view, FieldType>::first);
    if (type == types.end()) return false;
    field.type = type->second;
    if (comma == text.size()) return true;
    const auto rule = std::ranges::find(attributes, text.substr(comma + 1), &AttributeRule::name);
    if (rule == attributes.end() || std::ranges::find(rule->types, field.type) == rule->types.end()) return false;
    field.attribute = rule->attribute;
    return true;
}

/// Tag and name:type list of a header or `fields` line.
bool read_schema(std::string_view text, int version, Schema& schema) {
    const auto parts = base::split(text, '\t');
    schema.tag = parts[0];
    if (schema.tag.empty() || is_keyword(parts[0], version)) return false;
    if (has_control(parts[0].begin(), parts[0].end()) || parts.size() < 2) return false;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto colon = parts[i].rfind(':');
        if (colon == std::string_view::npos || colon == 0) return false;
        Field field{.name = std::string(parts[i].substr(0, colon))};
        if (!read_type(parts[i].substr(colon + 1), field) || schema.find(field.name)) return false;
        if (has_control(field.name.data(), field.name.data() + field.name.size())) return false;
        schema.fields.push_back(std::move(field));
    }
    return true;
}

/// "recipe", or "recipe,aggregated[,silent]" from version 4 on.
bool read_recipe(std::string_view text, Header& header) {
    const auto words = base::split(text, header.version >= first_aggregating_version ? ',' : '\t');
    header.recipe = words[0];
    header.aggregated = words.size() > 1;
    header.silent = words.size() > 2;
    const bool fits = words.size() == 1 ||
                      (words[1] == "aggregated" && (words.size() == 2 || (words.size() == 3 && words[2] == "silent")));
    return fits && !words[0].empty() && !has_control(text.begin(), text.end());
}

/// Whether `text` begins with `word` and a tab; if so both are taken off.
bool take_word(std::string_view& text, std::string_view word) {
    if (text.size() <= word.size() || text[word.size()] != '\t' || !text.starts_with(word)) return false;
    text.remove_prefix(word.size() + 1);
    return true;
}

}  // namespace

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
        if (header_->version >= first_aggregating_version && take_word(line, "slow")) return parse_slow(line);
    }
    line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
    return parse_other(line);
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
    lines.remove_prefix(static_cast<std::size_t>(at - lines.data()));
    return fine;
}

Line RecordParser::parse_other(std::string_view line) {
    if (take_word(line, "stapgen")) return parse_header(line);
    if (!header_) return Unrecognised{Flaw::no_header};
    std::int64_t epoch_ns = 0;
    Flaw flaw = Flaw::unknown_tag;
    if (take_word(line, "tick")) {
        if (!parse_counts(line, epoch_ns, flaw)) return Unrecognised{flaw};
        // Counters that are read one after the other while packets pass: a difference of some may be below 0.
        for (auto& count : counts_)
            count.value = std::max(count.value, std::int64_t{0});
        return Tick{epoch_ns, counts_};
    }
    if (take_word(line, "end")) {
        if (!parse_counts(line, epoch_ns, flaw)) return Unrecognised{flaw};
        const bool is_negative = std::ranges::any_of(counts_, [](const Count& count) { return count.value < 0; });
        if (is_negative) return Unrecognised{Flaw::bad_number};
        return End{epoch_ns, counts_};
    }
    if (take_word(line, "ready")) return parse_ready(line);
    if (take_word(line, "fields")) return parse_fields_line(line);
    if (header_->version >= first_aggregating_version) {
        if (const auto aggregate = aggregates_.read(*header_, line)) return *aggregate;
    }
    if (const auto times = parse_probe_times(line)) return *times;
    return Unrecognised{Flaw::unknown_tag};
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
    Cursor cursor(fields);
    Header header;
    const bool is_number = cursor.read_number(header.version);
    if (is_number && header.version > format_version) {
        return refuse(Flaw::newer_version,
                      {base::ErrorKind::bad_input,
                       fmt::format("line {} says format version {}, and this stapgen reads up to version {}",
                                   lines_before_ + input_.lines, header.version, format_version),
                       "read it with the stapgen that recorded it, or a newer one"});
    }
    auto rest = fields.substr(static_cast<std::size_t>(cursor.at - fields.data()));
    Schema schema;
    bool makes_sense = is_number && header.version >= 1 && rest.starts_with('\t');
    if (makes_sense) {
        rest.remove_prefix(1);
        const auto tab = std::min(rest.find('\t'), rest.size());
        makes_sense = tab < rest.size() && read_recipe(rest.substr(0, tab), header) &&
                      read_schema(rest.substr(tab + 1), header.version, schema);
    }
    if (!makes_sense) {
        return refuse(Flaw::bad_header, {base::ErrorKind::bad_input,
                                         fmt::format("line {} begins like a header of stapgen, but the rest "
                                                     "of it makes no sense",
                                                     lines_before_ + input_.lines),
                                         "see docs/recording-format.md; was the file edited or damaged?"});
    }
    values_.resize(schema.fields.size());
    header.schemas.push_back(std::move(schema));
    header_ = std::move(header);
    last_schema_ = &header_->schemas.front();
    return HeaderLine{&*header_};
}

Line RecordParser::parse_fields_line(std::string_view fields) {
    Schema schema;
    if (!read_schema(fields, header_->version, schema)) return Unrecognised{Flaw::bad_header};
    if (std::ranges::find(header_->schemas, schema.tag, &Schema::tag) != header_->schemas.end()) {
        return Unrecognised{Flaw::bad_header};
    }
    schema.index = header_->schemas.size();
    values_.resize(std::max(values_.size(), schema.fields.size()));
    return FieldsLine{&header_->schemas.emplace_back(std::move(schema))};
}

Line RecordParser::parse_ready(std::string_view fields) {
    Ready ready;
    Cursor cursor(fields);
    if (!cursor.read_number(ready.epoch_ns)) return Unrecognised{Flaw::bad_number};
    if (cursor.at == cursor.end) return Unrecognised{Flaw::field_count};
    ++cursor.at;
    if (!cursor.read_number(ready.monotonic_ns)) return Unrecognised{Flaw::bad_number};
    if (cursor.at != cursor.end) return Unrecognised{Flaw::field_count};
    if (ready.epoch_ns < 0 || ready.monotonic_ns < 0) return Unrecognised{Flaw::bad_number};
    return ready;
}

bool RecordParser::parse_counts(std::string_view fields, std::int64_t& epoch_ns, Flaw& flaw) {
    counts_.clear();
    flaw = Flaw::bad_number;
    Cursor cursor(fields);
    if (!cursor.read_number(epoch_ns) || epoch_ns < 0) return false;
    while (cursor.at != cursor.end) {
        const char* const begin = ++cursor.at;
        if (!cursor.read_text()) {
            flaw = Flaw::bad_text;
            return false;
        }
        const std::string_view pair(begin, static_cast<std::size_t>(cursor.at - begin));
        const auto equals = std::min(pair.find('='), pair.size());
        Count count{pair.substr(0, equals), 0};
        const auto number = base::to_int(pair.substr(std::min(equals + 1, pair.size())));
        if (equals == 0 || !number) return false;
        count.value = *number;
        counts_.push_back(count);
    }
    return true;
}

}  // namespace stapgen::decode
