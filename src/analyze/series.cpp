#include "analyze/series.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

void add_each(std::vector<Histogram>& into, const std::vector<Histogram>& from) {
    for (std::size_t i = 0; i < from.size(); ++i)
        into[i] += from[i];
}

}  // namespace

void Series::push_back(std::int64_t start_ns) {
    blocks_.push_back({start_ns, std::vector<Histogram>(stages_), std::vector<Histogram>(values_)});
}

Block& Series::find(std::int64_t time_ns) {
    if (blocks_.empty()) push_back(time_ns);
    const auto start = blocks_.front().start_ns;
    if (time_ns < start) return blocks_.front();
    // Unsigned, because the two may be farther apart than a signed number holds.
    const auto since = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(start);
    const auto place_of = [&] { return since / static_cast<std::uint64_t>(block_ns_); };
    while (place_of() >= max_blocks)
        coarsen(block_ns_ * 2);
    while (place_of() >= blocks_.size() && blocks_.size() > min_blocks && bytes() > max_bytes)
        coarsen(block_ns_ * 2);
    const auto place = static_cast<std::size_t>(place_of());
    while (blocks_.size() <= place)
        push_back(blocks_.back().start_ns + block_ns_);
    last_ = place;
    return blocks_[place];
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
        for (auto& block : std::exchange(blocks_, {})) {
            if (!halves.empty() && block.start_ns - halves.back().start_ns < block_ns_) {
                add_each(halves.back().stages, block.stages);
                add_each(halves.back().values, block.values);
            } else {
                halves.push_back(std::move(block));
            }
        }
        blocks_ = std::move(halves);
    }
}

void Series::append(Series other) {
    if (other.blocks_.empty()) return;
    if (blocks_.empty()) {
        *this = std::move(other);
        return;
    }
    coarsen(other.block_ns_);
    other.coarsen(block_ns_);
    std::ranges::move(other.blocks_, std::back_inserter(blocks_));
    std::ranges::stable_sort(blocks_, {}, &Block::start_ns);
}

}  // namespace stapgen::analyze
