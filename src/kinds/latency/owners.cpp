// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/owners.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"
#include "schema/schema.h"

namespace stapgen::kinds {

namespace {

struct OwnerKind {
    std::string_view name, keys;
};
constexpr auto owner_kinds = std::to_array<OwnerKind>(
    {{"thread", "pid tid comm"}, {"process", "pid comm"}, {"connection", "local remote"}, {"peer", "addr"}});

}  // namespace

void Owners::takes(const decode::Schema& schema) {
    static_assert(owner_kinds.size() == kinds);
    auto& of_schema = keys_.emplace_back();
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        for (const auto name : base::words(owner_kinds[kind].keys)) {
            const auto key = decode::group_key(schema, name);
            if (!key) {
                of_schema[kind].clear();
                break;
            }
            of_schema[kind].push_back(*key);
        }
    }
}

Owners::Owner& Owners::owner(std::size_t kind, const decode::Record& record, const std::vector<decode::GroupKey>& keys,
                             std::size_t measures) {
    key_.clear();
    for (const auto& key : keys) {
        key_ += decode::key_text(record, key);
        key_ += '\t';
    }
    auto& owners = owners_[kind];
    auto found = owners.find(std::string_view(key_));
    const auto has = found == owners.end() ? 0 : found->second.measures.size();
    if (has < measures) {
        const bool fits = sums_ + measures - has <= max_sums && (has > 0 || owners.size() < max_keys);
        if (!fits) {
            if (!others_[kind]) others_[kind] = Owner{{{"other", true}}, {}};
            if (others_[kind]->measures.size() < measures) others_[kind]->measures.resize(measures);
            return *others_[kind];
        }
        if (has == 0) found = owners.emplace(key_, Owner{decode::group_of(record, keys), {}}).first;
        found->second.measures.resize(measures);
        sums_ += measures - has;
    }
    return found->second;
}

void Owners::add(const decode::Record& record, const Plan& plan) {
    const auto& keys = keys_[record.schema->index];
    std::size_t size = 1;
    for (const auto& slot : plan.slots)
        size = std::max(size, slot.measure + 1);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        if (keys[kind].empty()) continue;
        auto& measures = owner(kind, record, keys[kind], size).measures;
        for (const auto& slot : plan.slots) {
            const auto& value = record.values[slot.field];
            if (!slot.is_stage || !value.seen) continue;
            auto& [n, sum, squares] = measures[slot.measure];
            const auto ns = static_cast<double>(value.number);
            ++n;
            sum += ns;
            squares += ns * ns;
        }
    }
}

std::vector<rows::OwnerTime> Owners::times(const std::vector<MeasureName>& measures) const {
    std::vector<rows::OwnerTime> times;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        const auto put = [&](const Owner& owner) {
            for (std::size_t i = 0; i < owner.measures.size(); ++i) {
                const auto& [n, sum_ns, squares] = owner.measures[i];
                if (n > 0)
                    times.push_back(
                        {measures[i].name, std::string(owner_kinds[kind].name), owner.group, n, sum_ns, squares});
            }
        };
        for (const auto& [key, owner] : owners_[kind])
            put(owner);
        if (others_[kind]) put(*others_[kind]);
    }
    return times;
}

namespace {

struct Time {
    const table::Group* group = nullptr;
    double n = 0, sum = 0, squares = 0;

    Time& operator+=(const Time& more) {
        n += more.n;
        sum += more.sum;
        squares += more.squares;
        return *this;
    }
    [[nodiscard]] Time without(const Time& part) const {
        return {nullptr, n - part.n, sum - part.sum, squares - part.squares};
    }
    [[nodiscard]] double mean() const { return sum / n; }
    /// The square of the mean's standard error.
    [[nodiscard]] double error() const { return std::max(0.0, squares / n - mean() * mean()) / n; }
};

constexpr double most_records = 0.25, least_excess = 2.0 / 3, least_ratio = 2, standard_errors = 4, least_n = 5;

std::optional<rows::StandOut> stand_out_of(const std::vector<Time>& times) {
    Time all;
    for (const auto& time : times)
        all += time;
    const auto excess_of = [&](const Time& time) { return time.sum - time.n * all.mean(); };
    double excess = 0;
    for (const auto& time : times)
        excess += std::max(0.0, excess_of(time));
    const auto most = std::ranges::max_element(times, {}, excess_of);
    const auto rest = all.without(*most);
    if (table::is_other(*most->group) || most->n < least_n || most->n >= most_records * all.n) return std::nullopt;
    const auto difference = most->mean() - rest.mean();
    if (excess_of(*most) <= least_excess * excess || most->mean() < least_ratio * rest.mean() ||
        difference * difference < standard_errors * standard_errors * (most->error() + rest.error()))
        return std::nullopt;
    return rows::StandOut{.group = *most->group, .share = most->sum / all.sum, .records = most->n / all.n};
}

struct ByValue {
    bool operator()(const table::Group* a, const table::Group* b) const { return *a < *b; }
};

}  // namespace

std::vector<rows::StandOut> stand_outs_of(const table::TableOf<rows::OwnerTime>& times) {
    using OfStages = std::map<std::string_view, const rows::OwnerTime*>;
    std::map<std::string_view, std::map<const table::Group*, OfStages, ByValue>> owners;
    std::set<std::string_view> stages;
    for (const auto& row : times) {
        owners[row.owner][&row.group][row.stage] = &row;
        stages.insert(row.stage);
    }
    std::vector<rows::StandOut> all;
    for (const auto& [kind, groups] : owners) {
        const bool are_all = std::ranges::none_of(groups, [](const auto& of) { return table::is_other(*of.first); });
        if (!are_all || times.left_out > 0) all.push_back({.owner = std::string(kind), .group = {{"other", true}}});
        if (times.left_out > 0) continue;
        for (const auto stage : stages) {
            const auto divided = schema::is_part(stage) ? schema::divided_stage(stage) : stage;
            std::vector<Time> of_stage;
            for (const auto& [group, of_stages] : groups) {
                const auto whole = of_stages.find(divided), own = of_stages.find(stage);
                if (whole == of_stages.end()) continue;
                auto& time = of_stage.emplace_back(Time{group, static_cast<double>(whole->second->n)});
                if (own != of_stages.end()) time += Time{nullptr, 0, own->second->sum_ns, own->second->squares};
            }
            if (of_stage.size() < 2) continue;
            if (auto one = stand_out_of(of_stage)) {
                one->stage = stage;
                one->owner = kind;
                all.push_back(*std::move(one));
            }
        }
    }
    return all;
}

}  // namespace stapgen::kinds
