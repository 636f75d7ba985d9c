/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What followed threads waited for, of each thread and each thing by itself: how often, how long, the longest, and for
 * how long of that a packet lay ready which the thread took afterwards. Sums since they were last printed.
 *
 * In sets of four places, each with a lock; where a set is full the row with the least time gives way, and its waits
 * are counted as evicted. */
#ifndef STAPGEN_WHO_SUMS_H
#define STAPGEN_WHO_SUMS_H

#include "line.h"
#include "lock.h"
#include "path.h"
#include "who_time.h"

/* What a thread waited for. `number` is in the comments. */
enum stapgen_by_kind {
    STAPGEN_BY_UNKNOWN, /* a CPU, and who had it was not seen. 0 */
    STAPGEN_BY_THREAD,  /* a CPU that a thread had. Its number */
    STAPGEN_BY_IDLE,    /* a CPU that had nothing to do: it was being woken. 0 */
    STAPGEN_BY_SOFTIRQ, /* a CPU that was in a softirq. Its number */
    STAPGEN_BY_IRQ,     /* or in an interrupt's handler. Its number */
    STAPGEN_BY_CGROUP,  /* the next period of a cgroup that was throttled. Its folder's inode; 0: it is not known */
    STAPGEN_BY_PATH,    /* it slept. A number for its call path */
    STAPGEN_BY_DATA,    /* likewise, in a receiving call: of its own socket's data nothing is said */
    STAPGEN_BY_STOPPED, /* likewise, by SIGSTOP or a debugger */
    STAPGEN_BY_FROZEN,  /* likewise, by its cgroup's freezer, or for a suspend */
    STAPGEN_BY_APP,     /* and further numbers: what a request waits for in its program: who_request.h */
};
enum { STAPGEN_WHO_FRAMES = 20 };
struct stapgen_by {
    u32 kind, frames;
    u64 number;
    u64 name[2]; /* of a thread or an interrupt's handler */
    const unsigned long* frame;
};

/* Bits of a hash that choose a set. */
#ifndef STAPGEN_WHO_BITS
#define STAPGEN_WHO_BITS 9
#endif
enum { STAPGEN_WHO_SETS = 1 << STAPGEN_WHO_BITS, STAPGEN_WHO_PLACES = 4 };
struct stapgen_who_row {
    u64 serial; /* one of its own; 0: free */
    u32 tid, kind, frames;
    u64 number, comm[2], name[2];
    u64 n, episode;          /* of the wait that was added last, and its time: */
    s64 open, ns, held, max; /* ns */
    unsigned long frame[STAPGEN_WHO_FRAMES];
};
struct stapgen_who_set {
    struct stapgen_lock lock;
    u64 serial, evicted; /* waits */
    struct stapgen_who_row row[STAPGEN_WHO_PLACES];
} ____cacheline_aligned;
static struct stapgen_who_set stapgen_who_sets[STAPGEN_WHO_SETS];
STAPGEN_PER_CPU(struct stapgen_who_row, stapgen_this_who_row);

static inline u32 stapgen_who_set_of(u32 tid, const struct stapgen_by* by) {
    return stapgen_hash((unsigned long)(((u64)by->kind << 56 ^ by->number) * 0x9e3779b97f4a7c15ULL + tid),
                        STAPGEN_WHO_BITS);
}
static inline int stapgen_is_who_row(const struct stapgen_who_row* row, u32 tid, const struct stapgen_by* by) {
    return row->serial && row->tid == tid && row->kind == by->kind && row->number == by->number &&
           row->frames == by->frames &&
           (!by->frames || !memcmp(row->frame, by->frame, by->frames * sizeof(row->frame[0])));
}
static inline void stapgen_make_who_row(struct stapgen_who_row* row, u64 serial, u32 tid, const u64* comm,
                                        const struct stapgen_by* by) {
    memset(row, 0, offsetof(struct stapgen_who_row, frame));
    row->serial = serial;
    row->tid = tid;
    row->comm[0] = comm[0];
    row->comm[1] = comm[1];
    row->kind = by->kind;
    row->number = by->number;
    row->name[0] = by->name[0];
    row->name[1] = by->name[1];
    row->frames = by->frames;
    if (by->frames) memcpy(row->frame, by->frame, by->frames * sizeof(row->frame[0]));
}
/* A thread waited so long for that; a part of its wait number EPISODE, which it has had no other of since. 0 ns: it may
 * have, which is to be added later. */
