/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a packet that was read. */
#ifndef STAPGEN_PRINT_RX_H
#define STAPGEN_PRINT_RX_H

#include "batch.h"
#include "ends.h"
#include "rx_queued.h"

/* The stages of a packet that was read, and their parts. NULL: they are not divided. */
static inline void stapgen_put_read(struct stapgen_line* line, const s64* stages, const struct stapgen_waits* waits,
                                    int is_datagram) {
    stapgen_put_stages(line, stages, STAPGEN_RX_STAGES);
    if (!STAPGEN_WAITS) return;
    stapgen_put_parts(line, is_datagram ? NULL : waits, 0, STAPGEN_RX_CAUSES);
    stapgen_put_parts(line, is_datagram ? waits : NULL, STAPGEN_UDP_APP_FIRST, STAPGEN_RX_CAUSES);
}

/* The one that this CPU has taken out last: `direction` is behind the thread's name, and `rest` behind the
 * stages and their parts. The endpoints of a datagram are in it; those of a segment are its socket's, as its own
 * headers may be gone. */
static inline void stapgen_print_rx(const char* tag, const char* direction, const char* rest, s64 now,
                                    const struct sk_buff* skb, const struct stapgen_ends* of_socket,
                                    const void** fault) {
    const struct stapgen_rx_queued* packet = STAPGEN_THIS_CPU(stapgen_rx_popped);
    s64 stages[STAPGEN_RX_ROOM];
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    STAPGEN_UNINITIALIZED struct stapgen_waits waits;
    u64 comm[2];
    memcpy(comm, current->comm, sizeof(comm));
    stapgen_no_stages(stages, STAPGEN_RX_STAGES);
    stapgen_rx_stages(packet, now, skb != NULL, stages);
    stapgen_begin_line(&line, tag, now, stapgen_this_thread_of(), comm);
    if (*direction) stapgen_put_text(&line, direction);
    if (!skb) {
        stapgen_put_endpoint(&line, of_socket->local, of_socket->is_ip4, of_socket->local_port, fault);
        stapgen_put_endpoint(&line, of_socket->remote, of_socket->is_ip4, of_socket->remote_port, fault);
    } else if (STAPGEN_IS_READABLE(skb, fault)) {
        stapgen_put_destination(&line, skb, fault);
        stapgen_put_source(&line, skb, fault);
    }
    if (*fault) return;
    stapgen_put_name(&line, packet->device);
    stapgen_put_number(&line, packet->bytes);
    if (STAPGEN_WAITS) stapgen_divide_popped(&waits, packet, now);
    stapgen_put_read(&line, stages, &waits, skb != NULL);
    if (*rest) stapgen_put_text(&line, rest);
    stapgen_print_record(&line);
}

#endif
