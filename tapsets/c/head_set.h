/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of what is followed by one number: packets by their skb->head, datagrams by their skb, threads by their task
 * and number.
 *
 * In sets of four places; no lock: what has a key is on one CPU at a time, and two that want the same place are
 * recognised apart by cmpxchg. A key may be in either of two sets, in the second where that has more room: so next to
 * none gives way before half of the places are taken. Where both are full the oldest does. */
#ifndef STAPGEN_HEAD_SET_H
#define STAPGEN_HEAD_SET_H

#include "read.h"

/* Bits of a hash that choose a set: of packets in one direction, and of threads. */
#ifndef STAPGEN_PACKET_BITS
#define STAPGEN_PACKET_BITS 12
#endif
#ifndef STAPGEN_THREAD_BITS
#define STAPGEN_THREAD_BITS 10
#endif

enum { STAPGEN_PLACES = 4 };
struct stapgen_place {
    unsigned long key; /* 0: free */
    s64 since;         /* ns */
};
/* All places, which begin so and have that SIZE; what follows is the kind's own. */
struct stapgen_set {
    void* places;
    size_t size;
    int bits;
};
#define STAPGEN_SET(name, type, bits)                                                 \
    static struct type name##_places[STAPGEN_PLACES << (bits)] ____cacheline_aligned; \
    static const struct stapgen_set name = {name##_places, sizeof(struct type), (bits)}

static __always_inline struct stapgen_place* stapgen_place(struct stapgen_set set, u32 index, int i) {
    return (struct stapgen_place*)((char*)set.places + (index * STAPGEN_PLACES + i) * set.size);
}
static inline u32 stapgen_second_index(struct stapgen_set set, unsigned long key) {
    return stapgen_hash(key, 2 * set.bits) & ((1U << set.bits) - 1);
}
static __always_inline struct stapgen_place* stapgen_find_at(struct stapgen_set set, u32 index, unsigned long key) {
    int i;
    for (i = 0; i < STAPGEN_PLACES; i++)
        if (READ_ONCE(stapgen_place(set, index, i)->key) == key) return stapgen_place(set, index, i);
    return NULL;
}
static __always_inline struct stapgen_place* stapgen_find(struct stapgen_set set, unsigned long key) {
    struct stapgen_place* place;
    if (!key) return NULL;
    place = stapgen_find_at(set, stapgen_hash(key, set.bits), key);
    return place ? place : stapgen_find_at(set, stapgen_second_index(set, key), key);
}
/* A free place, else that of the oldest; how many are free. */
static inline int stapgen_room_at(struct stapgen_set set, u32 index, struct stapgen_place** best) {
    int i, room = 0;
    *best = stapgen_place(set, index, 0);
    for (i = 0; i < STAPGEN_PLACES; i++) {
        struct stapgen_place* place = stapgen_place(set, index, i);
        int is_free = !READ_ONCE(place->key);
        room += is_free;
        if (READ_ONCE((*best)->key) && (is_free || READ_ONCE(place->since) < READ_ONCE((*best)->since))) *best = place;
    }
    return room;
}

enum stapgen_inserted {
    STAPGEN_WAS_THERE, /* with what is noted of it */
    STAPGEN_IS_NEW,    /* in a place where the last one's things still are */
    STAPGEN_EVICTED,   /* likewise, and that one had to give way, or this one: then there is no place */
};
/* The place of a key from now on, the one that it has already or another. NULL where others were faster each time. */
static __always_inline struct stapgen_place* stapgen_insert(struct stapgen_set set, unsigned long key, s64 now,
                                                            enum stapgen_inserted* inserted) {
    u32 index = stapgen_hash(key, set.bits);
    struct stapgen_place *place = stapgen_find(set, key), *best = stapgen_place(set, index, 0), *second;
    int tries;
    *inserted = place ? STAPGEN_WAS_THERE : STAPGEN_EVICTED;
    for (tries = 0; !place && tries < STAPGEN_PLACES; tries++) {
        unsigned long had;
        /* Most sets are empty. */
        if (tries || READ_ONCE(best->key)) {
            int room = stapgen_room_at(set, index, &best);
            if (room <= STAPGEN_PLACES / 2) {
                int second_room = stapgen_room_at(set, stapgen_second_index(set, key), &second);
                if (second_room > room || (!room && !second_room && READ_ONCE(second->since) < READ_ONCE(best->since)))
                    best = second;
            }
        }
        had = READ_ONCE(best->key);
        if (cmpxchg(&best->key, had, key) != had) continue;
        *inserted = had ? STAPGEN_EVICTED : STAPGEN_IS_NEW;
        place = best;
    }
    if (place) WRITE_ONCE(place->since, now);
    return place;
}
/* Whether it was there: another may have its place by now. */
static inline int stapgen_erase(struct stapgen_place* place, unsigned long key) {
    return cmpxchg(&place->key, key, 0) == key;
}
/* The allocator has given a key to another: whether there was anything of the one before. */
static __always_inline int stapgen_erase_key(struct stapgen_set set, unsigned long key) {
    struct stapgen_place* place = stapgen_find(set, key);
    return place && stapgen_erase(place, key);
}

#endif
