#include "session/measurement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "base/terminal.h"
#include "base/text.h"
#include "launch/progress.h"
#include "overhead/estimate.h"
#include "session/losses.h"
#include "session/meanings.h"
#include "session/origin.h"

namespace stapgen::session {

Measurement::Measurement(const host::System& machine, const recipe::Catalog& catalog, std::string name,
                         const MeasurePlan& plan, Recorder* recorder)
    : machine_(machine),
      catalog_(catalog),
      name_(std::move(name)),
      plan_(plan),
      recorder_(recorder),
      names_(recorder == nullptr ? own_names_ : recorder->names()),
      progress_(std::cerr, launch::progress_style(plan.quiet), base::terminal_columns(STDERR_FILENO)) {
    records_ = report::record_writer(std::cout, plan.presentation, plan.events);
}

void Measurement::begin_loading() {
    progress_.begin("loading the module", Clock::now());
}

launch::Handlers Measurement::handlers() {
    launch::Handlers handlers;
    handlers.output = [this](launch::Line line, launch::Control& control) { output(line, control); };
    handlers.error = [this](launch::Line line, launch::Control&) { error(line); };
    handlers.tick = [this](launch::Control& control) { tick(control); };
    handlers.ended = [this] { live_.reset(); };
    return handlers;
}

void Measurement::output(launch::Line line, launch::Control& control) {
    bytes_ += static_cast<std::int64_t>(line.text.size()) + 1;
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
    if (live_) live_->line(parsed);
    if (record != nullptr && records_) records_->record(*record);
    if (const auto* ready_line = std::get_if<decode::Ready>(&parsed)) ready(*ready_line);
    if (std::holds_alternative<decode::Tick>(parsed)) {
        show_interval();
        if (++intervals_ == plan_.intervals) control.request_stop();
    }
    if (std::holds_alternative<decode::End>(parsed)) {
        is_closed_ = true;
        read_counters();
    }
    // The last one, cut short. Where there was no other it is the whole, which finish() shows.
    if (std::holds_alternative<decode::End>(parsed) && intervals_ > 0 && intervals_ != plan_.intervals) {
        show_interval();
    }
    if (!std::cout) control.request_stop();  // nobody reads any more
}

void Measurement::error(launch::Line line) {
    if (!plan_.verbose) return;
    progress_.clear();
    std::cerr << base::printable(line.text) << '\n';
}

void Measurement::tick(launch::Control& control) {
    // Often enough for a person, and for a reader who goes away; not for each line.
    if (plan_.events && !std::cout.flush()) control.request_stop();
    if (recorder_ != nullptr) recorder_->tick();
    if (!ready_at_) progress_.tick(Clock::now());
    if (live_) live_->tick(*analyzer_, control);
    look_at_target(control);
    if (plan_.duration && ready_at_ && Clock::now() - *ready_at_ >= *plan_.duration) control.request_stop();
}

/// As perf and strace do: what it did is done, and its number may soon be another's.
void Measurement::look_at_target(launch::Control& control) {
    const auto& target = plan_.filters.target;
    if (!target || target_has_ended_ || !target->has_ended(machine_)) return;
    target_has_ended_ = true;
    if (!plan_.quiet) {
        base::tell(fmt::format("{} has ended, and the measurement with it; --comm NAME also measures what starts later",
                               target->name()));
    }
    control.request_stop();
}

std::chrono::nanoseconds Measurement::measured() const {
    return ready_at_ ? Clock::now() - *ready_at_ : Clock::duration::zero();
}

analyze::Summary Measurement::summary_of(const RunEnd& end) {
    analyze::Summary summary;
    if (analyzer_) summary = analyzer_->summary();
    summary.input = parser_.input();
    summary.origins = {origin_of(machine_, plan_)};
    summary.transport = transport_of(end.losses);
    summary.counters = counter_rises();
    cost_.put_into(summary.cost, expected_ ? &*expected_ : nullptr);
    put_sample(summary, plan_.filters.sample);
    summary.broke_off = end.broke_off;
    if (ready_at_) {
        const auto change = host::change_of(clocks_at_ready_, host::read_clock_offsets());
        summary.clock_set_ns = change.set_ns;
        summary.suspended_ns = change.suspended_ns;
    }
    if (!summary.accounting.closed) {
        // The script's own count was lost with them.
        analyze::add_cause(summary.accounting.lost, "transport", summary.transport.transport_failures);
        summary.accounting.seen += summary.transport.transport_failures;
    }
    summary.transport.enough_buffer_mb = enough_buffer_mb(machine_, end.losses, plan_.buffer_mb, summary, bytes_);
    return summary;
}

base::Result<void> Measurement::finish(const RunEnd& end) {
    progress_.end();
    auto summary = summary_of(end);
    if (recorder_ != nullptr) recorder_->end(summary);
    if (expected_ && plan_.filters.used.empty()) {
        overhead::remember_hit_cost(summary.recipe, summary.aggregated > 0, machine_.running_release(), summary.cost);
    }
    if (const auto& refusal = parser_.refusal()) return tl::make_unexpected(*refusal);
    if (refusal_) return tl::make_unexpected(*refusal_);
    if (const auto enough = summary.transport.enough_buffer_mb; enough > 0 && !plan_.quiet) {
        base::tell(fmt::format("a buffer of {0} MiB for each CPU would have held what was lost: -s {0}MiB", enough));
    }
    if (!analyzer_) {
        if (target_has_ended_) {
            return base::failed(fmt::format("{} ended before the measurement began", plan_.filters.target->name()));
        }
        if (end.interrupted) return base::failed("interrupted before the measurement began");
        return base::failed("the module printed no records", "run it again with -v to see what it says");
    }
    if (records_) report::finish(*records_);
    put_names(summary);
    report::present(std::cout, {&summary, 1}, plan_.presentation);
    return {};
}

analyze::AnalyzerOptions Measurement::options_of(const decode::Header& header) const {
    analyze::AnalyzerOptions options;
    options.keep_intervals = plan_.presentation.format->intervals;
    options.group_by = report::group_fields(plan_.presentation, header);
    options.slowest = plan_.presentation.slowest;
    return options;
}

void Measurement::begin(const decode::Header& header) {
    if (auto can = report::check_aggregated(plan_.presentation, plan_.events, header); !can) {
        refusal_ = can.error();
        return;
    }
    auto analyzer = analyze::Analyzer::create(header, options_of(header));
    if (!analyzer) {
        refusal_ = analyzer.error();
        return;
    }
    analyzer_ = *std::move(analyzer);
    if (const auto recipe = recipe::find_recipe(catalog_, header.recipe)) {
        counters_ = recipe->counters;
        expected_ = recipe->cost;
    }
    if (plan_.events && analyzer_->summary().counts()) {
        refusal_ = base::Error{base::ErrorKind::bad_input, "--events: the records of this recipe are counts",
                               "leave it out: the report has a row for each of them"};
    }
}

void Measurement::ready(const decode::Ready& ready) {
    if (records_) records_->ready(ready);
    ready_at_ = Clock::now();
    clocks_at_ready_ = host::read_clock_offsets();
    if (!counters_.empty()) counters_before_ = host::read_net_counters(machine_);
    cost_.begin(machine_);
    progress_.end();
    if (plan_.live) {
        open_live_view(ready);
    } else if (!plan_.quiet) {
        base::tell(fmt::format("measuring {}; Ctrl-C ends it", name_));
    }
}

void Measurement::open_live_view(const decode::Ready& ready) {
    LiveSubject subject;
    subject.header = parser_.header();
    subject.ready = ready;
    subject.options = options_of(*subject.header);
    for (const auto& [option, value] : plan_.filters.as_typed)
        subject.filters += fmt::format(" --{} {}", option, value);
    subject.hide_benign = plan_.presentation.hide_benign;
    subject.names = [this](analyze::Summary& summary) { put_names(summary); };
    if (auto view = LiveView::open(std::move(subject), plan_.colours)) {
        live_ = *std::move(view);
    } else {
        base::show_error(view.error());
    }
}

/// At the script's last line, or where it has none, when it has ended.
void Measurement::read_counters() {
    if (!counters_.empty() && ready_at_ && !counters_after_) counters_after_ = host::read_net_counters(machine_);
    cost_.end(machine_);
}

std::vector<analyze::Counter> Measurement::counter_rises() {
    read_counters();
    const auto after = counters_after_.value_or(host::NetCounters{});
    std::vector<analyze::Counter> rises;
    for (const auto& [name, help] : counters_)
        rises.push_back({name, help, host::difference(counters_before_, after, name)});
    return rises;
}

void Measurement::show_interval() {
    auto interval = analyzer_->take_interval();
    if (!interval) return;
    if (plan_.live) {
        if (live_) live_->interval(*std::move(interval));
        return;
    }
    if (parser_.header()->silent) return;
    put_names(*interval);
    if (records_) records_->interrupt();
    report::present(std::cout, {&*interval, 1}, plan_.presentation, intervals_);
}

void Measurement::put_names(analyze::Summary& summary) {
    names_.put_into(summary);
    put_meanings(summary, catalog_);
}

}  // namespace stapgen::session
