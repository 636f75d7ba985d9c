#include "cli/measuring.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "analyze/analyzer.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/losses.h"
#include "cli/meanings.h"
#include "cli/naming.h"
#include "decode/record_parser.h"
#include "host/net_counters.h"
#include "report/event_writer.h"

namespace stapgen::cli {

namespace {

/// Everything that happens between a line of the module and the report.
class Measurement {
  public:
    Measurement(const host::System& machine, const recipe::Catalog& catalog, std::string name, const MeasurePlan& plan,
                Recorder* recorder)
        : machine_(machine),
          catalog_(catalog),
          name_(std::move(name)),
          plan_(plan),
          recorder_(recorder),
          names_(recorder == nullptr ? own_names_ : recorder->names()) {
        using report::EventFormat;
        if (plan.events) {
            events_.emplace(std::cout,
                            plan.presentation.format == Format::table ? EventFormat::table : EventFormat::ndjson);
        }
        if (plan.presentation.format == Format::perfetto) trace_.emplace(std::cout);
    }

    void output(launch::Line line, launch::Control& control) {
        // Of a line that was cut the last number may be wrong: it counts as not understood.
        const auto parsed = parser_.feed(line.cut ? std::string_view("(cut)") : line.text);
        const auto* record = std::get_if<decode::Record>(&parsed);
        if (recorder_ != nullptr) {
            recorder_->line(line.text, line.cut, parser_.header());
            if (record != nullptr) recorder_->record(*record);
        }
        if (!analyzer_ && !refusal_ && parser_.header() != nullptr) begin(*parser_.header());
        if (refusal_) control.request_stop();
        if (!analyzer_ || refusal_) return;
        analyzer_->add(parsed);
        if (record != nullptr && events_) events_->record(*record);
        if (record != nullptr && trace_) trace_->record(*record);
        if (const auto* ready_line = std::get_if<decode::Ready>(&parsed)) ready(*ready_line);
        if (std::holds_alternative<decode::Tick>(parsed)) {
            show_interval();
            if (++intervals_ == plan_.intervals) control.request_stop();
        }
        if (std::holds_alternative<decode::End>(parsed)) read_counters();
        // The last one, cut short. Where there was no other it is the whole, which finish() shows.
        if (std::holds_alternative<decode::End>(parsed) && intervals_ > 0 && intervals_ != plan_.intervals) {
            show_interval();
        }
        if (!std::cout) control.request_stop();  // nobody reads any more
    }

    void error(launch::Line line) {
        if (plan_.verbose) std::cerr << base::printable(line.text) << '\n';
    }

    void tick(launch::Control& control) {
        // Often enough for a person, and for a reader who goes away; not for each line.
        if (events_ && !std::cout.flush()) control.request_stop();
        if (recorder_ != nullptr) recorder_->tick();
        if (plan_.duration && ready_at_ && Clock::now() - *ready_at_ >= *plan_.duration) control.request_stop();
    }

    /// The report of the whole.
    base::Result<void> finish(const launch::LoadEnd& end) {
        const auto transport = transport_of(end.losses);
        const auto counters = counter_rises();
        if (recorder_ != nullptr) recorder_->end(transport, counters);
        if (const auto& refusal = parser_.refusal()) return tl::make_unexpected(*refusal);
        if (refusal_) return tl::make_unexpected(*refusal_);
        if (!analyzer_) {
            if (end.ending.interrupted) return base::failed("interrupted before the measurement began");
            return base::failed("the module printed no records", "run it again with -v to see what it says");
        }
        if (events_) {
            events_->end();
            events_->interrupt();
        }
        if (trace_) cli::finish(*trace_);
        auto summary = analyzer_->summary();
        summary.input = parser_.input();
        summary.transport = transport;
        if (!summary.accounting.closed) {
            // The script's own count was lost with them.
            analyze::add_cause(summary.accounting.lost, "transport", summary.transport.transport_failures);
            summary.accounting.seen += summary.transport.transport_failures;
        }
        summary.counters = counters;
        names_.put_into(summary);
        put_meanings(summary, catalog_);
        present(std::cout, {&summary, 1}, plan_.presentation);
        return {};
    }

  private:
    using Clock = std::chrono::steady_clock;

