/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queues: lists of rows by the hash of their queue's key, each in the order in which the rows are to be taken, which is
 * that in which they came but for segments that were overtaken. A row has what a kind of table keeps in it behind its
 * links, and is named by its number, from 1 on.
 *
 * No lock is shared by all CPUs: each list has one. And no line of memory: a list has its own, and so have rows. Free
 * rows are kept by each CPU for itself, without a lock: a handler runs to its end on its CPU and no other one
 * interrupts it. What one has too many of the others get a batch at a time. */
#ifndef STAPGEN_QUEUES_H
#define STAPGEN_QUEUES_H

#include "lock.h"
#include "per_cpu.h"
#include "read.h"

/* Enough lists that queues of two CPUs are almost never in one. Where a table is full the oldest row is looked for in
 * a tree whose leaves they are. */
enum { STAPGEN_FORK_BITS = 4, STAPGEN_LEVELS = 3, STAPGEN_LIST_BITS = STAPGEN_FORK_BITS * STAPGEN_LEVELS };
enum { STAPGEN_FORK = 1 << STAPGEN_FORK_BITS, STAPGEN_LISTS = 1 << STAPGEN_LIST_BITS };

struct stapgen_row {
    unsigned long queue; /* 0: free */
    s64 since;           /* ns */
    u32 next, before;    /* of its list; 0: none. Of a free one the next of its batch */
    u32 batch;           /* of the first of a free batch the next one */
};
struct stapgen_list {
    struct stapgen_lock lock;
    u32 first, last;
} ____cacheline_aligned;
/* The free rows of a CPU: up to a batch, and a whole batch or none. */
struct stapgen_free_rows {
    u32 first, count, batch;
} ____cacheline_aligned;
/* Free batches of all CPUs: how often it was changed, above the first one; and how many rows were never used. */
struct stapgen_pool {
    unsigned long first;
    u32 touched;
} ____cacheline_aligned;
/* Which row a full table gives up: the oldest, whose end is the least likely to come. Lists are in order, so it is the
 * first row of one of the 4096. To look at them all would take a handler microseconds; one list of all rows by age
 * would need a lock that every CPU takes with every packet.
 *
 * Hence a tree: an age for each list, one for 16 lists, one for 16 of those. An age is ~since, so that the larger one
 * is older; 0: there is no row. It may say too old, and never too young. So whoever gives a list another first row only
 * raises ages, and mostly writes one word: the age above is as old already. Rows that leave are not taken out of it.
 * Whoever needs the oldest walks down from the root by the largest age, 3 times 16 of them, and compares the age with
 * the list's first row. If it said too old, it is put right up to the root, and the walk begins again. Nothing of this
 * takes a lock but that of the list found, and a table that is not full pays nothing for it but the raising. */
