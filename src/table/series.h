// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "table/histogram.h"

namespace stapgen::table {

/// What was measured in one span of time, of the whole: a histogram for each stage and for each value, in their order.
struct Block {
    std::int64_t start_ns = 0;  ///< since the epoch; where that is unknown, since the first record
    std::vector<Histogram> stages{};
    std::vector<Histogram> values{};
    std::size_t recording = 0;  ///< that it is of: blocks of one only are joined
};

/// That of a stage or a value; an empty one of those that a series has not, as of a recipe's further kinds of record.
inline const Histogram& histogram_of(const Block& block, std::vector<Histogram> Block::*histograms, std::size_t place) {
    static const Histogram none;
    const auto& all = block.*histograms;
    return place < all.size() ? all[place] : none;
}

/// A measurement cut into blocks of equal length, as many as keep memory bounded: the length doubles when there would
/// be more than `max_blocks`, and when their histograms take more than `max_bytes`, unless only `min_blocks` are
/// left. Blocks without any record are there, too. The histograms of all blocks together are
/// exactly that of all records that have a time. The first block begins with the first record; beside that, the order
/// of records makes no difference once settle() was called.
class Series {
  public:
    static constexpr std::size_t max_blocks = 256;
    static constexpr std::size_t min_blocks = 32;
    static constexpr std::size_t max_histograms =
        32 * max_blocks;  ///< with more than 32 measures there are fewer blocks
    static constexpr std::size_t max_bytes = 8 * 1024 * 1024;
    static constexpr std::size_t max_sum_bytes = 64 * 1024 * 1024;
    static constexpr std::int64_t second_ns = 1'000'000'000;
    /// So short that a run of two seconds has enough blocks for a picture.
    static constexpr std::int64_t min_block_ns = second_ns / 128;

    Series() = default;
    explicit Series(std::size_t stages, std::size_t values = 0)
        : stages_(stages),
          values_(values),
          most_blocks_(std::clamp(max_histograms / std::max<std::size_t>(stages + values, 1), min_blocks, max_blocks)) {
    }

    /// The block of a moment, on any clock. Times need not ascend; one up to a second before the first block counts in
    /// that one.
    Block& at(std::int64_t time_ns) {
        if (last_ < blocks_.size()) {
            auto& block = blocks_[last_];
            if (time_ns >= block.start_ns && time_ns - block.start_ns < block_ns_) return block;
        }
        return find(time_ns);
    }

    /// Makes the blocks as long as they have to be. While records come in they may be shorter.
    void settle();

    /// Adds this much to the start of all blocks: from one clock to another.
    void shift(std::int64_t by_ns);

    /// Adds the blocks of another measurement, in order of their starts; both are brought to the coarser length, and to
    /// more than that while they take more than `max_sum_bytes`.
    Series& operator+=(Series other);

    /// Joins neighbours until a block is `block_ns` long, which is this length times a power of two.
    void coarsen(std::int64_t block_ns);

    /// Joins neighbours until there are `most` blocks at most, as far as it goes: those of several recordings, one
    /// each, have none.
    void join_to(std::size_t most);

    /// The same in blocks of a second, or of this length where it is longer. Numbers are stated, compared and stored in
    /// these: shorter blocks have few values, and neighbours of them depend on each other.
    [[nodiscard]] Series by_second() const;

    [[nodiscard]] std::int64_t block_ns() const { return block_ns_; }
    [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
    /// In each block.
    [[nodiscard]] std::size_t stages() const { return stages_; }
    [[nodiscard]] std::size_t values() const { return values_; }

  private:
    Block& find(std::int64_t time_ns);
    Block& find_before(std::int64_t time_ns);
    [[nodiscard]] std::size_t bytes() const;

    void push_back(std::int64_t start_ns);

    std::size_t stages_ = 0, values_ = 0, most_blocks_ = max_blocks;
    std::int64_t block_ns_ = min_block_ns;
    std::size_t recordings_ = 1;
    std::vector<Block> blocks_;
    std::size_t last_ = 0;  ///< the block of the last record: the next one is likely in it, too
};

}  // namespace stapgen::table