    void begin(const decode::Header& header) {
        analyze::AnalyzerOptions options;
        options.keep_intervals = shows_intervals(plan_.presentation.format);
        options.group_by = group_fields(plan_.presentation, header);
        options.slowest = plan_.presentation.slowest;
        auto analyzer = analyze::Analyzer::create(header, options);
        if (!analyzer) {
            refusal_ = analyzer.error();
            return;
        }
        analyzer_ = *std::move(analyzer);
        if (const auto recipe = recipe::find_recipe(catalog_, header.recipe)) counters_ = recipe->counters;
        if (events_ && analyzer_->summary().counts()) {
            refusal_ = base::Error{base::ErrorKind::bad_input, "--events: the records of this recipe are counts",
                                   "leave it out: the report has a row for each of them"};
        }
    }

    void ready(const decode::Ready& ready) {
        if (events_) events_->ready(ready);
        if (trace_) trace_->ready(ready);
        ready_at_ = Clock::now();
        if (!counters_.empty()) counters_before_ = host::read_net_counters(machine_);
        if (!plan_.quiet) std::cerr << fmt::format("stapgen: measuring {}; Ctrl-C ends it\n", name_);
    }

    /// At the script's last line, or where it has none, when it has ended.
    void read_counters() {
        if (!counters_.empty() && ready_at_ && !counters_after_) counters_after_ = host::read_net_counters(machine_);
    }

    std::vector<analyze::Counter> counter_rises() {
        read_counters();
        const auto after = counters_after_.value_or(host::NetCounters{});
        std::vector<analyze::Counter> rises;
        for (const auto& [name, help] : counters_)
            rises.push_back({name, help, host::difference(counters_before_, after, name)});
        return rises;
    }

    void show_interval() {
        auto interval = analyzer_->take_interval();
        if (!interval) return;
        names_.put_into(*interval);
        put_meanings(*interval, catalog_);
        if (events_) events_->interrupt();
        present_interval(std::cout, *interval, intervals_, plan_.presentation);
    }

    const host::System& machine_;
    const recipe::Catalog& catalog_;
    std::string name_;
    const MeasurePlan& plan_;
    Recorder* recorder_;
    decode::RecordParser parser_;
    std::optional<analyze::Analyzer> analyzer_;
    std::optional<report::EventWriter> events_;
    std::optional<report::PerfettoWriter> trace_;
    std::optional<base::Error> refusal_;
    std::optional<Clock::time_point> ready_at_;
    std::int64_t intervals_ = 0;
    std::vector<recipe::Counter> counters_;  ///< of the header's recipe
    host::NetCounters counters_before_;
    std::optional<host::NetCounters> counters_after_;
    Names own_names_;
    Names& names_;  ///< the recorder's, where there is one: the table is large
};

}  // namespace

launch::LoadJob load_job_of(const host::Target& target, const std::filesystem::path& module, const MeasurePlan& plan) {
    launch::LoadJob job;
    job.target = target;
    job.cache = base::cache_directory();
    job.options.module = module;
    job.options.target_id = plan.filters.target;
    job.options.buffer_mb = plan.buffer_mb;
    job.options.globals = plan.filters.globals;
    return job;
}

base::Result<void> measure(const host::System& machine, const recipe::Catalog& catalog, launch::LoadJob job,
                           const std::string& name, const MeasurePlan& plan, Recorder* recorder) {
    Measurement measurement(machine, catalog, name, plan, recorder);
    job.handlers.output = [&](launch::Line line, launch::Control& control) { measurement.output(line, control); };
    job.handlers.error = [&](launch::Line line, launch::Control&) { measurement.error(line); };
    job.handlers.tick = [&](launch::Control& control) { measurement.tick(control); };
    auto end = launch::load(machine, job);
    if (!end) return tl::make_unexpected(end.error());
    auto shown = measurement.finish(*end);
    if (!plan.quiet) {
        for (const auto& message : end->messages) {
            std::cerr << "stapgen: " << message.cause;
            if (!message.remedy.empty()) std::cerr << "; " << message.remedy;
            std::cerr << '\n';
        }
    }
    for (const auto& line : end->cleanup)
        std::cerr << "stapgen: " << line << '\n';
    if (end->failure) return tl::make_unexpected(*end->failure);
    if (end->ending.gave_up) {
        return base::failed("SystemTap was not given the time to end; the report may lack the last records",
                            "press Ctrl-C once and let it finish");
    }
    if (!shown || recorder == nullptr) return shown;
    return recorder->outcome();
}

}  // namespace stapgen::cli
