// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "recording/identity.h"

namespace stapgen::session {

namespace {

/// Whether each record is one thing that happened. Counts beside the header's own kind are in the report alone.
bool is_event(const decode::Schema& schema) {
    const bool counts =
        std::ranges::find(schema.fields, decode::FieldType::count, &decode::Field::type) != schema.fields.end();
    return schema.index == 0 || !counts;
}

}  // namespace

Session::Session(const report::Presentation& presentation, SessionOptions options, std::ostream& out)
    : presentation_(presentation),
      events_(options.events),
      selector_(std::move(options.selection)),
      records_(options.records ? options.records() : report::record_writer(out, presentation, options.events)) {
    options_.slowest = presentation.slowest;
    options_.keep_intervals = options.keep_intervals;
    options_.resolution_ns = options.resolution_ns;
    options_.keep_series = options.keep_series;
    if (!records_) return;
    listen([this](const decode::Line& line) {
        if (const auto* record = std::get_if<decode::Record>(&line); record != nullptr && is_event(*record->schema))
            records_->record(*record);
        if (const auto* ready = std::get_if<decode::Ready>(&line)) records_->ready(*ready);
    });
}

void Session::begin(const decode::Header& header) {
    if (auto can = report::check_aggregated(presentation_, events_, header); !can) {
        refusal_ = can.error();
        return;
    }
    if (auto can = selector_.check(header); !can) {
        refusal_ = can.error();
        return;
    }
    options_.group_by = report::group_fields(presentation_, header);
    auto analyzer = analyze::Analyzer::create(header, options_);
    if (!analyzer) {
        refusal_ = analyzer.error();
    } else if (events_ && analyzer->summary().counts()) {
        refusal_ = base::Error{base::ErrorKind::bad_input, "--events: the records of this recipe are counts",
                               "omit it: the report has a row for each of them"};
    } else {
        analyzer_ = *std::move(analyzer);
    }
}

void Session::add(const decode::Line& line) {
    const auto* first = std::get_if<decode::HeaderLine>(&line);
    if (first != nullptr && !analyzer_ && !refusal_) begin(*first->header);
    if (!analyzer_) return;
    if (const auto* record = std::get_if<decode::Record>(&line); record != nullptr && !wants(*record)) return;
    analyzer_->add(line);
    if (const auto* ready = std::get_if<decode::Ready>(&line)) selector_.observe(*ready);
    if (const auto* tick = std::get_if<decode::Tick>(&line)) selector_.observe(*tick);
    for (const auto& listener : listeners_)
        listener(line);
}

void Session::add(const decode::Record& record) {
    if (!analyzer_ || !wants(record)) return;
    analyzer_->add(record);
    for (const auto& listener : listeners_)
        listener(record);
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
    if (records_) records_->origin(facts_.setup.origin());
}

std::optional<analyze::Summary> Session::take_interval() {
    if (!analyzer_) return std::nullopt;
    auto interval = analyzer_->take_interval();
    if (interval && records_) records_->interrupt();
    return interval;
}

analyze::Summary Session::summary() const {
    auto summary = analyzer_ ? analyzer_->summary() : analyze::Summary();
    if (const auto& given = facts_.setup.parameters; given && given->contains("stacks")) {
        const auto shown = base::to_int(given->at("stacks")).value_or(0);
        if (shown > 0) summary.stacks_shown = static_cast<std::size_t>(shown);
    }
    if (setup_known_) summary.origins.push_back(facts_.setup.origin());
    if (const auto& kernel = facts_.setup.kernel; !kernel.release.empty()) {
        summary.kernels = {kernel.release + ' ' + kernel.build_id};
    }
    if (const auto& selection = selector_.selection(); !selection.is_all()) {
        summary.notes.emplace_back(
            fmt::format("only records with {}; the others count as filtered", selection.options));
        if (const auto since = selector_.since()) summary.start_epoch_ns = std::max(summary.start_epoch_ns, since);
        if (const auto until = selector_.until(); until && summary.end_epoch_ns)
            summary.end_epoch_ns = std::min(summary.end_epoch_ns, until);
    }
    static_cast<recording::RunEnd&>(summary) = facts_.outcome;
    static_cast<recording::ProbeClock&>(summary.cost) = facts_.outcome.clock;
    const auto one_in = recording::sample_of(facts_.setup.filters);
    summary.sample = {one_in, base::saturating_multiply(summary.accounting.reported, one_in)};
    return summary;
}

void Session::end() {
    if (analyzer_ && selector_.lacks_times() && !refusal_) {
        refusal_ = base::Error{base::ErrorKind::bad_input, selector_.selection().options + ": the text has no times",
                               "omit it: the records have no times to compare"};
    }
    if (records_) report::finish(*records_);
}

}  // namespace stapgen::session
