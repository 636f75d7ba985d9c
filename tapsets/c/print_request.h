/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a request whose answer leaves. */
#ifndef STAPGEN_PRINT_REQUEST_H
#define STAPGEN_PRINT_REQUEST_H

#include "batch.h"
#include "request.h"

/* The one that was answered from this CPU last: the thread is the one that read it, the device the one it came by, and
 * the endpoints are those of the answer, the server's first. `rest` is behind the stages. */
static inline void stapgen_print_request_of(const char* tag, const char* rest, const struct sk_buff* skb, s64 answered,
                                            const void** fault) {
    enum { EVENTS = STAPGEN_RECORD_FIELDS, FIELDS };
    const struct stapgen_request* request = STAPGEN_THIS_CPU(stapgen_request_popped);
    s64 stages[FIELDS];
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    int i;
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stages[EVENTS] = stapgen_request_stages(request, answered, stages);
    stapgen_begin_line(&line, tag, answered, request->thread, request->comm);
    stapgen_put_source(&line, skb, fault);
    stapgen_put_destination(&line, skb, fault);
    if (*fault) return;
    stapgen_put_name(&line, request->device);
    for (i = 0; i < FIELDS; i++)
        if (stages[i] < 0) stages[i] = STAPGEN_NO_STAGE;
    stapgen_put_stages(&line, stages, FIELDS);
#if STAPGEN_APP_PARTS
    stapgen_put_parts(&line, &request->app.own.waits, 0, STAPGEN_APP_CAUSES);
    stapgen_put_longest_thing(&line, &request->app.longest);
#endif
    if (*rest) stapgen_put_text(&line, rest); /* of a constant that is empty nothing is left */
    stapgen_print_record(&line);
}

#endif
