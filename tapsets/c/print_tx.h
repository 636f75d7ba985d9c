/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a packet that leaves. */
#ifndef STAPGEN_PRINT_TX_H
#define STAPGEN_PRINT_TX_H

#include "batch.h"
#include "tx_packet.h"

/* The one that has left from this CPU last: `direction` is behind the name of the thread, which is the one that sent
 * it, `before` before the stages, and `rest` behind these and their parts. The device is the one that has it now. */
static inline void stapgen_print_tx(const char* tag, const char* direction, const char* before, const char* rest,
                                    const struct sk_buff* skb, s64 now, const void** fault) {
    const struct stapgen_tx_packet* packet = STAPGEN_THIS_CPU(stapgen_tx_popped);
    s64 stages[STAPGEN_TX_STAGES];
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    u64 device[2];
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stapgen_read_device(skb, device, fault);
    stapgen_no_stages(stages, STAPGEN_TX_STAGES);
    stapgen_tx_stages(packet, now, stages);
    stapgen_begin_line(&line, tag, now, packet->thread, packet->comm);
    if (*direction) stapgen_put_text(&line, direction);
    stapgen_put_source(&line, skb, fault);
    stapgen_put_destination(&line, skb, fault);
    if (*fault) return;
    stapgen_put_name(&line, device);
    stapgen_put_number(&line, packet->bytes);
    if (*before) stapgen_put_text(&line, before);
    stapgen_put_stages(&line, stages, STAPGEN_TX_STAGES);
    if (STAPGEN_WAITS) stapgen_put_parts(&line, STAPGEN_THIS_CPU(stapgen_tx_popped_waits), 0, STAPGEN_TX_CAUSES);
    if (*rest) stapgen_put_text(&line, rest); /* of a constant that is empty nothing is left */
    stapgen_print_record(&line);
}

#endif
