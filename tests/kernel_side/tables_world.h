// SPDX-License-Identifier: GPL-2.0-or-later
// All tables that are kept by heads, skbs, sockets and threads, empty.
#pragma once

#include <doctest/doctest.h>

#include <optional>

#define STAPGEN_WAITS 1
#define STAPGEN_APP_PARTS 0
#define STAPGEN_FIELDS 50
#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/forward.h"
#include "c/request.h"
#include "c/rx_queued.h"
#include "c/tx_packet.h"
#include "invariants.h"

int skb_copy_bits(const struct sk_buff*, int, void*, int) {
    return -1;
}

namespace {

const void* fault = nullptr;

void begin() {
    std::memset(&stapgen_counts, 0, sizeof(stapgen_counts));
    for (const auto* set : {&stapgen_rx_packets, &stapgen_tx_packets, &stapgen_datagrams, &stapgen_threads,
                            &stapgen_calls_of_threads, &stapgen_rx_threads, &stapgen_arrivals, &stapgen_forwards})
        clear(*set);
    clear(stapgen_rx_queues);
    clear(stapgen_requests);
    clear(stapgen_sockets);
    clear(stapgen_tx_calls);
    for (auto* aliases : {stapgen_rx_skbs, stapgen_cut_heads, stapgen_queued_skbs, stapgen_answers,
                          stapgen_arrival_heads, stapgen_forward_heads, stapgen_forward_cuts})
        std::fill_n(aliases, 1 << STAPGEN_ALIASES_BITS, stapgen_alias{});
    std::memset(&stapgen_rx_datagrams, 0, sizeof(stapgen_rx_datagrams));
    shim_tasks[0] = {101, 100, "worker"};
    fault = nullptr;
}
long counted(int what) {
    return stapgen_count_now(what);
}

}  // namespace
