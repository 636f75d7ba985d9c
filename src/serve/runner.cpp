// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/runner.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <thread>

#include "analyze/results.h"
#include "base/exit_codes.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "host/counter_lines.h"
#include "kinds/counts/counts.h"
#include "recipe/catalog.h"
#include "recording/identity.h"
#include "session/measured_facts.h"

namespace stapgen::serve {

namespace {

/// The exit code of a child that is stapgen.
Failure failure_of(const launch::Ending& ending) {
    if (ending.signal != 0) return Failure::killed;
    if (ending.exit_code == 0) return Failure::ended;
    switch (base::kind_of_exit_code(ending.exit_code).value_or(base::ErrorKind::failed)) {
        case base::ErrorKind::bad_input:
            return Failure::refused;
        case base::ErrorKind::cannot_here:
            return Failure::cannot;
        case base::ErrorKind::over_budget:
            return Failure::over_budget;
        default:
            return Failure::failed;
    }
}

std::string reason_of(const launch::Ending& ending, const std::string& said) {
    if (ending.signal != 0) return fmt::format("ended by signal {}", ending.signal);
    const auto reason = session::reason_of(said);
    return reason.empty() ? fmt::format("it ended with exit code {}", ending.exit_code) : reason;
}

/// The counters of losses that there are, each as if it had risen by 0.
kinds::Measured zero_losses(const recipe::Recipe& recipe, const host::System& machine) {
    kinds::Measured measured;
    measured.recipe = recipe.name;
    auto& counts = measured.of<rows::OfInterval<rows::Count>>();
    counts.is_there = true;
    for (const auto& [id, value] : host::read_counters(machine)) {
        const auto* meaning = recipe::meaning_of(recipe, id.name);
        if (meaning == nullptr || !meaning->loss) continue;
        counts.push_back({{.group = {{"name", id.name}, {"of", id.of}}}});
    }
    const auto& fields = recipe.record.fields;
    const auto counted = std::ranges::find(fields, schema::FieldType::count, &schema::Field::type);
    if (counted != fields.end()) measured.one<rows::Counting>().counted = counted->name;
    session::put_meanings(measured, recipe);
    return measured;
}

}  // namespace

std::chrono::seconds wait_after(std::chrono::seconds before, std::chrono::nanoseconds lasted,
                                std::chrono::seconds first) {
    if (before == std::chrono::seconds(0) || lasted >= longest_wait) return first;
    return std::min(2 * before, longest_wait);
}

Runner::Runner(const RecipeJob& job, const host::System& machine, SeriesLimit& limit, const std::atomic<int>& stop)
    : job_(job), machine_(machine), stop_(stop), totals_(job.name, limit) {
    status_.recipe = job.name;
    // So that what is lost first is a rise, too.
    if (job.recipe.source == recipe::Source::network_counters)
        totals_.add(analyze::results_of(zero_losses(job.recipe, machine)));
}

Status Runner::status() const {
    const std::lock_guard lock(mutex_);
    auto status = status_;
    status.measured = totals_.results();
    status.kept_out = totals_.kept_out();
    return status;
}

bool Runner::cannot_begin() const {
    const std::lock_guard lock(mutex_);
    return status_.state == State::waiting && status_.starts == 1 && status_.last_failure == Failure::cannot &&
           !status_.last_interval_ns;
}

void Runner::set_state(State state) {
    const std::lock_guard lock(mutex_);
    status_.state = state;
}

void Runner::run() {
    std::chrono::seconds waited{0};
    while (stop_ == 0) {
        {
            const std::lock_guard lock(mutex_);
            status_.state = State::starting;
            ++status_.starts;
        }
        const auto begun = Clock::now();
        const auto end = run_guarded();
        if (stop_ > 0) break;
        waited = wait_after(waited, Clock::now() - begun, job_.wait);
        {
            const std::lock_guard lock(mutex_);
            status_.state = State::waiting;
            status_.last_failure = end.failure;
            status_.why = end.why;
            ++status_.failures.at(static_cast<std::size_t>(end.failure));
        }
        base::print_message(fmt::format("{}: {}; restarting in {} s", job_.name, end.why, waited.count()));
        wait(waited);
    }
    set_state(State::ended);
}

void Runner::wait(std::chrono::seconds time) {
    const auto until = Clock::now() + time;
    while (stop_ == 0 && Clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

Runner::End Runner::run_guarded() {
    try {
        return run_once();
    } catch (const std::exception& error) {
        return {Failure::failed, error.what()};
    }
}

Runner::End Runner::run_once() {
    Child child;
    launch::Command command;
    command.argv = job_.argv;
    command.environment = job_.environment;
    command.takes_input = true;
    launch::Handlers handlers;
    handlers.handles_signals = false;
    handlers.bytes = [&](std::string_view bytes, launch::Control&) {
        auto fed = child.stream.feed(bytes);
        if (fed.has_begun) begin(child);
        for (auto& interval : fed.intervals)
            add(child, std::move(interval));
    };
    handlers.error = [&](launch::Line line, launch::Control&) { on_error_line(child, line.text); };
    handlers.tick = [&](launch::Control& control) { tick(child, control); };
    const auto ending = launch::run_child(command, handlers);
    finish(child);
    if (!ending) return {Failure::cannot, ending.error().what};
    if (child.stream.is_damaged()) return {Failure::failed, "its output is damaged"};
    return {failure_of(*ending), reason_of(*ending, child.said.text())};
}

void Runner::on_error_line(Child& child, std::string_view line) {
    if (const auto status = session::parse_status(line)) {
        child.is_ready = child.is_ready || !status->is_measuring;
        return;
    }
    if (auto kept = session::parse_kept(line)) {
        base::print_message(fmt::format("{}: kept {}", job_.name, kept->file));
        const std::lock_guard lock(mutex_);
        ++status_.kept;
        status_.last_kept = std::move(kept);
        return;
    }
    child.said.add(line);
    constexpr std::string_view name = "stapgen: ";
    base::print_message(fmt::format("{}: {}", job_.name, line.substr(line.starts_with(name) ? name.size() : 0)));
}

void Runner::tick(Child& child, launch::Control& control) {
    if (child.is_ready && !std::exchange(child.has_begun, true)) {
        if (stop_ == 0) {
            control.write("go\n");
        } else {
            control.request_stop();
        }
    }
    if (child.stream.is_damaged()) control.request_stop();
    if (stop_ > child.heeded) {
        child.heeded = stop_;
        // A child that is not measuring yet does not look at its stdin.
        if (child.heeded == 1 && child.has_begun) {
            control.request_stop();
        } else {
            ::kill(control.pid(), SIGTERM);
        }
    }
    if (Clock::now() - child.looked_at < std::chrono::seconds(1)) return;
    child.looked_at = Clock::now();
    const auto use = host::use_of_tree(machine_, control.pid());
    child.use = {std::max(child.use.cpu, use.cpu), use.resident_bytes};
    const std::lock_guard lock(mutex_);
    status_.use = {use_before_.cpu + child.use.cpu, use.resident_bytes};
    take(child);
}

void Runner::begin(Child& child) {
    const auto& setup = child.stream.session().facts().setup;
    if (!job_.recipe.counters.empty()) child.counters_before = host::read_net_counters(machine_);
    const std::lock_guard lock(mutex_);
    status_.state = State::measuring;
    status_.probes = setup.functions;
    status_.sample = recording::sample_of(setup.filters);
}

void Runner::add(Child& child, kinds::Measured interval) {
    child.said.clear();
    names_.put_into(interval, child.stream.session().facts());
    session::put_meanings(interval, job_.recipe);
    const std::lock_guard lock(mutex_);
    totals_.add(analyze::results_of(interval));
    status_.last_interval_ns = base::now_epoch_ns();
    take(child);
}

/// The run's facts so far.
void Runner::take(Child& child) {
    const auto& session = child.stream.session();
    kinds::Measured run;
    run.transport = session.facts().outcome.transport;
    if (session.analyzer()) {
        run.accounting = session.analyzer()->accounting();
        run.input = child.stream.parser().input();
        if (auto origin = session.facts().setup.origin(); !origin.host.empty()) run.origins = {std::move(origin)};
    }
    if (!child.counters_before.empty()) {
        const auto now = host::read_net_counters(machine_);
        for (const auto& [name, help] : job_.recipe.counters)
            run.counters.push_back({name, help, host::difference(child.counters_before, now, name)});
    }
    totals_.set_run(analyze::results_of(run));
}

void Runner::finish(Child& child) {
    auto& session = child.stream.session();
    const auto cost = session.measured().cost;
    const auto probes_ns = cost.ns(cost.cycles());
    const std::lock_guard lock(mutex_);
    take(child);
    totals_.end_run();
    if (!cost.probes.empty() && probes_ns) status_.probe_cpu_s = status_.probe_cpu_s.value_or(0) + *probes_ns / 1e9;
    use_before_.cpu += child.use.cpu;
    status_.use = use_before_;
}

}  // namespace stapgen::serve
