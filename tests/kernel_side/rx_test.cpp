#include <doctest/doctest.h>

#include "rx_world.h"

TEST_CASE("received packets: after each of random events the tables are as a plain model") {
    std::array<long, STAPGEN_COUNTS> counts{};
    for (unsigned seed = 1; seed <= 1000; ++seed) {
        CAPTURE(seed);
        const auto bytes = drawn_bytes(seed, 601);
        RxWorld world;
        REQUIRE_NOTHROW(world.run({bytes.data(), bytes.size()}));
        for (int what = 0; what < STAPGEN_COUNTS; ++what)
            counts[what] += world.count(what);
    }
    for (const int what : {STAPGEN_COUNT_rx_arrived, STAPGEN_COUNT_rx_dropped_before, STAPGEN_COUNT_rx_queued,
                           STAPGEN_COUNT_rx_retransmitted, STAPGEN_COUNT_rx_no_driver, STAPGEN_COUNT_rx_no_ip,
                           STAPGEN_COUNT_rx_evicted, STAPGEN_COUNT_rx_reported, STAPGEN_COUNT_rx_filtered})
        CHECK_MESSAGE(counts[what] > 3, std::string(stapgen_counter_names[what]));
}
