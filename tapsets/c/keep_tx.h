/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sent packets, kept beside being aggregated. */
#ifndef STAPGEN_KEEP_TX_H
#define STAPGEN_KEEP_TX_H

#include "keep.h"
#include "print_tx.h"

/* The one that has left from this CPU last. */
static inline void stapgen_keep_left(const struct sk_buff* skb, s64 now, const void** fault) {
    const struct stapgen_tx_packet* packet = STAPGEN_THIS_CPU(stapgen_tx_popped);
    STAPGEN_UNINITIALIZED s64 stages[STAPGEN_TX_STAGES];
    struct stapgen_ends ends;
    u64 device[2];
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stapgen_read_device(skb, device, fault);
    stapgen_read_packet_ends(skb, 0, &ends, fault);
    if (*fault) return;
    stapgen_keep_record(STAPGEN_KEPT_SENT, now, packet->thread, packet->comm, &ends, device, packet->bytes,
                        stapgen_tx_stages(packet, now, stages), stages,
                        STAPGEN_WAITS ? STAPGEN_THIS_CPU(stapgen_tx_popped_waits) : NULL, fault);
}
/* The line of the one that was taken, as that of stapgen_print_tx(). */
static inline void stapgen_print_kept_tx(const char* tag, const char* direction, const char* before, const char* rest,
                                         const void** fault) {
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    STAPGEN_UNINITIALIZED struct stapgen_waits waits;
    s64 stages[STAPGEN_TX_STAGES];
    stapgen_read_kept(stages, STAPGEN_TX_STAGES, &waits);
    stapgen_begin_kept_line(&line, tag, direction, fault);
    stapgen_put_number(&line, stapgen_kept_taken.of.bytes);
    if (*before) stapgen_put_text(&line, before);
    stapgen_put_stages(&line, stages, STAPGEN_TX_STAGES);
    if (STAPGEN_WAITS) stapgen_put_parts(&line, &waits, 0, STAPGEN_TX_CAUSES);
    if (*rest) stapgen_put_text(&line, rest);
    if (!*fault) stapgen_print_record(&line);
}

#endif
