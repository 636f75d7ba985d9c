/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the seconds that have passed (--keep), before they are lines. Each CPU has a ring of them. They are
 * printed when user space asks for them, with those of some seconds that follow. */
#ifndef STAPGEN_KEEP_H
#define STAPGEN_KEEP_H

#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/smp.h>

#include "batch.h"
#include "ends.h"
#include "lock.h"
#include "waits.h"

/* The bytes of all rings; 0: nothing is kept. */
#ifndef STAPGEN_KEEP
#define STAPGEN_KEEP 0
#endif

/* A record has the numbers of the stages that it has, then those of its parts, behind these. */
struct stapgen_kept {
    u16 words; /* of the record; 0: the ring goes on at its beginning */
    u16 cpu, local_port, remote_port;
    s64 now, thread;
    u64 comm[2], device[2], local[2], remote[2];
    u32 bytes;
    u8 kind, is_ip4;
    u32 has, said; /* a bit for each stage, and each part */
};
enum {
    STAPGEN_KEPT_WORDS = sizeof(struct stapgen_kept) / 8,
    STAPGEN_KEPT_MOST = (int)STAPGEN_KEPT_WORDS + 32 + (int)STAPGEN_CAUSES,
    STAPGEN_KEPT_ROOM = STAPGEN_KEEP / 8
};
enum stapgen_kept_kind {
    STAPGEN_KEPT_NONE,
    STAPGEN_KEPT_TOO_OLD,
    STAPGEN_KEPT_SEGMENT,
    STAPGEN_KEPT_DATAGRAM,
    STAPGEN_KEPT_SENT,
    STAPGEN_KEPT_REQUEST
};

/* Of more CPUs than rings some share one. */
enum { STAPGEN_RINGS = 64 };
struct stapgen_ring {
    struct stapgen_lock lock;
    u32 first, used; /* words */
    s64 overwritten; /* the time of the newest record that is gone */
    u64 lost;        /* records for which there was no room while others were printed */
} ____cacheline_aligned;
static struct stapgen_ring stapgen_kept_rings[STAPGEN_RINGS];
static u64 stapgen_kept_words[STAPGEN_KEPT_ROOM + 1];
/* How many rings there are, and the words of each. */
static u32 stapgen_rings, stapgen_ring_words;

/* What was asked for: the records from the one time until the other; 0: none. */
static s64 stapgen_kept_from, stapgen_kept_until;
static u64 stapgen_kept_printed;
static struct stapgen_kept_record {
    struct stapgen_kept of;
    u64 ns[STAPGEN_KEPT_MOST - STAPGEN_KEPT_WORDS];
} stapgen_kept_taken; /* of the one handler that prints them */

static inline void stapgen_begin_keeping(void) {
    u32 cpus = num_possible_cpus();
    stapgen_rings = cpus < STAPGEN_RINGS ? cpus : (u32)STAPGEN_RINGS;
    stapgen_ring_words = STAPGEN_KEPT_ROOM / stapgen_rings;
}

/* ---- under the lock of a ring ---- */

static inline struct stapgen_kept* stapgen_kept_at(const struct stapgen_ring* ring, u32 word) {
    return (struct stapgen_kept*)&stapgen_kept_words[(ring - stapgen_kept_rings) * stapgen_ring_words + word];
}
/* The oldest one, if there is one: what is used begins with it then. */
static inline struct stapgen_kept* stapgen_oldest_kept(struct stapgen_ring* ring) {
    if (ring->used && !stapgen_kept_at(ring, ring->first)->words) {
        ring->used -= stapgen_ring_words - ring->first;
        ring->first = 0;
    }
    return ring->used ? stapgen_kept_at(ring, ring->first) : NULL;
}
static inline void stapgen_drop_kept(struct stapgen_ring* ring, const struct stapgen_kept* oldest) {
    ring->first += oldest->words;
    ring->used -= oldest->words;
    if (ring->first == stapgen_ring_words) ring->first = 0;
    if (!ring->used) ring->first = 0;
}
/* Room for a record of WORDS, for which the oldest ones go; those that are asked for do not. */
static inline struct stapgen_kept* stapgen_claim_kept(struct stapgen_ring* ring, u32 words) {
    struct stapgen_kept* oldest;
    for (;;) {
        u32 at = ring->first + ring->used, behind;
        int goes_on = at < stapgen_ring_words; /* else what is used reaches over the end */
        if (!goes_on) at -= stapgen_ring_words;
        behind = goes_on ? stapgen_ring_words - at : 0;
        if (stapgen_ring_words - ring->used >= (goes_on && behind < words ? behind + words : words)) {
            if (goes_on && behind < words) {
                stapgen_kept_at(ring, at)->words = 0;
                ring->used += behind;
                at = 0;
            }
            ring->used += words;
            return stapgen_kept_at(ring, at);
        }
        oldest = READ_ONCE(stapgen_kept_until) ? NULL : stapgen_oldest_kept(ring);
        if (!oldest) {
            ring->lost++;
            return NULL;
        }
        ring->overwritten = oldest->now;
        stapgen_drop_kept(ring, oldest);
    }
}

/* ---- a record ---- */

