// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/breakdown.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturate.h"
#include "schema/schema.h"

namespace stapgen::table {

namespace {

/// Either of two is right that are equal in all that is known of them.
bool is_slower(const SlowRecord& a, const SlowRecord& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a < b;
}

}  // namespace

Breakdown::Breakdown(std::string direction, std::vector<std::string> stages, std::size_t keep_slowest)
    : direction_(std::move(direction)), stages_(std::move(stages)), keep_slowest_(keep_slowest) {}

void Breakdown::add(std::int64_t total_ns, std::int64_t n, std::span<const std::int64_t> sums_ns) {
    if (!total_.add(total_ns, n)) return;
    auto* sums = row_of(total_ns);
    *sums += static_cast<std::uint64_t>(n);
    for (const auto sum : sums_ns)
        *++sums += static_cast<std::uint64_t>(sum);
}

void Breakdown::make_rows(Rows& rows) const {
    rows.resize(schema::bins::per_doubling * width());
}

bool Breakdown::keeps(const SlowRecord& record) const {
    return std::ranges::find(slowest_, record) != slowest_.end();
}

void Breakdown::keep(SlowRecord record) {
    if (slowest_.size() >= keep_slowest_) {
        if (keep_slowest_ == 0 || !is_slower(record, slowest_.front())) return;
        std::ranges::pop_heap(slowest_, is_slower);
        slowest_.pop_back();
    }
    slowest_.push_back(std::move(record));
    std::ranges::push_heap(slowest_, is_slower);
}

Breakdown& Breakdown::operator+=(const Breakdown& other) {
    total_ += other.total_;
    for (std::size_t place = 0; place < sums_.size(); ++place) {
        const auto& from = other.sums_[place];
        auto& into = sums_[place];
        if (into.size() < from.size()) into.resize(from.size());
        for (std::size_t i = 0; i < from.size(); ++i)
            into[i] += from[i];
    }
    keep_slowest_ = std::max(keep_slowest_, other.keep_slowest_);
    for (const auto& record : other.slowest_)
        keep(record);
    return *this;
}

void Breakdown::name(const std::function<void(Group& group)>& name) {
    for (auto& record : slowest_)
        name(record.of);
    std::ranges::make_heap(slowest_, is_slower);
}

void Breakdown::shift(std::int64_t by_ns) {
    for (auto& record : slowest_) {
        if (record.time_ns) record.time_ns = base::saturating_add(*record.time_ns, by_ns);
    }
}

double Breakdown::sum_ns(std::size_t stage) const {
    double sum = 0;
    for (const auto& rows : sums_) {
        for (std::size_t at = stage + 1; at < rows.size(); at += width())
            sum += static_cast<double>(rows[at]);
    }
    return sum;
}

std::vector<SlowRecord> Breakdown::slowest() const {
    auto records = slowest_;
    std::ranges::sort(records, is_slower);
    return records;
}

std::optional<int> Breakdown::first_slow(double percent) const {
    const auto threshold = total_.percentile(percent);
    if (!threshold) return std::nullopt;
    const auto n = total_.n();
    const auto fewest = (n - nearest_rank(n, percent) + 1) / 2;
    std::int64_t n_slow = 0;
    int first = schema::bins::count + 1;
    for (int bin = schema::bins::count; bin >= 0 && (bin > bin_of(*threshold) || n_slow < fewest); --bin) {
        const auto* row = row_at(bin);
        const auto here = row == nullptr ? 0 : static_cast<std::int64_t>(row[0]);
        if (here == 0) continue;
        if (n_slow + here > n / 2) break;
        n_slow += here;
        first = bin;
    }
    return n_slow > 0 ? std::optional(first) : std::nullopt;
}

Breakdown::Halves Breakdown::divided_at(int first_slow) const {
    Halves halves{.slow = std::vector<double>(stages_.size()), .rest = std::vector<double>(stages_.size())};
    for (int bin = 0; bin <= schema::bins::count; ++bin) {
        const auto* sums = row_at(bin);
        if (sums == nullptr) continue;
        const bool is_slow = bin >= first_slow;
        (is_slow ? halves.n_slow : halves.n_rest) += static_cast<std::int64_t>(sums[0]);
        for (std::size_t i = 0; i < stages_.size(); ++i)
            (is_slow ? halves.slow : halves.rest)[i] += static_cast<double>(sums[i + 1]);
    }
    return halves;
}

std::optional<Breakdown::Tail> Breakdown::tail(double percent) const {
    const auto threshold = total_.percentile(percent);
    const auto first = first_slow(percent);
    if (!threshold || !first) return std::nullopt;
    const auto [n_slow, n_rest, slow, rest] = divided_at(*first);
    Tail tail;
    tail.percent = percent;
    tail.threshold_ns = *threshold;
    tail.n_slow = n_slow;
    tail.n_rest = n_rest;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        Tail::Share share;
        share.stage = stages_[i];
        share.slow_mean_ns = slow[i] / static_cast<double>(tail.n_slow);
        share.rest_mean_ns = rest[i] / static_cast<double>(tail.n_rest);
        if (!schema::is_part(share.stage)) {
            tail.slow_mean_ns += share.slow_mean_ns;
            tail.rest_mean_ns += share.rest_mean_ns;
        }
        tail.shares.push_back(std::move(share));
    }
    const auto part = [](double of, double all) { return all > 0 ? of / all : 0; };
    for (auto& share : tail.shares) {
        share.slow = part(share.slow_mean_ns, tail.slow_mean_ns);
        share.rest = part(share.rest_mean_ns, tail.rest_mean_ns);
        share.of_excess = part(share.slow_mean_ns - share.rest_mean_ns, tail.slow_mean_ns - tail.rest_mean_ns);
    }
    return tail;
}

void sort_breakdowns(std::vector<Breakdown>& breakdowns) {
    std::ranges::sort(breakdowns, [](const Breakdown& a, const Breakdown& b) {
        return std::tie(a.direction(), a.stages()) < std::tie(b.direction(), b.stages());
    });
}

}  // namespace stapgen::table
