// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "decode/format_detector.h"

/// What a FormatDetector makes of a text, a line of text each: "drop location=nf_hook_slow reason=3 count=17".
struct DecodedText : stapgen::decode::FormatDetector::Sink {
    stapgen::decode::FormatDetector detector;
    std::vector<std::string> lines, messages, counter_sources;

    /// A last line without '\n' is handed over as such.
    explicit DecodedText(std::string_view text) {
        const auto end = text.rfind('\n') + 1;
        detector.feed(text.substr(0, end), *this);
        detector.finish(text.substr(end), *this);
        CHECK(detector.input().lines == detector.input().recognised + detector.input().unrecognised);
    }

    void record(Source& source, const stapgen::decode::Record& record) override {
        using stapgen::decode::FieldType;
        CHECK(source.header != nullptr);
        std::string line = record.schema->tag;
        for (std::size_t i = 0; i < record.values.size(); ++i) {
            const auto& [name, type, attribute] = record.schema->fields[i];
            const auto& value = record.values[i];
            const bool is_text = type == FieldType::text || type == FieldType::place || type == FieldType::reason_name;
            if (!value.seen) continue;
            line += is_text ? fmt::format(" {}={}", name, value.raw) : fmt::format(" {}={}", name, value.number);
        }
        lines.push_back(line);
    }

    void line(Source& source, const stapgen::decode::Line& line) override {
        using namespace stapgen::decode;
        if (std::holds_alternative<HeaderLine>(line)) lines.push_back("header " + source.header->recipe);
        if (const auto* ready = std::get_if<Ready>(&line)) lines.push_back(fmt::format("ready {}", ready->epoch_ns));
        if (const auto* tick = std::get_if<Tick>(&line)) lines.push_back(fmt::format("tick {}", tick->epoch_ns));
        if (const auto* end = std::get_if<End>(&line)) {
            std::string text = fmt::format("end {}", end->epoch_ns);
            for (const auto& [key, value] : end->counts)
                text += fmt::format(" {}={}", key, value);
            lines.push_back(text);
        }
        if (const auto* reading = std::get_if<CounterReading>(&line)) {
            // The first source has what is known of it in sources.
            const auto of = reading->source == 0 ? std::string(reading->of) : reading->whose->text(reading->of);
            if (counter_sources.size() <= reading->source) counter_sources.resize(reading->source + 1);
            counter_sources[reading->source] = reading->whose->description();
            if (reading->is_unknown) return lines.push_back(fmt::format("unknown {} of {}", reading->name, of));
            lines.push_back(
                fmt::format("{}{} {} of {} = {}{}{}{}", reading->format, reading->sample, reading->name, of,
                            reading->value, reading->part ? " part" : "",
                            reading->is_rise    ? " rise"
                            : reading->is_state ? " state"
                                                : "",
                            reading->over_ns == 0 ? "" : fmt::format(" in {} s", reading->over_ns / 1'000'000'000)));
        }
        if (const auto* means = std::get_if<RunningMeans>(&line)) {
            std::string text = fmt::format("means line={} count={}", means->line, means->count);
            for (const auto& mean : means->means)
                text += fmt::format(" {}={}", mean.name, mean.value);
            lines.push_back(text);
        }
    }

    void message(std::string_view text) override { messages.emplace_back(text); }

    [[nodiscard]] std::string text() const { return fmt::format("{}\n", fmt::join(lines, "\n")); }
    [[nodiscard]] std::string notes() const {
        std::vector<std::string> all;
        for (const auto* source : detector.sources()) {
            for (auto& note : source->notes())
                all.push_back(std::move(note.text));
        }
        return fmt::format("{}", fmt::join(all, "\n"));
    }
};

/// Of samples of counters: "nstat0 Udp.RcvbufErrors of - = 1089".
inline bool has_line(const DecodedText& decoded, std::string_view line) {
    return std::ranges::find(decoded.lines, line) != decoded.lines.end();
}

/// The number of values of counters.
inline std::ptrdiff_t readings(const DecodedText& decoded) {
    return std::ranges::count_if(decoded.lines,
                                 [](const std::string& line) { return line.find(" = ") != std::string::npos; });
}

/// A file of tests/unit/decode/texts.
inline std::string read_text(const std::string& name) {
    std::ifstream in(std::string(TEST_TEXTS) + "/" + name, std::ios::binary);
    REQUIRE(in);
    return {std::istreambuf_iterator<char>(in), {}};
}
