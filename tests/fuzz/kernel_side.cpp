// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel side's tables and their plain models (tests/kernel_side): the first byte says which.
#include "fuzz.h"
#include "request_world.h"
#include "rx_world.h"
#include "tx_world.h"

FUZZ_TARGET(kernel_side) {
    if (size == 0) return 0;
    const Bytes events(data + 1, size - 1);
    // An exception that nobody catches is what a fuzzer sees.
    switch (data[0] % 3) {
        case 0:
            RxWorld().run(events);
            break;
        case 1:
            TxWorld().run(events);
            break;
        default:
            RequestWorld().run(events);
    }
    return 0;
}
