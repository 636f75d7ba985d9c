#include "analyze/call_log.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

using decode::Attribute;
using decode::FieldType;

/// Deeper calls stand as deep as this: an indentation is all that it is used for.
constexpr std::int64_t max_depth = 255;

std::string text_of(const decode::Value& value) {
    return decode::unescape(value.raw.substr(0, CallLog::max_text_length));
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

void put_in_order(std::vector<Call>& calls) {
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

}  // namespace

void CallLog::add(const decode::Record& record) {
    const auto depth = record.schema->find(Attribute::depth);
    if (!depth) return;
    if (calls_.size() >= max_calls) {
        ++left_out_;
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
    calls_.push_back(std::move(call));
}

std::vector<Call> CallLog::rows() const {
    auto rows = calls_;
    put_in_order(rows);
    return rows;
}

}  // namespace stapgen::analyze
