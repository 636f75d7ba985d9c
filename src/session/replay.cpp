#include "session/replay.h"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "analyze/analyzer.h"
#include "analyze/counter_rises.h"
#include "base/terminal.h"
#include "base/text.h"
#include "decode/format_detector.h"
#include "decode/prefix_stripper.h"
#include "recording/reader.h"
#include "recording/runs.h"
#include "session/losses.h"
#include "session/names.h"
#include "session/origin_groups.h"

namespace stapgen::session {

namespace {

std::string shown(const std::filesystem::path& file) {
    return file == "-" ? "stdin" : base::printable(file.string());
}

std::string numbers(std::string_view what, std::int64_t first, std::int64_t last) {
    return first == last ? fmt::format("{} {}", what, first) : fmt::format("{}s {} to {}", what, first, last);
}

base::Error several_recordings() {
    return {base::ErrorKind::bad_input, "--format perfetto: there are several recordings, and a trace has one clock",
            "draw them one by one"};
}

/// What a recording knows of itself, into the report of its records.
void add_facts(const recording::Head& head, analyze::Summary& summary) {
    summary.origins.push_back({head.host, head.release, head.command, head.filters});
    if (const auto sample = head.filters.find("sample"); sample != head.filters.end()) {
        put_sample(summary, base::to_int(sample->second).value_or(1));
    }
    for (auto& drop : summary.drops) {
        const auto reason = head.drop_reasons.find(drop.reason);
        if (!drop.reason_name && reason != head.drop_reasons.end()) drop.reason_name = reason->second;
    }
}

void add_facts(const recording::Tail& tail, analyze::Summary& summary) {
    analyze::Transport transport{tail.skipped_probes, tail.probe_errors, tail.transport_failures,
                                 tail.enough_buffer_mb};
    for (const auto& [function, count] : tail.skipped_by)
        transport.skipped_by.push_back({function, count});
    analyze::add_up(summary.transport, transport);
    if (!tail.broke_off.empty()) summary.broke_off = tail.broke_off;
    summary.cost.cycles_per_s = tail.cycles_per_s;
    summary.cost.measured_ns = tail.measured_ns;
    summary.cost.cpus = tail.cpus;
    summary.cost.expected_hits = tail.expected_hits;
    summary.clock_set_ns = tail.clock_set_ns;
    summary.suspended_ns = tail.suspended_ns;
    for (const auto& [name, help, count] : tail.counter_rises)
        summary.counters.push_back({name, help, count});
    for (const auto& name : tail.addresses) {
        for (auto& drop : summary.drops) {
            if (drop.address != name.address) continue;
            drop.symbol = name.symbol;
            drop.offset = name.offset;
            if (!name.module.empty()) drop.module = name.module;
        }
    }
}

/// One text, or the parts of one run one behind the other: an analyzer for each source in it.
class Input final : public decode::FormatDetector::Sink {
  public:
    Input(const report::Presentation& presentation, const symbols::NameSources& names)
        : presentation_(presentation), names_(names), trace_(report::record_writer(std::cout, presentation, false)) {}

    base::Result<void> read(const std::vector<std::filesystem::path>& parts) {
        for (const auto& part : parts) {
            auto reader = recording::Reader::open(part);
            if (!reader) return tl::make_unexpected(reader.error());
            if (auto done = read(*reader, part); !done) return done;
        }
        if (last_ != nullptr && last_->tail && last_->tail->continued) {
            base::tell(fmt::format("{} is not the last part of its run", shown(parts.back())));
        }
        if (trace_) report::finish(*trace_);
        return {};
    }

    /// One for each source that had anything to analyze.
    base::Result<std::vector<analyze::Summary>> summaries(const std::string& name) {
        std::vector<analyze::Summary> summaries;
        for (auto& part : parts_) {
            if (!part.analyzer) continue;
            auto summary = part.analyzer->summary();
            for (auto& note : part.source->notes())
                summary.notes.push_back(std::move(note));
            summary.accounting.kept = part.source->importer == "stapgen" || summary.accounting.seen > 0;
            put_sample(summary, 1);
            if (part.head) add_facts(*part.head, summary);
            if (part.tail) add_facts(*part.tail, summary);
            if (auto done = put_names(summary, names_, part.head ? &*part.head : nullptr); !done) {
                return tl::make_unexpected(done.error());
            }
            const RecordingName recording{part.head ? part.head->host : "", name};
            const bool none_else = presentation_.by && presentation_.by->empty();
            if (auto done = group_by_origin(presentation_.by_origin, none_else, recording, summary); !done) {
                return tl::make_unexpected(done.error());
            }
            summaries.push_back(std::move(summary));
        }
        if (summaries.empty()) return summaries;
        auto& first = summaries.front();
        first.input = detector_.input();
        analyze::add_up(first.transport, transport_of(losses_));
        return summaries;
    }

    [[nodiscard]] std::int64_t lines() const { return detector_.input().lines; }
    /// Why stap failed, if the text is what it said of that.
    [[nodiscard]] const launch::Diagnosis* stap_failure() const { return messages_.cause(); }
    void record(decode::FormatDetector::Source& source, const decode::Record& record) override {
        if (auto* analyzer = analyzer_of(source)) analyzer->add(record);
        if (trace_ && !error_) trace_->record(record);
    }
    void line(decode::FormatDetector::Source& source, const decode::Line& line) override {
        if (auto* analyzer = analyzer_of(source)) analyzer->add(line);
        const auto* ready = std::get_if<decode::Ready>(&line);
        if (trace_ && ready != nullptr && !error_) trace_->ready(*ready);
    }
    void message(std::string_view text) override { launch::count_losses(text, losses_); }

