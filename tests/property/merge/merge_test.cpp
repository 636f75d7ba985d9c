// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings that are given in any order have one sum: the report as JSON has the same bytes. What was recorded in
// parts adds up to what one recording has.

#include "analyze/merge.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "aggregated.h"
#include "nlohmann/json.hpp"
#include "summary_of.h"
#include "unit/show/written.h"

using namespace stapgen;
using summaries::Summary;

namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

std::string json_of(const Summary& summary) {
    std::ostringstream out;
    show::format_named("json").write(out, reports_of({summary}), {.slowest = 50});
    return out.str();
}

/// Many are equal, a few are out of any bin.
std::int64_t duration(Random& random) {
    switch (below(random, 50)) {
        case 0:
            return -below(random, 1000);
        case 1:
            return (std::int64_t{1} << 45) + below(random, std::int64_t{1} << 60);
        default:
            return below(random, std::int64_t{1} << below(random, 34));
    }
}

struct Clock {
    std::int64_t epoch_ns = kernel::epoch, monotonic_ns = kernel::monotonic;
};

std::string ready(const Clock& clock) {
    return fmt::format("ready\t{}\t{}\n", clock.epoch_ns, clock.monotonic_ns);
}

/// What a script has seen since it was started.
struct Counts {
    std::int64_t reported = 0, filtered = 0;
    std::map<std::string, std::int64_t> lost;

    [[nodiscard]] std::string line(std::string_view word, std::int64_t epoch_ns) const {
        auto text = fmt::format("{}\t{}\tseen={}\treported={}\tfiltered={}", word, epoch_ns,
                                reported + filtered + analyze_sum(), reported, filtered);
        for (const auto& [name, count] : lost)
            text += fmt::format("\tlost.{}={}", name, count);
        return text + '\n';
    }

  private:
    [[nodiscard]] std::int64_t analyze_sum() const {
        std::int64_t sum = 0;
        for (const auto& [name, count] : lost)
            sum += count;
        return sum;
    }
};

constexpr std::array causes{"evicted", "full", "unread"};

/// Of some intervals the lines, without header, ready and end; counts are those of each interval.
struct Interval {
    std::string lines;
    Counts counts;
    std::int64_t end_ns = 0;  ///< since ready
};

std::string latencies(Random& random, std::int64_t time_ns, std::int64_t& reported) {
    const auto text = [&](std::int64_t value) { return below(random, 5) == 0 ? "-" : fmt::format("{}", value); };
    const auto pid = 1 + below(random, 12);
    ++reported;
    return fmt::format("net\t{}\t{}\tc{}\t{}\t{}\t{}\t{}\n", kernel::monotonic + time_ns, pid, pid % 3,
                       below(random, 2) == 0 ? "tx" : "rx", text(duration(random)), text(duration(random)),
                       text(below(random, 100)));
}

std::string drops(Random& random, std::int64_t, std::int64_t& reported) {
    const auto count = 1 + below(random, 7);
    reported += count;
    const auto place = below(random, 9);
    return fmt::format("drop\t{:x}\t{}\t{}\n", 0xffffffff81000000 + 4096 * place, place % 4, count);
}

constexpr std::string_view latency_header =
    "stapgen\t4\tnet-latency\tnet\ttime:time\tpid:int\tcomm:text\tway:text\tdriver:stage\tapp:stage\t"
    "queued:value\n";
constexpr std::string_view drop_header = "stapgen\t4\tdropwatch\tdrop\tplace:address\treason:reason\tcount:count\n";

using Line = std::string (*)(Random&, std::int64_t, std::int64_t&);

std::vector<Interval> intervals(Random& random, Line line) {
    std::vector<Interval> all(static_cast<std::size_t>(1 + below(random, 6)));
    std::int64_t time_ns = 0;
    for (auto& interval : all) {
        const auto length = 1'000'000'000 + below(random, 3) * 500'000'000;
        const auto records = below(random, 60);
        for (std::int64_t i = 0; i < records; ++i)
            interval.lines += line(random, time_ns + i * length / 60, interval.counts.reported);
        interval.counts.filtered = below(random, 20);
        for (const auto* cause : causes) {
            if (below(random, 2) == 0) interval.counts.lost[cause] = below(random, 5);
        }
        time_ns += length;
        interval.end_ns = time_ns;
    }
    return all;
}

