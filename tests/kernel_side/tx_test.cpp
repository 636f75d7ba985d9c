#include <doctest/doctest.h>

#include "tx_world.h"

TEST_CASE("sent packets: after each of random events the tables are as a plain model") {
    std::array<long, STAPGEN_COUNTS> counts{};
    for (unsigned seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        const auto bytes = drawn_bytes(seed, 601);
        TxWorld world;
        REQUIRE_NOTHROW(world.run({bytes.data(), bytes.size()}));
        for (int what = 0; what < STAPGEN_COUNTS; ++what)
            counts[what] += world.count(what);
    }
    for (const int what : {STAPGEN_COUNT_tx_segments, STAPGEN_COUNT_tx_datagrams, STAPGEN_COUNT_tx_unwanted,
                           STAPGEN_COUNT_tx_filtered, STAPGEN_COUNT_tx_no_call, STAPGEN_COUNT_tx_dropped,
                           STAPGEN_COUNT_tx_reported, STAPGEN_COUNT_tx_acks, STAPGEN_COUNT_tx_retransmits})
        CHECK_MESSAGE(counts[what] > 17, std::string(stapgen_counter_names[what]));
}
