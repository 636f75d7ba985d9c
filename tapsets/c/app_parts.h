/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a request waits for between its read and its reply, for a recipe whose stage app has parts: STAPGEN_APP_PARTS.
 * app_waits.h knows it. Others have none of it. */
#ifndef STAPGEN_APP_PARTS_H
#define STAPGEN_APP_PARTS_H

#include "waits.h"
#include "who_time.h"

#ifndef STAPGEN_APP_PARTS
#define STAPGEN_APP_PARTS STAPGEN_WAITS
#endif

struct stapgen_clock;
#if STAPGEN_APP_PARTS
/* What a thread has done of a request. */
struct stapgen_share {
    struct stapgen_waits waits;
    s64 copy[STAPGEN_APP_CAUSES];     /* of its clock, up to which it is in `waits` */
    struct stapgen_who_times things;  /* that it slept for */
    struct stapgen_who_times answers; /* that it got from other servers */
    u32 wakes;                        /* threads of its process that it woke as it worked for this request */
};
struct stapgen_app {
    struct stapgen_share own;
    struct stapgen_clock* clock;     /* of the thread that read it; NULL: none */
    s64 born;                        /* its clock's: another one may have its place by now */
    s64 id;                          /* when it was first read; 0: it is not open */
    s64 until;                       /* its time is divided until then */
    s64 in_turns;                    /* its clock's, then */
    u32 is_own;                      /* whatever its thread does is for it */
    u32 questions;                   /* that were asked for it, and are not answered */
    s64 first, first_in_turns;       /* of an answer's first byte: ns, and its clock's */
    unsigned long connecting;        /* a socket that a question is to be asked on; 0: none */
    u32 is_moved;                    /* another thread goes on with it */
    unsigned long is_spread;         /* a thread woke more than one while it worked for this */
    struct stapgen_who_time longest; /* of what it slept for */
};
static inline void stapgen_put_longest_thing(struct stapgen_line* line, const struct stapgen_who_time* longest);
static inline void stapgen_clock_sees_readable(unsigned long sk);
static inline struct stapgen_clock* stapgen_clock_reads(s64 now);
static inline void stapgen_clock_reads_from(unsigned long sk);
static inline void stapgen_clock_asks(unsigned long sk, int is_tcp, const void** fault);
static inline void stapgen_note_app(struct stapgen_app* app, struct stapgen_clock* clock, unsigned long sk,
                                    int is_first, s64 now);
static inline struct stapgen_clock* stapgen_clock_replies(void);
static inline void stapgen_divide_app(struct stapgen_app* app, struct stapgen_clock* clock, int is_own, s64 stage,
                                      s64 called, s64 now);
static inline void stapgen_count_app(const struct stapgen_app* app);
static inline void stapgen_close_app(struct stapgen_app* app);
static inline void stapgen_turn_ends(void);
#else
struct stapgen_app {};
#define stapgen_clock_sees_readable(sk) ((void)0)
#define stapgen_clock_reads(now) ((struct stapgen_clock*)NULL)
#define stapgen_clock_reads_from(sk) ((void)0)
#define stapgen_clock_asks(sk, is_tcp, fault) ((void)0)
#define stapgen_note_app(app, clock, sk, is_first, now) ((void)(clock))
#define stapgen_clock_replies() ((struct stapgen_clock*)NULL)
#define stapgen_divide_app(app, clock, is_own, stage, called, now) ((void)(clock))
#define stapgen_count_app(app) ((void)0)
#define stapgen_close_app(app) ((void)0)
#define stapgen_turn_ends() ((void)0)
#endif

#endif
