/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where threads that read requests run: samples of each, by a timer, in a ring. At a reply that took long those since
 * the read are printed; of fast requests nothing is.
 *
 * A sample is the thread's place in its own code, and those that called it, by frame pointers, which not every program
 * has. A ring is its thread's: the timer's interrupt and the reply's probe are on the CPU where it runs, and handlers
 * have interrupts off. */
#ifndef STAPGEN_USER_STACK_H
#define STAPGEN_USER_STACK_H

#ifndef STAPGEN_APP_SAMPLES
#define STAPGEN_APP_SAMPLES 1
#endif

#include <asm/syscall.h>
#include <linux/compat.h>
#include <linux/ptrace.h>

#include "app_samples.h"
#include "batch.h"
#include "counters.h"
#include "head_set.h"
#include "user_memory.h"

#ifndef STAPGEN_SAMPLED_BITS
#define STAPGEN_SAMPLED_BITS 8
#endif
enum { STAPGEN_USER_FRAMES = 24, STAPGEN_SAMPLES = 64 };
/* What a thread is in, where that is no system call. */
enum { STAPGEN_IN_ITS_CODE = -1, STAPGEN_IN_KERNEL = -2 /* for a page fault, or an interrupt */ };

struct stapgen_user_sample {
    s64 at;
    s32 call; /* number of the system call that it is in */
    u16 frames;
    u16 is_cut; /* who called is not known: no frame pointer, or no room */
    unsigned long frame[STAPGEN_USER_FRAMES];
};
struct stapgen_sampled {
    struct stapgen_place at; /* key: stapgen_thread_key() */
    u32 taken, printed;      /* samples, from the start on: printed, or passed over */
    s64 begun;               /* ns: it is followed from then on */
    struct stapgen_user_sample samples[STAPGEN_SAMPLES];
};
STAPGEN_SET(stapgen_sampled_threads, stapgen_sampled, STAPGEN_SAMPLED_BITS);
/* Requests whose program took no longer are fast. */
static s64 stapgen_fast_ns;

static inline struct stapgen_sampled* stapgen_this_sampled(void) {
    return (struct stapgen_sampled*)stapgen_find(stapgen_sampled_threads, stapgen_this_thread_key());
}

/* ---- a thread's own memory, in an interrupt ---- */

/* A return address without its signature, which arm64 may have in bits that no address has. */
static inline unsigned long stapgen_code_address(unsigned long address) {
#ifdef CONFIG_ARM64
    address &= TASK_SIZE - 1;
#endif
    return address;
}
/* None is ~0. Before 4.16 a system call does not save it on x86. */
static inline unsigned long stapgen_frame_pointer_of(const struct pt_regs* regs, int is_in_its_code) {
#if defined(CONFIG_X86_64)
    return LINUX_VERSION_CODE >= KERNEL_VERSION(4, 16, 0) || is_in_its_code ? regs->bp : ~0UL;
#elif defined(CONFIG_ARM64)
    return regs->regs[29];
#else
    return ~0UL;
#endif
}
/* Frames lie one above the other, the first above the stack's end; what is something else is in the register of a
 * program without frame pointers. */
static inline void stapgen_walk_user(struct stapgen_user_sample* sample, const struct pt_regs* regs,
                                     int is_in_its_code) {
    enum { FARTHEST = 8 << 20 };
    unsigned long frame = stapgen_frame_pointer_of(regs, is_in_its_code),
                  below = user_stack_pointer((struct pt_regs*)regs);
    unsigned long words[2]; /* the frame pointer and the address of who called */
    sample->frame[0] = instruction_pointer((struct pt_regs*)regs);
    sample->frames = 1;
    sample->is_cut = 1;
    while (frame && sample->frames < STAPGEN_USER_FRAMES) {
        if (frame % sizeof(frame) || frame < below || frame - below > FARTHEST ||
            !stapgen_read_user(words, frame, sizeof(words)))
            return;
        words[1] = stapgen_code_address(words[1]);
        if (!words[1]) break;
        if (words[1] >= TASK_SIZE) return;
        sample->frame[sample->frames++] = words[1];
        below = frame + 1;
        frame = words[0];
    }
    sample->is_cut = sample->frames == STAPGEN_USER_FRAMES && frame;
}
/* Other registers, and other numbers of system calls. */
static inline int stapgen_is_32_bit_thread(void) {
#ifdef CONFIG_COMPAT
#if defined(TIF_ADDR32)
    return test_thread_flag(TIF_ADDR32);
#elif defined(TIF_32BIT)
    return test_thread_flag(TIF_32BIT);
#endif
#endif
    return 0;
}

