#include "session/recorder.h"

#include <fmt/format.h>

#include "base/build_facts.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/terminal.h"
#include "base/text.h"
#include "host/facts.h"
#include "host/net_counters.h"
#include "session/origin.h"

namespace stapgen::session {

namespace {

base::Result<std::string> sha256_of(const std::filesystem::path& file) {
    const auto content = base::read_file(file);
    if (!content) return tl::make_unexpected(content.error());
    return base::sha256(*content);
}

bool has_field(const decode::Header& header, decode::FieldType type) {
    for (const auto& schema : header.schemas) {
        for (const auto& field : schema.fields) {
            if (field.type == type) return true;
        }
    }
    return false;
}

}  // namespace

base::Result<std::unique_ptr<Recorder>> Recorder::create(const host::System& machine, const MeasurePlan& plan,
                                                         const RecordedOrigin& origin) {
    if (!plan.output) return nullptr;
    auto hash = sha256_of(origin.hashed);
    if (!hash) return tl::make_unexpected(hash.error());
    auto recorder = std::unique_ptr<Recorder>(new Recorder(machine, plan));
    auto writer =
        recording::Writer::create(*plan.output, plan.rotation,
                                  {[self = recorder.get()] { return self->head(); },
                                   [self = recorder.get()](bool continued) { return self->tail(continued); }});
    if (!writer) return tl::make_unexpected(writer.error());
    recorder->writer_ = *std::move(writer);

    auto& known = recorder->known_;
    known.command = host::own_command(machine);
    known.parameters = origin.parameters;
    known.filters = plan.filters.as_typed;
    known.hash_of = origin.hash_of;
    known.sha256 = *std::move(hash);
    known.stapgen_version = base::build_facts.version;
    known.stap_version = origin.stap_version;
    // Those of `time` fields, and of the first number of ready, tick and end.
    known.clocks = {{"time", "CLOCK_MONOTONIC"}, {"epoch", "CLOCK_REALTIME"}};
    auto identity = host::read_identity(machine);
    known.host = std::move(identity.host_name);
    known.release = std::move(identity.release);
    known.build_id = std::move(identity.build_id);
    known.architecture = std::move(identity.architecture);
    known.text = identity.text;
    known.stext = identity.stext;
    known.etext = identity.etext;
    return recorder;
}

recording::Head Recorder::head() {
    auto head = known_;
    head.modules = host::read_loaded_modules(machine_);
    head.counters = host::read_net_counters(machine_);
    if (header_ == nullptr) return head;
    head.recipe = header_->recipe;
    if (!has_field(*header_, decode::FieldType::reason)) return head;
    if (const auto* reasons = names_.reasons()) head.drop_reasons.insert(reasons->begin(), reasons->end());
    return head;
}

recording::Tail Recorder::tail(bool continued) {
    auto tail = continued ? recording::Tail{} : last_;
    tail.counters = host::read_net_counters(machine_);
    for (const auto address : addresses_) {
        const auto symbol = names_.find(address);
        if (!symbol) continue;
        tail.addresses.push_back(
            {address, std::string(symbol->name), symbol->offset, std::string(symbol->module.value_or(""))});
    }
    return tail;
}

void Recorder::line(std::string_view text, bool cut, const decode::Header* header) {
    header_ = header;
    writer_->line(cut ? fmt::format("(cut) {}", text) : text);
    tell_failure();
}

void Recorder::record(const decode::Record& record) {
    constexpr std::size_t most = 4096;
    for (std::size_t i = 0; i < record.values.size(); ++i) {
        const bool is_address = record.schema->fields[i].type == decode::FieldType::address;
        if (is_address && addresses_.size() < most) addresses_.insert(record.values[i].address());
    }
}

void Recorder::tick() {
    constexpr std::chrono::milliseconds period{500};
    const auto now = std::chrono::steady_clock::now();
    if (now - flushed_ < period) return;
    flushed_ = now;
    writer_->flush();
    tell_failure();
}

void Recorder::end(const analyze::Summary& summary) {
    const auto& transport = summary.transport;
    last_.skipped_probes = transport.skipped_probes;
    for (const auto& [function, count] : transport.skipped_by)
        last_.skipped_by[function] = count;
    last_.probe_errors = transport.probe_errors;
    last_.transport_failures = transport.transport_failures;
    last_.enough_buffer_mb = transport.enough_buffer_mb;
    last_.broke_off = summary.broke_off;
    last_.cycles_per_s = summary.cost.cycles_per_s;
    last_.measured_ns = summary.cost.measured_ns;
    last_.cpus = summary.cost.cpus;
    last_.expected_hits = summary.cost.expected_hits;
    last_.clock_set_ns = summary.clock_set_ns;
    last_.suspended_ns = summary.suspended_ns;
    for (const auto& [name, help, count] : summary.counters)
        last_.counter_rises.push_back({name, help, count});
    writer_->end();
    tell_failure();
}

void Recorder::tell_failure() {
    if (!writer_->failure() || told_) return;
    told_ = true;
    auto error = *writer_->failure();
    error.what += "; the measurement goes on without its recording";
    base::show_error(error);
}

base::Result<void> Recorder::outcome() const {
    if (!writer_->failure()) return {};
    return base::failed(fmt::format("the recording {} is not whole: it ends at line {} or a little before",
                                    plan_.output->string(), writer_->lines()),
                        "the report above has all; record again where there is more room");
}

}  // namespace stapgen::session
