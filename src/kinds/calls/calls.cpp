// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/calls/calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/saturate.h"

namespace stapgen::kinds::calls {

namespace {

using decode::Attribute, decode::FieldType;
using rows::Call;

constexpr auto max_kept = Call::about.most;   ///< limit of calls per input
constexpr std::size_t max_text_length = 256;  ///< bytes; longer names and arguments are cut
/// Deeper calls stand as deep as this: an indentation is all that it is used for.
constexpr std::int64_t max_depth = 255;

std::string text_of(const decode::Value& value) {
    return decode::unescape(value.raw.substr(0, max_text_length));
}

std::int64_t number_of(const decode::Record& record, std::string_view name) {
    const auto field = record.schema->find(name);
    return field && record.schema->fields[*field].type == FieldType::integer ? record.values[*field].number : 0;
}

std::string text_of(const decode::Record& record, std::string_view name) {
    const auto field = record.schema->find(name);
    return field && record.schema->fields[*field].type == FieldType::text ? text_of(record.values[*field]) : "";
}

/// The context: a thread, or a CPU in softirq.
using Context = std::tuple<std::int64_t, bool, std::int64_t>;

Context context_of(const Call& call) {
    return {call.packet, call.in_thread(), call.in_thread() ? call.tid : call.cpu};
}

Call call_of(const decode::Record& record) {
    Call call;
    call.packet = number_of(record, "packet");
    call.depth = std::clamp<std::int64_t>(record.values[*record.schema->find(Attribute::depth)].number, 0, max_depth);
    call.cpu = number_of(record, "cpu");
    call.tid = number_of(record, "tid");
    call.comm = text_of(record, "comm");
    call.args = text_of(record, "args");
    std::int64_t end_ns = 0;
    bool in_thread = false;
    for (std::size_t i = 0; i < record.schema->fields.size(); ++i) {
        const auto& [name, type, attribute] = record.schema->fields[i];
        const auto& value = record.values[i];
        if (type == FieldType::time) end_ns = value.number;
        if (type == FieldType::text && attribute == Attribute::key && call.function.empty()) {
            call.function = text_of(value);
        }
        if (type != FieldType::stage || !value.seen) continue;
        call.duration_ns = base::saturating_add(call.duration_ns, value.number);
        in_thread = in_thread || attribute == Attribute::thread;
    }
    call.context = in_thread ? "thread" : "softirq";
    call.begin_ns = base::saturating_subtract(end_ns, call.duration_ns);
    return call;
}

void sort(std::vector<Call>& calls) {
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

class Calls final : public Kind {
  public:
    bool takes(const decode::Schema& schema) override { return schema.find(Attribute::depth).has_value(); }
    void add(const decode::Record& record) override {
        has_any_ = true;
        if (calls_.size() < max_kept) {
            calls_.push_back(call_of(record));
        } else {
            ++left_out_;
        }
    }
    void put_into(Measured& measured, const Clocks& clocks, bool /*is_open*/) const override {
        if (!has_any_) return;
        auto& calls = measured.of<Call>();
        calls.assign(calls_.begin(), calls_.end());
        calls.left_out = left_out_;
        sort(calls);
        for (auto& call : calls)
            base::add_saturating(call.begin_ns, clocks.shift());
    }

  private:
    std::vector<Call> calls_;
    std::int64_t left_out_ = 0;
    bool has_any_ = false;
};

}  // namespace

std::unique_ptr<Kind> make(const Settings& /*settings*/, IntervalLog& /*log*/) {
    return std::make_unique<Calls>();
}

}  // namespace stapgen::kinds::calls
