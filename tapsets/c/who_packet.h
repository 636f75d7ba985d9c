/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a packet that is read waited for: of the last waits of its reader those since it lay ready. */
#ifndef STAPGEN_WHO_PACKET_H
#define STAPGEN_WHO_PACKET_H

#include "counters.h"
#include "rx_wait.h"
#include "who.h"

enum { STAPGEN_NAME_SHOWN = 64 }; /* bytes of a function's name */
/* Of the packet that this CPU has taken out last: what its thread waited for longest since it lay ready. 0 ns: it
 * waited for nothing, or that is not known. */
STAPGEN_PER_CPU(struct stapgen_who_time, stapgen_who_longest);

/* What a thread that runs waited for since a packet lay ready. What of it was not known before is added to the sums. A
 * receiving call that slept on was one on another socket. */
static inline void stapgen_look_back(struct stapgen_who_thread* thread, s64 ready, struct stapgen_who_times* times) {
    s64 known = ready;
    u32 i;
    times->n = 0;
    times->unknown = 0;
    for (i = 0; i < STAPGEN_PIECES; i++) {
        struct stapgen_who_piece* piece = &thread->pieces[(thread->newest - i) % STAPGEN_PIECES];
        s64 from = piece->from > ready ? piece->from : ready;
        if (piece->to <= ready) break;
        /* The oldest that there is: others may have been before it. */
        if (i == STAPGEN_PIECES - 1) known = from;
        if (piece->is_for_data) {
            if (piece->to - from < STAPGEN_WAKEUP_NS) continue;
            stapgen_add_later(&piece->ref, 1, piece->to - piece->from);
            piece->is_for_data = 0;
        }
        stapgen_add_time(times, &piece->ref, piece->to - from);
        if (piece->counted <= from) continue;
        stapgen_add_held(&piece->ref, piece->counted - from);
        piece->counted = from;
    }
    if (known < thread->followed) known = thread->followed;
    times->unknown += known - ready;
}
/* This thread takes a packet that lay ready since then: it is followed from now on, and what it waited for since then
 * the packet waited for, too. */
static void stapgen_who_reads(s64 ready) {
    struct stapgen_who_time* longest = STAPGEN_THIS_CPU(stapgen_who_longest);
    struct stapgen_who_times times;
    struct stapgen_who_thread* thread;
    enum stapgen_inserted inserted;
    longest->ns = 0;
    thread = (struct stapgen_who_thread*)stapgen_insert(stapgen_who_threads, (unsigned long)current, ready, &inserted);
    if (inserted == STAPGEN_EVICTED) STAPGEN_ADD(who_threads_evicted);
    if (!thread) return;
    if (inserted != STAPGEN_WAS_THERE || thread->tid != (u32)current->pid) {
        if (thread->state == STAPGEN_QUEUED) stapgen_leave_place(thread);
        WRITE_ONCE(thread->state, STAPGEN_RUNS);
        thread->place = STAPGEN_NO_PLACE;
        thread->tid = (u32)current->pid;
        thread->followed = STAPGEN_NOW();
        memset(thread->pieces, 0, sizeof(thread->pieces));
    }
    stapgen_copy_comm(thread->comm, current);
    stapgen_look_back(thread, ready, &times);
    stapgen_find_longest(&times, longest);
}
/* The fields waited, by and waited_ns of the record of that packet; by is a function where the thread slept. */
static inline void stapgen_put_longest(struct stapgen_line* line) {
    const struct stapgen_who_time* longest = STAPGEN_THIS_CPU(stapgen_who_longest);
    const struct stapgen_who_row* row = longest->ns ? stapgen_look_at_who(&longest->ref) : NULL;
    if (!row) {
        stapgen_put_text(line, "\t-\t-\t0");
        return;
    }
    stapgen_put_waited(line, row->kind);
    if (row->kind >= STAPGEN_BY_PATH) {
        char name[STAPGEN_FUNCTION_NAME];
        STAPGEN_NAME_FUNCTION(name, row->frame[0] - 1);
        stapgen_put_byte(line, '\t');
        stapgen_put_bytes(line, name, strnlen(name, STAPGEN_NAME_SHOWN));
    } else {
        stapgen_put_by(line, row);
    }
    stapgen_put_number(line, longest->ns);
}

#endif
