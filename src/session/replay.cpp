// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <future>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "analyze/merge.h"
#include "base/limits.h"
#include "base/parallel.h"
#include "base/terminal.h"
#include "base/text.h"
#include "decode/format_detector.h"
#include "decode/prefix_stripper.h"
#include "kinds/counts/counts.h"
#include "kinds/latency/latency.h"
#include "recording/reader.h"
#include "session/kept_sides.h"
#include "session/measured_facts.h"
#include "session/namer.h"
#include "session/session.h"
#include "symbols/log_release.h"
#include "table/texts.h"

namespace stapgen::session {

namespace {

std::string shown(const std::filesystem::path& file) {
    return file == "-" ? "stdin" : base::printable(file.string());
}

std::string numbers(std::string_view what, std::int64_t first, std::int64_t last) {
    return first == last ? fmt::format("{} {}", what, first) : fmt::format("{}s {} to {}", what, first, last);
}

base::Error several_recordings(const show::Format& format) {
    return {base::ErrorKind::bad_input,
            fmt::format("--format {}: a trace has one clock, but there are several recordings", format.name),
            "convert them one by one"};
}

/// One text, or the parts of one run one behind the other: a session for each source in it.
class Input final : public decode::FormatDetector::Sink {
  public:
    Input(const Presentation& presentation, const ReplayOptions& options)
        : presentation_(presentation), options_(options) {}

    base::Result<void> read(const std::vector<std::filesystem::path>& parts) {
        for (const auto& part : parts) {
            STAPGEN_LET(auto reader, recording::Reader::open(part, options_.budget));
            if (auto done = read(reader, part); !done) return done;
        }
        detector_.finish(last_line_, *this);
        if (continued_) remarks_.push_back(fmt::format("{} is not the last part of its run", shown(parts.back())));
        for (auto& part : parts_) {
            part.session.end();
            if (options_.met) std::ranges::for_each(part.watcher.of_records(), options_.met);
            if (part.records != nullptr) finish(*part.records);
            if (const auto& refusal = part.session.refusal()) return tl::make_unexpected(*refusal);
        }
        return {};
    }

    /// One for each source that had anything to analyze.
    base::Result<std::vector<kinds::Measured>> summaries(const std::string& name, Namer& namer) {
        std::vector<kinds::Measured> summaries;
        for (auto& part : parts_) {
            if (!part.session.analyzer()) continue;
            auto measured = part.session.measured();
            part.session.release();
            for (auto& note : part.source->notes())
                measured.notes.push_back(std::move(note));
            for (auto& kept : measured.of<rows::Kept>())
                if (part.sides) part.sides->compare(kept);
            for (auto& text : part.watcher.held())
                measured.notes.emplace_back(std::move(text), kinds::NoteKind::clock);
            measured.accounting.kept = part.source->importer == "stapgen" || measured.accounting.seen > 0;
            const auto& facts = part.session.facts();
            STAPGEN_TRY(namer.put_into(measured, facts, release_.release()));
            const bool none_else = presentation_.by && presentation_.by->empty();
            const auto origin = origin_group(presentation_.by_origin, facts.setup.origin(), name);
            STAPGEN_TRY(group_by_origin(origin, none_else, measured));
            summaries.push_back(std::move(measured));
        }
        if (summaries.empty()) return summaries;
        auto& first = summaries.front();
        first.input = detector_.input();
        for (auto& measured : summaries) {
            if (measured.has<rows::Readings>()) measured.input.possible_losses = detector_.input().possible_losses;
        }
        kinds::add_up(first.transport, transport_of(losses_));
        return summaries;
    }

