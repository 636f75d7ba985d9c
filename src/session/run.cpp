// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "decode/record_parser.h"
#include "host/containers/machine.h"
#include "host/facts.h"
#include "host/net_counters.h"
#include "launch/child_process.h"
#include "launch/progress.h"
#include "overhead/overhead.h"
#include "session/live_view.h"
#include "session/measured_facts.h"
#include "session/remote.h"
#include "session/session.h"

namespace stapgen::session {

namespace {

/// How a run ended, as far as its lines do not say.
struct RunEnding {
    launch::Losses losses{};
    std::string broke_off{};   ///< why it ended though nobody asked it to; empty if it did not
    bool interrupted = false;  ///< by the user
};

/// Feeds a session with lines as they come, and inspects the machine in between. All that is given must outlive it.
class Measurement {
  public:
    Measurement(const host::System& machine, const recipe::Catalog& catalog, std::string name, const MeasurePlan& plan,
                Recorder* recorder, Keeper* keeper);

    /// The module is being loaded, which is shown on a terminal until the measurement begins.
    void begin_loading() { progress_.begin("loading the module", Clock::now()); }
    launch::Handlers handlers();
    /// Writes the report of the whole.
    base::Result<void> finish(const RunEnding& ending);
    /// For how long it has measured; 0: no probe was live.
    [[nodiscard]] std::chrono::nanoseconds measured() const {
        return ready_at_ ? Clock::now() - *ready_at_ : Clock::duration::zero();
    }
    /// Whether the script's last line has come: it ended in order, or was asked to.
    [[nodiscard]] bool is_closed() const { return is_closed_; }

  private:
    using Clock = std::chrono::steady_clock;

    void output(launch::Line line, launch::Control& control);
    void error(launch::Line line);
    void tick(launch::Control& control);
    void take_recipe(const decode::Header& header);
    void observe(const decode::Record& record);
    void begin(const decode::Ready& ready);
    void close();
    void look_at_target(launch::Control& control);
    void open_live_view(const decode::Ready& ready);
    void read_counters();
    void put_outcome(const RunEnding& ending);
    kinds::Measured measured_of(const RunEnding& ending);
    void show(kinds::Measured interval);
    void put_names(kinds::Measured& measured);

