/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths of drops, each with how often it was met since the last time that all were printed.
 *
 * A path is kept by what is in it. In sets of four places, each with a lock; where a set is full the path that was met
 * least often gives way, and its packets are counted as evicted. */
#ifndef STAPGEN_STACKS_H
#define STAPGEN_STACKS_H

#include <linux/module.h>
#include <linux/stacktrace.h>

#include "line.h"
#include "lock.h"
#include "per_cpu.h"
#include "read.h"

/* Frames of a path, and of what the kernel gives before it is cut at both ends. */
enum { STAPGEN_FRAMES = 40, STAPGEN_RAW_FRAMES = 96 };
/* Bits of a hash that choose a set. */
#ifndef STAPGEN_STACK_BITS
#define STAPGEN_STACK_BITS 8
#endif
enum { STAPGEN_STACK_SETS = 1 << STAPGEN_STACK_BITS, STAPGEN_STACK_PLACES = 4 };

struct stapgen_stack {
    u64 count; /* 0: free */
    s64 reason;
    u32 frames;
    unsigned long frame[STAPGEN_FRAMES]; /* the innermost first */
};
struct stapgen_stack_set {
    struct stapgen_lock lock;
    u64 evicted; /* packets */
    struct stapgen_stack stack[STAPGEN_STACK_PLACES];
} ____cacheline_aligned;
static struct stapgen_stack_set stapgen_stack_sets[STAPGEN_STACK_SETS];

/* As the kernel gives it, on this CPU. */
struct stapgen_raw_stack {
    unsigned long frame[STAPGEN_RAW_FRAMES];
};
STAPGEN_PER_CPU(struct stapgen_raw_stack, stapgen_raw_stacks);
STAPGEN_PER_CPU(struct stapgen_stack, stapgen_this_stack);

static inline u32 stapgen_save_stack(unsigned long* frame, u32 size) {
/* SystemTap has tried whether that is there: Linux 5.2, and 4.18 of EL8. */
#ifdef STAPCONF_STACK_TRACE_SAVE_REGS
    return stack_trace_save(frame, size, 0);
#else
    struct stack_trace trace = {.max_entries = size, .entries = frame};
    u32 frames;
    save_stack_trace(&trace);
    /* Up to 5.1 the last one may be ULONG_MAX, which says that there are no more. */
    for (frames = trace.nr_entries; frames && frame[frames - 1] == ~0UL; frames--) {
    }
    return frames;
#endif
}

/* ---- where a path begins and ends: by function names, each looked up once ---- */

enum stapgen_frame_kind {
    STAPGEN_NEW_FRAME,
    STAPGEN_PLAIN_FRAME,
    STAPGEN_TRACING_FRAME,   /* what frees, or traces it */
    STAPGEN_INTERRUPT_FRAME, /* behind it is what was interrupted */
};
enum { STAPGEN_FRAME_KIND_BITS = 10, STAPGEN_FUNCTION_NAME = 128 };
/* An address without its two highest bits, which are set in all of the kernel, and below them its kind. */
static unsigned long stapgen_frame_kinds[1 << STAPGEN_FRAME_KIND_BITS];

#ifndef STAPGEN_NAME_FUNCTION
#define STAPGEN_NAME_FUNCTION(name, address) snprintf((name), STAPGEN_FUNCTION_NAME, "%ps", (void*)(address))
#endif
static inline int stapgen_begins_with(const char* name, const char* beginning) {
    return !strncmp(name, beginning, strlen(beginning));
}
static inline enum stapgen_frame_kind stapgen_kind_of_function(const char* name) {
    /* A module's precedes its name in brackets. */
    if (strstr(name, THIS_MODULE->name) || stapgen_begins_with(name, "__traceiter_") ||
        stapgen_begins_with(name, "stack_trace_") || stapgen_begins_with(name, "save_stack_trace") ||
        stapgen_begins_with(name, "kfree_skb") || stapgen_begins_with(name, "__kfree_skb") ||
        stapgen_begins_with(name, "sk_skb_reason_drop"))
        return STAPGEN_TRACING_FRAME;
    /* Where softirqs are run as an interrupt returns, and the first of an interrupt's own. Those of call gates and
     * faults (entry_SYSCALL_64, asm_exc_page_fault) are the thread's own doing. */
    if (stapgen_begins_with(name, "irq_exit") || stapgen_begins_with(name, "__irq_exit") ||
        stapgen_begins_with(name, "asm_common_interrupt") || stapgen_begins_with(name, "asm_sysvec_") ||
        stapgen_begins_with(name, "el1_interrupt") || stapgen_begins_with(name, "el0_interrupt"))
        return STAPGEN_INTERRUPT_FRAME;
    return STAPGEN_PLAIN_FRAME;
}
static inline enum stapgen_frame_kind stapgen_frame_kind_of(unsigned long address) {
    unsigned long* known = &stapgen_frame_kinds[stapgen_hash(address, STAPGEN_FRAME_KIND_BITS)];
    unsigned long value = READ_ONCE(*known);
    char name[STAPGEN_FUNCTION_NAME];
    if (value >> 2 == (address << 2) >> 2) return (enum stapgen_frame_kind)(value & 3);
    /* It is a return address. */
    STAPGEN_NAME_FUNCTION(name, address - 1);
    value = address << 2 | stapgen_kind_of_function(name);
    WRITE_ONCE(*known, value);
    return (enum stapgen_frame_kind)(value & 3);
}

