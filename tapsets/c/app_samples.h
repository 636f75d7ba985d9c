/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where threads are between a request's read and its reply, for a recipe that samples them: STAPGEN_APP_SAMPLES.
 * user_stack.h knows it. Others have none of it. */
#ifndef STAPGEN_APP_SAMPLES_H
#define STAPGEN_APP_SAMPLES_H

#include "read.h"

#ifndef STAPGEN_APP_SAMPLES
#define STAPGEN_APP_SAMPLES 0
#endif

#if STAPGEN_APP_SAMPLES
struct stapgen_app_samples {
    u32 before; /* how many there were of its thread when it was read */
    s64 read;   /* ns: its last read; 0: its thread is not followed */
};
static inline void stapgen_follow_samples(struct stapgen_app_samples* samples, s64 now);
static inline void stapgen_reply_ends_samples(const struct stapgen_app_samples* samples, int is_own, s64 now);
#else
struct stapgen_app_samples {};
#define stapgen_follow_samples(samples, now) ((void)0)
#define stapgen_reply_ends_samples(samples, is_own, now) ((void)(samples), (void)(is_own))
#endif

#endif
