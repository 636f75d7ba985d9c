// SPDX-License-Identifier: GPL-2.0-or-later
// From any lines to all that is made of them: groups, counts, trees of calls, drops, intervals; every format of a
// report, the single records, and the trace for Perfetto.

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "analyze/analyzer.h"
#include "decode/format_detector.h"
#include "fuzz.h"
#include "unit/show/written.h"

namespace {

using namespace stapgen;
using decode::FormatDetector;

/// Nothing in it can command a terminal: docs/trust/security.md.
void check_shown(const std::string& text, std::string_view allowed = "\n") {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        fuzz::always((byte >= 0x20 && byte != 0x7f) || allowed.find(text[i]) != std::string_view::npos);
        const bool is_c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
        fuzz::always(!is_c1);
    }
}

struct Reader : FormatDetector::Sink {
    struct Part {
        Source* source;
        analyze::Analyzer analyzer;
    };
    std::deque<Part> parts;
    std::ostringstream events, trace_bytes;
    using Writer = std::unique_ptr<show::RecordWriter>;
    Writer table = show::format_named("table").records(events, {});
    Writer ndjson = show::format_named("ndjson").records(events, {});
    Writer trace = show::format_named("perfetto").records(trace_bytes, {});

    Part* part_of(Source& source) {
        for (auto& part : parts) {
            if (part.source == &source) return &part;
        }
        // As cli does without --by: by the record's keys, else by thread where it has one.
        kinds::Settings options;
        options.slowest = 5;
        options.resolution_ns = source.resolution_ns;
        for (const auto& schema : source.header->schemas) {
            for (const auto& field : schema.fields) {
                if (field.attribute == decode::Attribute::key || field.name == "tid")
                    options.group_by.push_back(field.name);
            }
        }
        auto analyzer = analyze::Analyzer::create(*source.header, options);
        if (!analyzer) analyzer = analyze::Analyzer::create(*source.header, {});
        return analyzer ? &parts.emplace_back(Part{&source, *std::move(analyzer)}) : nullptr;
    }
    /// A trace is of one recording.
    bool is_drawn(const Source& source) { return !parts.empty() && parts.front().source == &source; }
    void record(Source& source, const decode::Record& record) override {
        if (auto* part = part_of(source)) part->analyzer.add(record);
        table->record(record);
        ndjson->record(record);
        if (is_drawn(source)) trace->record(record);
    }
    void line(Source& source, const decode::Line& line) override {
        if (auto* part = part_of(source)) part->analyzer.add(line);
        if (const auto* ready = std::get_if<decode::Ready>(&line)) {
            table->ready(*ready);
            ndjson->ready(*ready);
            if (is_drawn(source)) trace->ready(*ready);
        }
    }
    void message(std::string_view) override {}
};

void check_formats(const std::vector<summaries::Summary>& reports) {
    for (const auto& report : reports) {
        check_shown(written("table", {report}, {.series = true}));
        const auto json = written("json", {report}, {.series = true});
        const auto read = nlohmann::json::parse(json, nullptr, false);
        fuzz::always(!read.is_discarded() && read.contains("accounting"));
        check_shown(json);
    }
    check_shown(written("csv", reports, {.series = true}), "\r\n");
    const auto metrics = written("openmetrics", reports, {.series = true});
    check_shown(metrics);
    fuzz::always(metrics.ends_with("# EOF\n"));
    check_shown(written("html", reports, {.series = true}), "\t\r\n");
}

}  // namespace

FUZZ_TARGET(reports) {
    const auto text = fuzz::text_of(data, size);
    const auto whole = text.substr(0, text.rfind('\n') + 1), last = text.substr(whole.size());
    Reader reader;
    FormatDetector detector;
    detector.feed(whole, reader);
    if (detector.refusal()) return 0;
    detector.finish(last, reader);
    reader.table->end();
    reader.ndjson->end();
    reader.trace->end();
    check_shown(reader.events.str());
    std::vector<summaries::Summary> reports;
    for (auto& part : reader.parts) {
        auto measured = part.analyzer.measured();
        measured.input = detector.input();
        measured.notes = part.source->notes();
        kinds::counts::put_counter_deltas(measured, {"name", "of"});
        const auto& report = reports.emplace_back(summaries::summary_of(measured));
        for (const auto& tally : report.tallies)
            fuzz::always(tally.count >= 0 && tally.per_s.value_or(0) >= 0);
    }
    if (!reports.empty()) check_formats(reports);
    return 0;
}
