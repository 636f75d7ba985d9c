#include <doctest/doctest.h>

#include "request_world.h"

TEST_CASE("requests: after each of random events the tables are as a plain model") {
    std::array<long, STAPGEN_COUNTS> counts{};
    for (unsigned seed = 1; seed <= 1000; ++seed) {
        CAPTURE(seed);
        const auto bytes = drawn_bytes(seed, 601);
        RequestWorld world;
        REQUIRE_NOTHROW(world.run({bytes.data(), bytes.size()}));
        for (int what = 0; what < STAPGEN_COUNTS; ++what)
            counts[what] += world.count(what);
    }
    for (const int what :
         {STAPGEN_COUNT_requests, STAPGEN_COUNT_request_no_driver, STAPGEN_COUNT_request_evicted,
          STAPGEN_COUNT_request_no_reply, STAPGEN_COUNT_request_unread, STAPGEN_COUNT_request_read_by_others,
          STAPGEN_COUNT_request_joined, STAPGEN_COUNT_request_reported})
        CHECK_MESSAGE(counts[what] > 3, std::string(stapgen_counter_names[what]));
}