  private:
    struct Part {
        decode::FormatDetector::Source* source;
        std::optional<analyze::Analyzer> analyzer;
        std::optional<recording::Head> head;
        std::optional<recording::Tail> tail;
    };

    base::Result<void> read(recording::Reader& reader, const std::filesystem::path& file) {
        do {
            // A further part goes on with the numbers of the ones before it.
            if (head_ && reader.head() && head_->run_id == reader.head()->run_id) reader.skip_repeated();
            head_ = reader.head();
            decode::PrefixStripper foreign;
            for (bool more = true; more;) {
                auto lines = reader.next();
                if (!lines) return tl::make_unexpected(lines.error());
                more = !lines->empty();
                const auto text = head_ ? *lines : more ? foreign.feed(*lines) : foreign.finish();
                if (parts_.empty()) read_messages(text);
                detector_.feed(text, *this);
                if (error_) return tl::make_unexpected(*error_);
                if (const auto& refusal = detector_.refusal()) return tl::make_unexpected(*refusal);
            }
            if (last_ != nullptr && reader.head()) last_->tail = reader.tail();
            if (reader.cut_short()) {
                base::tell(fmt::format("{} ends in the middle of a run; what is there is read", shown(file)));
            }
            if (!reader.head()) detector_.finish(foreign.last_line(reader.last_partial_line()), *this);
        } while (reader.next_recording());
        return {};
    }

    /// Of the first lines of a text of which nothing is known yet.
    void read_messages(std::string_view text) {
        constexpr std::int64_t most = 1000;
        if (lines() >= most) return;
        for (const auto line : base::split(text, '\n'))
            messages_.line(line);
    }

    analyze::Analyzer* analyzer_of(decode::FormatDetector::Source& source) {
        if (last_ == nullptr || last_->source != &source) last_ = &part_of(source);
        return last_->analyzer ? &*last_->analyzer : nullptr;
    }

    Part& part_of(decode::FormatDetector::Source& source) {
        for (auto& known : parts_) {
            if (known.source == &source) return known;
        }
        if (trace_ && !parts_.empty()) {
            error_ = several_recordings();
        }
        auto& part = parts_.emplace_back(Part{&source, std::nullopt, head_, std::nullopt});
        if (auto can = report::check_aggregated(presentation_, false, *source.header); !can) error_ = can.error();
        analyze::AnalyzerOptions options;
        options.group_by = report::group_fields(presentation_, *source.header);
        options.slowest = presentation_.slowest;
        options.resolution_ns = source.resolution_ns;
        if (auto analyzer = analyze::Analyzer::create(*source.header, options)) {
            part.analyzer = *std::move(analyzer);
        } else {
            error_ = analyzer.error();
        }
        return part;
    }

    const report::Presentation& presentation_;
    const symbols::NameSources& names_;
    decode::FormatDetector detector_;
    std::deque<Part> parts_;
    Part* last_ = nullptr;
    std::optional<recording::Head> head_;  ///< of what is being read
    launch::Losses losses_;                ///< told by messages among the lines
    launch::MessageReader messages_;
    std::unique_ptr<report::RecordWriter> trace_;
    std::optional<base::Error> error_;
};

void add_to(std::vector<analyze::Summary>& all, analyze::Summary summary) {
    for (auto& known : all) {
        if (known.recipe == summary.recipe && analyze::merge(known, summary)) return;
    }
    all.push_back(std::move(summary));
}

}  // namespace

base::Result<std::vector<LoadedRun>> load_runs(const std::vector<std::filesystem::path>& files,
                                               const report::Presentation& presentation,
                                               const symbols::NameSources& names) {
    constexpr const char* hint = "stapgen help report says which kinds of text can be read";
    auto runs = recording::runs_of(files);
    if (!runs) return tl::make_unexpected(runs.error());
    if (presentation.format->is_trace && runs->size() > 1) return tl::make_unexpected(several_recordings());
    std::vector<LoadedRun> loaded;
    for (const auto& run : *runs) {
        for (const auto& [first, last] : run.missing) {
            base::tell(fmt::format("{}: {} of its run {} not given; what they hold counts as lost",
                                   shown(run.files.front()), numbers("part", first, last),
                                   first == last ? "is" : "are"));
        }
        Input input(presentation, names);
        if (auto done = input.read(run.files); !done) return tl::make_unexpected(done.error());
        LoadedRun found{shown(run.files.front()), {}};
        auto summaries = input.summaries(found.name);
        if (!summaries) return tl::make_unexpected(summaries.error());
        for (auto& summary : *summaries)
            add_to(found.reports, std::move(summary));
        if (!found.reports.empty()) {
            loaded.push_back(std::move(found));
            continue;
        }
        const auto* const failure = input.stap_failure();
        const auto what = failure == nullptr
                              ? fmt::format("{}: nothing known in {} lines", found.name, input.lines())
                              : fmt::format("{}: nothing was measured, stap failed: {}", found.name, failure->cause);
        if (files.size() == 1) return base::bad_input(what, failure == nullptr ? hint : failure->remedy);
        base::tell(what);
    }
    if (loaded.empty()) return base::bad_input("nothing known in any of the files", hint);
    return loaded;
}

base::Result<std::vector<analyze::Summary>> load(const std::vector<std::filesystem::path>& files,
                                                 const report::Presentation& presentation,
                                                 const symbols::NameSources& names) {
    auto runs = load_runs(files, presentation, names);
    if (!runs) return tl::make_unexpected(runs.error());
    std::vector<analyze::Summary> all;
    for (auto& run : *runs) {
        for (auto& summary : run.reports)
            add_to(all, std::move(summary));
    }
    for (auto& summary : all)
        analyze::put_rises(summary, presentation.by.value_or(std::vector<std::string>{"name", "of"}));
    return all;
}

}  // namespace stapgen::session