struct stapgen_ages {
    u64 of[STAPGEN_LEVELS][STAPGEN_LISTS];
};
struct stapgen_table {
    void* rows; /* one more than the number: */
    u32 capacity;
    u32 batch;
    size_t size; /* of a row */
    struct stapgen_list* lists;
    struct stapgen_list* locks; /* whose locks are taken: its own, or those of another table with the same keys */
    struct stapgen_ages* ages;
    struct stapgen_free_rows* free;
    struct stapgen_pool* pool;
};
/* A whole number of batches; each CPU may keep two. */
#define STAPGEN_BATCH(capacity) ((capacity) % 1024 ? 1 : 16)
/* What a row keeps is NAME_rows[at].of, a struct TYPE. */
#define STAPGEN_TABLE_LOCKED_AS(name, type, capacity, locks)           \
    static struct name##_row {                                         \
        struct stapgen_row row;                                        \
        struct type of;                                                \
    } ____cacheline_aligned name##_rows[(capacity) + 1];               \
    static struct stapgen_list name##_lists[STAPGEN_LISTS];            \
    static struct stapgen_ages name##_ages;                            \
    static struct stapgen_free_rows name##_free[STAPGEN_CPUS];         \
    static struct stapgen_pool name##_pool;                            \
    static const struct stapgen_table name = {name##_rows,             \
                                              (capacity),              \
                                              STAPGEN_BATCH(capacity), \
                                              sizeof(name##_rows[0]),  \
                                              name##_lists,            \
                                              locks##_lists,           \
                                              &name##_ages,            \
                                              name##_free,             \
                                              &name##_pool}
#define STAPGEN_TABLE(name, type, capacity) STAPGEN_TABLE_LOCKED_AS(name, type, capacity, name)

static __always_inline struct stapgen_row* stapgen_row_at(const struct stapgen_table* table, u32 at) {
    return (struct stapgen_row*)((char*)table->rows + at * table->size);
}

/* ---- the lists; under the list's lock but for a first look ---- */

static inline struct stapgen_list* stapgen_list_of(const struct stapgen_table* table, unsigned long queue) {
    return &table->lists[stapgen_hash(queue, STAPGEN_LIST_BITS)];
}
static inline void stapgen_lock_queue(const struct stapgen_table* table, unsigned long queue) {
    stapgen_lock(&table->locks[stapgen_hash(queue, STAPGEN_LIST_BITS)].lock);
}
static inline void stapgen_unlock_queue(const struct stapgen_table* table, unsigned long queue) {
    stapgen_unlock(&table->locks[stapgen_hash(queue, STAPGEN_LIST_BITS)].lock);
}
/* Without the lock: whether there is any in the list of a queue, its own or another's. */
static inline int stapgen_may_have(const struct stapgen_table* table, unsigned long queue) {
    return READ_ONCE(stapgen_list_of(table, queue)->first) != 0;
}
/* The nearest row of the same queue, from AT on, that one included; 0: none. */
static inline u32 stapgen_forward(const struct stapgen_table* table, unsigned long queue, u32 at) {
    while (at && stapgen_row_at(table, at)->queue != queue)
        at = stapgen_row_at(table, at)->next;
    return at;
}
static inline u32 stapgen_back(const struct stapgen_table* table, unsigned long queue, u32 at) {
    while (at && stapgen_row_at(table, at)->queue != queue)
        at = stapgen_row_at(table, at)->before;
    return at;
}
static inline u32 stapgen_first_row(const struct stapgen_table* table, unsigned long queue) {
    return stapgen_forward(table, queue, stapgen_list_of(table, queue)->first);
}
static inline u32 stapgen_last_row(const struct stapgen_table* table, unsigned long queue) {
    return stapgen_back(table, queue, stapgen_list_of(table, queue)->last);
}
static inline u32 stapgen_next_row(const struct stapgen_table* table, u32 at) {
    return stapgen_forward(table, stapgen_row_at(table, at)->queue, stapgen_row_at(table, at)->next);
}
static inline u32 stapgen_row_before(const struct stapgen_table* table, u32 at) {
    return stapgen_back(table, stapgen_row_at(table, at)->queue, stapgen_row_at(table, at)->before);
}

/* ---- free rows ---- */

enum { STAPGEN_POOL_SHIFT = BITS_PER_LONG / 2 };
static inline void stapgen_put_batch(const struct stapgen_table* table, u32 first) {
    unsigned long had, now;
    do {
        had = READ_ONCE(table->pool->first);
        WRITE_ONCE(stapgen_row_at(table, first)->batch, (u32)(had & ((1UL << STAPGEN_POOL_SHIFT) - 1)));
        now = ((had >> STAPGEN_POOL_SHIFT) + 1) << STAPGEN_POOL_SHIFT | first;
    } while (cmpxchg(&table->pool->first, had, now) != had);
}
/* 0: there is none. */
static inline u32 stapgen_pop_batch(const struct stapgen_table* table) {
    unsigned long had, now;
    u32 first, at;
    do {
        had = READ_ONCE(table->pool->first);
        first = (u32)(had & ((1UL << STAPGEN_POOL_SHIFT) - 1));
        if (!first) break;
        now = ((had >> STAPGEN_POOL_SHIFT) + 1) << STAPGEN_POOL_SHIFT | READ_ONCE(stapgen_row_at(table, first)->batch);
    } while (cmpxchg(&table->pool->first, had, now) != had);
    if (first) return first;
    do {
        first = READ_ONCE(table->pool->touched);
        if (first >= table->capacity) return 0;
    } while (cmpxchg(&table->pool->touched, first, first + table->batch) != first);
    for (at = first + 1; at < first + table->batch; at++)
        stapgen_row_at(table, at)->next = at + 1;
    return first + 1;
}
static inline void stapgen_free_row(const struct stapgen_table* table, u32 at) {
    struct stapgen_free_rows* free = &table->free[STAPGEN_CPU(smp_processor_id())];
    if (free->count == table->batch) {
        if (free->batch) stapgen_put_batch(table, free->batch);
        free->batch = free->first;
        free->first = free->count = 0;
    }
    stapgen_row_at(table, at)->next = free->first;
    free->first = at;
    free->count++;
}
/* Whether this CPU has one for stapgen_add_row(). */
static inline int stapgen_has_free_row(const struct stapgen_table* table) {
    struct stapgen_free_rows* free = &table->free[STAPGEN_CPU(smp_processor_id())];
    if (free->count) return 1;
    free->first = free->batch ? free->batch : stapgen_pop_batch(table);
    free->batch = 0;
    free->count = free->first ? table->batch : 0;
    return free->count != 0;
}

/* ---- rows of a list; under the list's lock ---- */

/* A list has another first row, or none. */
static inline void stapgen_set_first(const struct stapgen_table* table, struct stapgen_list* list, u32 at) {
    int level, node = list - table->lists;
    u64 age = at ? ~(u64)stapgen_row_at(table, at)->since : 0, had = 0;
    WRITE_ONCE(list->first, at);
    for (level = STAPGEN_LEVELS - 1; level >= 0 && had < age; level--, node >>= STAPGEN_FORK_BITS) {
        u64* oldest = &table->ages->of[level][node];
        while ((had = READ_ONCE(*oldest)) < age && cmpxchg(oldest, had, age) != had) {
        }
    }
}
static inline void stapgen_drop_row(const struct stapgen_table* table, u32 at) {
    struct stapgen_row* row = stapgen_row_at(table, at);
    struct stapgen_list* list = stapgen_list_of(table, row->queue);
    if (row->next)
        stapgen_row_at(table, row->next)->before = row->before;
    else
        list->last = row->before;
    if (row->before)
        stapgen_row_at(table, row->before)->next = row->next;
    else
        stapgen_set_first(table, list, row->next);
    row->queue = 0;
    stapgen_free_row(table, at);
}
/* A new row in the list of its queue, before the row BEHIND; 0: at the list's end. stapgen_has_free_row() was true on
 * this CPU. */
static inline u32 stapgen_add_row(const struct stapgen_table* table, unsigned long queue, u32 behind, s64 now) {
    struct stapgen_free_rows* free = &table->free[STAPGEN_CPU(smp_processor_id())];
    struct stapgen_list* list = stapgen_list_of(table, queue);
    u32 at = free->first;
    struct stapgen_row* row = stapgen_row_at(table, at);
    free->count--;
    free->first = free->count ? row->next : 0;
    row->queue = queue;
    row->since = now;
    row->next = behind;
    row->before = behind ? stapgen_row_at(table, behind)->before : list->last;
    if (behind)
        stapgen_row_at(table, behind)->before = at;
    else
        list->last = at;
    if (row->before)
        stapgen_row_at(table, row->before)->next = at;
    else
        stapgen_set_first(table, list, at);
    return at;
}

/* ---- where a table is full ---- */

/* The oldest of a fork. */
static inline int stapgen_oldest_of(const u64* ages) {
    int i, oldest = 0;
    for (i = 1; i < STAPGEN_FORK; i++)
        if (READ_ONCE(ages[i]) > READ_ONCE(ages[oldest])) oldest = i;
    return oldest;
}
/* A list's age was put right: those above it. Where another one gets older in between that is seen here, or what is put
 * here is seen there. */
static inline void stapgen_set_ages(const struct stapgen_table* table, int list) {
    int level, node = list;
    for (level = STAPGEN_LEVELS - 2; level >= 0; level--) {
        const u64* below = &table->ages->of[level + 1][node & ~(STAPGEN_FORK - 1)];
        u64 *oldest = &table->ages->of[level][node >>= STAPGEN_FORK_BITS], had, now;
        for (;;) {
            had = READ_ONCE(*oldest);
            now = READ_ONCE(below[stapgen_oldest_of(below)]);
            if (had == now) break;
            cmpxchg(oldest, had, now);
        }
    }
}
/* The oldest of all lists' first rows, with the lock of its list, whose number is in *LIST: it is to be dropped, and
 * the lock given back. 0: there is none, and no lock. While others add and drop, or where many ages are too old, it may
 * be one of the oldest. */
static inline u32 stapgen_lock_oldest(const struct stapgen_table* table, int* list) {
    enum { EXACT_TRIES = 64, TRIES = 1024 };
    int tries, level;
    for (tries = 0; tries < TRIES; tries++) {
        u64 oldest = 0, age;
        u32 at;
        for (level = 0, *list = 0; level < STAPGEN_LEVELS; level++) {
            const u64* fork = &table->ages->of[level][*list <<= STAPGEN_FORK_BITS];
            *list += stapgen_oldest_of(fork);
            if (!level) oldest = READ_ONCE(fork[*list]);
        }
        if (!oldest) return 0;
        stapgen_lock(&table->locks[*list].lock);
        at = table->lists[*list].first;
        age = at ? ~(u64)stapgen_row_at(table, at)->since : 0;
        if (at && (age >= oldest || tries >= EXACT_TRIES)) return at;
        WRITE_ONCE(table->ages->of[STAPGEN_LEVELS - 1][*list], age);
        stapgen_unlock(&table->locks[*list].lock);
        stapgen_set_ages(table, *list);
    }
    return 0;
}
/* Makes sure of a free row, before the lock of its queue is taken. Above 0: the oldest row was evicted, and its things
 * are in that row still. -1: there is none; CPUs that do nothing now have kept the last free rows. */
static inline int stapgen_evict_if_full(const struct stapgen_table* table) {
    int list;
    u32 at;
    if (stapgen_has_free_row(table)) return 0;
    at = stapgen_lock_oldest(table, &list);
    if (!at) return -1;
    stapgen_drop_row(table, at);
    stapgen_unlock(&table->locks[list].lock);
    return (int)at;
}

#endif
