/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a request waits for between its read and its reply, for a recipe whose stage app has parts: STAPGEN_APP_PARTS.
 * thread_clock.h knows it. Others have none of it. */
#ifndef STAPGEN_APP_PARTS_H
#define STAPGEN_APP_PARTS_H

#include "waits.h"

#ifndef STAPGEN_APP_PARTS
#define STAPGEN_APP_PARTS STAPGEN_WAITS
#endif

struct stapgen_clock;
#if STAPGEN_APP_PARTS
/* The clock of the thread that reads it as it does so, then what it has done until it replies. */
struct stapgen_app {
    struct stapgen_waits waits;
    u32 requests; /* 0: its thread has no clock */
};
static inline void stapgen_clock_sees_readable(unsigned long sk);
static inline struct stapgen_clock* stapgen_clock_reads(s64 now);
static inline void stapgen_clock_asks(unsigned long sk);
static inline void stapgen_note_app(struct stapgen_app* app, struct stapgen_clock* clock, unsigned long sk,
                                    int is_first);
static inline void stapgen_divide_app(struct stapgen_app* app, int is_own, s64 stage, s64 called, s64 now);
#else
struct stapgen_app {};
#define stapgen_clock_sees_readable(sk) ((void)0)
#define stapgen_clock_reads(now) ((struct stapgen_clock*)NULL)
#define stapgen_clock_asks(sk) ((void)0)
#define stapgen_note_app(app, clock, sk, is_first) ((void)(clock))
#define stapgen_divide_app(app, is_own, stage, called, now) ((void)0)
#endif

#endif
