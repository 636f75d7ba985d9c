// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "recording/identity.h"

namespace stapgen::session {

rows::Kept kept_row(const recording::Kept& kept) {
    constexpr std::size_t most_bytes = 320;
    return {.condition = std::string(base::whole_characters(kept.condition, most_bytes)),
            .value = std::string(base::whole_characters(kept.value, most_bytes)),
            .at = kept.at_epoch_ns,
            .before_ns = std::max<std::int64_t>(kept.before_ns, 0),
            .after_ns = std::max<std::int64_t>(kept.after_ns, 0),
            .unkept = std::max<std::int64_t>(kept.unkept, 0)};
}

namespace {

/// With how much of the time before had no room.
rows::Kept kept_row_of(const recording::RunFacts& facts) {
    auto row = kept_row(facts.setup.kept);
    const auto since = facts.outcome.kept_since_epoch_ns;
    const auto missing = base::saturating_subtract(since, base::saturating_subtract(row.at, row.before_ns));
    // Until the module has the order a little time passes.
    if (since > 0 && missing > 1'000'000'000) row.missing_ns = missing;
    return row;
}

}  // namespace

Session::Session(const Presentation& presentation, SessionOptions options)
    : presentation_(presentation), events_(options.events), selector_(std::move(options.selection)) {
    options_.slowest = presentation.slowest;
    options_.keep_intervals = options.keep_intervals;
    options_.resolution_ns = options.resolution_ns;
    options_.keep_series = options.keep_series;
}

void Session::begin(const decode::Header& header) {
    if (auto can = check_aggregated(presentation_, events_, header); !can) {
        refusal_ = can.error();
        return;
    }
    if (auto can = selector_.check(header); !can) {
        refusal_ = can.error();
        return;
    }
    options_.group_by = group_fields(presentation_, header);
    options_.max_groups = presentation_.max_groups;
    options_.explains = presentation_.explains;
    options_.explains_groups = presentation_.explains && presentation_.by && !presentation_.by->empty();
    auto analyzer = analyze::Analyzer::create(header, options_);
    if (!analyzer) {
        refusal_ = analyzer.error();
    } else if (events_ && analyzer->measured().counts()) {
        refusal_ = base::Error{base::ErrorKind::bad_input, "--events: the records of this recipe are counts",
                               "omit it: the report has a row for each of them"};
    } else {
        analyzer_ = *std::move(analyzer);
    }
}

Added Session::add(const decode::Line& line) {
    if (const auto* record = std::get_if<decode::Record>(&line)) return {.taken = add(*record)};
    const auto* first = std::get_if<decode::HeaderLine>(&line);
    const bool begins = first != nullptr && !analyzer_ && !refusal_;
    if (begins) begin(*first->header);
    if (!analyzer_) return {.refused = begins};
    analyzer_->add(line);
    if (const auto* ready = std::get_if<decode::Ready>(&line)) selector_.observe(*ready);
    if (const auto* tick = std::get_if<decode::Tick>(&line)) selector_.observe(*tick);
    return {.taken = true, .interval = analyzer_->take_interval()};
}

bool Session::add(const decode::Record& record) {
    if (!analyzer_ || !wants(record)) return false;
    analyzer_->add(record);
    return true;
}

/// Whether a record is of the selection; else it counts as filtered.
bool Session::wants(const decode::Record& record) {
    const bool is_wanted = selector_.takes(record);
    if (!is_wanted) analyzer_->count_filtered(record);
    return is_wanted;
}

void Session::set(recording::Setup setup) {
    facts_.setup = std::move(setup);
    setup_known_ = true;
}

kinds::Measured Session::measured() const {
    auto measured = analyzer_ ? analyzer_->measured() : kinds::Measured();
    if (const auto& given = facts_.setup.parameters; given && given->contains("stacks")) {
        const auto shown = base::to_int(given->at("stacks")).value_or(0);
        if (shown > 0) measured.stacks_shown = static_cast<std::size_t>(shown);
    }
    if (setup_known_) measured.origins.push_back(facts_.setup.origin());
    if (const auto& kernel = facts_.setup.kernel; !kernel.release.empty()) {
        measured.kernels = {kernel.release + ' ' + kernel.build_id};
    }
    if (!facts_.setup.kept.condition.empty()) measured.of<rows::Kept>() = {kept_row_of(facts_)};
    if (const auto& selection = selector_.selection(); !selection.is_all()) {
        measured.notes.emplace_back(
            fmt::format("only records with {}; the others count as filtered", selection.options));
        if (const auto since = selector_.since()) measured.start_epoch_ns = std::max(measured.start_epoch_ns, since);
        if (const auto until = selector_.until(); until && measured.end_epoch_ns)
            measured.end_epoch_ns = std::min(measured.end_epoch_ns, until);
    }
    static_cast<recording::RunEnd&>(measured) = facts_.outcome;
    static_cast<recording::ProbeClock&>(measured.cost) = facts_.outcome.clock;
    const auto one_in = recording::sample_of(facts_.setup.filters);
    measured.sample = {one_in, base::saturating_multiply(measured.accounting.reported, one_in)};
    return measured;
}

void Session::end() {
    if (analyzer_ && selector_.lacks_times() && !refusal_) {
        refusal_ = base::Error{base::ErrorKind::bad_input, selector_.selection().options + ": the text has no times",
                               "omit it: the records have no times to compare"};
    }
}

void write(show::RecordWriter& to, const decode::Line& line) {
    if (const auto* record = std::get_if<decode::Record>(&line)) write(to, *record);
    if (const auto* ready = std::get_if<decode::Ready>(&line)) to.ready(*ready);
}

void write(show::RecordWriter& to, const decode::Record& record) {
    const bool counts = schema::has_type(*record.schema, schema::FieldType::count);
    if (record.schema->index == 0 || !counts) to.record(record);
}

}  // namespace stapgen::session