/// One recording of them, which begins at `from_ns`.
std::string recorded(std::string_view header, std::span<const Interval> all, std::int64_t from_ns, Clock clock) {
    auto text = std::string(header) + ready({clock.epoch_ns + from_ns, clock.monotonic_ns + from_ns});
    Counts counts;
    std::int64_t end_ns = 0;
    for (const auto& interval : all) {
        counts.reported += interval.counts.reported;
        counts.filtered += interval.counts.filtered;
        for (const auto& [name, count] : interval.counts.lost)
            counts.lost[name] += count;
        end_ns = clock.epoch_ns + interval.end_ns;
        text += interval.lines + counts.line("tick", end_ns);
    }
    return text + counts.line("end", end_ns);
}

template <class T, std::size_t size>
T one_of(Random& random, const std::array<T, size>& all) {
    return all[random() % size];
}

void name_drops(Random& random, Summary& summary) {
    // The same function is elsewhere in each kernel.
    const std::array functions{"tcp_v4_rcv", "icmp_rcv", "udp_queue_rcv_one_skb"};
    const auto kernel = below(random, 3);
    summary.kernels = {fmt::format("6.{}", kernel)};
    for (auto& drop : summary.drops) {
        if (const auto place = *drop.place.address / 4096 % 4; place < functions.size()) {
            drop.place.symbol = functions[place];
            drop.place.offset = static_cast<std::uint64_t>(100 * kernel + 7);
        }
        if (drop.reason.number > 0) drop.reason.name = fmt::format("REASON_{}", drop.reason.number - kernel);
    }
}

Summary averages(Random& random) {
    kinds::Averages means;
    std::int64_t sum = 0, count = 0;
    for (std::int64_t line = 1; line < 6; ++line) {
        count += 1 + below(random, 1000);
        sum += below(random, std::int64_t{1} << 40);
        const std::array of_line{
            decode::RunningMean{"rx", sum / count},
            decode::RunningMean{"return", below(random, 3), decode::RunningMean::Unit::thousandths}};
        means.add({line, count, of_line});
    }
    kinds::Measured measured;
    means.put_into(measured);
    return summaries::summary_of(measured);
}

/// What a recording's own lines do not say.
void add_facts(Random& random, Summary& summary) {
    const auto number = [&] { return below(random, 1000); };
    summary.origins = {{fmt::format("web{}", below(random, 5)), "6.1", {"stapgen"}, {}}};
    for (const auto* note : {"zebra", "ant", "fox"}) {
        if (below(random, 2) == 0) summary.notes.emplace_back(note, decode::NoteKind::count);
    }
    for (const auto* name : {"Tcp.B", "Tcp.A"}) {
        if (below(random, 3) > 0) summary.counters.push_back({name, "what it is", number()});
    }
    for (const auto* point : {"kprobe.z", "kprobe.a"}) {
        if (below(random, 2) == 0) summary.cost.add({point, number(), number(), number()});
    }
    summary.cost.cycles_per_s = 2e9 + static_cast<double>(below(random, 3)) * 1.8e7;  // neighbours are like, others not
    summary.cost.measured_ns = number();
    if (below(random, 2) == 0) summary.cost.expected_hits = number();
    summary.sample = {one_of(random, std::array<std::int64_t, 2>{1, 10}), number()};
    summary.transport.skipped_probes = number();
    summary.transport.skipped_by = {{one_of(random, std::array<std::string, 3>{"f", "a", "k"}), number()}};
    summary.broke_off = one_of(random, std::array<std::string, 3>{"", "the disk is full", "killed"});
    summary.clock_set_ns = number() - 500;
    summary.suspended_ns = number();
    for (std::int64_t i = below(random, 8); i > 0; --i) {
        summary.input.first_flaws.push_back({i, decode::Flaw::unknown_tag, fmt::format("line {}", i)});
        if (summary.input.first_flaws.size() == decode::InputCounts::kept_flaws) break;
    }
    for (std::int64_t i = below(random, 4000); i > 0; --i)
        summary.calls.push_back({.packet = 4001 - i, .begin_ns = number(), .function = "f", .args = "", .comm = ""});
    auto means = averages(random);
    summary.averages = std::move(means.averages);
    summary.average_intervals = std::move(means.average_intervals);
}

