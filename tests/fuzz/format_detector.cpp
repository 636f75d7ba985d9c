// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/format_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "fuzz.h"

namespace {

using namespace stapgen;
using decode::FormatDetector;

/// Collects all that is reported, and checks what each record promises.
struct DecodedText : FormatDetector::Sink {
    std::string all;
    std::int64_t lines = 0;

    void record(Source& source, const decode::Record& record) override {
        fuzz::always(source.header != nullptr && record.schema != nullptr);
        fuzz::always(record.values.size() == record.schema->fields.size());
        fuzz::always(record.schema == &source.header->schemas[record.schema->index]);
        all += fmt::format("{}:{}", source.title, record.schema->tag);
        for (std::size_t i = 0; i < record.values.size(); ++i) {
            check(record.schema->fields[i].type, record.values[i]);
            all += fmt::format("\t{}={}", record.values[i].raw, record.values[i].number);
        }
        all += '\n';
    }
    void line(Source& source, const decode::Line& line) override {
        fuzz::always(source.header != nullptr);
        fuzz::always(!std::holds_alternative<decode::Unrecognised>(line));
        fuzz::always(!std::holds_alternative<decode::Record>(line));
        all += fmt::format("{}:{}\n", source.title, line.index());
        if (const auto* reading = std::get_if<decode::CounterReading>(&line)) {
            fuzz::always(!reading->name.empty() && !reading->of.empty() && reading->sample >= 0);
            all += fmt::format("{}{} {} {} {}\n", reading->format, reading->sample, reading->name, reading->of,
                               reading->value);
        }
    }
    void message(std::string_view text) override { all += fmt::format("message {}\n", text); }

    static void check(decode::FieldType type, const decode::Value& value) {
        using decode::FieldType;
        const bool never_negative = type == FieldType::time || type == FieldType::stage || type == FieldType::count;
        fuzz::always(!never_negative || !value.seen || value.number >= 0);
        if (type == FieldType::text) fuzz::always(decode::unescape(value.raw).size() <= value.raw.size());
        if (type == FieldType::endpoint) fuzz::always(!decode::endpoint_text(value.raw).empty());
    }
};

void check_counts(const FormatDetector& detector, std::int64_t lines) {
    const auto& input = detector.input();
    fuzz::always(input.lines == lines);
    fuzz::always(input.lines == input.recognised + input.unrecognised);
    fuzz::always(input.first_flaws.size() ==
                 std::min<std::size_t>(decode::InputCounts::kept_flaws, static_cast<std::size_t>(input.unrecognised)));
    for (const auto& flaw : input.first_flaws) {
        fuzz::always(flaw.number >= 1 && flaw.number <= lines);
        fuzz::always(flaw.excerpt.size() <= FormatDetector::max_excerpt_length);
        fuzz::always(!decode::describe(flaw.flaw).empty());
    }
    for (const auto* source : detector.sources()) {
        fuzz::always(source->header != nullptr);
        for (const auto& note : source->notes())
            fuzz::always(!note.text.empty());
    }
}

}  // namespace

FUZZ_TARGET(format_detector) {
    const auto text = fuzz::text_of(data, size);
    const auto whole = text.substr(0, text.rfind('\n') + 1), last = text.substr(whole.size());
    const auto lines = std::ranges::count(whole, '\n') + (last.empty() ? 0 : 1);

    DecodedText at_once;
    FormatDetector detector;
    detector.feed(whole, at_once);
    detector.finish(last, at_once);
    check_counts(detector, lines);

    // Line by line is the same.
    DecodedText one_by_one;
    FormatDetector slow;
    for (auto rest = whole; !rest.empty();) {
        const auto end = rest.find('\n') + 1;
        slow.feed(std::string(rest.substr(0, end)), one_by_one);
        rest.remove_prefix(end);
    }
    slow.finish(last, one_by_one);
    check_counts(slow, lines);
    fuzz::always(slow.refusal().has_value() == detector.refusal().has_value());
    // Whoever reads stops at a refusal: what is behind it in the same piece is counted, and not looked at.
    if (detector.refusal()) return 0;
    fuzz::always(slow.input().recognised == detector.input().recognised);
    fuzz::always(at_once.all == one_by_one.all);
    return 0;
}