static inline void stapgen_keep_address(u64* to, const void* address, int is_ip4, const void** fault) {
    to[0] = is_ip4 ? STAPGEN_READ((const u32*)address, fault) : STAPGEN_READ((const u64*)address, fault);
    to[1] = is_ip4 ? 0 : STAPGEN_READ((const u64*)address + 1, fault);
}
/* Its stages as they are aggregated; the rest as it is in its line. */
static inline void stapgen_keep_record(enum stapgen_kept_kind kind, s64 now, s64 thread, const u64* comm,
                                       const struct stapgen_ends* ends, const u64* device, u32 bytes, u32 has,
                                       const s64* stages, const struct stapgen_waits* waits, const void** fault) {
    struct stapgen_ring* ring;
    struct stapgen_kept* kept;
    u64 local[2], remote[2], *ns;
    u32 said = waits ? waits->said : 0, words = STAPGEN_KEPT_WORDS + hweight32(has) + hweight32(said);
    if (!stapgen_rings) return;
    stapgen_keep_address(local, ends->local, ends->is_ip4, fault);
    stapgen_keep_address(remote, ends->remote, ends->is_ip4, fault);
    if (*fault) return;
    ring = &stapgen_kept_rings[(unsigned)smp_processor_id() % stapgen_rings];
    stapgen_lock(&ring->lock);
    kept = stapgen_claim_kept(ring, words);
    if (kept) {
        kept->words = words;
        kept->cpu = smp_processor_id();
        kept->local_port = ends->local_port;
        kept->remote_port = ends->remote_port;
        kept->now = now;
        kept->thread = thread;
        memcpy(kept->comm, comm, sizeof(kept->comm));
        memcpy(kept->device, device, sizeof(kept->device));
        memcpy(kept->local, local, sizeof(kept->local));
        memcpy(kept->remote, remote, sizeof(kept->remote));
        kept->bytes = bytes;
        kept->kind = kind;
        kept->is_ip4 = ends->is_ip4;
        kept->has = has;
        kept->said = said;
        ns = (u64*)(kept + 1);
        for (; has; has &= has - 1)
            *ns++ = stages[__ffs(has)];
        for (; said; said &= said - 1)
            *ns++ = waits->ns[__ffs(said)];
    }
    stapgen_unlock(&ring->lock);
}

/* ---- those that are asked for ---- */

static inline void stapgen_ask_for_kept(s64 from, s64 until) {
    int i;
    stapgen_kept_printed = 0;
    for (i = 0; i < STAPGEN_RINGS; i++)
        stapgen_kept_rings[i].lost = 0;
    stapgen_kept_from = from;
    WRITE_ONCE(stapgen_kept_until, until);
}
/* Takes the oldest one of a ring that is asked for, and gives its kind. Some that are older are dropped. */
static inline enum stapgen_kept_kind stapgen_take_kept_of(struct stapgen_ring* ring) {
    enum stapgen_kept_kind kind = STAPGEN_KEPT_TOO_OLD;
    int n;
    stapgen_lock(&ring->lock);
    for (n = 0; n < 16 && kind == STAPGEN_KEPT_TOO_OLD; n++) {
        struct stapgen_kept* oldest = stapgen_oldest_kept(ring);
        if (!oldest || oldest->now > stapgen_kept_until) {
            kind = STAPGEN_KEPT_NONE;
            break;
        }
        if (oldest->now >= stapgen_kept_from) {
            kind = (enum stapgen_kept_kind)oldest->kind;
            memcpy(&stapgen_kept_taken, oldest, oldest->words * 8);
        }
        stapgen_drop_kept(ring, oldest);
    }
    stapgen_unlock(&ring->lock);
    return kind;
}
/* The same of any ring. */
static inline enum stapgen_kept_kind stapgen_take_kept(void) {
    enum stapgen_kept_kind kind = STAPGEN_KEPT_NONE;
    u32 i;
    for (i = 0; i < stapgen_rings && kind == STAPGEN_KEPT_NONE; i++)
        kind = stapgen_take_kept_of(&stapgen_kept_rings[i]);
    if (kind > STAPGEN_KEPT_TOO_OLD) stapgen_kept_printed++;
    return kind;
}
/* Where none was left: whether none will come any more. Then nothing is asked for. */
static inline int stapgen_ends_kept(s64 now) {
    if (now <= stapgen_kept_until) return 0;
    WRITE_ONCE(stapgen_kept_until, 0);
    return 1;
}
/* All records of the time that was asked for were there from then on. */
static inline s64 stapgen_kept_since(void) {
    s64 since = stapgen_kept_from;
    int i;
    for (i = 0; i < STAPGEN_RINGS; i++)
        if (stapgen_kept_rings[i].overwritten > since) since = stapgen_kept_rings[i].overwritten;
    return since;
}
static inline s64 stapgen_kept_lost(void) {
    s64 lost = 0;
    int i;
    for (i = 0; i < STAPGEN_RINGS; i++)
        lost += stapgen_kept_rings[i].lost;
    return lost;
}

/* ---- the line of the one that was taken ---- */

static inline void stapgen_begin_kept_line(struct stapgen_line* line, const char* tag, const char* direction,
                                           const void** fault) {
    const struct stapgen_kept* kept = &stapgen_kept_taken.of;
    stapgen_begin_line_of(line, tag, kept->now, kept->cpu, kept->thread, kept->comm);
    if (*direction) stapgen_put_text(line, direction);
    stapgen_put_endpoint(line, kept->local, kept->is_ip4, kept->local_port, fault);
    stapgen_put_endpoint(line, kept->remote, kept->is_ip4, kept->remote_port, fault);
    stapgen_put_name(line, kept->device);
}
/* Its stages, of COUNT, and its parts. */
static inline void stapgen_read_kept(s64* stages, int count, struct stapgen_waits* waits) {
    const u64* ns = stapgen_kept_taken.ns;
    u32 has = stapgen_kept_taken.of.has;
    stapgen_no_stages(stages, count);
    for (; has; has &= has - 1, ns++)
        if ((int)__ffs(has) < count) stages[__ffs(has)] = (s64)*ns;
    waits->said = stapgen_kept_taken.of.said;
    for (has = waits->said; has; has &= has - 1)
        waits->ns[__ffs(has)] = (s64)*ns++;
}

#endif
