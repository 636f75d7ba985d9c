// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a script prints of its records, one by one or aggregated in the kernel: both, of the same records.
namespace kernel {

inline constexpr std::int64_t epoch = 1'795'180'000'000'000'000, monotonic = 5'000'000'000'000;
inline constexpr std::int64_t largest = (std::int64_t{1} << 41) - 1;

/// The bin of a number, with so many to each doubling.
inline std::int64_t bin_of(std::int64_t value, int bits) {
    const auto shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - bits - 1);
    return (std::int64_t{shift} << bits) + (value >> shift);
}

struct Record {
    std::int64_t time_ns = 0;  ///< since ready
    std::string direction = "rx";
    std::optional<std::int64_t> driver, app;  ///< stages
    std::optional<std::int64_t> queued;       ///< a value

    [[nodiscard]] std::int64_t total() const { return driver.value_or(0) + app.value_or(0); }
    [[nodiscard]] std::string line() const {
        const auto text = [](const std::optional<std::int64_t>& value) {
            return value ? fmt::format("{}", *value) : std::string("-");
        };
        return fmt::format("net\t{}\t{}\t{}\t{}\t{}\n", monotonic + time_ns, direction, text(driver), text(app),
                           text(queued));
    }
};

inline std::string begin() {
    return fmt::format(
        "stapgen\t4\tnet-latency\tnet\ttime:time\tway:text\tdriver:stage\tapp:stage\tqueued:value\n"
        "ready\t{}\t{}\n",
        epoch, monotonic);
}

inline std::string counts(std::string_view word, std::int64_t time_ns, std::size_t reported) {
    return fmt::format("{}\t{}\tseen={}\treported={}\tfiltered=17\tincomplete.unread=3\n", word, epoch + time_ns,
                       reported + 20, reported);
}

/// The script's output with a tick at each of `ticks` (ns since ready, ascending), and the end.
inline std::string printed(const std::vector<Record>& records, const std::vector<std::int64_t>& ticks,
                           std::int64_t end_ns) {
    auto text = begin();
    std::size_t i = 0;
    for (const auto tick : ticks) {
        for (; i < records.size() && records[i].time_ns < tick; ++i)
            text += records[i].line();
        text += counts("tick", tick, i);
    }
    for (; i < records.size(); ++i)
        text += records[i].line();
    return text + counts("end", end_ns, records.size());
}

/// The lines of one interval: bins, then sums, then splits.
inline std::string aggregated(const std::vector<Record>& records) {
    struct Statistics {
        std::map<std::int64_t, std::int64_t> bins;
        std::int64_t n = 0, sum = 0, min = 0, max = 0;
        void add(std::int64_t value) {
            if (value >= 0 && value <= largest) ++bins[bin_of(value, 8)];
            min = n == 0 ? value : std::min(min, value);
            max = n == 0 ? value : std::max(max, value);
            sum += value;
            ++n;
        }
    };
    struct Split {
        std::int64_t n = 0, driver = 0, app = 0;
    };
    std::map<std::string, Statistics> fields;
    std::map<std::pair<std::string, std::int64_t>, Split> splits;
    for (const auto& record : records) {
        if (record.driver) fields["driver"].add(*record.driver);
        if (record.app) fields["app"].add(*record.app);
        if (record.queued) fields["queued"].add(*record.queued);
        auto& split = splits[{record.direction, bin_of(record.total(), 5)}];
        ++split.n;
        split.driver += record.driver.value_or(0);
        split.app += record.app.value_or(0);
    }
    std::string text;
    for (const auto& [name, of] : fields) {
        std::size_t pairs = 0;
        for (const auto& [bin, count] : of.bins) {
            if (pairs % 32 == 0) text += fmt::format("{}bin\tnet\t{}", pairs == 0 ? "" : "\n", name);
            text += fmt::format("\t{}:{}", bin, count);
            ++pairs;
        }
        if (pairs > 0) text += '\n';
        text += fmt::format("sum\tnet\t{}\t{}\t{}\t{}\t{}\n", name, of.n, of.sum, of.min, of.max);
    }
    for (const auto& [place, split] : splits) {
        text += fmt::format("split\tnet\t{}\t{}\t{}\t{}\t{}\n", place.first, place.second, split.n, split.driver,
                            split.app);
    }
    return text;
}

/// The same as printed() of a script that aggregates. It prints the slowest of each interval, slowest last.
inline std::string aggregated(const std::vector<Record>& records, const std::vector<std::int64_t>& ticks,
                              std::int64_t end_ns, std::size_t slowest = 3) {
    auto text = begin();
    std::size_t i = 0;
    const auto interval = [&](std::int64_t until) {
        std::vector<Record> part;
        for (; i < records.size() && records[i].time_ns < until; ++i)
            part.push_back(records[i]);
        text += aggregated(part);
        std::ranges::sort(part, {}, &Record::total);
        for (std::size_t k = part.size() - std::min(part.size(), slowest); k < part.size(); ++k)
            text += "slow\t" + part[k].line();
    };
    for (const auto tick : ticks) {
        interval(tick);
        text += counts("tick", tick, i);
    }
    interval(INT64_MAX);
    return text + counts("end", end_ns, records.size());
}

}  // namespace kernel
