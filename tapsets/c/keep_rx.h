/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets, aggregated and kept. */
#ifndef STAPGEN_KEEP_RX_H
#define STAPGEN_KEEP_RX_H

#include "aggregate_rx.h"
#include "keep.h"
#include "print_rx.h"

static inline void stapgen_keep_read(const struct stapgen_rx_queued* packet, unsigned long queue, s64 now,
                                     int is_datagram, u32 has, const s64* stages, const struct stapgen_waits* waits,
                                     const void** fault) {
    struct stapgen_ends ends;
    u64 comm[2];
    if (!is_datagram)
        stapgen_read_ends((const struct sock*)queue, &ends, fault);
    else if (STAPGEN_IS_READABLE((const struct sk_buff*)queue, fault))
        stapgen_read_packet_ends((const struct sk_buff*)queue, 1, &ends, fault);
    if (*fault) return;
    memcpy(comm, current->comm, sizeof(comm));
    stapgen_keep_record(is_datagram ? STAPGEN_KEPT_DATAGRAM : STAPGEN_KEPT_SEGMENT, now, stapgen_this_thread_of(), comm,
                        &ends, packet->device, packet->bytes, has, stages, waits, fault);
}
/* As stapgen_aggregate_read(). */
static inline int stapgen_aggregate_and_keep_read(unsigned long queue, s64 now, int is_datagram, int is_wanted,
                                                  const void** fault) {
    return stapgen_aggregate_read_to(stapgen_keep_read, queue, now, is_datagram, is_wanted, fault);
}
/* The line of the one that was taken, as that of stapgen_print_rx(). */
static inline void stapgen_print_kept_rx(const char* tag, const char* direction, const char* rest, const void** fault) {
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    STAPGEN_UNINITIALIZED struct stapgen_waits waits;
    s64 stages[STAPGEN_RX_ROOM];
    stapgen_read_kept(stages, STAPGEN_RX_STAGES, &waits);
    stapgen_begin_kept_line(&line, tag, direction, fault);
    stapgen_put_number(&line, stapgen_kept_taken.of.bytes);
    stapgen_put_read(&line, stages, &waits, stapgen_kept_taken.of.kind == STAPGEN_KEPT_DATAGRAM);
    if (*rest) stapgen_put_text(&line, rest);
    if (!*fault) stapgen_print_record(&line);
}

#endif