/* The first that neither frees nor traces it; SIZE: there is none. */
static inline u32 stapgen_skip_tracing(const unsigned long* frame, u32 size) {
    u32 i;
    for (i = 0; i < size && stapgen_frame_kind_of(frame[i]) == STAPGEN_TRACING_FRAME; i++) {
    }
    return i;
}
/* Where LOCATION is in a path. Some of the kernel's functions say not where they free but who they are: then it is the
 * function of that name. SIZE: it is nowhere. */
static inline u32 stapgen_find_location(const unsigned long* frame, u32 size, unsigned long location) {
    char function[STAPGEN_FUNCTION_NAME], name[STAPGEN_FUNCTION_NAME];
    u32 i;
    for (i = 0; i < size; i++)
        if (frame[i] == location) return i;
    STAPGEN_NAME_FUNCTION(function, location);
    i = stapgen_skip_tracing(frame, size);
    if (i == size) return size;
    STAPGEN_NAME_FUNCTION(name, frame[i] - 1);
    return strcmp(name, function) ? size : i;
}
/* Its part from where a packet was dropped to where a thread or an interrupt began; never empty. */
static inline void stapgen_cut_stack(const unsigned long* frame, u32 size, unsigned long location,
                                     struct stapgen_stack* stack) {
    u32 i = stapgen_find_location(frame, size, location);
    if (i == size) i = stapgen_skip_tracing(frame, size);
    for (stack->frames = 0; i < size && stack->frames < STAPGEN_FRAMES; i++) {
        if (stapgen_frame_kind_of(frame[i]) == STAPGEN_INTERRUPT_FRAME) break;
        stack->frame[stack->frames++] = frame[i];
    }
    if (!stack->frames) stack->frame[stack->frames++] = location;
}

/* ---- the table ---- */

static inline struct stapgen_stack_set* stapgen_stack_set_of(const struct stapgen_stack* stack) {
    u64 mixed = (u64)stack->reason;
    u32 i;
    for (i = 0; i < stack->frames; i++)
        mixed = ((mixed << 23 | mixed >> 41) ^ stack->frame[i]) * 0x9e3779b97f4a7c15ULL;
    return &stapgen_stack_sets[mixed >> (64 - STAPGEN_STACK_BITS)];
}
static inline int stapgen_is_same_stack(const struct stapgen_stack* a, const struct stapgen_stack* b) {
    return a->reason == b->reason && a->frames == b->frames &&
           !memcmp(a->frame, b->frame, a->frames * sizeof(a->frame[0]));
}
static inline void stapgen_count_stack(const struct stapgen_stack* stack) {
    struct stapgen_stack_set* set = stapgen_stack_set_of(stack);
    struct stapgen_stack* least = &set->stack[0];
    int i;
    stapgen_lock(&set->lock);
    for (i = 0; i < STAPGEN_STACK_PLACES; i++) {
        struct stapgen_stack* place = &set->stack[i];
        if (place->count && stapgen_is_same_stack(place, stack)) {
            place->count++;
            break;
        }
        if (place->count < least->count) least = place;
    }
    if (i == STAPGEN_STACK_PLACES) {
        set->evicted += least->count;
        memcpy(least, stack, sizeof(*least));
        least->count = 1;
    }
    stapgen_unlock(&set->lock);
}
/* The path to here of a packet that is dropped. */
static inline void stapgen_add_stack(unsigned long location, s64 reason) {
    unsigned long* frame = STAPGEN_THIS_CPU(stapgen_raw_stacks)->frame;
    struct stapgen_stack* stack = STAPGEN_THIS_CPU(stapgen_this_stack);
    stack->reason = reason;
    stapgen_cut_stack(frame, stapgen_save_stack(frame, STAPGEN_RAW_FRAMES), location, stack);
    stapgen_count_stack(stack);
}

static inline void stapgen_print_stack(const struct stapgen_stack* stack) {
    enum { FRAMES_A_PIECE = 16 };
    struct stapgen_line line = {};
    u32 i;
    stapgen_put_text(&line, "stack");
    stapgen_put_number(&line, stack->reason);
    for (i = 0; i < stack->frames; i++) {
        stapgen_put_byte(&line, i ? ',' : '\t');
        stapgen_put_hex(&line, stack->frame[i]);
        if (i % FRAMES_A_PIECE < FRAMES_A_PIECE - 1) continue;
        line.text[line.length] = 0;
        _stp_print(line.text);
        line.length = 0;
    }
    stapgen_put_number(&line, (s64)stack->count);
    stapgen_print_line(&line);
}
/* A line for each that was met since the last time, which counts from 0 again. */
static inline void stapgen_print_stacks(void) {
    struct stapgen_stack* stack = STAPGEN_THIS_CPU(stapgen_this_stack);
    int set, i;
    for (set = 0; set < STAPGEN_STACK_SETS; set++) {
        for (i = 0; i < STAPGEN_STACK_PLACES; i++) {
            struct stapgen_stack* place = &stapgen_stack_sets[set].stack[i];
            stapgen_lock(&stapgen_stack_sets[set].lock);
            memcpy(stack, place, sizeof(*stack));
            place->count = 0;
            stapgen_unlock(&stapgen_stack_sets[set].lock);
            if (stack->count) stapgen_print_stack(stack);
        }
    }
}
/* Packets whose paths gave way to others, from the start on. */
static inline u64 stapgen_evicted_by_stacks(void) {
    u64 sum = 0;
    int set;
    for (set = 0; set < STAPGEN_STACK_SETS; set++)
        sum += READ_ONCE(stapgen_stack_sets[set].evicted);
    return sum;
}

#endif
