// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/format.h"

#include <utility>

#include "base/saturate.h"

namespace stapgen::show {

Compared::Compared(study::Comparison of, rows::Results before_results, rows::Results after_results)
    : comparison(std::move(of)), before(std::move(before_results)), after(std::move(after_results)) {
    for (const auto& [side, results] :
         {std::pair(&comparison.before, &std::as_const(before)), {&comparison.after, &after}}) {
        side->definition = results->one<rows::Report>().definition;
        side->origins = results->of<rows::Origin>();
    }
}

void EventWriter::record(const decode::Record& record) {
    if (ready_) return write(record);
    auto& held = held_.emplace_back(Held{record.schema, {}, {record.values.begin(), record.values.end()}});
    for (const auto& value : held.values)
        held.raw.emplace_back(value.raw);
}

void EventWriter::ready(const decode::Ready& ready) {
    ready_ = ready;
    release();
}

std::vector<std::string> EventWriter::end() {
    release();
    return {};
}

void EventWriter::release() {
    for (auto& held : held_) {
        for (std::size_t i = 0; i < held.values.size(); ++i)
            held.values[i].raw = held.raw[i];
        write({held.schema, held.values});
    }
    held_.clear();
}

std::optional<std::int64_t> EventWriter::epoch_of(const decode::Value& time) const {
    if (!ready_) return std::nullopt;
    return base::saturating_add(base::saturating_subtract(time.number, ready_->monotonic_ns), ready_->epoch_ns);
}

}  // namespace stapgen::show