    const host::System& machine_;
    const recipe::Catalog& catalog_;
    std::string name_;
    const MeasurePlan& plan_;
    Recorder* recorder_;
    Keeper* keeper_;
    decode::RecordParser parser_;
    Session session_;
    std::unique_ptr<show::RecordWriter> records_;  ///< may be null
    std::optional<Clock::time_point> ready_at_;
    host::ClockOffsets clocks_at_ready_;
    bool target_has_ended_ = false, is_closed_ = false;
    std::int64_t bytes_ = 0;  ///< of all lines, with their ends
    std::int64_t intervals_ = 0;
    std::vector<recipe::Counter> counters_;  ///< of the header's recipe
    bool reads_links_ = false;               ///< as above
    std::optional<recipe::Cost> expected_;   ///< likewise
    overhead::CostWatch cost_;
    host::NetCounters counters_before_;
    std::optional<host::NetCounters> counters_after_;
    Namer namer_;
    launch::Progress progress_;  ///< of loading
    std::unique_ptr<LiveView> live_;
    RemoteControl remote_;
};

Measurement::Measurement(const host::System& machine, const recipe::Catalog& catalog, std::string name,
                         const MeasurePlan& plan, Recorder* recorder, Keeper* keeper)
    : machine_(machine),
      catalog_(catalog),
      name_(std::move(name)),
      plan_(plan),
      recorder_(recorder),
      keeper_(keeper),
      session_(
          plan.presentation,
          {.events = plan.events, .keep_intervals = plan.presentation.shows_intervals(), .keep_series = !plan.remote}),
      records_(record_writer(std::cout, plan.presentation, plan.events)),
      progress_(std::cerr, launch::progress_style(plan.quiet), base::terminal_columns(STDERR_FILENO)) {
    session_.set(setup_of(machine, plan));
}

launch::Handlers Measurement::handlers() {
    launch::Handlers handlers;
    handlers.output = [this](launch::Line line, launch::Control& control) { output(line, control); };
    handlers.error = [this](launch::Line line, launch::Control&) { error(line); };
    handlers.tick = [this](launch::Control& control) { tick(control); };
    handlers.stopping = [this] {
        if (reads_links_) containers::read_device_counters("/");
    };
    handlers.ended = [this] { live_.reset(); };
    return handlers;
}

void Measurement::output(launch::Line line, launch::Control& control) {
    bytes_ += static_cast<std::int64_t>(line.text.size()) + 1;
    if (keeper_ != nullptr && keeper_->take(line.text, line.cut, namer_)) return;
    // The last number of a line that was cut may be wrong: it counts as not understood.
    const auto parsed = parser_.feed(line.cut ? std::string_view("(cut)") : line.text);
    const auto* first = std::get_if<decode::HeaderLine>(&parsed);
    // Before the recorder, whose header has their names.
    if (first != nullptr) namer_.look_at_owners(*first->header);
    if (recorder_ != nullptr) recorder_->line(line.text, line.cut, parsed, namer_);
    if (keeper_ != nullptr) keeper_->line(line.text, line.cut, parsed, namer_);
    auto added = session_.add(parsed);
    if (added.taken) {
        if (records_) write(*records_, parsed);
        if (const auto* record = std::get_if<decode::Record>(&parsed)) observe(*record);
        if (first != nullptr) take_recipe(*first->header);
        if (live_) live_->line(parsed);
        if (const auto* ready = std::get_if<decode::Ready>(&parsed)) begin(*ready);
        const bool ends = std::holds_alternative<decode::End>(parsed);
        if (ends) close();
        // The interval that the last line closes is cut short. Where there was no other it is the whole, which finish()
        // shows.
        const bool is_whole = ends && (intervals_ == 0 || intervals_ == plan_.intervals);
        if (added.interval && !is_whole) show(*std::move(added.interval));
        if (std::holds_alternative<decode::Tick>(parsed)) ++intervals_;
    }
    const bool enough = std::holds_alternative<decode::Tick>(parsed) && intervals_ == plan_.intervals;
    // Without std::cout nobody reads any more.
    if (session_.refusal() || (keeper_ != nullptr && keeper_->refusal()) ||
        (session_.analyzer() && (enough || !std::cout)))
        control.request_stop();
}

void Measurement::observe(const decode::Record& record) {
    namer_.observe_owner(record);
    namer_.observe_code(record);
}

void Measurement::take_recipe(const decode::Header& header) {
    auto setup = session_.facts().setup;
    put_recipe(plan_, header.recipe, setup);
    if (records_) records_->origin(setup.origin());
    session_.set(std::move(setup));
    if (const auto recipe = recipe::find_recipe(catalog_, header.recipe)) {
        counters_ = recipe->counters;
        reads_links_ = recipe->reads_links;
        expected_ = recipe->as_recorded(header).cost;
    }
}

void Measurement::close() {
    is_closed_ = true;
    read_counters();
    namer_.look_at_owners(*parser_.header());
}

void Measurement::error(launch::Line line) {
    if (!plan_.verbose) return;
    progress_.clear();
    std::cerr << base::printable(line.text) << '\n';
}

void Measurement::tick(launch::Control& control) {
    // Often enough for a person, and for a reader who goes away; not for each line.
    if (plan_.events && !std::cout.flush()) control.request_stop();
    if (recorder_ != nullptr) recorder_->tick(namer_);
    if (keeper_ != nullptr) keeper_->tick(namer_);
    if (!ready_at_) progress_.tick(Clock::now());
    if (live_) {
        if (auto* due = live_->tick(*session_.analyzer(), control)) {
            put_names(*due);
            live_->draw();
        }
    }
    // The first line comes before the probes answer.
    std::function<void(const KeepOrder& order)> keep;
    if (keeper_ != nullptr) keep = [this](const KeepOrder& order) { keeper_->take(order, namer_); };
    if (plan_.remote && remote_.tick(ready_at_ && session_.analyzer() ? &*session_.analyzer() : nullptr, keep))
        control.request_stop();
    look_at_target(control);
    if (plan_.duration && ready_at_ && Clock::now() - *ready_at_ >= *plan_.duration) control.request_stop();
}

/// As perf and strace do: what it did is done, and its number may soon be another's.
void Measurement::look_at_target(launch::Control& control) {
    const auto& target = plan_.filters.target;
    if (!target || target_has_ended_ || !target->has_ended(machine_)) return;
    target_has_ended_ = true;
    if (!plan_.quiet) {
        base::print_message(fmt::format(
            "{} has ended, so the measurement ends; --comm NAME also measures later processes", target->name()));
    }
    control.request_stop();
}

void Measurement::put_outcome(const RunEnding& ending) {
    read_counters();
    recording::Outcome outcome;
    outcome.transport = transport_of(ending.losses);
    outcome.broke_off = ending.broke_off;
    for (const auto& [name, help] : counters_) {
        const auto rise = host::difference(counters_before_, counters_after_.value_or(host::NetCounters{}), name);
        outcome.counters.push_back({name, help, rise});
    }
    if (ready_at_) {
        const auto change = host::change_of(clocks_at_ready_, host::read_clock_offsets());
        outcome.clock_set_ns = change.set_ns;
        outcome.suspended_ns = change.suspended_ns;
    }
    session_.set(std::move(outcome));
}

kinds::Measured Measurement::measured_of(const RunEnding& ending) {
    put_outcome(ending);
    auto measured = session_.measured();
    measured.input = parser_.input();
    cost_.put_into(measured.cost, expected_);
    if (!measured.accounting.closed) {
        // The script's own count was lost with them.
        kinds::add_cause(measured.accounting.lost, "transport", measured.transport.transport_failures);
        measured.accounting.seen += measured.transport.transport_failures;
    }
    measured.transport.enough_buffer_mb = enough_buffer_mb(machine_, ending.losses, plan_.buffer_mb, measured, bytes_);
    return measured;
}

base::Result<void> Measurement::finish(const RunEnding& ending) {
    progress_.end();
    auto measured = measured_of(ending);
    if (keeper_ != nullptr) keeper_->end(namer_);
    if (recorder_ != nullptr) recorder_->end(measured, namer_);
    if (expected_ && plan_.filters.used.empty()) {
        overhead::remember_hit_cost(measured.recipe, measured.aggregated > 0, machine_.running_release(),
                                    measured.cost);
    }
    for (const auto& refusal :
         {parser_.refusal(), session_.refusal(), keeper_ != nullptr ? keeper_->refusal() : std::nullopt}) {
        if (refusal) return tl::make_unexpected(*refusal);
    }
    if (const auto enough = measured.transport.enough_buffer_mb; enough > 0 && !plan_.quiet) {
        base::print_message(fmt::format("a buffer of {0} MiB per CPU would have been enough: -s {0}MiB", enough));
    }
    if (!session_.analyzer()) {
        if (target_has_ended_) {
            return base::failed(fmt::format("{} ended before the measurement began", plan_.filters.target->name()));
        }
        if (ending.interrupted) return base::failed("interrupted before the measurement began");
        return base::failed("the module printed no records", "run it again with -v to see its messages");
    }
    session_.end();
    if (records_) session::finish(*records_);
    if (plan_.remote) return {};
    put_names(measured);
    present(std::cout, {&measured, 1}, plan_.presentation);
    return {};
}

void Measurement::begin(const decode::Ready& ready) {
    ready_at_ = Clock::now();
    clocks_at_ready_ = host::read_clock_offsets();
    if (!counters_.empty()) counters_before_ = host::read_net_counters(machine_);
    if (reads_links_) containers::read_device_counters("/");
    cost_.begin(machine_);
    progress_.end();
    if (plan_.live) {
        open_live_view(ready);
    } else if (!plan_.quiet) {
        base::print_message(fmt::format("measuring {}; Ctrl-C ends it", name_));
    }
}

void Measurement::open_live_view(const decode::Ready& ready) {
    LiveSubject subject;
    subject.header = parser_.header();
    subject.ready = ready;
    subject.options = session_.analyzer_options();
    for (const auto& [option, value] : plan_.filters.as_typed)
        subject.filters += fmt::format(" --{} {}", option, value);
    subject.hide_benign = plan_.presentation.hide_benign;
    if (auto view = LiveView::open(std::move(subject), plan_.presentation.colours)) {
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

void Measurement::show(kinds::Measured interval) {
    if (records_) records_->interrupt();
    if (live_) live_->interval(std::move(interval));
    if (plan_.live || plan_.remote) return;
    if (parser_.header()->silent || (plan_.keep && plan_.keep->own_intervals)) return;
    put_names(interval);
    present(std::cout, {&interval, 1}, plan_.presentation, intervals_);
}

void Measurement::put_names(kinds::Measured& measured) {
    // Names of this machine are never refused.
    auto facts = session_.facts();
    facts.outcome.group_names = namer_.group_names();
    facts.outcome.code = namer_.code_names();
    facts.setup.kernel.architecture = machine_.running_architecture();
    (void)namer_.put_into(measured, facts);
    put_meanings(measured, catalog_);
}

/// The reason of a run that ended though nobody asked it to, before -d or -n was over.
std::string early_end_text(const Measurement& measurement, std::chrono::nanoseconds measured, const MeasurePlan& plan) {
    const auto after =
        fmt::format("after {}, before {} had passed", base::format_duration(measured), plan.duration ? "-d" : "-n");
    return measurement.is_closed() ? fmt::format("the script ended {}", after)
                                   : fmt::format("the run ended {}: stapio was terminated", after);
}

}  // namespace

launch::LoadJob load_job_of(const host::Target& target, const std::filesystem::path& module, const MeasurePlan& plan) {
    launch::LoadJob job;
    job.target = target;
    job.cache = base::cache_directory();
    job.options.module = module;
    job.options.target_id = plan.filters.target_id;
    job.options.buffer_mb = plan.buffer_mb;
    job.options.globals = plan.filters.globals;
    return job;
}

base::Result<void> measure(const host::System& machine, const recipe::Catalog& catalog, launch::LoadJob job,
                           const std::string& name, const MeasurePlan& plan, Recorder* recorder, Keeper* keeper) {
    Measurement measurement(machine, catalog, name, plan, recorder, keeper);
    job.handlers = measurement.handlers();
    if (keeper != nullptr) keeper->learn_module(job);
    if (!plan.quiet) base::print_message(host::left_module_warnings(machine));
    if (plan.remote) {
        if (auto go = RemoteControl::wait_for_go(); !go) return go;
    }
    measurement.begin_loading();
    STAPGEN_LET(auto end, launch::load(machine, job));
    const auto measured = measurement.measured();
    auto shown = measurement.finish({end.losses, end.broke_off, end.ending.interrupted});
    if (!plan.quiet) {
        const bool asked = end.ending.interrupted || end.ending.was_stopped;
        if (!asked && !end.failure && (plan.duration || plan.intervals))
            base::print_message(early_end_text(measurement, measured, plan));
        base::print_message(messages_of(end));
    }
    base::print_message(end.cleanup);
    if (end.failure) return tl::make_unexpected(*end.failure);
    if (end.ending.gave_up) {
        return base::failed("SystemTap was not given time to end; the report may lack the last records",
                            "press Ctrl-C once and wait");
    }
    if (!shown || recorder == nullptr) return shown;
    return recorder->outcome();
}

base::Result<void> measure_counters(const host::System& machine, const recipe::Catalog& catalog,
                                    host::CounterLines& lines, const std::string& name,
                                    std::chrono::milliseconds interval, const MeasurePlan& plan, Recorder* recorder,
                                    Keeper* keeper) {
    Measurement measurement(machine, catalog, name, plan, recorder, keeper);
    if (plan.remote) {
        if (auto go = RemoteControl::wait_for_go(); !go) return go;
    }
    const auto ending = launch::count(lines, interval, measurement.handlers());
    auto shown = measurement.finish({{}, {}, ending.interrupted});
    if (!shown || recorder == nullptr) return shown;
    return recorder->outcome();
}

}  // namespace stapgen::session