static inline struct stapgen_who_ref stapgen_add_who(u32 tid, const u64* comm, const struct stapgen_by* by, s64 ns,
                                                     u64 episode) {
    struct stapgen_who_ref ref = {stapgen_who_set_of(tid, by), 0, 0};
    struct stapgen_who_set* set = &stapgen_who_sets[ref.set];
    struct stapgen_who_row* row = NULL;
    u32 i;
    stapgen_lock(&set->lock);
    for (i = 0; i < STAPGEN_WHO_PLACES && !row; i++)
        if (stapgen_is_who_row(&set->row[i], tid, by)) row = &set->row[i];
    if (!row) {
        row = &set->row[0];
        for (i = 1; i < STAPGEN_WHO_PLACES; i++)
            if (row->serial && (!set->row[i].serial || set->row[i].ns < row->ns)) row = &set->row[i];
        if (row->serial) set->evicted += row->n;
        stapgen_make_who_row(row, ++set->serial, tid, comm, by);
    }
    if (ns && row->episode != episode) {
        row->episode = episode;
        row->n++;
        row->open = 0;
    }
    row->ns += ns;
    row->open += ns;
    if (row->max < row->open) row->max = row->open;
    ref.place = (u32)(row - set->row);
    ref.serial = row->serial;
    stapgen_unlock(&set->lock);
    return ref;
}
/* N whole waits of what was added there as 0 ns. */
static inline void stapgen_add_later(const struct stapgen_who_ref* ref, u32 n, s64 ns) {
    struct stapgen_who_set* set = &stapgen_who_sets[ref->set];
    struct stapgen_who_row* row = &set->row[ref->place];
    stapgen_lock(&set->lock);
    if (row->serial == ref->serial) {
        row->n += n;
        row->ns += ns;
        if (row->max < ns) row->max = ns;
    } else {
        set->evicted += n;
    }
    stapgen_unlock(&set->lock);
}
/* For so long of what was added there a packet lay ready. */
static inline void stapgen_add_held(const struct stapgen_who_ref* ref, s64 ns) {
    struct stapgen_who_set* set = &stapgen_who_sets[ref->set];
    stapgen_lock(&set->lock);
    if (set->row[ref->place].serial == ref->serial) set->row[ref->place].held += ns;
    stapgen_unlock(&set->lock);
}

/* A copy on this CPU; NULL: it gave way to others. */
static inline const struct stapgen_who_row* stapgen_look_at_who(const struct stapgen_who_ref* ref) {
    struct stapgen_who_set* set = &stapgen_who_sets[ref->set];
    struct stapgen_who_row* row = STAPGEN_THIS_CPU(stapgen_this_who_row);
    stapgen_lock(&set->lock);
    memcpy(row, &set->row[ref->place], sizeof(*row));
    stapgen_unlock(&set->lock);
    return row->serial == ref->serial ? row : NULL;
}

/* That of a request that is answered: it was added as 0 ns. */
static inline void stapgen_add_times_later(const struct stapgen_who_times* times) {
    u32 i;
    for (i = 0; i < times->n; i++) {
        stapgen_add_later(&times->of[i].ref, times->of[i].n, times->of[i].ns);
        stapgen_add_held(&times->of[i].ref, times->of[i].ns);
    }
}
/* ---- what is printed ---- */