    /// Remarks on the files for the user.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
    [[nodiscard]] std::int64_t lines() const { return detector_.input().lines; }
    /// Why stap failed, if the text is what it said of that.
    [[nodiscard]] std::optional<launch::Diagnosis> stap_failure() const { return launch::failure_in(unknown_); }
    void record(decode::FormatDetector::Source& source, const decode::Record& record) override {
        auto& part = part_of(source);
        if (refusal_ || !part.session.add(record)) return;
        if (part.sides) part.sides->add(record);
        part.watcher.add(record);
        if (part.records != nullptr) write(*part.records, record);
    }
    void line(decode::FormatDetector::Source& source, const decode::Line& line) override {
        auto& part = part_of(source);
        if (refusal_) return;
        const auto added = part.session.add(line);
        if (part.sides) part.sides->add(line);
        for (const auto& met : part.watcher.add(line))
            if (options_.met) options_.met(met);
        if (!refusal_) refusal_ = part.watcher.refusal();
        if (added.taken && part.records != nullptr) write(*part.records, line);
        if (added.refused) refusal_ = part.session.refusal();
    }
    void message(std::string_view text) override { launch::count_losses(text, losses_); }

  private:
    struct Part {
        decode::FormatDetector::Source* source;
        Session session;
        std::unique_ptr<KeptSides> sides{};  ///< null: it is not of a kept recording
        when::Watcher watcher;
        std::unique_ptr<show::RecordWriter> to_stdout;  ///< may be null
        show::RecordWriter* records;                    ///< that or another; may be null
        Part(decode::FormatDetector::Source& of, const Presentation& presentation, const ReplayOptions& options)
            : source(&of),
              session(presentation,
                      {.events = options.events, .resolution_ns = of.resolution_ns, .selection = options.selection}),
              watcher(options.when),
              to_stdout(record_writer(std::cout, presentation, options.events)),
              records(options.records != nullptr ? options.records : to_stdout.get()) {}
    };

    base::Result<void> read(recording::Reader& reader, const std::filesystem::path& file) {
        do {
            // A further part goes on with the numbers of the ones before it.
            if (header_ && reader.header() && header_->run_id == reader.header()->run_id) reader.skip_repeated();
            header_ = reader.header();
            decode::PrefixStripper foreign;
            const auto feed_foreign = [this](std::string_view text, std::string_view source) {
                detector_.set_source(source, *this);
                feed(text);
            };
            for (bool more = true; more;) {
                const auto lines = reader.next();
                more = lines && !lines->empty();
                if (more && !header_ && !std::exchange(has_begun_, true)) release_.read(*lines);
                if (lines && header_) {
                    feed(*lines);
                } else if (lines) {
                    more ? foreign.feed(*lines, feed_foreign) : foreign.finish(feed_foreign);
                }
                for (const auto& refusal : {refusal_, detector_.refusal()}) {
                    if (refusal) return tl::make_unexpected(*refusal);
                }
                STAPGEN_TRY(lines);
            }
            if (last_ != nullptr && reader.header()) {
                const auto trailer = reader.trailer().value_or(recording::Trailer{});
                last_->session.set(trailer.outcome);
                continued_ = trailer.continued;
            }
            if (!foreign.remark().empty()) remarks_.emplace_back(foreign.remark());
            if (reader.cut_short()) {
                remarks_.push_back(fmt::format("{} ends in the middle of a run; it is read up to there", shown(file)));
            }
            if (!reader.header()) {
                const auto last_line = reader.last_partial_line();
                if (!last_line.empty()) detector_.set_source(foreign.source(last_line), *this);
                last_line_ = foreign.last_line(last_line);
                if (parts_.empty()) unknown_ += last_line_;
            }
        } while (reader.next_recording());
        return {};
    }

    void feed(std::string_view text) {
        const bool is_unknown = parts_.empty();
        detector_.feed(text, *this);
        if (is_unknown && parts_.empty() && options_.unknown) options_.unknown(text);
        // stap's messages matter where nothing else is there.
        if (is_unknown && parts_.empty() && unknown_.size() < base::limits::line_bytes) unknown_ += text;
    }

    Part& part_of(decode::FormatDetector::Source& source) {
        if (last_ == nullptr || last_->source != &source) last_ = &find_part(source);
        return *last_;
    }

