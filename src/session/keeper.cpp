// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "base/files.h"
#include "base/saturate.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "host/module_files.h"
#include "launch/module_file.h"
#include "recipe/recipe.h"
#include "table/texts.h"

namespace stapgen::session {

namespace fs = std::filesystem;

namespace {

/// Of stapgen_keep.stp.
constexpr const char* order_file = "keep";
constexpr std::string_view end_word = "end\t", file_end = ".kept.rec";

/// "rx-latency-20261129T031207.104Z.kept.rec": by name they are in the order of time.
std::string file_name(const std::string& recipe, std::int64_t epoch_ns) {
    return fmt::format("{}-{}{}", recipe, table::time_for_name(epoch_ns, 3), file_end);
}

bool is_kept_of(std::string_view name, const std::string& recipe) {
    if (!name.starts_with(recipe + "-") || !name.ends_with(file_end)) return false;
    const auto time = name.substr(recipe.size() + 1, name.size() - recipe.size() - 1 - file_end.size());
    return base::match("*T*.*Z", time) &&
           std::ranges::all_of(time, [](char c) { return base::is_digit(c) || c == 'T' || c == '.' || c == 'Z'; });
}

std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

void remove_oldest_kept(const fs::path& folder, const std::string& recipe, const recording::Rotation& most) {
    std::uint64_t bytes = 0;
    std::int64_t files = 0;
    auto names = base::names_in(folder);
    std::ranges::sort(names, std::greater());
    for (const auto& name : names) {
        std::error_code error;
        const auto path = folder / name;
        if (!is_kept_of(name, recipe) || !fs::is_regular_file(fs::symlink_status(path, error))) continue;
        bytes += fs::file_size(path, error);
        ++files;
        if (files > 1 && (bytes > most.bytes || (most.files > 0 && files > most.files))) fs::remove(path, error);
    }
}

base::Result<std::unique_ptr<Keeper>> Keeper::create(const host::System& machine, const MeasurePlan& plan,
                                                     const fs::path& hashed, Recorder* whole) {
    if (!plan.keep) return nullptr;
    std::error_code error;
    if (!plan.keep->in_recording() && !fs::is_directory(plan.keep->folder, error)) {
        return base::bad_input(fmt::format("--keep-in {}: there is no such folder", plan.keep->folder.string()),
                               "make it, or name one that is there");
    }
    STAPGEN_LET(auto setup, recorded_setup(machine, plan, hashed));
    return std::unique_ptr<Keeper>(new Keeper(machine, plan, std::move(setup), whole));
}

Keeper::Keeper(const host::System& machine, const MeasurePlan& plan, recording::Setup setup, Recorder* whole)
    : machine_(machine),
      plan_(plan),
      keep_(*plan.keep),
      setup_(std::move(setup)),
      whole_(whole),
      watcher_(plan.keep->conditions, true) {
    clocks_.emplace_back(now_ns(), host::read_clock_offsets());
}

void Keeper::learn_module(launch::LoadJob& job) {
    job.handlers.started = [this, &job](launch::Control& control) {
        const auto name = job.options.module.stem().string();
        module_ = job.options.is_signed ? name : launch::loaded_name(name, control.pid());
    };
}

bool Keeper::take(std::string_view text, bool cut, Namer& namer) {
    if (!text.starts_with(schema::kept_word) || !text.substr(schema::kept_word.size()).starts_with('\t')) return false;
    text.remove_prefix(schema::kept_word.size() + 1);
    if (!recording_ || cut) return true;
    if (!text.starts_with(end_word)) {
        feed(text, namer);
        return true;
    }
    const auto fields = base::split(text.substr(end_word.size()), '\t');
    const auto number = [&](std::size_t i) {
        return i < fields.size() ? std::max<std::int64_t>(base::to_int(fields[i]).value_or(0), 0) : 0;
    };
    feed(fmt::format("end\t{}\tseen={}\treported={}\tlost.not-kept={}", epoch_of(now_ns()), number(0) + number(2),
                     number(0), number(2)),
         namer);
    close({}, number(1), namer);
    return true;
}

void Keeper::line(std::string_view text, bool cut, const decode::Line& line, Namer& namer) {
    if (const auto* first = std::get_if<decode::HeaderLine>(&line)) {
        // What is kept are single records.
        auto header = *first->header;
        header.aggregated = header.silent = false;
        declared_.push_back(header.line());
        // It is a part of files' names.
        recipe_ = recipe::is_name(header.recipe) ? header.recipe : "kept";
        if (!first->header->aggregated) lines_.emplace(keep_.before, keep_.memory);
        const bool has_reasons = schema::has_type(header, schema::FieldType::reason);
        if (const auto* names = has_reasons ? namer.reasons() : nullptr; names != nullptr)
            watcher_.name_reasons({names->begin(), names->end()});
    } else if (std::holds_alternative<decode::FieldsLine>(line)) {
        declared_.emplace_back(text);
    } else if (const auto* ready = std::get_if<decode::Ready>(&line)) {
        begin(*ready);
    } else if (lines_ && ready_) {
        line_of_all(text, cut, line, namer);
    }
    for (const auto& met : watcher_.add(line)) {
        if (!met.anew) continue;
        if (keep_.in_recording()) {
            values_.insert_or_assign(met.condition + 1, met.value);
            say({met.condition + 1, met.value});
            continue;
        }
        const auto& condition = watcher_.conditions()[met.condition];
        ask(condition.text(), condition.value_text(met.value), met.epoch_ns, namer);
    }
    if (!refusal_) refusal_ = watcher_.refusal();
}

void Keeper::begin(const decode::Ready& ready) {
    ready_ = ready;
    clocks_at_ready_ = host::read_clock_offsets();
    if (lines_) {
        lines_->begin(now_ns());
    } else if (!host::has_module_file(module_, order_file)) {
        refusal_ = base::Error{base::ErrorKind::bad_input, "--keep: this module aggregates and keeps no records",
                               "build it with --keep-memory 32MiB, or without --aggregate"};
    }
}

void Keeper::line_of_all(std::string_view text, bool cut, const decode::Line& line, Namer& namer) {
    const auto* tick = std::get_if<decode::Tick>(&line);
    const auto* end = std::get_if<decode::End>(&line);
    if (!cut && end == nullptr) lines_->add(text, line, now_ns());
    if (!recording_) return;
    if (end != nullptr) return feed(lines_->counts_line("end", end->epoch_ns, end->counts), namer);
    if (tick == nullptr) return feed(cut ? fmt::format("(cut) {}", text) : std::string(text), namer);
    const bool is_over = now_ns() >= recording_->until_ns;
    feed(lines_->counts_line(is_over ? "end" : "tick", tick->epoch_ns, tick->counts), namer);
    if (is_over) close({}, recording_->since_ns, namer);
}

void Keeper::ask(const std::string& condition, const std::string& value, std::int64_t at_epoch_ns, Namer& namer) {
    const auto now = now_ns();
    const std::int64_t pause_ns = std::chrono::nanoseconds(kept_at_most_every).count();
    if (!ready_ || recording_ || (last_ns_ && now - *last_ns_ < pause_ns)) {
        ++unkept_;
        return;
    }
    last_ns_ = now;
    keep({condition, value, at_epoch_ns}, namer);
}

/// At most once a second: whoever steers it decides.
void Keeper::say(const HeldCondition& held) {
    ++unkept_;
    if (said_ns_ && now_ns() - *said_ns_ < 1'000'000'000) return;
    said_ns_ = now_ns();
    std::cerr << held_line(held) << std::flush;
}

void Keeper::take(const KeepOrder& order, Namer& namer) {
    const auto& conditions = watcher_.conditions();
    if (!keep_.in_recording() || !ready_ || recording_ || order.number > conditions.size()) return;
    recording::Kept kept{order.number == 0 ? "SIGUSR1" : conditions[order.number - 1].text(), "", epoch_of(now_ns())};
    kept.moment = order.moment;
    const auto value = values_.find(order.number);
    if (!order.host.empty()) {
        kept.condition = order.host + ": " + kept.condition;
    } else if (value != values_.end()) {
        kept.value = conditions[order.number - 1].value_text(value->second);
    }
    // The one that is kept was said, too.
    if (order.host.empty() && unkept_ > 0) --unkept_;
    keep(std::move(kept), namer);
}

void Keeper::keep(recording::Kept kept, Namer& namer) {
    kept.before_ns = keep_.before.count();
    kept.after_ns = keep_.after.count();
    kept.unkept = std::exchange(unkept_, 0);
    if (auto begun = begin(std::move(kept), namer); !begun) {
        base::show_error(begun.error());
        recording_.reset();
    }
}

base::Result<void> Keeper::begin(recording::Kept kept, Namer& namer) {
    auto& made = recording_.emplace();
    const auto at_ns = now_ns();
    made.begin_ns = lines_ ? lines_->begin_ns() : std::max(at_ns - keep_.before.count(), ready_->monotonic_ns);
    made.until_ns = at_ns + keep_.after.count();
    const auto change = host::change_of(clocks_at_ready_, clocks_at(made.begin_ns));
    made.shift_ns = change.set_ns + change.suspended_ns;
    base::add_saturating(kept.at_epoch_ns, made.shift_ns);
    made.plan = plan_;
    made.plan.output = keep_.in_recording() ? "-" : keep_.folder / file_name(recipe_, kept.at_epoch_ns);
    // It is one file, and ends where a second one would begin.
    made.plan.rotation = {keep_.most.bytes, 0};
    auto setup = setup_;
    made.kept_at_epoch_ns = kept.at_epoch_ns;
    setup.kept = std::move(kept);
    if (keep_.in_recording()) {
        made.recorder = Recorder::to_lines(machine_, made.plan, std::move(setup),
                                           [this](std::string_view line) { whole_->kept_line(line); });
    } else {
        STAPGEN_LET(made.recorder, Recorder::create(machine_, made.plan, std::move(setup)));
    }
    if (lines_) {
        made.since_ns = lines_->since_ns(at_ns);
        feed_begin(namer);
        lines_->give_out(made.shift_ns, [&](std::string_view line) { feed(line, namer); });
        return {};
    }
    // Before the first line: where the module does not take it no file stays.
    STAPGEN_TRY(host::write_module_file(module_, order_file,
                                        fmt::format("{} {}\n", keep_.before.count(), keep_.after.count())));
    feed_begin(namer);
    return {};
}

/// It begins with the seconds before, and not with the run.
void Keeper::feed_begin(Namer& namer) {
    for (const auto& line : declared_)
        feed(line, namer);
    feed(fmt::format("ready\t{}\t{}", epoch_of(recording_->begin_ns), recording_->begin_ns), namer);
}

std::int64_t Keeper::epoch_of(std::int64_t ns) const {
    const auto run = base::saturating_subtract(ready_->epoch_ns, ready_->monotonic_ns);
    return base::saturating_add(base::saturating_add(ns, run), recording_ ? recording_->shift_ns : 0);
}

/// Clocks are set, and machines suspended, while nothing is kept, too.
void Keeper::look_at_clocks() {
    const auto clocks = host::read_clock_offsets();
    const auto change = host::change_of(clocks_.back().second, clocks);
    if (change.set_ns == 0 && change.suspended_ns == 0) return;
    const auto oldest_ns = now_ns() - keep_.before.count();
    clocks_.emplace_back(now_ns(), clocks);
    while (!recording_ && clocks_.size() > 2 && clocks_[1].first < oldest_ns)
        clocks_.erase(clocks_.begin());
}

const host::ClockOffsets& Keeper::clocks_at(std::int64_t ns) const {
    const auto later = std::ranges::find_if(clocks_, [&](const auto& since) { return since.first > ns; });
    return later == clocks_.begin() ? later->second : std::prev(later)->second;
}

void Keeper::feed(std::string_view text, Namer& namer) {
    auto& made = *recording_;
    if (made.recorder->is_full()) return;
    const auto parsed = made.parser.feed(text);
    made.recorder->line(text, false, parsed, namer);
}

void Keeper::close(std::string broke_off, std::int64_t since_ns, Namer& namer) {
    auto& made = *recording_;
    kinds::Measured measured;
    measured.broke_off = made.recorder->is_full() ? "it is as large as --keep-most lets it be" : std::move(broke_off);
    look_at_clocks();
    const auto& clocks = clocks_at(made.begin_ns);
    const auto change = host::change_of(clocks, clocks_.back().second);
    measured.clock_set_ns = change.set_ns;
    measured.suspended_ns = change.suspended_ns;
    made.recorder->end(measured, namer, since_ns > 0 ? epoch_of(since_ns) : 0);
    if (plan_.remote) {
        const auto file = keep_.in_recording() ? "-" : fs::absolute(*made.plan.output).string();
        std::cerr << kept_line({made.kept_at_epoch_ns, file}) << std::flush;
    } else if (!plan_.quiet) {
        base::print_message(fmt::format("kept {}", made.plan.output->string()));
    }
    recording_.reset();
    if (!keep_.in_recording()) remove_oldest_kept(keep_.folder, recipe_, keep_.most);
}

void Keeper::tick(Namer& namer) {
    look_at_clocks();
    if (asked_.take()) {
        if (keep_.in_recording()) {
            say({});
        } else {
            ask("SIGUSR1", "", ready_ ? epoch_of(now_ns()) : 0, namer);
        }
    }
    if (!recording_) return;
    recording_->recorder->tick(namer);
    constexpr std::int64_t timeout_ns = 60'000'000'000;
    if (now_ns() - recording_->until_ns > timeout_ns) {
        close(lines_ ? "no interval ended: build the module with -i 1" : "the module did not print all that was kept",
              0, namer);
    }
}

void Keeper::end(Namer& namer) {
    if (recording_) close("the measurement ended while it was kept", 0, namer);
    if (unkept_ > 0 && !plan_.quiet && !keep_.in_recording()) {
        base::print_message(
            fmt::format("conditions held {} more times, which were not kept: at most one recording is made in {} s",
                        unkept_, kept_at_most_every.count()));
    }
}

}  // namespace stapgen::session
