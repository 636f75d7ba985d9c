// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

#include "base/text.h"
#include "recording/identity.h"

namespace stapgen::analyze {

namespace {

using decode::Attribute;
using decode::FieldType;

/// Deeper calls stand as deep as this: an indentation is all that it is used for.
constexpr std::int64_t max_depth = 255;

std::string text_of(const decode::Value& value) {
    return decode::unescape(value.raw.substr(0, Call::max_text_length));
}

/// By nstat's, ip's and drivers' names: InOctets, rx_bytes.
bool counts_bytes(std::string_view counter) {
    return counter.ends_with("Octets") || counter.find("bytes") != std::string_view::npos;
}

std::int64_t number_of(const decode::Record& record, std::string_view name) {
    const auto field = record.schema->find(name);
    return field && record.schema->fields[*field].type == FieldType::integer ? record.values[*field].number : 0;
}

std::string text_of(const decode::Record& record, std::string_view name) {
    const auto field = record.schema->find(name);
    return field && record.schema->fields[*field].type == FieldType::text ? text_of(record.values[*field]) : "";
}

/// What ran it: a thread, or a CPU in softirq.
using Context = std::tuple<std::int64_t, bool, std::int64_t>;

Context context_of(const Call& call) {
    return {call.packet, call.in_thread, call.in_thread ? call.tid : call.cpu};
}

/// Rows of one key are added up, in the order in which the keys came up.
template <class Row, class KeyOf>
std::vector<Row> totals_of(const std::vector<Row>& rows, const KeyOf& key_of_row) {
    std::vector<Row> totals;
    std::map<decltype(key_of_row(rows.front())), std::size_t> places;
    for (const auto& row : rows) {
        const auto [place, is_new] = places.emplace(key_of_row(row), totals.size());
        if (is_new) {
            totals.push_back(row);
            totals.back().interval = 0;
            totals.back().end_epoch_ns.reset();
        } else {
            base::add_saturating(totals[place->second].count, row.count);
            if constexpr (requires { row.per_s; }) totals[place->second].per_s.reset();
            if constexpr (requires { row.place; }) {
                auto& known = totals[place->second].place;
                if (known.address != row.place.address) known.address.reset();
            }
        }
    }
    return totals;
}

}  // namespace

void Average::divide() {
    const auto number = static_cast<long double>(n);
    mean = static_cast<double>(static_cast<long double>(halves) / 2 / number);
    error = static_cast<double>(static_cast<long double>(error_halves) / 2 / number);
}

void add_halves(Average::Wide& into, Average::Wide more) {
    if (Average::Wide sum = 0; !__builtin_add_overflow(into, more, &sum)) into = sum;
}

std::vector<Drop> total_drops(const Summary& summary) {
    // A kernel that was started again has the same function elsewhere.
    static constexpr std::optional<std::uint64_t> any_address;
    auto totals = totals_of(summary.drops, [&](const Drop& drop) {
        auto key =
            std::tie(summary.recordings > 1 && drop.place.symbol ? any_address : drop.place.address, drop.place.symbol,
                     drop.place.offset, drop.place.module, drop.reason.number, drop.reason.name, drop.group);
        return key;
    });
    std::ranges::sort(totals, [](const Drop& a, const Drop& b) {
        return a.count != b.count ? a.count > b.count : key_of(a) < key_of(b);
    });
    return totals;
}

std::vector<Stack> total_stacks(const Summary& summary) {
    auto rows = summary.stacks;
    for (auto& stack : rows)
        for_each_frame(stack, keep_name_only);
    auto totals = totals_of(rows, [](const Stack& stack) { return key_of(stack); });
    std::map<table::Reason, std::int64_t> of_reason;
    for (const auto& stack : totals)
        base::add_saturating(of_reason[stack.reason], stack.count);
    std::ranges::sort(totals, {}, [&](const Stack& stack) {
        return std::tuple(-of_reason.at(stack.reason), stack.reason, -stack.count, stack.frames);
    });
    return totals;
}

int rank_of(const Summary& summary, const Tally& tally) {
    if (tally.loss) return 3;
    if (tally.loss_by_name) return 2;
    if (!tally.meaning.empty()) return 1;
    const auto* name = tally.name();
    return summary.mixed_units && name != nullptr && counts_bytes(*name) ? -1 : 0;
}

std::vector<Tally> total_tallies(const Summary& summary) {
    auto totals = totals_of(summary.tallies, [](const Tally& tally) { return std::tie(tally.group); });
    std::ranges::stable_sort(totals, std::greater{},
                             [&](const Tally& tally) { return std::pair(rank_of(summary, tally), tally.count); });
    return totals;
}

const table::Histogram* stage_of(const Summary& summary, std::string_view name) {
    const auto found = std::ranges::find_if(
        summary.stages, [&](const Measure& stage) { return stage.name == name && stage.group.empty(); });
    return found == summary.stages.end() ? nullptr : &found->stats;
}

bool is_whole(const Summary& summary) {
    const auto& accounting = summary.accounting;
    const auto& transport = summary.transport;
    return summary.broke_off.empty() && accounting.closed && accounting.lost_total() == 0 &&
           accounting.unaccounted() == 0 && accounting.below_zero() == 0 && transport.skipped_probes == 0 &&
           transport.probe_errors == 0 && transport.transport_failures == 0;
}

void add_call(Summary& summary, const decode::Record& record) {
    const auto depth = record.schema->find(Attribute::depth);
    if (!depth) return;
    if (summary.calls.size() >= Call::max_kept) {
        ++summary.calls_left_out;
        return;
    }
    Call call;
    call.packet = number_of(record, "packet");
    call.depth = std::clamp<std::int64_t>(record.values[*depth].number, 0, max_depth);
    call.cpu = number_of(record, "cpu");
    call.tid = number_of(record, "tid");
    call.comm = text_of(record, "comm");
    call.args = text_of(record, "args");
    std::int64_t end_ns = 0;
    for (std::size_t i = 0; i < record.schema->fields.size(); ++i) {
        const auto& [name, type, attribute] = record.schema->fields[i];
        const auto& value = record.values[i];
        if (type == FieldType::time) end_ns = value.number;
        if (type == FieldType::text && attribute == Attribute::key && call.function.empty()) {
            call.function = text_of(value);
        }
        if (type != FieldType::stage || !value.seen) continue;
        call.duration_ns = base::saturating_add(call.duration_ns, value.number);
        call.in_thread = call.in_thread || attribute == Attribute::thread;
    }
    call.begin_ns = base::saturating_subtract(end_ns, call.duration_ns);
    summary.calls.push_back(std::move(call));
}

void sort_calls(std::vector<Call>& calls) {
    std::map<Context, std::int64_t> begins;
    for (const auto& call : calls) {
        const auto [begin, is_new] = begins.emplace(context_of(call), call.begin_ns);
        if (!is_new) begin->second = std::min(begin->second, call.begin_ns);
    }
    std::ranges::stable_sort(calls, {}, [&](const Call& call) {
        const auto context = context_of(call);
        return std::tuple(call.packet, begins.at(context), context, call.begin_ns, call.depth);
    });
}

std::string merge_conflict_of(const Summary& summary, const Summary& other) {
    const auto origin_of = [](const Summary& of) { return of.origins.empty() ? Origin() : of.origins.front(); };
    return recording::unlike_text(origin_of(summary), origin_of(other));
}

}  // namespace stapgen::analyze