/* The declarations of their records are in stapgen_who.stp. */
static inline const char* stapgen_who_tag(u32 kind) {
    return kind == STAPGEN_BY_CGROUP ? "who-cgroup" : kind >= STAPGEN_BY_PATH ? "who-path" : "who";
}
/* As in /proc/softirqs. */
static inline void stapgen_put_softirq(struct stapgen_line* line, u64 number) {
    static const char* const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
    stapgen_put_text(line, "\tsoftirq:");
    if (number < sizeof(names) / sizeof(names[0]))
        stapgen_put_text(line, names[number]);
    else
        stapgen_put_digits(line, number);
}
/* "nginx[123]". */
static inline void stapgen_put_thread(struct stapgen_line* line, const u64* comm, u64 tid) {
    if (!tid) {
        stapgen_put_text(line, "\t-");
        return;
    }
    stapgen_put_name(line, comm);
    stapgen_put_byte(line, '[');
    stapgen_put_digits(line, tid);
    stapgen_put_byte(line, ']');
}
static inline void stapgen_put_by(struct stapgen_line* line, const struct stapgen_who_row* row) {
    u32 i;
    switch (row->kind) {
        case STAPGEN_BY_THREAD:
            stapgen_put_thread(line, row->name, row->number);
            break;
        case STAPGEN_BY_IDLE:
            stapgen_put_text(line, "\tidle");
            break;
        case STAPGEN_BY_SOFTIRQ:
            stapgen_put_softirq(line, row->number);
            break;
        case STAPGEN_BY_IRQ:
            stapgen_put_name(line, row->name);
            stapgen_put_text(line, "[irq ");
            stapgen_put_digits(line, row->number);
            stapgen_put_byte(line, ']');
            break;
        case STAPGEN_BY_CGROUP:
            stapgen_put_text(line, "\tcgroup:");
            stapgen_put_digits(line, row->number);
            break;
        case STAPGEN_BY_PATH:
        case STAPGEN_BY_DATA:
        case STAPGEN_BY_STOPPED:
        case STAPGEN_BY_FROZEN:
            for (i = 0; i < row->frames; i++) {
                stapgen_put_byte(line, i ? ',' : '\t');
                stapgen_put_hex(line, row->frame[i]);
            }
            break;
        default:
            stapgen_put_text(line, "\tnot seen");
    }
}
static inline void stapgen_put_waited(struct stapgen_line* line, u32 kind) {
    stapgen_put_text(line, kind == STAPGEN_BY_CGROUP    ? "\tthrottled"
                           : kind == STAPGEN_BY_STOPPED ? "\tstopped"
                           : kind == STAPGEN_BY_FROZEN  ? "\tfrozen"
                           : kind >= STAPGEN_BY_PATH    ? "\tasleep"
                                                        : "\trun-queue");
}
static inline void stapgen_print_who_row(const struct stapgen_who_row* row) {
    struct stapgen_line line;
    line.length = 0;
    stapgen_put_text(&line, stapgen_who_tag(row->kind));
    stapgen_put_number(&line, row->tid);
    stapgen_put_name(&line, row->comm);
    stapgen_put_waited(&line, row->kind);
    if (row->kind != STAPGEN_BY_CGROUP) stapgen_put_by(&line, row);
    stapgen_put_number(&line, (s64)row->n);
    stapgen_put_number(&line, row->ns);
    stapgen_put_number(&line, row->held);
    stapgen_put_number(&line, row->max);
    if (row->kind == STAPGEN_BY_CGROUP) stapgen_put_number(&line, (s64)row->number);
    stapgen_print_line_of_many(&line);
}
/* A line for each that there is something of since the last time. */
static inline void stapgen_print_who(void (*print)(const struct stapgen_who_row*)) {
    struct stapgen_who_row* row = STAPGEN_THIS_CPU(stapgen_this_who_row);
    int set, i;
    for (set = 0; set < STAPGEN_WHO_SETS; set++) {
        for (i = 0; i < STAPGEN_WHO_PLACES; i++) {
            struct stapgen_who_row* place = &stapgen_who_sets[set].row[i];
            if (!READ_ONCE(place->serial)) continue;
            stapgen_lock(&stapgen_who_sets[set].lock);
            memcpy(row, place, sizeof(*row));
            place->n = 0;
            place->ns = place->held = place->max = 0;
            stapgen_unlock(&stapgen_who_sets[set].lock);
            if (row->serial && (row->ns || row->held)) print(row);
        }
    }
}
/* Waits whose rows gave way to others, from the start on. */
static inline u64 stapgen_evicted_who(void) {
    u64 sum = 0;
    int set;
    for (set = 0; set < STAPGEN_WHO_SETS; set++)
        sum += READ_ONCE(stapgen_who_sets[set].evicted);
    return sum;
}

#endif