    Part& find_part(decode::FormatDetector::Source& source) {
        for (auto& known : parts_) {
            if (known.source == &source) return known;
        }
        if (presentation_.format->is_trace && !parts_.empty()) refusal_ = several_recordings(*presentation_.format);
        auto& part = parts_.emplace_back(source, presentation_, options_);
        if (!header_) return part;
        part.session.set(header_->setup);
        part.watcher.name_reasons(header_->setup.drop_reasons);
        part.sides = KeptSides::create(header_->setup.kept, presentation_, source.resolution_ns);
        if (part.records != nullptr) part.records->origin(header_->setup.origin());
        return part;
    }

    const Presentation& presentation_;
    const ReplayOptions& options_;
    decode::FormatDetector detector_;
    std::string last_line_;  ///< of a foreign text: without its end
    std::deque<Part> parts_;
    Part* last_ = nullptr;
    std::optional<recording::Header> header_;  ///< of what is being read
    symbols::ReleaseFinder release_;           ///< in the beginning of a text
    bool has_begun_ = false;                   ///< a text
    bool continued_ = false;                   ///< there is a part behind what was read
    launch::Losses losses_;                    ///< reported by messages among the lines
    std::string unknown_;                      ///< the beginning of a text of unknown format
    std::vector<std::string> remarks_;
    std::optional<base::Error> refusal_;
};

/// A run as it was read, by whatever thread.
struct ReadRun {
    std::unique_ptr<Input> input;
    base::Result<void> done;
};

bool is_of_one(const kinds::Measured& measured, const kinds::Measured& other) {
    return measured.recipe == other.recipe && measured.definition() == other.definition();
}

/// One for each definition, in the order in which they came up.
std::vector<kinds::Measured> added_up(std::vector<kinds::Measured> summaries) {
    std::vector<std::vector<kinds::Measured>> kinds;
    for (auto& measured : summaries) {
        const auto known =
            std::ranges::find_if(kinds, [&](const auto& kind) { return is_of_one(kind.front(), measured); });
        auto& kind = known != kinds.end() ? *known : kinds.emplace_back();
        kind.push_back(std::move(measured));
    }
    std::vector<kinds::Measured> sums;
    for (auto& kind : kinds)
        sums.push_back(analyze::merge_all(std::move(kind)));
    return sums;
}

/// Where all is of one group, that is the whole, and no report shows it a second time.
void note_only_group(kinds::Measured& measured) {
    const table::Group* only = nullptr;
    const auto is_of_one_group = [&](const auto& rows) {
        return std::ranges::all_of(rows, [&](const auto& row) {
            if (only == nullptr && !row.group.empty()) only = &row.group;
            return row.group.empty() || row.group == *only;
        });
    };
    if (!is_of_one_group(measured.of<rows::Stage>()) || !is_of_one_group(measured.of<rows::Value>())) return;
    if (only == nullptr) return;
    measured.notes.emplace_back(fmt::format("all records are of one group: {}", table::group_text(*only)));
}

}  // namespace

void add_to(std::vector<kinds::Measured>& all, kinds::Measured measured) {
    const auto known = std::ranges::find_if(all, [&](const auto& other) { return is_of_one(other, measured); });
    if (known == all.end()) {
        all.push_back(std::move(measured));
    } else {
        (void)analyze::merge(*known, std::move(measured));  // of one definition
    }
}

void finish_sums(std::vector<kinds::Measured>& all, const Presentation& presentation) {
    for (auto& measured : all) {
        const kinds::Measured* above = nullptr;
        for (const auto& other : all) {
            if (&other == &measured) break;
            // One that has a definition says more.
            if (other.recipe == measured.recipe && (above == nullptr || above->definition().empty())) above = &other;
        }
        if (above != nullptr) measured.merge_conflict = kinds::merge_conflict_of(*above, measured);
    }
    if (!presentation.by_origin.empty() || !presentation.by.value_or(std::vector<std::string>()).empty()) {
        for (auto& measured : all)
            note_only_group(measured);
    }
    for (auto& measured : all)
        kinds::counts::put_counter_deltas(measured, presentation.by.value_or(std::vector<std::string>{"name", "of"}));
}

base::Result<std::vector<LoadedRun>> load_runs(const std::vector<std::filesystem::path>& files,
                                               const Presentation& presentation, const symbols::NameSources& names,
                                               const ReplayOptions& options) {
    STAPGEN_LET(auto runs, recording::runs_of(files, options.budget));
    const auto& format = *presentation.format;
    if (format.is_trace && runs.size() > 1) return tl::make_unexpected(several_recordings(format));
    Namer namer(names);
    std::vector<LoadedRun> loaded;
    std::vector<std::string> unknown;
    const auto read = [&](std::size_t place) {
        auto input = std::make_unique<Input>(presentation, options);
        auto done = input->read(runs[place].files);
        return ReadRun{std::move(input), std::move(done)};
    };
    // As many at once as there are cores; what is said of them, and names, come in their order.
    const auto cores = options.events || options.budget ? 1 : base::usable_cpus();
    const auto policy = std::min(runs.size(), cores) > 1 ? std::launch::async : std::launch::deferred;
    std::deque<std::future<ReadRun>> at_work;
    std::size_t begun = 0;
    for (const auto& run : runs) {
        while (begun < runs.size() && at_work.size() < cores)
            at_work.push_back(std::async(policy, read, begun++));
        const auto [input, done] = at_work.front().get();
        at_work.pop_front();
        for (const auto& [first, last] : run.missing) {
            base::print_message(fmt::format("{}: {} of its run {} not given; their records count as lost",
                                            shown(run.files.front()), numbers("part", first, last),
                                            first == last ? "is" : "are"));
        }
        base::print_message(input->remarks());
        STAPGEN_TRY(done);
        LoadedRun found{shown(run.files.front()), {}};
        STAPGEN_LET(auto summaries, input->summaries(found.name, namer));
        found.reports = added_up(std::move(summaries));
        // In a picture of many runs each has a few columns; short blocks of all of them would take a gigabyte.
        constexpr std::size_t many_runs = 32;
        if (runs.size() > many_runs) {
            for (auto& report : found.reports)
                for (auto& row : report.of<rows::Series>())
                    row.series = row.series->by_second();
        }
        if (!found.reports.empty()) {
            loaded.push_back(std::move(found));
            continue;
        }
        const auto failure = input->stap_failure();
        const auto what =
            !failure && input->lines() == 0 && input->remarks().empty() ? fmt::format("{} is empty", found.name)
            : !failure ? fmt::format("{}: no known format in {} lines", found.name, input->lines())
                       : fmt::format("{}: nothing was measured, stap failed: {}", found.name, failure->cause);
        if (files.size() == 1)
            return base::bad_input(what, failure ? failure->remedy : std::string(unknown_format_hint));
        unknown.push_back(what);
    }
    if (!loaded.empty()) {
        base::print_message(unknown);
        return loaded;
    }
    constexpr std::size_t max_named = 5;
    auto what = fmt::format("{}", fmt::join(std::span(unknown).first(std::min(unknown.size(), max_named)), "; "));
    if (unknown.size() > max_named) what += fmt::format("; and {} more", unknown.size() - max_named);
    return base::bad_input(what, std::string(unknown_format_hint));
}

base::Result<void> watch(const std::filesystem::path& file, const Presentation& presentation,
                         const ReplayOptions& options) {
    return Input(presentation, options).read({file});
}

base::Result<std::vector<LoadedRun>> load_foreign(const std::filesystem::path& file, const Presentation& presentation) {
    const auto budget = std::make_shared<base::Budget>(shown(file), base::limits::unpacked_bytes, base::limits::cpu_ns);
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    if (!error) (void)budget->read(size);
    return load_runs({file}, presentation, {}, {.budget = budget});
}

base::Result<std::vector<kinds::Measured>> load(const std::vector<std::filesystem::path>& files,
                                                const Presentation& presentation, const symbols::NameSources& names,
                                                const ReplayOptions& options) {
    STAPGEN_LET(auto runs, load_runs(files, presentation, names, options));
    std::vector<kinds::Measured> all;
    for (auto& run : runs)
        std::ranges::move(run.reports, std::back_inserter(all));
    all = added_up(std::move(all));
    finish_sums(all, presentation);
    return all;
}

}  // namespace stapgen::session
