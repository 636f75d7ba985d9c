/* Queues: lists of rows by the hash of their queue's key, each oldest first. What a row holds is in an array beside its
 * table, by its number, from 1 on.
 *
 * No lock is shared by all CPUs. The lists are in shards, each with a lock of its own, and so is the order in which
 * rows came, for where the table is full. Free rows are kept by each CPU for itself, without a lock: a handler runs to
 * its end on its CPU and no other one interrupts it. What one has too many of the others get a batch at a time. */
#ifndef STAPGEN_QUEUES_H
#define STAPGEN_QUEUES_H

#include "lock.h"
#include "per_cpu.h"
#include "read.h"

/* So many that queues on two CPUs are next to never in one. */
enum { STAPGEN_SHARD_BITS = 9, STAPGEN_SHARDS = 1 << STAPGEN_SHARD_BITS };
/* Where the oldest row is looked for. */
enum { STAPGEN_GROUPS = 16, STAPGEN_GROUP = STAPGEN_SHARDS / STAPGEN_GROUPS };
struct stapgen_row {
    unsigned long queue; /* 0: free */
    s64 since;           /* ns */
    u32 next, before;    /* of its list; 0: none. Of a free one the next of its batch */
    u32 newer, older;    /* of its shard. Of the first of a free batch the next batch */
};
struct stapgen_head_tail {
    u32 first, last;
};
struct stapgen_shard {
    struct stapgen_lock lock;
    u32 oldest, newest;
    s64 since; /* that of the oldest */
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
struct stapgen_table {
    struct stapgen_row* rows; /* one more than so many: */
    u32 capacity;
    u32 batch;
    struct stapgen_head_tail* lists;
    int bits;
    struct stapgen_shard* shards;
    s64* none_before;            /* by group of shards: no row of it is older, ns */
    struct stapgen_shard* locks; /* whose locks are taken: the shards', or those of another table with the same keys */
    struct stapgen_free_rows* free;
    struct stapgen_pool* pool;
};
/* A whole number of batches, of which each CPU may keep two. */
#define STAPGEN_BATCH(capacity) ((capacity) % 1024 ? 1 : 16)
#define STAPGEN_TABLE_LOCKED_AS(name, capacity, bits, locks)                                                       \
    static struct stapgen_row name##_rows[(capacity) + 1];                                                         \
    static struct stapgen_head_tail name##_lists[1 << (bits)];                                                     \
    static struct stapgen_shard name##_shards[STAPGEN_SHARDS];                                                     \
    static s64 name##_none_before[STAPGEN_GROUPS];                                                                 \
    static struct stapgen_free_rows name##_free[STAPGEN_CPUS];                                                     \
    static struct stapgen_pool name##_pool;                                                                        \
    static const struct stapgen_table name = {name##_rows, (capacity),    STAPGEN_BATCH(capacity), name##_lists,   \
                                              (bits),      name##_shards, name##_none_before,      locks##_shards, \
                                              name##_free, &name##_pool}
#define STAPGEN_TABLE(name, capacity, bits) STAPGEN_TABLE_LOCKED_AS(name, capacity, bits, name)

/* ---- the lists; under the shard's lock but for a first look ---- */

static inline struct stapgen_head_tail* stapgen_list(const struct stapgen_table* table, unsigned long queue) {
    return &table->lists[stapgen_hash(queue, table->bits)];
}
static inline int stapgen_shard_number(unsigned long queue) {
    return stapgen_hash(queue, STAPGEN_SHARD_BITS);
}
static inline void stapgen_lock_queue(const struct stapgen_table* table, unsigned long queue) {
    stapgen_lock(&table->locks[stapgen_shard_number(queue)].lock);
}
static inline void stapgen_unlock_queue(const struct stapgen_table* table, unsigned long queue) {
    stapgen_unlock(&table->locks[stapgen_shard_number(queue)].lock);
}
/* Without the lock: whether there is any in the list of a queue, its own or another's. */
static inline int stapgen_may_have(const struct stapgen_table* table, unsigned long queue) {
    return READ_ONCE(stapgen_list(table, queue)->first) != 0;
}
/* The nearest row of the same queue, from AT on, that one included; 0: none. */
static inline u32 stapgen_forward(const struct stapgen_table* table, unsigned long queue, u32 at) {
    while (at && table->rows[at].queue != queue)
        at = table->rows[at].next;
    return at;
}
static inline u32 stapgen_back(const struct stapgen_table* table, unsigned long queue, u32 at) {
    while (at && table->rows[at].queue != queue)
        at = table->rows[at].before;
    return at;
}
static inline u32 stapgen_first_row(const struct stapgen_table* table, unsigned long queue) {
    return stapgen_forward(table, queue, stapgen_list(table, queue)->first);
}
static inline u32 stapgen_last_row(const struct stapgen_table* table, unsigned long queue) {
    return stapgen_back(table, queue, stapgen_list(table, queue)->last);
}
static inline u32 stapgen_next_row(const struct stapgen_table* table, u32 at) {
    return stapgen_forward(table, table->rows[at].queue, table->rows[at].next);
}
static inline u32 stapgen_row_before(const struct stapgen_table* table, u32 at) {
    return stapgen_back(table, table->rows[at].queue, table->rows[at].before);
}

/* ---- free rows ---- */

enum { STAPGEN_POOL_SHIFT = BITS_PER_LONG / 2 };
static inline void stapgen_put_batch(const struct stapgen_table* table, u32 first) {
    unsigned long had, now;
    do {
        had = READ_ONCE(table->pool->first);
        WRITE_ONCE(table->rows[first].newer, (u32)(had & ((1UL << STAPGEN_POOL_SHIFT) - 1)));
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
        now = ((had >> STAPGEN_POOL_SHIFT) + 1) << STAPGEN_POOL_SHIFT | READ_ONCE(table->rows[first].newer);
    } while (cmpxchg(&table->pool->first, had, now) != had);
    if (first) return first;
    do {
        first = READ_ONCE(table->pool->touched);
        if (first >= table->capacity) return 0;
    } while (cmpxchg(&table->pool->touched, first, first + table->batch) != first);
    for (at = first + 1; at < first + table->batch; at++)
        table->rows[at].next = at + 1;
    return first + 1;
}
static inline void stapgen_free_row(const struct stapgen_table* table, u32 at) {
    struct stapgen_free_rows* free = &table->free[STAPGEN_CPU(smp_processor_id())];
    if (free->count == table->batch) {
        if (free->batch) stapgen_put_batch(table, free->batch);
        free->batch = free->first;
        free->first = free->count = 0;
    }
    table->rows[at].next = free->first;
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

/* ---- rows of a list; under the shard's lock ---- */

/* The row that came first of a shard's, or 0. */
static inline void stapgen_set_oldest(const struct stapgen_table* table, struct stapgen_shard* shard, u32 at) {
    s64* none_before = &table->none_before[(shard - table->shards) / STAPGEN_GROUP];
    s64 since = table->rows[at].since;
    WRITE_ONCE(shard->oldest, at);
    if (!at) return;
    WRITE_ONCE(shard->since, since);
    if (since < READ_ONCE(*none_before)) WRITE_ONCE(*none_before, since);
}
static inline void stapgen_drop_row(const struct stapgen_table* table, u32 at) {
    struct stapgen_row *rows = table->rows, *row = &rows[at];
    struct stapgen_head_tail* list = stapgen_list(table, row->queue);
    struct stapgen_shard* shard = &table->shards[stapgen_shard_number(row->queue)];
    if (row->before)
        rows[row->before].next = row->next;
    else
        WRITE_ONCE(list->first, row->next);
    if (row->next)
        rows[row->next].before = row->before;
    else
        list->last = row->before;
    if (row->older) {
        WRITE_ONCE(rows[row->older].newer, row->newer);
    } else {
        stapgen_set_oldest(table, shard, row->newer);
    }
    if (row->newer)
        rows[row->newer].older = row->older;
    else
        shard->newest = row->older;
    row->queue = 0;
    stapgen_free_row(table, at);
}
/* A new row behind BEFORE in the list of its queue; 0: at the list's begin. stapgen_has_free_row() was true on this
 * CPU. */
static inline u32 stapgen_add_row(const struct stapgen_table* table, unsigned long queue, u32 before, s64 now) {
    struct stapgen_free_rows* free = &table->free[STAPGEN_CPU(smp_processor_id())];
    struct stapgen_head_tail* list = stapgen_list(table, queue);
    struct stapgen_shard* shard = &table->shards[stapgen_shard_number(queue)];
    u32 at = free->first;
    struct stapgen_row *rows = table->rows, *row = &rows[at];
    free->count--;
    free->first = free->count ? row->next : 0;
    row->queue = queue;
    row->since = now;
    row->before = before;
    if (before) {
        row->next = rows[before].next;
        rows[before].next = at;
    } else {
        row->next = list->first;
        WRITE_ONCE(list->first, at);
    }
    if (row->next)
        rows[row->next].before = at;
    else
        list->last = at;
    WRITE_ONCE(row->newer, 0);
    row->older = shard->newest;
    if (row->older) {
        WRITE_ONCE(rows[row->older].newer, at);
    } else {
        stapgen_set_oldest(table, shard, at);
    }
    shard->newest = at;
    return at;
}
/* At the end of the list of its queue. */
static inline u32 stapgen_append_row(const struct stapgen_table* table, unsigned long queue, s64 now) {
    return stapgen_add_row(table, queue, stapgen_list(table, queue)->last, now);
}

/* The shard of a group with the oldest row, and its time; -1 and the last of all times if there is no row. */
static inline int stapgen_oldest_shard(const struct stapgen_table* table, int group, s64* since) {
    int shard, oldest = -1;
    *since = (s64)(~0ULL >> 1);
    for (shard = group * STAPGEN_GROUP; shard < (group + 1) * STAPGEN_GROUP; shard++) {
        if (!READ_ONCE(table->shards[shard].oldest)) continue;
        if (READ_ONCE(table->shards[shard].since) >= *since) continue;
        oldest = shard;
        *since = READ_ONCE(table->shards[shard].since);
    }
    return oldest;
}
/* The oldest of all rows, with the lock of its shard, whose number is in *SHARD: it is to be dropped, and the lock
 * given back. 0: there is none, and no lock. Groups that cannot have the oldest are not asked, and no lock is taken to
 * ask: so while others add and drop it may be one of the oldest. */
static inline u32 stapgen_lock_oldest(const struct stapgen_table* table, int* shard) {
    int tries, i, group, other;
    for (tries = 0; tries < 4 * STAPGEN_GROUPS; tries++) {
        s64 since;
        u32 at;
        for (group = 0, i = 1; i < STAPGEN_GROUPS; i++)
            if (READ_ONCE(table->none_before[i]) < READ_ONCE(table->none_before[group])) group = i;
        *shard = stapgen_oldest_shard(table, group, &since);
        WRITE_ONCE(table->none_before[group], since);
        for (other = 0; other < STAPGEN_GROUPS && READ_ONCE(table->none_before[other]) >= since; other++) {
        }
        if (*shard < 0 || other < STAPGEN_GROUPS) continue;
        stapgen_lock(&table->locks[*shard].lock);
        at = table->shards[*shard].oldest;
        if (at) return at;
        stapgen_unlock(&table->locks[*shard].lock);
    }
    /* One was added just when its group was found to have none. */
    for (group = 0; group < STAPGEN_GROUPS; group++)
        WRITE_ONCE(table->none_before[group], 0);
    return 0;
}
/* Makes sure of a free row, before the lock of its queue is taken. 1: the oldest row was evicted. -1: there is none;
 * CPUs that do nothing now have kept the last free rows. */
static inline int stapgen_evict_if_full(const struct stapgen_table* table) {
    int shard;
    u32 at;
    if (stapgen_has_free_row(table)) return 0;
    at = stapgen_lock_oldest(table, &shard);
    if (!at) return -1;
    stapgen_drop_row(table, at);
    stapgen_unlock(&table->locks[shard].lock);
    return 1;
}

#endif
