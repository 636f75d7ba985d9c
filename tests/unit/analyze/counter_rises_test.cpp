// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "table/counter_source.h"
#include "unit/rows.h"

using namespace stapgen;
using summaries::Summary;
using summaries::Tally;
using table::CounterTracks;

namespace {

struct Read {
    std::string name, of;
    std::uint64_t value = 0;
    std::int64_t sample = 0;
    std::int64_t epoch_s = -1;
    bool part = false, is_rise = false, zeros_left_out = false, is_state = false;
    std::size_t source = 0;
    table::CounterSource whose{};
    std::int64_t over_s = 0;
    bool is_unknown = false;
};

CounterTracks tracks_of(const std::vector<Read>& reads) {
    CounterTracks tracks;
    for (const auto& read : reads) {
        tracks.add({.format = "tool",
                    .sample = read.sample,
                    .name = read.name,
                    .of = read.of,
                    .value = read.value,
                    .part = read.part,
                    .is_rise = read.is_rise,
                    .is_unknown = read.is_unknown,
                    .is_state = read.is_state,
                    .zeros_left_out = read.zeros_left_out,
                    .epoch_ns = read.epoch_s < 0 ? std::nullopt : std::optional(read.epoch_s * 1'000'000'000),
                    .over_ns = read.over_s * 1'000'000'000,
                    .source = read.source,
                    .whose = &read.whose});
    }
    return tracks;
}

Summary rises_of(const std::vector<std::vector<Read>>& inputs, const std::vector<std::string>& by = {"name", "of"}) {
    Summary summary;
    summary.counted = "rise";
    summary.readings.emplace();
    for (const auto& reads : inputs)
        *summary.readings += tracks_of(reads);
    auto measured = measured_of(summary);
    kinds::counts::put_counter_deltas(measured, by);
    return summaries::summary_of(measured);
}

const Tally* tally_of(const Summary& summary, const std::string& name, const std::string& of) {
    const table::Group group{{"name", name}, {"of", of}};
    const auto found = std::ranges::find(summary.tallies, group, &Tally::group);
    return found == summary.tallies.end() ? nullptr : &*found;
}

std::int64_t rise(const Summary& summary, const std::string& name, const std::string& of) {
    const auto* tally = tally_of(summary, name, of);
    return tally == nullptr ? 0 : tally->count;
}

bool has_note(const Summary& summary, std::string_view part) {
    return std::ranges::any_of(summary.notes,
                               [&](const auto& note) { return note.text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a counter rises from its first sample to its last, in one text or in several, each device for itself") {
    const std::vector<Read> before{{"link.rx_dropped", "eth0", 100}, {"link.rx_dropped", "eth1", 7}},
        after{{"link.rx_dropped", "eth0", 117}, {"link.rx_dropped", "eth1", 7}},
        both{{"link.rx_dropped", "eth0", 100, 0}, {"link.rx_dropped", "eth1", 7, 0},
             {"link.rx_dropped", "eth0", 105, 1}, {"link.rx_dropped", "eth1", 7, 1},
             {"link.rx_dropped", "eth0", 117, 2}, {"link.rx_dropped", "eth1", 7, 2}};
    for (const auto& summary : {rises_of({before, after}), rises_of({both})}) {
        REQUIRE(summary.tallies.size() == 1);
        CHECK(rise(summary, "link.rx_dropped", "eth0") == 17);
        CHECK(summary.counters_read == 2);
        CHECK(summary.notes.empty());
        CHECK_FALSE(summary.levels);
        CHECK_FALSE(summary.tallies[0].per_s);
    }
    // Three inputs, the middle one of two samples.
    const auto three = rises_of({before, both, {{"link.rx_dropped", "eth0", 120}}});
    CHECK(rise(three, "link.rx_dropped", "eth0") == 20);
    CHECK(rises_of({before, after}, {"name"}).tallies.at(0).group == table::Group{{"name", "link.rx_dropped"}});
}

TEST_CASE("where each sample has a time of its own there is a rate") {
    const auto timed = rises_of({{{"a", "-", 100, 0, 1000}, {"a", "-", 150, 1, 1010}, {"a", "-", 200, 2, 1020}}});
    REQUIRE(tally_of(timed, "a", "-") != nullptr);
    CHECK(tally_of(timed, "a", "-")->per_s == 5.0);
    CHECK(timed.start_epoch_ns == 1'000'000'000'000);
    CHECK(timed.end_epoch_ns == 1'020'000'000'000);
    CHECK(timed.intervals.size() == 1);
    // In two inputs, too.
    CHECK(tally_of(rises_of({{{"a", "-", 100, 0, 1000}}, {{"a", "-", 104, 0, 1002}}}), "a", "-")->per_s == 2.0);
    // The last sample has none, the first has none, both have one and the same.
    for (const auto& summary :
         {rises_of({{{"a", "-", 100, 0, 1000}, {"a", "-", 150, 1, 1010}, {"a", "-", 200, 2, 1010}}}),
          rises_of({{{"a", "-", 100, 0}, {"a", "-", 150, 1, 1010}}}),
          rises_of({{{"a", "-", 100, 0, 1000}, {"a", "-", 150, 1, 1000}}}),
          rises_of({{{"a", "-", 100, 0, 1000}}, {{"a", "-", 150, 0}}})}) {
        REQUIRE(tally_of(summary, "a", "-") != nullptr);
        CHECK_FALSE(tally_of(summary, "a", "-")->per_s);
    }
}

TEST_CASE("parts of one sample are added up, of two they are compared") {
    const auto summary = rises_of({{{"ethtool.drops", "eth0", 3, 0},
                                    {"ethtool.drops", "eth0", 4, 0, -1, true},
                                    {"ethtool.drops", "eth0", 5, 1},
                                    {"ethtool.drops", "eth0", 13, 1, -1, true}}});
    CHECK(rise(summary, "ethtool.drops", "eth0") == 11);
}

TEST_CASE("a counter that fell is reported, and never negative") {
    const auto summary = rises_of(
        {{{"link.rx_dropped", "eth0", 100, 0}, {"link.rx_bytes", "eth0", 5, 0}, {"link.tx_bytes", "eth0", 5, 0}},
         {{"link.rx_dropped", "eth0", 3, 0}, {"link.rx_bytes", "eth0", 9, 0}, {"link.tx_bytes", "eth0", 8, 0}}});
    CHECK(rise(summary, "reset.link.rx_dropped", "eth0") == 1);
    CHECK(tally_of(summary, "link.rx_dropped", "eth0") == nullptr);
    CHECK(rise(summary, "link.rx_bytes", "eth0") == 4);
    CHECK(summary.notes.empty());
    // More fell than rose.
    const auto wrong = rises_of({{{"a", "-", 100}, {"b", "-", 5}}, {{"a", "-", 3}, {"b", "-", 4}}});
    CHECK(has_note(wrong, "2 counters fell, such as a of -: the samples are of two sources"));
    CHECK(sum_of(wrong.tallies) == 2);
    // 2^64 - 1 and then a small number, and the other way round.
    CHECK(rise(rises_of({{{"a", "-", ~std::uint64_t{0}, 0}, {"a", "-", 5, 1}}}), "reset.a", "-") == 1);
    CHECK(rise(rises_of({{{"a", "-", 5, 0}, {"a", "-", ~std::uint64_t{0}, 1}}}), "reset.a", "-") == 1);
}

TEST_CASE("of a source whose kernel's counters fell, and of a device most of whose fell, no rise is known") {
    const auto other =
        rises_of({{{"Udp.InErrors", "-", 5}, {"Udp.InDatagrams", "-", 900}, {"link.rx_dropped", "eth0", 5}},
                  {{"Udp.InErrors", "-", 77}, {"Udp.InDatagrams", "-", 100}, {"link.rx_dropped", "eth0", 9}}});
    CHECK(rise(other, "Udp.InErrors", "-") == 0);
    CHECK(rise(other, "link.rx_dropped", "eth0") == 0);
    CHECK(rise(other, "reset.Udp.InDatagrams", "-") == 1);
    CHECK(has_note(other, "1 counter fell, such as Udp.InDatagrams of -"));
    CHECK(has_note(other, "the rise of 2 counters is left out"));
    const auto device =
        rises_of({{{"link.rx_bytes", "eth0", 900}, {"link.rx_dropped", "eth0", 5}, {"link.rx_bytes", "eth1", 5}},
                  {{"link.rx_bytes", "eth0", 100}, {"link.rx_dropped", "eth0", 9}, {"link.rx_bytes", "eth1", 7}}});
    CHECK(rise(device, "link.rx_dropped", "eth0") == 0);
    CHECK(rise(device, "link.rx_bytes", "eth1") == 2);
    // One that may have been full is no other source's.
    const auto full = rises_of({{{"Ip.InReceives", "-", 4294967290}, {"Ip.OutRequests", "-", 5}},
                                {{"Ip.InReceives", "-", 710}, {"Ip.OutRequests", "-", 9}}});
    CHECK(rise(full, "Ip.OutRequests", "-") == 4);
}

TEST_CASE("two devices without a name that have different counters are two") {
    const auto two =
        rises_of({{{"rx", "?", 100}, {"a", "?", 1}, {"b", "?", 1}}, {{"rx", "?", 900}, {"c", "?", 1}, {"d", "?", 1}}});
    CHECK(two.tallies.empty());
    CHECK_FALSE(two.levels);
    CHECK(
        has_note(two, "?: the samples have different counters, as of two devices; the rise of 1 counter is left out"));
    // What grep has left is another choice of the same ones.
    const auto one = rises_of({{{"rx", "?", 100}, {"a", "?", 1}, {"b", "?", 1}}, {{"rx", "?", 900}, {"a", "?", 3}}});
    CHECK(rise(one, "rx", "?") == 800);
}

TEST_CASE("each source is compared with itself, in one input and in several") {
    const table::CounterSource n1{.host = "n1"}, n2{.host = "n2"}, unknown;
    const auto read = [](std::uint64_t value, std::int64_t sample, std::size_t number,
                         const table::CounterSource& whose) {
        return Read{"a", "-", value, sample, -1, false, false, true, false, number, whose};
    };
    // Two sources, once each: no rise, and the second is not risen from 0.
    for (const auto& summary :
         {rises_of({{read(5, 0, 0, n1), read(77, 0, 1, n2)}}), rises_of({{read(5, 0, 0, n1)}, {read(77, 0, 0, n2)}})}) {
        CHECK(summary.levels);
        CHECK(rise(summary, "a", "n1") == 5);
        CHECK(rise(summary, "a", "n2") == 77);
        CHECK(has_note(summary, "the samples are of 2 sources, and compared within each only: host n1; host n2"));
    }
    // The same one again, with the other between.
    for (const auto& summary :
         {rises_of({{read(5, 0, 0, n1), read(77, 0, 1, n2), read(8, 1, 0, n1)}}),
          rises_of({{read(5, 0, 0, n1)}, {read(77, 0, 0, n2)}, {read(8, 0, 0, n1)}}),
          rises_of({{read(5, 0, 0, n1), read(77, 0, 1, n2)}, {read(8, 0, 0, {.host = "n1.example.com"})}})}) {
        CHECK(summary.tallies.size() == 1);
        CHECK((rise(summary, "a", "n1") == 3 || rise(summary, "a", "n1.example.com") == 3));
        CHECK(has_note(summary, "1 counter is in one sample only"));
    }
    // One that is not known is the one that it may be, if that is one.
    CHECK(rise(rises_of({{read(5, 0, 0, unknown)}, {read(8, 0, 0, n1)}}), "a", "-") == 3);
    CHECK(rise(rises_of({{read(5, 0, 0, n1)}, {read(8, 0, 0, unknown)}}), "a", "-") == 3);
    CHECK(rises_of({{read(5, 0, 0, n1), read(77, 0, 1, n2)}, {read(80, 0, 0, unknown)}}).levels);
    CHECK(rises_of({{read(80, 0, 0, unknown)}, {read(85, 0, 0, n1), read(97, 0, 1, n2)}}).levels);
    // Where a command ran is of interest in any case.
    CHECK(rise(rises_of({{read(5, 0, 0, {.host = "n1", .inside = "netns blue"})}}), "a", "netns blue") == 5);
}

TEST_CASE("32 bits: softnet's begin anew, of others it is said what it would be") {
    CHECK(rise(rises_of({{{"softnet.processed", "cpu0", 0xfffffff0, 0}, {"softnet.processed", "cpu0", 0x10, 1}}}),
               "softnet.processed", "cpu0") == 0x20);
    // Started anew, and not 4 billion packets.
    const auto started = rises_of({{{"softnet.processed", "cpu0", 1000000, 0}, {"softnet.processed", "cpu0", 5, 1}}});
    CHECK(rise(started, "reset.softnet.processed", "cpu0") == 1);
    CHECK(rise(started, "softnet.processed", "cpu0") == 0);
    const auto full = rises_of({{{"Ip.InReceives", "-", 4294967290, 0}, {"Ip.InReceives", "-", 710, 1}}});
    CHECK(rise(full, "reset.Ip.InReceives", "-") == 1);
    CHECK(has_note(full,
                   "Ip.InReceives of - fell from 4294967290 to 710: if it has 32 bits and began anew, it rose by 716 "
                   "there"));
    const auto small = rises_of({{{"a", "-", 100, 0}, {"a", "-", 5, 1}}});
    CHECK_FALSE(has_note(small, "32 bits"));
}

TEST_CASE("one sample: what counters stand at, and that a second one is needed") {
    const auto summary = rises_of({{{"Udp.InErrors", "-", 1408}, {"Udp.NoPorts", "-", 0}}});
    CHECK(summary.levels);
    CHECK(summary.counted == "value");
    REQUIRE(summary.tallies.size() == 1);
    CHECK(rise(summary, "Udp.InErrors", "-") == 1408);
    CHECK(summary.counters_read == 2);
    CHECK(has_note(summary, "one sample shows totals"));
    // Of two inputs that have nothing in common, either.
    CHECK(rises_of({{{"a", "-", 5}}, {{"b", "-", 6}}}).levels);
}

TEST_CASE("what stood in one sample only is counted, and where zeros are left out it rose from 0") {
    const auto once = rises_of({{{"a", "-", 5}, {"b", "-", 5}}, {{"a", "-", 6}, {"c", "-", 9}}});
    CHECK(once.tallies.size() == 1);
    CHECK(has_note(once, "2 counters are in one sample only"));
    const auto left_out =
        rises_of({{{"a", "-", 5, 0, -1, false, false, true}},
                  {{"a", "-", 6, 0, -1, false, false, true}, {"c", "-", 9, 0, -1, false, false, true}}});
    CHECK(rise(left_out, "c", "-") == 9);
    CHECK(has_note(left_out, "1 counter is in later samples only: 0 before"));
}

TEST_CASE("where most of what leaves out zeros came later, the first sample was a choice, and none of them was 0") {
    const auto summary = rises_of({{{"a", "-", 5, 0, -1, false, false, true},
                                    {"a", "-", 6, 1, -1, false, false, true},
                                    {"b", "-", 500, 1, -1, false, false, true},
                                    {"c", "-", 17, 1, -1, false, false, true}}});
    CHECK(rise(summary, "a", "-") == 1);
    CHECK(tally_of(summary, "b", "-") == nullptr);
    CHECK(has_note(summary, "2 counters are in one sample only"));
}

TEST_CASE("where nothing rose the totals are the answer") {
    const auto summary = rises_of({{{"link.rx_dropped", "eth0", 247, 0}, {"link.rx_dropped", "eth0", 247, 1}}});
    CHECK(summary.levels);
    CHECK(rise(summary, "link.rx_dropped", "eth0") == 247);
    CHECK(has_note(summary, "nothing rose between the samples"));
    // What fell did not stay.
    CHECK_FALSE(rises_of({{{"a", "-", 5, 0}, {"b", "-", 5, 0}, {"a", "-", 5, 1}, {"b", "-", 4, 1}}}).levels);
}

TEST_CASE("a state is a value of one sample, and no rise") {
    const Read state{"sockstat.TCP.mem", "-", 9, 0, -1, false, false, false, true};
    auto later = state;
    later.value = 30;
    const auto one = rises_of({{state}});
    CHECK(rise(one, "sockstat.TCP.mem", "-") == 9);
    CHECK_FALSE(has_note(one, "give a second one"));
    const auto both = rises_of({{state, {"a", "-", 5}}, {later, {"a", "-", 7}}});
    CHECK(both.tallies.size() == 1);
    CHECK(rise(both, "a", "-") == 2);
    CHECK(has_note(both, "states (sockets in use, memory, packets under way, neighbours) do not rise"));
}

TEST_CASE("a tool's rise and another one's total of one counter are not subtracted") {
    const Read rise_of_nstat{"Udp.NoPorts", "-", 7, 0, -1, false, true}, total{"Udp.NoPorts", "-", 1007};
    for (const auto& reads : {std::vector{rise_of_nstat, total}, std::vector{total, rise_of_nstat}})
        CHECK(rise(rises_of({reads}), "Udp.NoPorts", "-") == 7);
}

TEST_CASE("what a tool prints as a rise is one") {
    const auto summary =
        rises_of({{{"Udp.NoPorts", "-", 5, 0, -1, false, true}, {"Udp.NoPorts", "-", 3, 1, -1, false, true}}});
    CHECK(rise(summary, "Udp.NoPorts", "-") == 3);
    CHECK_FALSE(summary.levels);
}

TEST_CASE("rises of known times add up, in one text or in several, and have a rate") {
    const auto rise_over = [](std::uint64_t value, std::int64_t over_s) {
        return Read{"dev.rx_drop", "eth0", value, 0, -1, true, true, false, false, 0, {}, over_s};
    };
    const auto first = rise_over(17, 10), later = rise_over(6, 13);
    for (const auto& summary : {rises_of({{first, later}}), rises_of({{first}, {later}})}) {
        REQUIRE(tally_of(summary, "dev.rx_drop", "eth0") != nullptr);
        CHECK(tally_of(summary, "dev.rx_drop", "eth0")->count == 23);
        CHECK(tally_of(summary, "dev.rx_drop", "eth0")->per_s == 1.0);
    }
    // Beside a total, in another text, too.
    const Read total{"dev.rx_drop", "eth0", 1007};
    for (const auto& inputs : {std::vector<std::vector<Read>>{{first}, {total}}, {{total}, {first}}})
        CHECK(rise(rises_of(inputs), "dev.rx_drop", "eth0") == 17);
    const auto none = rises_of({{rise_over(0, 10)}});
    CHECK(none.tallies.empty());
    CHECK_FALSE(has_note(none, "totals"));
    CHECK(none.levels);
    // A rate without a time is of no number: that nothing rose is not known.
    auto unknown = rise_over(0, 0);
    unknown.is_unknown = true;
    for (const auto& inputs : {std::vector<std::vector<Read>>{{unknown}},
                               {{unknown, rise_over(0, 10)}},
                               {{rise_over(0, 10)}, {unknown}},
                               {{unknown}, {rise_over(0, 10)}}}) {
        const auto summary = rises_of(inputs);
        CHECK(summary.tallies.empty());
        CHECK(summary.counters_read == 1);
        CHECK_FALSE(summary.levels);
    }
    CHECK(rise(rises_of({{unknown}, {first}}), "dev.rx_drop", "eth0") == 17);
}

TEST_CASE("the number of counters that are kept is bounded, and what is left out is reported") {
    std::vector<Read> reads;
    for (std::size_t i = 0; i < CounterTracks::max_counters + 3; ++i)
        reads.push_back({"a" + std::to_string(i), "-", 1});
    const auto summary = rises_of({reads});
    CHECK(summary.counters_read == static_cast<std::int64_t>(CounterTracks::max_counters));
    CHECK(has_note(summary, "3 readings are ignored"));
}

TEST_CASE("without readings nothing changes") {
    kinds::Measured measured;
    kinds::counts::put_counter_deltas(measured, {"name", "of"});
    const auto summary = summaries::summary_of(measured);
    CHECK(summary.tallies.empty());
    CHECK(summary.intervals.empty());
    CHECK(summary.counted.empty());
}
