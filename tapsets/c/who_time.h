/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For how long one packet, or one request, waited for each of some things: rows of who_sums.h. */
#ifndef STAPGEN_WHO_TIME_H
#define STAPGEN_WHO_TIME_H

#include <linux/kernel.h>

/* A row as others keep it. */
struct stapgen_who_ref {
    u32 set, place;
    u64 serial;
};
enum { STAPGEN_THINGS = 8 }; /* that are distinguished */
/* For how long a thread waited for one thing. */
struct stapgen_who_time {
    struct stapgen_who_ref ref;
    u32 n;
    s64 ns;
};
/* The same of each thing in a time. */
struct stapgen_who_times {
    u32 n;
    s64 unknown; /* of that time: it waited for more things, or what it waited for is no more known */
    struct stapgen_who_time of[STAPGEN_THINGS];
};
static inline void stapgen_add_time(struct stapgen_who_times* times, const struct stapgen_who_ref* ref, s64 ns) {
    u32 i = 0;
    while (i < times->n && (times->of[i].ref.set != ref->set || times->of[i].ref.serial != ref->serial))
        i++;
    if (i == STAPGEN_THINGS) {
        times->unknown += ns;
        return;
    }
    if (i == times->n) {
        times->n++;
        times->of[i].ref = *ref;
        times->of[i].n = 0;
        times->of[i].ns = 0;
    }
    times->of[i].n++;
    times->of[i].ns += ns;
}
/* 0 ns: there is none, or with what is unknown another one may be longer. */
static inline void stapgen_find_longest(const struct stapgen_who_times* times, struct stapgen_who_time* longest) {
    s64 second = 0;
    u32 i;
    longest->ns = 0;
    for (i = 0; i < times->n; i++) {
        if (times->of[i].ns > longest->ns) {
            second = longest->ns;
            *longest = times->of[i];
        } else if (times->of[i].ns > second) {
            second = times->of[i].ns;
        }
    }
    if (longest->ns < second + times->unknown) longest->ns = 0;
}

#endif
