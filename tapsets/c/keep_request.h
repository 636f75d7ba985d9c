/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests, aggregated and kept. */
#ifndef STAPGEN_KEEP_REQUEST_H
#define STAPGEN_KEEP_REQUEST_H

#include "aggregate_request.h"
#include "keep.h"

enum { STAPGEN_KEPT_FIELDS = STAPGEN_RECORD_FIELDS + 1 };

static inline void stapgen_keep_request(const struct stapgen_request* request, const struct sk_buff* skb, s64 answered,
                                        const s64* stages, const void** fault) {
    struct stapgen_ends ends;
    u32 has = 0;
    int i;
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stapgen_read_packet_ends(skb, 0, &ends, fault);
    if (*fault) return;
    for (i = 0; i < STAPGEN_KEPT_FIELDS; i++)
        if (stages[i] >= 0) has |= 1U << i;
    stapgen_keep_record(STAPGEN_KEPT_REQUEST, answered, request->thread, request->comm, &ends, request->device, 0, has,
                        stages,
#if STAPGEN_APP_PARTS
                        &request->app.own.waits,
#else
                        NULL,
#endif
                        fault);
}
/* As stapgen_aggregate_answered(). */
static inline int stapgen_aggregate_and_keep_answered(unsigned long queue, const struct sk_buff* skb, s64 answered,
                                                      const void** fault) {
    return stapgen_aggregate_answered_to(stapgen_keep_request, queue, skb, answered, fault);
}
/* The line of the one that was taken, as that of stapgen_print_request_of(); what it slept for longest is not kept. */
static inline void stapgen_print_kept_request(const char* tag, const char* rest, const void** fault) {
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    STAPGEN_UNINITIALIZED struct stapgen_waits waits;
    s64 stages[STAPGEN_KEPT_FIELDS];
    stapgen_read_kept(stages, STAPGEN_KEPT_FIELDS, &waits);
    stapgen_begin_kept_line(&line, tag, "", fault);
    stapgen_put_stages(&line, stages, STAPGEN_KEPT_FIELDS);
#if STAPGEN_APP_PARTS
    stapgen_put_parts(&line, &waits, 0, STAPGEN_APP_CAUSES);
#endif
    if (*rest) stapgen_put_text(&line, rest);
    if (!*fault) stapgen_print_record(&line);
}

#endif
