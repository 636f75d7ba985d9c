/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which head a packet had: by the head of a first piece, or by an skb in a device's queue, which may be given another
 * head.
 *
 * In sets of four places. A place is two words, written and read without a lock. The first is the key mixed with the
 * head: where two write at once, or one writes while another reads, the words do not belong together, and the reader
 * finds nothing. (Key and head as they are, with barriers between, were taken to belong together hundreds of times in a
 * hundred million reads.) A key is on one CPU at a time. Where a set is full, one of its places is taken. */
#ifndef STAPGEN_ALIAS_H
#define STAPGEN_ALIAS_H

#include "read.h"

enum { STAPGEN_ALIASES_BITS = 11, STAPGEN_ALIASES_IN_SET = 4 };
struct stapgen_alias {
    unsigned long check, head; /* check 0: free */
};
#define STAPGEN_ALIASES(name) static struct stapgen_alias name[1 << STAPGEN_ALIASES_BITS] ____cacheline_aligned

/* The place of a key in the set where HASH is; NULL: it has none. Most sets are empty, and where a key has a place that
 * is mostly the first. */
static inline struct stapgen_alias* stapgen_find_alias_at(struct stapgen_alias* aliases, u32 hash, unsigned long key) {
    const struct stapgen_alias* set = &aliases[hash & ~(STAPGEN_ALIASES_IN_SET - 1U)];
    u32 i;
    if (!(READ_ONCE(set[0].check) | READ_ONCE(set[1].check) | READ_ONCE(set[2].check) | READ_ONCE(set[3].check)))
        return NULL;
    for (i = 0; i < STAPGEN_ALIASES_IN_SET; i++) {
        struct stapgen_alias* alias = &aliases[hash ^ i];
        unsigned long check = READ_ONCE(alias->check);
        if (check && check == stapgen_mixed(key, READ_ONCE(alias->head))) return alias;
    }
    return NULL;
}
static inline struct stapgen_alias* stapgen_find_alias(struct stapgen_alias* aliases, unsigned long key) {
    return stapgen_find_alias_at(aliases, stapgen_hash(key, STAPGEN_ALIASES_BITS), key);
}
static inline void stapgen_set_alias(struct stapgen_alias* aliases, unsigned long key, unsigned long head) {
    u32 hash = stapgen_hash(key, STAPGEN_ALIASES_BITS), i = 0;
    struct stapgen_alias* alias = stapgen_find_alias_at(aliases, hash, key);
    while (!alias && i < STAPGEN_ALIASES_IN_SET && READ_ONCE(aliases[hash ^ i].check))
        i++;
    if (!alias) alias = &aliases[hash ^ i % STAPGEN_ALIASES_IN_SET];
    WRITE_ONCE(alias->check, stapgen_mixed(key, head));
    WRITE_ONCE(alias->head, head);
}
/* 0: none. */
static inline unsigned long stapgen_head_by_alias(struct stapgen_alias* aliases, unsigned long key) {
    struct stapgen_alias* alias = stapgen_find_alias(aliases, key);
    unsigned long head = alias ? READ_ONCE(alias->head) : 0;
    /* Not of another that took the place in between. */
    return alias && READ_ONCE(alias->check) == stapgen_mixed(key, head) ? head : 0;
}
static inline void stapgen_erase_alias(struct stapgen_alias* aliases, unsigned long key) {
    struct stapgen_alias* alias = stapgen_find_alias(aliases, key);
    unsigned long check = alias ? READ_ONCE(alias->check) : 0;
    if (alias && check == stapgen_mixed(key, READ_ONCE(alias->head))) (void)cmpxchg(&alias->check, check, 0);
}

#endif
