/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a packet has waited for within a stage: a time for each cause. Of most causes nothing is said. */
#ifndef STAPGEN_WAITS_H
#define STAPGEN_WAITS_H

#include <linux/bitops.h>

#include "line.h"

struct stapgen_waits {
    u32 said; /* a bit for each cause */
    s64 ns[STAPGEN_CAUSES];
};

static inline void stapgen_add_wait(struct stapgen_waits* waits, int cause, s64 ns) {
    u32 bit = 1U << cause;
    waits->ns[cause] = waits->said & bit ? waits->ns[cause] + ns : ns;
    waits->said |= bit;
}
static inline void stapgen_copy_waits(struct stapgen_waits* to, const struct stapgen_waits* from) {
    u32 said;
    to->said = from->said;
    for (said = from->said; said; said &= said - 1)
        to->ns[__ffs(said)] = from->ns[__ffs(said)];
}
/* TO = FROM - LESS. */
static inline void stapgen_subtract_waits(struct stapgen_waits* to, const struct stapgen_waits* from,
                                          const struct stapgen_waits* less) {
    u32 said;
    to->said = from->said;
    for (said = from->said; said; said &= said - 1) {
        int cause = __ffs(said);
        to->ns[cause] = from->ns[cause] - (less->said >> cause & 1 ? less->ns[cause] : 0);
    }
}
/* The parts of a stage add up to it, and none is below 0: else it is not divided. */
static inline void stapgen_settle_waits(struct stapgen_waits* waits, s64 stage, int undivided) {
    u32 said;
    s64 left = stage;
    for (said = waits->said; said && left >= 0; said &= said - 1) {
        s64 ns = waits->ns[__ffs(said)];
        left = ns < 0 ? -1 : left - ns;
    }
    if (!left) return;
    waits->said = 1U << undivided;
    waits->ns[undivided] = stage;
}
#define STAPGEN_NO_PART(name) "\t-"
static inline void stapgen_put_none(struct stapgen_line* line, const char* none, int causes) {
    if (2 * causes <= STAPGEN_WORDS)
        stapgen_put_words(line, none, 2 * causes);
    else
        stapgen_put_bytes(line, none, 2 * causes);
}
/* The fields of a stage's causes from number FIRST on. NULL: it has not that stage. */
static inline void stapgen_put_parts(struct stapgen_line* line, const struct stapgen_waits* waits, int first,
                                     int causes) {
    /* Of as many as there are at most; and behind them what stapgen_put_words() may read. */
    static const char none[2 * STAPGEN_TX_CAUSES + STAPGEN_WORDS] = STAPGEN_TX_CAUSES_LIST(STAPGEN_NO_PART);
    u32 said = waits ? waits->said >> first << first : 0;
    int next = first;
    for (; said; said &= said - 1) {
        int cause = __ffs(said);
        if (waits->ns[cause] <= 0) continue;
        stapgen_put_none(line, none, cause - next);
        stapgen_put_number(line, waits->ns[cause]);
        next = cause + 1;
    }
    stapgen_put_none(line, none, causes - next);
}

#endif
