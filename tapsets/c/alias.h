/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which head a packet had: by the head of a first piece, or by an skb in a device's queue, which may be given another
 * head.
 *
 * Two words, written and read without a lock. The first is the key mixed with the head: where two write at once, or one
 * writes while another reads, the words do not belong together, and the reader finds nothing. (Key and head as they
 * are, with barriers between, were taken to belong together hundreds of times in a hundred million reads.) */
#ifndef STAPGEN_ALIAS_H
#define STAPGEN_ALIAS_H

#include "read.h"

enum { STAPGEN_ALIASES_BITS = 11 };
struct stapgen_alias {
    unsigned long check, head;
};
#define STAPGEN_ALIASES(name) static struct stapgen_alias name[1 << STAPGEN_ALIASES_BITS]

static inline unsigned long stapgen_mixed(unsigned long key, unsigned long with) {
    return key ^ (unsigned long)((u64)with * 0x9e3779b97f4a7c15ULL);
}
static inline struct stapgen_alias* stapgen_alias_of(struct stapgen_alias* aliases, unsigned long key) {
    return &aliases[stapgen_hash(key, STAPGEN_ALIASES_BITS)];
}
static inline void stapgen_set_alias(struct stapgen_alias* aliases, unsigned long key, unsigned long head) {
    struct stapgen_alias* alias = stapgen_alias_of(aliases, key);
    WRITE_ONCE(alias->check, stapgen_mixed(key, head));
    WRITE_ONCE(alias->head, head);
}
/* 0: none. */
static inline unsigned long stapgen_head_by_alias(struct stapgen_alias* aliases, unsigned long key) {
    struct stapgen_alias* alias = stapgen_alias_of(aliases, key);
    unsigned long head = READ_ONCE(alias->head);
    return READ_ONCE(alias->check) == stapgen_mixed(key, head) ? head : 0;
}
static inline void stapgen_erase_alias(struct stapgen_alias* aliases, unsigned long key) {
    struct stapgen_alias* alias = stapgen_alias_of(aliases, key);
    unsigned long check = READ_ONCE(alias->check);
    /* Not where another wrote in between. */
    if (check == stapgen_mixed(key, READ_ONCE(alias->head))) (void)cmpxchg(&alias->check, check, 0);
}

#endif
