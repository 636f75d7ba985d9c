/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests, aggregated. */
#ifndef STAPGEN_AGGREGATE_REQUEST_H
#define STAPGEN_AGGREGATE_REQUEST_H

#include "histogram.h"
#include "request.h"

static inline int stapgen_aggregate_request(const struct stapgen_request* request, const s64* stages) {
#if STAPGEN_APP_PARTS
    enum { PARTS = STAPGEN_RECORD_FIELDS + 1 };
    return stapgen_aggregate_values(0, 0, stages, &request->app.own.waits, PARTS);
#else
    (void)request;
    return stapgen_aggregate_record(0, 0, stages);
#endif
}
/* Of a request that is answered: its stages and total, and behind them its events. */
typedef void stapgen_keeps_request(const struct stapgen_request* request, const struct sk_buff* skb, s64 answered,
                                   const s64* stages, const void** fault);
/* Those of a queue that are answered then, each to KEEP where that is not NULL, their events as the field behind the
 * total. Whether there is one that is among the slowest, which was answered from this CPU last: it is to be printed,
 * and this to be called again. */
static __always_inline int stapgen_aggregate_answered_to(stapgen_keeps_request* keep, unsigned long queue,
                                                         const struct sk_buff* skb, s64 answered, const void** fault) {
    const struct stapgen_request* request;
    while ((request = stapgen_pop_answered(queue, skb, fault)) != NULL) {
        s64 stages[STAPGEN_RECORD_FIELDS + 1];
        s64 events = stapgen_request_stages(request, answered, stages);
        if (keep) {
            stages[STAPGEN_RECORD_FIELDS] = events;
            keep(request, skb, answered, stages, fault);
        }
        if (events >= 0) stapgen_aggregate_value(STAPGEN_RECORD_FIELDS, events);
        if (stapgen_aggregate_request(request, stages)) return 1;
    }
    return 0;
}
static inline int stapgen_aggregate_answered(unsigned long queue, const struct sk_buff* skb, s64 answered,
                                             const void** fault) {
    return stapgen_aggregate_answered_to(NULL, queue, skb, answered, fault);
}

#endif
