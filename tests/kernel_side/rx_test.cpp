// SPDX-License-Identifier: GPL-2.0-or-later
#include "rx_world.h"

// rx_world.h is first: it has what is modelled.
#include <doctest/doctest.h>

#include "model_runs.h"

TEST_CASE("received packets: after each of random events the tables are as a plain model") {
    const auto counts = counts_of_runs<RxWorld>(1000);
    for (const int what : {STAPGEN_COUNT_rx_arrived, STAPGEN_COUNT_rx_dropped_before, STAPGEN_COUNT_rx_queued,
                           STAPGEN_COUNT_rx_retransmitted, STAPGEN_COUNT_rx_no_driver, STAPGEN_COUNT_rx_no_ip,
                           STAPGEN_COUNT_rx_evicted, STAPGEN_COUNT_rx_reported, STAPGEN_COUNT_rx_filtered})
        CHECK_MESSAGE(counts[what] > 3, std::string(stapgen_counter_names[what]));
}
