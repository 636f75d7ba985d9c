/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of records are kept, and handed over as many at a time as a page has: what SystemTap hands over is a
 * message to staprun, which takes each with four system calls. */
#ifndef STAPGEN_BATCH_H
#define STAPGEN_BATCH_H

#include "line.h"
#include "lock.h"
#include "per_cpu.h"

/* Each CPU has a batch; of more CPUs than that some share one. */
enum { STAPGEN_BATCHES = STAPGEN_CPUS < 64 ? STAPGEN_CPUS : 64, STAPGEN_BATCH = 4080 };
struct stapgen_batch {
    struct stapgen_lock lock;
    int length;
    char text[STAPGEN_BATCH];
} ____cacheline_aligned;
static struct stapgen_batch stapgen_batches[STAPGEN_BATCHES];
/* stapgen_batch.stp hands over what is kept. Without it each line is handed over by itself. */
static int stapgen_keeps_lines;

/* Hands over the lines of a batch. On a CPU that came after the start SystemTap takes nothing, and they stay.
 * Before 4.5 it has other functions for that. */
#if STAP_COMPAT_VERSION >= STAP_VERSION(4, 5)
static inline void stapgen_hand_over(struct stapgen_batch* batch) {
    unsigned long flags;
    char* message;
    if (!_stp_print_trylock_irqsave(&flags)) return;
    message = (char*)_stp_reserve_bytes(STAPGEN_BATCH);
    if (message) {
        int length;
        stapgen_lock(&batch->lock);
        length = batch->length;
        memcpy(message, batch->text, length);
        WRITE_ONCE(batch->length, 0);
        stapgen_unlock(&batch->lock);
        _stp_unreserve_bytes(STAPGEN_BATCH - length);
    }
    _stp_print_unlock_irqrestore(&flags);
    _stp_print_flush();
}
static inline void stapgen_keep_lines(void) {
    stapgen_keeps_lines = 1;
}
#else
static inline void stapgen_hand_over(struct stapgen_batch* batch) {}
static inline void stapgen_keep_lines(void) {}
#endif
static inline void stapgen_hand_over_all(void) {
    int i;
    for (i = 0; i < STAPGEN_BATCHES; i++)
        if (READ_ONCE(stapgen_batches[i].length)) stapgen_hand_over(&stapgen_batches[i]);
}

/* Whether there was room. */
static inline int stapgen_keep(struct stapgen_batch* batch, const char* text, int length) {
    int fits;
    stapgen_lock(&batch->lock);
    fits = length <= STAPGEN_BATCH - batch->length;
    if (fits) {
        memcpy(batch->text + batch->length, text, length);
        WRITE_ONCE(batch->length, batch->length + length);
    }
    stapgen_unlock(&batch->lock);
    return fits;
}
static inline void stapgen_print_record(struct stapgen_line* line) {
    struct stapgen_batch* batch = &stapgen_batches[(unsigned)smp_processor_id() % STAPGEN_BATCHES];
    stapgen_end_line(line);
    if (stapgen_keeps_lines) {
        if (stapgen_keep(batch, line->text, line->length)) return;
        stapgen_hand_over(batch);
        if (stapgen_keep(batch, line->text, line->length)) return;
    }
    _stp_print(line->text);
}

#endif