Summary random_recording(Random& random, bool is_of_drops) {
    // Some begin at one moment.
    const Clock clock{kernel::epoch + below(random, 4) * 1'234'567'891};
    const auto all = intervals(random, is_of_drops ? drops : latencies);
    auto summary = is_of_drops            ? summary_of(recorded(drop_header, all, 0, clock), {})
                   : below(random, 3) > 0 ? summary_of(recorded(latency_header, all, 0, clock), {"pid", "comm"})
                                          : Summary();
    if (summary.recipe.empty()) {
        std::vector<kernel::Record> records(static_cast<std::size_t>(below(random, 200)));
        std::int64_t time_ns = 0;
        for (auto& record : records) {
            record.time_ns = time_ns += 10'000'000;
            record.driver = below(random, std::int64_t{1} << 30);
            record.app = below(random, std::int64_t{1} << 30);
        }
        summary = summary_of(kernel::aggregated(records, {1'000'000'000}, 3'000'000'000), {});
    }
    if (is_of_drops) name_drops(random, summary);
    add_facts(random, summary);
    return summary;
}

Summary sum_in_any_order(Random& random, std::vector<Summary> all) {
    std::ranges::shuffle(all, random);
    return summaries::merge_all(std::move(all));
}

}  // namespace

TEST_CASE("in any order recordings have the same sum, to the byte") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const bool is_of_drops = seed % 3 == 0;
        std::vector<Summary> recordings;
        for (auto i = 2 + below(random, 6); i > 0; --i)
            recordings.push_back(random_recording(random, is_of_drops));
        const auto expected = json_of(summaries::merge_all(recordings));
        for (int order = 0; order < 3; ++order) {
            const auto found = json_of(sum_in_any_order(random, recordings));
            REQUIRE(found == expected);
        }
    }
}

TEST_CASE("the parts of a recording add up to the whole") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const bool is_of_drops = seed % 2 == 0;
        const auto header = is_of_drops ? drop_header : latency_header;
        const std::vector<std::string> by = is_of_drops ? std::vector<std::string>() : std::vector<std::string>{"pid"};
        const auto all = intervals(random, is_of_drops ? drops : latencies);
        const auto whole = summary_of(recorded(header, all, 0, {}), by);
        std::vector<Summary> parts;
        for (std::size_t begin = 0; begin < all.size();) {
            const auto end = begin + 1 + random() % (all.size() - begin);
            const auto from_ns = begin == 0 ? 0 : all[begin - 1].end_ns;
            parts.push_back(summary_of(recorded(header, std::span(all).subspan(begin, end - begin), from_ns, {}), by));
            begin = end;
        }
        // How many there were is told, and blocks of time are counted from the start of each.
        const auto told = [](const Summary& summary) {
            auto document = nlohmann::json::parse(json_of(summary));  // causes by name: parts may lack some
            for (const auto* key : {"recordings", "recorded_ns", "series"})
                document.erase(key);
            return document.dump(1);
        };
        CHECK(told(sum_in_any_order(random, parts)) == told(whole));
    }
}

TEST_CASE("drops of several kernels meet by module, function and reason") {
    const auto of = [](std::string kernel, std::uint64_t address, std::uint64_t offset, std::int64_t reason) {
        Summary summary;
        summary.kernels = {std::move(kernel)};
        summary.intervals = {{0, 0, 5}};
        summaries::Drop drop;
        drop.place.address = address;
        drop.reason.number = reason;
        drop.count = 3;
        drop.place.symbol = "tcp_v4_rcv";
        drop.place.offset = offset;
        drop.reason.name = "NO_SOCKET";
        summary.drops = {drop};
        return summary;
    };
    SUBCASE("one kernel, started twice: its offset stays") {
        auto sum = of("6.1 aa", 0xffffffff81000007, 7, 3);
        REQUIRE(merge(sum, of("6.1 aa", 0xffffffff92000007, 7, 3)));
        const auto totals = total<rows::Drop>(sum);
        REQUIRE(totals.size() == 1);
        CHECK(totals[0].count == 6);
        CHECK(totals[0].place.offset == 7);
        CHECK_FALSE(totals[0].place.address);
    }
    SUBCASE("reasons of two names stay apart, whatever their numbers") {
        auto other = of("6.1 bb", 0xffffffff81000011, 17, 3);
        other.drops.front().reason.name = "TCP_CSUM";
        other.stacks.emplace_back().reason = {.number = 3, .name = "TCP_CSUM"};
        other.stacks.front().count = 5;
        auto sum = of("6.1 aa", 0xffffffff81000007, 7, 3);
        sum.stacks.emplace_back().reason = {.number = 3, .name = "NO_SOCKET"};
        sum.stacks.front().count = 7;
        REQUIRE(merge(sum, other));
        CHECK(total<rows::Drop>(sum).size() == 2);
        CHECK(total<rows::Stack>(sum).size() == 2);
    }
    SUBCASE("another build of the same release") {
        auto sum = of("6.1 aa", 0xffffffff81000007, 7, 3);
        REQUIRE(merge(sum, of("6.1 bb", 0xffffffff81000011, 17, 5)));
        const auto totals = total<rows::Drop>(sum);
        REQUIRE(totals.size() == 1);
        CHECK(totals[0].count == 6);
        CHECK_FALSE(totals[0].place.offset);
    }
}
