/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths of drops, and of resets, each with how often it was met since the last time that all were printed.
 *
 * A path is kept by what is in it. In sets of four places, each with a lock; where a set is full the path that was met
 * least often gives way, and its packets are counted as evicted. */
#ifndef STAPGEN_STACKS_H
#define STAPGEN_STACKS_H

#include "line.h"
#include "lock.h"
#include "path.h"

/* Frames of a path. */
enum { STAPGEN_FRAMES = 40 };
/* Bits of a hash that choose a set. */
#ifndef STAPGEN_STACK_BITS
#define STAPGEN_STACK_BITS 8
#endif
enum { STAPGEN_STACK_SETS = 1 << STAPGEN_STACK_BITS, STAPGEN_STACK_PLACES = 4 };

struct stapgen_stack {
    u64 count; /* 0: free */
    s64 reason;
    const char* reset; /* the name of a reset's reason; NULL: a drop */
    u32 frames;
    unsigned long frame[STAPGEN_FRAMES]; /* the innermost first */
};
struct stapgen_stack_set {
    struct stapgen_lock lock;
    u64 evicted; /* packets */
    struct stapgen_stack stack[STAPGEN_STACK_PLACES];
} ____cacheline_aligned;
static struct stapgen_stack_set stapgen_stack_sets[STAPGEN_STACK_SETS];
STAPGEN_PER_CPU(struct stapgen_stack, stapgen_this_stack);

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
    stack->frames = stapgen_copy_path(frame, size, i, stack->frame, STAPGEN_FRAMES);
    if (!stack->frames) stack->frame[stack->frames++] = location;
}

/* ---- the table ---- */

static inline struct stapgen_stack_set* stapgen_stack_set_of(const struct stapgen_stack* stack) {
    return &stapgen_stack_sets[stapgen_mix_path((u64)stack->reason + (stack->reset ? 1ULL << 32 : 0), stack->frame,
                                                stack->frames) >>
                               (64 - STAPGEN_STACK_BITS)];
}
static inline int stapgen_is_same_stack(const struct stapgen_stack* a, const struct stapgen_stack* b) {
    return a->reason == b->reason && !a->reset == !b->reset && a->frames == b->frames &&
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
    stack->reset = NULL;
    stapgen_cut_stack(frame, stapgen_save_stack(frame, STAPGEN_RAW_FRAMES), location, stack);
    stapgen_count_stack(stack);
}

static inline void stapgen_print_stack(const struct stapgen_stack* stack) {
    enum { FRAMES_A_PIECE = 16 };
    struct stapgen_line line = {};
    u32 i;
    if (stack->reset) {
        stapgen_put_text(&line, "reset-stack");
        stapgen_put_text(&line, "\treset ");
        stapgen_put_text(&line, stack->reset);
    } else {
        stapgen_put_text(&line, "stack");
        stapgen_put_number(&line, stack->reason);
    }
    for (i = 0; i < stack->frames; i++) {
        stapgen_put_byte(&line, i ? ',' : '\t');
        stapgen_put_hex(&line, stack->frame[i]);
        if (i % FRAMES_A_PIECE < FRAMES_A_PIECE - 1) continue;
        line.text[line.length] = 0;
        _stp_print(line.text);
        line.length = 0;
    }
    stapgen_put_number(&line, (s64)stack->count);
    stapgen_print_line_of_many(&line);
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
