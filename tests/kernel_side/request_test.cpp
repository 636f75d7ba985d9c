// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_world.h"

// request_world.h is first: it has what is modelled.
#include <doctest/doctest.h>

#include "model_runs.h"

TEST_CASE("requests: after each of random events the tables are as a plain model") {
    const auto counts = counts_of_runs<RequestWorld>(1000);
    for (const int what :
         {STAPGEN_COUNT_requests, STAPGEN_COUNT_request_no_driver, STAPGEN_COUNT_request_evicted,
          STAPGEN_COUNT_request_no_reply, STAPGEN_COUNT_request_unread, STAPGEN_COUNT_request_read_by_others,
          STAPGEN_COUNT_request_joined, STAPGEN_COUNT_request_ambiguous, STAPGEN_COUNT_request_reported})
        CHECK_MESSAGE(counts[what] > 3, std::string(stapgen_counter_names[what]));
}
