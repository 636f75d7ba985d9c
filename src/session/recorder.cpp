// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/build_facts.h"
#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "host/facts.h"
#include "host/net_counters.h"

namespace stapgen::session {

base::Result<recording::Setup> recorded_setup(const host::System& machine, const MeasurePlan& plan,
                                              const std::filesystem::path& hashed) {
    STAPGEN_LET(const auto content, base::read_file(hashed));
    auto setup = setup_of(machine, plan);
    setup.sha256 = base::sha256(content);
    setup.stapgen_version = base::build_facts.version;
    // Those of `time` fields, and of the first number of ready, tick and end.
    setup.clocks = {{"time", "CLOCK_MONOTONIC"}, {"epoch", "CLOCK_REALTIME"}};
    setup.kernel = host::read_kernel_identity(machine);
    return setup;
}

base::Result<std::unique_ptr<Recorder>> Recorder::create(const host::System& machine, const MeasurePlan& plan,
                                                         const std::filesystem::path& hashed) {
    if (!plan.output) return nullptr;
    STAPGEN_LET(auto setup, recorded_setup(machine, plan, hashed));
    return create(machine, plan, std::move(setup));
}

base::Result<std::unique_ptr<Recorder>> Recorder::create(const host::System& machine, const MeasurePlan& plan,
                                                         recording::Setup setup) {
    auto recorder = std::unique_ptr<Recorder>(new Recorder(machine, plan));
    STAPGEN_LET(auto writer, recording::Writer::create(*plan.output, plan.rotation));
    recorder->writer_ = std::move(writer);
    recorder->setup_ = std::move(setup);
    return recorder;
}

std::unique_ptr<Recorder> Recorder::to_lines(const host::System& machine, const MeasurePlan& plan,
                                             recording::Setup setup, std::function<void(std::string_view line)> take) {
    auto recorder = std::unique_ptr<Recorder>(new Recorder(machine, plan));
    recorder->writer_ = recording::Writer::to_lines(std::move(take));
    recorder->setup_ = std::move(setup);
    return recorder;
}

recording::Setup Recorder::setup(Namer& namer) {
    auto setup = setup_;
    setup.kernel.modules = host::read_loaded_modules(machine_);
    setup.counters = host::read_net_counters(machine_);
    if (header_ == nullptr) return setup;
    put_recipe(plan_, header_->recipe, setup);
    setup.group_names = namer.group_names();
    if (!schema::has_type(*header_, schema::FieldType::reason)) return setup;
    if (const auto* reasons = namer.reasons()) setup.drop_reasons.insert(reasons->begin(), reasons->end());
    return setup;
}

recording::Outcome Recorder::outcome_so_far(Namer& namer) {
    recording::Outcome outcome;
    outcome.net_counters = host::read_net_counters(machine_);
    outcome.group_names = namer.group_names();
    outcome.code = namer.code_names();
    for (const auto address : addresses_) {
        const auto symbol = namer.find(address);
        if (!symbol) continue;
        outcome.addresses.push_back(
            {address, std::string(symbol->name), symbol->offset, std::string(symbol->module.value_or(""))});
    }
    return outcome;
}

void Recorder::line(std::string_view text, bool cut, const decode::Line& parsed, Namer& namer) {
    if (const auto* first = std::get_if<decode::HeaderLine>(&parsed)) {
        header_ = first->header;
        flushed_ = std::chrono::steady_clock::now();
    }
    held_.push_back(cut ? fmt::format("(cut) {}", text) : std::string(text));
    const bool declares =
        std::holds_alternative<decode::HeaderLine>(parsed) || std::holds_alternative<decode::FieldsLine>(parsed);
    if (!declares || writer_->lines() > 0) write_held(namer);
    report_failure();
    const auto* record = std::get_if<decode::Record>(&parsed);
    if (record == nullptr) return;
    if (record->schema->index > 0 && samples_code(*record->schema)) return;  // they are not the kernel's
    const auto note = [this](std::uint64_t address) {
        constexpr std::size_t most = 4096;
        if (addresses_.size() < most) addresses_.insert(address);
    };
    for (std::size_t i = 0; i < record->values.size(); ++i) {
        const auto& value = record->values[i];
        const auto type = record->schema->fields[i].type;
        if (type == decode::FieldType::address) note(value.address());
        if (type == decode::FieldType::stack) std::ranges::for_each(decode::stack_addresses(value.raw), note);
    }
}

void Recorder::kept_line(std::string_view text) {
    writer_->line(fmt::format("{}\t{}", schema::kept_word, text));
    report_failure();
}

void Recorder::write_held(Namer& namer) {
    for (const auto& line : std::exchange(held_, {})) {
        if (writer_->is_full()) writer_->rotate(outcome_so_far(namer));
        if (writer_->needs_part()) writer_->begin_part(setup(namer));
        writer_->line(line);
    }
}

void Recorder::tick(Namer& namer) {
    constexpr std::chrono::milliseconds period{500};
    const auto now = std::chrono::steady_clock::now();
    if (now - flushed_ < period) return;
    flushed_ = now;
    // A run that has no records yet: all declarations come at once.
    write_held(namer);
    writer_->flush();
    report_failure();
}

void Recorder::end(const kinds::Measured& measured, Namer& namer, std::int64_t kept_since_epoch_ns) {
    write_held(namer);
    auto outcome = outcome_so_far(namer);
    static_cast<recording::RunEnd&>(outcome) = measured;
    outcome.clock = measured.cost;
    outcome.kept_since_epoch_ns = kept_since_epoch_ns;
    writer_->end(std::move(outcome));
    report_failure();
}

void Recorder::report_failure() {
    if (!writer_->failure() || std::exchange(reported_, true)) return;
    auto error = *writer_->failure();
    error.what += "; the measurement continues without its recording";
    base::show_error(error);
}

base::Result<void> Recorder::outcome() const {
    if (!writer_->failure()) return {};
    return base::failed(fmt::format("the recording {} is incomplete: it ends at or shortly before line {}",
                                    plan_.output->string(), writer_->lines()),
                        "the report above is complete; record again to a disk with more space");
}

}  // namespace stapgen::session
