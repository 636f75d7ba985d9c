// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/counter_source.h"

namespace stapgen::table {

/// What a counter stood at when some tool printed it, of a text that has samples of counters. Not in recordings of
/// ours, which have how far counters rose.
struct CounterReading {
    std::string_view format;    ///< a constant: "nstat"
    std::int64_t sample = 0;    ///< the number of the format's sample of this source, counted from 0
    std::string_view name, of;  ///< as the recipe softnet has them: "link.rx_dropped" of "eth0"
    std::uint64_t value = 0;
    bool part = false;                       ///< to be added to what the same sample has of it before
    bool is_rise = false;                    ///< the tool says how far it rose, and not its value
    bool is_unknown = false;                 ///< it says a rate without its time: how far it rose is not known
    bool is_state = false;                   ///< no counter but a state, which goes up and down: sockets in use
    bool zeros_left_out = false;             ///< the format may leave out what is 0
    std::optional<std::int64_t> epoch_ns{};  ///< the last time in the text
    std::int64_t over_ns = 0;                ///< of a rise, the time that it is of; 0: not known
    std::size_t source = 0;                  ///< the number of its source in this input
    const CounterSource* whose = nullptr;    ///< that, as far as it is known by now; null: nothing is
};

/// One counter as it was read once or several times.
struct CounterTrack {
    std::string format;
    std::int64_t first_sample = 0, last_sample = 0;  ///< of its format and source
    std::int64_t samples = 0;                        ///< number of samples with it
    std::uint64_t first = 0, before = 0, last = 0;   ///< in the first and the last two samples; parts are added up
    std::uint64_t rise = 0;                          ///< up to `before`
    std::int64_t falls = 0;                          ///< likewise: it stood lower than in the sample before
    std::optional<std::uint64_t> wrapped_from{},
        wrapped_to{};  ///< the last fall that may be none, of a counter of 32 bits
    bool is_rise = false, is_state = false, zeros_left_out = false;
    bool has_unknown = false;  ///< besides what is here; there may be nothing
    std::int64_t over_ns = 0;  ///< of the readings; 0: not known
    std::optional<std::int64_t> first_ns{},
        last_ns{};  ///< times of the first and the last sample, where they are known

    /// The next sample has it. `value` is its value there.
    void next(std::uint64_t value, bool wraps);
    /// The last two samples, too, into `rise` and `falls`.
    void settle(bool wraps);
    /// The samples of a later input.
    void join(const CounterTrack& later, bool wraps);
    /// How long it was between the first and the last sample; nothing where that is unknown.
    [[nodiscard]] std::optional<std::int64_t> length_ns() const;
};

/// Counters as they were read, in bounded memory.
class CounterTracks {
  public:
    /// Limit of counters; readings of further ones are only counted.
    static constexpr std::size_t max_counters = 65536;
    struct Key {
        std::string name, of;
        std::size_t source = 0;  ///< of sources()
        std::strong_ordering operator<=>(const Key&) const = default;
    };

    void add(const CounterReading& reading);
    /// Those of a later input. A source of it is one of these if it may be that one alone, and no other one may.
    CounterTracks& operator+=(const CounterTracks& later);

    [[nodiscard]] bool empty() const { return tracks_.empty(); }
    [[nodiscard]] const std::map<Key, CounterTrack>& tracks() const { return tracks_; }
    [[nodiscard]] const std::vector<CounterSource>& sources() const { return sources_; }
    [[nodiscard]] std::int64_t left_out() const { return left_out_; }
    /// Whether there is a sample of its format and source before its first one.
    [[nodiscard]] bool came_later(std::size_t source, const CounterTrack& track) const;

  private:
    /// Of one format: the numbers of its first sample and of what follows its last one.
    struct Samples {
        std::int64_t first = 0, end = 0;
    };
    using SamplesByFormat = std::map<std::string, Samples, std::less<>>;

    std::size_t put_source(const CounterTracks& later, std::size_t source);

    std::map<Key, CounterTrack> tracks_;
    std::vector<CounterSource> sources_;
    std::vector<SamplesByFormat> samples_;  ///< by source
    std::int64_t left_out_ = 0;             ///< readings
    Key key_;                               ///< kept for its memory
};

}  // namespace stapgen::table
