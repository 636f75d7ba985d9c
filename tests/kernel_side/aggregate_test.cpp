// SPDX-License-Identifier: GPL-2.0-or-later
// Aggregation, with literal values.
#include <doctest/doctest.h>

#include <random>

#define STAPGEN_FIELDS 9
#define STAPGEN_PARTS 7
#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/aggregate_connection.h"

TEST_CASE("bins are those of schema/bins.h") {
    CHECK(stapgen_bin_of(0, 9) == 0);
    CHECK(stapgen_bin_of(511, 9) == 511);
    CHECK(stapgen_bin_of(512, 9) == 512);
    CHECK(stapgen_bin_of(513, 9) == 512);
    CHECK(stapgen_bin_of(1020, 9) == 766);
    CHECK(stapgen_bin_of(STAPGEN_LARGEST, 9) == STAPGEN_BINS - 1);
    CHECK(stapgen_bin_of(STAPGEN_LARGEST, 6) == STAPGEN_TOTALS - 1);
    for (int bin = 0; bin < STAPGEN_BINS; ++bin) {
        CHECK(stapgen_bin_of(stapgen_lowest_of(bin), 9) == bin);
        if (bin > 0) CHECK(stapgen_bin_of(stapgen_lowest_of(bin) - 1, 9) == bin - 1);
    }
}

TEST_CASE("what was aggregated is printed once, with what came since") {
    std::memset(stapgen_stripes, 0, sizeof(stapgen_stripes));
    std::memset(&stapgen_printed, 0, sizeof(stapgen_printed));
    stapgen_slow[0] = 0;
    shim_printed.clear();
    const s64 no = STAPGEN_NO_STAGE;
    const s64 one[] = {3, 1000, no, no, no, no, no, no}, two[] = {3, 17, no, no, no, no, no, no};
    CHECK(stapgen_aggregate_record(0, 0, one));
    shim_cpu = 5;
    CHECK(stapgen_aggregate_record(0, 0, two));
    shim_cpu = 0;
    stapgen_print_histogram("rx", "a", 0);
    stapgen_print_histogram("rx", "b", 1);
    stapgen_print_histogram("rx", "c", 2);
    stapgen_print_splits("rx", "-", 0);
    CHECK(shim_printed ==
          "bin\trx\ta\t3:2\nsum\trx\ta\t2\t6\t3\t3\n"
          "bin\trx\tb\t17:1\t756:1\nsum\trx\tb\t2\t1017\t17\t1000\n"
          "split\trx\t-\t20\t1\t3\t17\t0\t0\t0\t0\t0\nsplit\trx\t-\t190\t1\t3\t1000\t0\t0\t0\t0\t0\n");
    // Each line by itself: what is full would be handed over in the middle of one.
    CHECK(shim_handed_over == shim_printed);
    CHECK(stapgen_printed_records(0) == 2);
    shim_printed.clear();
    const s64 three[] = {4, no, no, no, no, no, no, no};
    stapgen_aggregate_record(0, 0, three);
    stapgen_aggregate_value(8, STAPGEN_LARGEST + 1);
    stapgen_print_histogram("rx", "a", 0);
    stapgen_print_histogram("rx", "b", 1);
    stapgen_print_histogram("rx", "e", 8);
    CHECK(shim_printed ==
          "bin\trx\ta\t4:1\nsum\trx\ta\t1\t4\t4\t4\nsum\trx\te\t1\t2199023255552\t2199023255552\t2199023255552\n");
}

TEST_CASE("aggregated, a connection's stages and numbers are in the bins of the fields of its record") {
    std::memset(stapgen_stripes, 0, sizeof(stapgen_stripes));
    std::memset(&stapgen_printed, 0, sizeof(stapgen_printed));
    stapgen_slow[0] = 0;
    shim_printed.clear();
    const s64 no = STAPGEN_NO_STAGE;
    CHECK(stapgen_aggregate_connection(21, no, 300, no, 1, 0));
    CHECK(stapgen_aggregate_connection(no, no, no, 400, no, no));
    const char* const names[] = {"call", "program", "answer", "failure", "syns", "syns-dropped", "none"};
    for (int field = 0; field < 7; ++field)
        stapgen_print_histogram("connect", names[field], field);
    CHECK(shim_printed ==
          "bin\tconnect\tcall\t21:1\nsum\tconnect\tcall\t1\t21\t21\t21\n"
          "bin\tconnect\tanswer\t300:1\nsum\tconnect\tanswer\t1\t300\t300\t300\n"
          "bin\tconnect\tfailure\t400:1\nsum\tconnect\tfailure\t1\t400\t400\t400\n"
          "bin\tconnect\tsyns\t1:1\nsum\tconnect\tsyns\t1\t1\t1\t1\n"
          "bin\tconnect\tsyns-dropped\t0:1\nsum\tconnect\tsyns-dropped\t1\t0\t0\t0\n");
    shim_printed.clear();
    stapgen_print_splits("connect", "-", 0);
    CHECK(stapgen_printed_records(0) == 2);
    CHECK(shim_printed.find("\t1\t21\t0\t300\t0\t") != std::string::npos);
    CHECK(shim_printed.find("\t1\t0\t0\t0\t400\t") != std::string::npos);
}

TEST_CASE("of many records those are slow that are in the highest bins") {
    std::memset(stapgen_stripes, 0, sizeof(stapgen_stripes));
    stapgen_slow[0] = 0;
    const s64 no = STAPGEN_NO_STAGE;
    int slow = 0;
    for (s64 ns = 1024; ns <= 1L << 40; ns *= 2) {
        const s64 up[] = {ns, no, no, no, no, no, no, no};
        CHECK(stapgen_aggregate_record(0, 0, up));
    }
    for (s64 ns = 1; ns <= 1009; ++ns) {
        const s64 low[] = {ns, no, no, no, no, no, no, no};
        slow += stapgen_aggregate_record(0, 0, low);
    }
    CHECK(slow == 0);
}

TEST_CASE("as many as are wanted are slow, and no more than the last bin of these has") {
    std::memset(stapgen_stripes, 0, sizeof(stapgen_stripes));
    stapgen_slow[0] = 0;
    std::mt19937_64 random(31);
    std::vector<int> bins(STAPGEN_TOTALS);
    for (int i = 0; i < 5003; ++i) {
        const s64 ns = random() >> (24 + random() % 30);
        const auto bin = stapgen_bin_of(ns, STAPGEN_TOTAL_BITS);
        int above = 0, from = STAPGEN_TOTALS;
        while (above < STAPGEN_SLOWEST && --from > 0)
            above += bins[from];
        ++bins[bin];
        const s64 record[] = {ns, -1, -1, -1, -1, -1, -1, -1};
        shim_cpu = i % 3;
        REQUIRE(stapgen_aggregate_record(0, 0, record) == (bin > from));
    }
    shim_cpu = 0;
}