/* ---- what happens ---- */

/* The timer's interrupt, on top of this thread's own code or of the kernel's. */
static inline void stapgen_take_sample(int is_in_its_code) {
    struct stapgen_sampled* thread = stapgen_this_sampled();
    struct stapgen_user_sample* sample;
    const struct pt_regs* regs;
    /* One that ends has no memory any more. */
    if (!thread || !current->mm) return;
    regs = task_pt_regs(current);
    if (stapgen_is_32_bit_thread()) {
        STAPGEN_ADD(samples_unread);
        return;
    }
    sample = &thread->samples[thread->taken % STAPGEN_SAMPLES];
    sample->at = STAPGEN_NOW();
    sample->call = STAPGEN_IN_ITS_CODE;
    if (!is_in_its_code) {
        sample->call = (s32)syscall_get_nr(current, (struct pt_regs*)regs);
        if (sample->call < 0) sample->call = STAPGEN_IN_KERNEL;
    }
    stapgen_walk_user(sample, regs, is_in_its_code);
    thread->taken++;
}
/* This thread has read a request, or more of it. */
static inline void stapgen_follow_samples(struct stapgen_app_samples* samples, s64 now) {
    enum stapgen_inserted inserted;
    struct stapgen_sampled* thread = stapgen_this_sampled();
    samples->read = 0;
    if (!thread) {
        thread =
            (struct stapgen_sampled*)stapgen_insert(stapgen_sampled_threads, stapgen_this_thread_key(), now, &inserted);
        if (inserted == STAPGEN_EVICTED) STAPGEN_ADD(samples_evicted);
        if (!thread) return;
        thread->taken = thread->printed = 0;
        thread->begun = now;
    }
    WRITE_ONCE(thread->at.since, now);
    samples->before = thread->taken;
    samples->read = now;
}
static inline void stapgen_print_sample(const struct stapgen_user_sample* sample) {
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    u64 comm[2];
    u32 i;
    line.length = 0;
    memcpy(comm, current->comm, sizeof(comm));
    stapgen_put_text(&line, "sample");
    stapgen_put_number(&line, sample->at);
    stapgen_put_number(&line, current->tgid);
    stapgen_put_number(&line, current->pid);
    stapgen_put_name(&line, comm);
    stapgen_put_number(&line, sample->call);
    stapgen_put_number(&line, sample->is_cut);
    for (i = 0; i < sample->frames; i++) {
        stapgen_put_byte(&line, i ? ',' : '\t');
        stapgen_put_hex(&line, sample->frame[i]);
    }
    stapgen_print_record(&line);
}
/* This thread replies, to what it has read itself, or to another thread's. */
static inline void stapgen_reply_ends_samples(const struct stapgen_app_samples* samples, int is_own, s64 now) {
    struct stapgen_sampled* thread;
    u32 taken, from;
    if (!samples->read || now - samples->read <= stapgen_fast_ns) return;
    if (!is_own) {
        STAPGEN_ADD(samples_elsewhere);
        return;
    }
    STAPGEN_ADD(samples_slow);
    thread = stapgen_this_sampled();
    /* It had to give way, and came back. */
    if (!thread || thread->begun > samples->read) return;
    taken = thread->taken - samples->before;
    if (taken > STAPGEN_SAMPLES) {
        stapgen_add_all(STAPGEN_NUMBER_OF(samples_overwritten), taken - STAPGEN_SAMPLES);
        taken = STAPGEN_SAMPLES;
    }
    /* Those that are printed were of another request, too, which this thread had in hand at the same time. */
    if (taken > thread->taken - thread->printed) taken = thread->taken - thread->printed;
    for (from = thread->taken - taken; from != thread->taken; from++)
        stapgen_print_sample(&thread->samples[from % STAPGEN_SAMPLES]);
    thread->printed = thread->taken;
}

#endif
