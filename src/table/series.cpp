// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/series.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/saturate.h"

namespace stapgen::table {

namespace {

void add_each(std::vector<Histogram>& into, const std::vector<Histogram>& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
        into[i] += from[i];
}

std::size_t histogram_bytes(const std::vector<Block>& blocks) {
    std::size_t histograms = 0;
    for (const auto& block : blocks)
        histograms += block.stages.size() + block.values.size();
    return histograms * sizeof(Histogram);
}

}  // namespace

void Series::push_back(std::int64_t start_ns) {
    blocks_.push_back({start_ns, std::vector<Histogram>(stages_), std::vector<Histogram>(values_)});
}

Block& Series::find(std::int64_t time_ns) {
    if (blocks_.empty()) push_back(time_ns);
    const auto start = blocks_.front().start_ns;
    if (time_ns < start) return find_before(time_ns);
    // Unsigned, because the two may be farther apart than a signed number holds.
    const auto since = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(start);
    const auto place_of = [&] { return since / static_cast<std::uint64_t>(block_ns_); };
    while (place_of() >= most_blocks_)
        coarsen(block_ns_ * 2);
    if (place_of() >= blocks_.size()) settle();
    const auto place = static_cast<std::size_t>(place_of());
    while (place >= blocks_.size())
        push_back(blocks_.back().start_ns + block_ns_);
    last_ = place;
    return blocks_[place];
}

/// Rings of several CPUs are printed one behind the other, and the first one need not go back as far as the others.
Block& Series::find_before(std::int64_t time_ns) {
    const auto start = blocks_.front().start_ns;
    const auto before = static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(time_ns);
    last_ = 0;
    if (before <= static_cast<std::uint64_t>(second_ns)) return blocks_.front();
    const auto more = [&] { return (before - 1) / static_cast<std::uint64_t>(block_ns_) + 1; };
    while (more() + blocks_.size() > most_blocks_)
        coarsen(block_ns_ * 2);
    auto later = std::exchange(blocks_, {});
    for (auto i = static_cast<std::int64_t>(more()); i > 0; --i)
        push_back(base::saturating_subtract(start, base::saturating_multiply(i, block_ns_)));
    blocks_.insert(blocks_.end(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
    return blocks_.front();
}

void Series::settle() {
    while (blocks_.size() > min_blocks && bytes() > max_bytes)
        coarsen(block_ns_ * 2);
}

std::size_t Series::bytes() const {
    std::size_t sum = 0;
    for (const auto& block : blocks_) {
        for (const auto* histograms : {&block.stages, &block.values}) {
            for (const auto& histogram : *histograms)
                sum += histogram.bytes();
        }
    }
    return sum;
}

void Series::shift(std::int64_t by_ns) {
    for (auto& block : blocks_)
        block.start_ns = base::saturating_add(block.start_ns, by_ns);
}

void Series::coarsen(std::int64_t block_ns) {
    while (block_ns_ < block_ns) {
        block_ns_ *= 2;
        std::vector<Block> halves;
        std::vector<std::size_t> last(recordings_, std::numeric_limits<std::size_t>::max());  // of each recording
        for (auto& block : std::exchange(blocks_, {})) {
            auto& place = last[block.recording];
            if (place < halves.size() && block.start_ns - halves[place].start_ns < block_ns_) {
                add_each(halves[place].stages, block.stages);
                add_each(halves[place].values, block.values);
            } else {
                place = halves.size();
                halves.push_back(std::move(block));
            }
        }
        blocks_ = std::move(halves);
    }
    if (recordings_ > 1) std::ranges::stable_sort(blocks_, {}, &Block::start_ns);
}

void Series::join_to(std::size_t most) {
    while (blocks_.size() > most) {
        const auto blocks = blocks_.size();
        coarsen(block_ns_ * 2);
        if (blocks_.size() == blocks) break;
    }
}

Series Series::by_second() const {
    auto series = *this;
    series.coarsen(second_ns);
    return series;
}

Series& Series::operator+=(Series other) {
    if (other.blocks_.empty()) return *this;
    if (blocks_.empty()) return *this = std::move(other);
    coarsen(other.block_ns_);
    other.coarsen(block_ns_);
    for (auto& block : other.blocks_) {
        block.recording += recordings_;
        blocks_.push_back(std::move(block));
    }
    recordings_ += other.recordings_;
    // As far as it goes: each recording has a block.
    while (blocks_.size() > recordings_ && bytes() + histogram_bytes(blocks_) > max_sum_bytes)
        coarsen(2 * block_ns_);
    std::ranges::stable_sort(blocks_, {}, &Block::start_ns);
    return *this;
}

}  // namespace stapgen::table
