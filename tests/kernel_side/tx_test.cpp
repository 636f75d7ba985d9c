// SPDX-License-Identifier: GPL-2.0-or-later
#include "tx_world.h"

// tx_world.h is first: it has what is modelled.
#include <doctest/doctest.h>

#include "model_runs.h"

TEST_CASE("sent packets: after each of random events the tables are as a plain model") {
    const auto counts = counts_of_runs<TxWorld>(400);
    for (const int what : {STAPGEN_COUNT_tx_segments, STAPGEN_COUNT_tx_datagrams, STAPGEN_COUNT_tx_unwanted,
                           STAPGEN_COUNT_tx_filtered, STAPGEN_COUNT_tx_no_call, STAPGEN_COUNT_tx_dropped,
                           STAPGEN_COUNT_tx_reported, STAPGEN_COUNT_tx_acks, STAPGEN_COUNT_tx_retransmits})
        CHECK_MESSAGE(counts[what] > 17, std::string(stapgen_counter_names[what]));
}
