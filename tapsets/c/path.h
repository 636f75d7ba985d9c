/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call path to here, as the kernel gives it, and what its functions are, by their names. */
#ifndef STAPGEN_PATH_H
#define STAPGEN_PATH_H

#include <linux/module.h>
#include <linux/stacktrace.h>

#include "per_cpu.h"
#include "read.h"

/* Of what the kernel gives before it is cut at both ends. */
enum { STAPGEN_RAW_FRAMES = 96 };
/* As the kernel gives it, on this CPU. */
struct stapgen_raw_stack {
    unsigned long frame[STAPGEN_RAW_FRAMES];
};
STAPGEN_PER_CPU(struct stapgen_raw_stack, stapgen_raw_stacks);

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
    STAPGEN_TRACING_FRAME,   /* what frees, puts to sleep, or traces it */
    STAPGEN_INTERRUPT_FRAME, /* behind it is what was interrupted */
    STAPGEN_RECEIVING_FRAME, /* it sleeps for data of its socket */
    STAPGEN_FREEZING_FRAME,  /* it is frozen */
    STAPGEN_LOCKING_FRAME,   /* it sleeps for a lock of the kernel */
    STAPGEN_DISK_FRAME,      /* for a page of a file, or a block device */
    STAPGEN_SWAP_FRAME,      /* for a page that was swapped out */
    STAPGEN_MEMORY_FRAME,    /* for memory */
    STAPGEN_USERFAULT_FRAME, /* for the process that handles its page faults */
};
enum { STAPGEN_FRAME_KIND_SHIFT = 4 };
enum { STAPGEN_FRAME_KIND_BITS = 10, STAPGEN_FUNCTION_NAME = 128 };
/* An address without its four highest bits, which are set in all of the kernel, and below them its kind. */
static unsigned long stapgen_frame_kinds[1 << STAPGEN_FRAME_KIND_BITS];

#ifndef STAPGEN_NAME_FUNCTION
#define STAPGEN_NAME_FUNCTION(name, address) snprintf((name), STAPGEN_FUNCTION_NAME, "%ps", (void*)(address))
#endif
static inline int stapgen_begins_with(const char* name, const char* beginning) {
    return !strncmp(name, beginning, strlen(beginning));
}
static inline int stapgen_begins_with_any(const char* name, const char* const* beginnings) {
    for (; *beginnings; beginnings++)
        if (stapgen_begins_with(name, *beginnings)) return 1;
    return 0;
}
static inline enum stapgen_frame_kind stapgen_kind_of_function(const char* name) {
    static const char* const locking[] = {
        "rwsem_down_",          "down_read",    "down_write", "__down_", "__mutex_lock", "mutex_lock",
        "lock_mm_and_find_vma", "percpu_down_", NULL};
    static const char* const disk[] = {"filemap_",
                                       "shmem_fault",
                                       "folio_wait_",
                                       "wait_on_page_",
                                       "__lock_page",
                                       "io_schedule",
                                       "balance_dirty_pages",
                                       "wbt_wait",
                                       "rq_qos_wait",
                                       "blk_mq_get_tag",
                                       "jbd2_",
                                       "xfs_log_",
                                       "submit_bio_wait",
                                       NULL};
    static const char* const memory[] = {"mem_cgroup_handle_over_high",
                                         "__mem_cgroup_handle_over_high",
                                         "try_to_free_",
                                         "shrink_",
                                         "__alloc_pages_direct_",
                                         "__perform_reclaim",
                                         NULL};
    /* A module's precedes its name in brackets. */
    if (strstr(name, THIS_MODULE->name) || stapgen_begins_with(name, "__traceiter_") ||
        stapgen_begins_with(name, "stack_trace_") || stapgen_begins_with(name, "save_stack_trace") ||
        stapgen_begins_with(name, "kfree_skb") || stapgen_begins_with(name, "__kfree_skb") ||
        stapgen_begins_with(name, "sk_skb_reason_drop") || stapgen_begins_with(name, "__schedule") ||
        stapgen_begins_with(name, "schedule"))
        return STAPGEN_TRACING_FRAME;
    if (stapgen_begins_with(name, "sk_wait_data") || stapgen_begins_with(name, "__skb_wait_for_more_packets"))
        return STAPGEN_RECEIVING_FRAME;
    if (stapgen_begins_with(name, "__refrigerator") || stapgen_begins_with(name, "do_freezer_trap"))
        return STAPGEN_FREEZING_FRAME;
    if (stapgen_begins_with_any(name, locking)) return STAPGEN_LOCKING_FRAME;
    if (stapgen_begins_with_any(name, disk)) return STAPGEN_DISK_FRAME;
    if (stapgen_begins_with(name, "do_swap_page") || stapgen_begins_with(name, "shmem_swapin"))
        return STAPGEN_SWAP_FRAME;
    if (stapgen_begins_with_any(name, memory)) return STAPGEN_MEMORY_FRAME;
    if (stapgen_begins_with(name, "handle_userfault")) return STAPGEN_USERFAULT_FRAME;
    /* Where softirqs are run as an interrupt returns, and the first of an interrupt's own. Those of call gates and
     * faults (entry_SYSCALL_64, asm_exc_page_fault) are the thread's own doing. */
    if (stapgen_begins_with(name, "irq_exit") || stapgen_begins_with(name, "__irq_exit") ||
        stapgen_begins_with(name, "asm_common_interrupt") || stapgen_begins_with(name, "asm_sysvec_") ||
        stapgen_begins_with(name, "el1_interrupt") || stapgen_begins_with(name, "el0_interrupt") ||
        stapgen_begins_with(name, "el1h_64_irq") || stapgen_begins_with(name, "el0t_64_irq"))
        return STAPGEN_INTERRUPT_FRAME;
    return STAPGEN_PLAIN_FRAME;
}
static inline enum stapgen_frame_kind stapgen_frame_kind_of(unsigned long address) {
    unsigned long* known = &stapgen_frame_kinds[stapgen_hash(address, STAPGEN_FRAME_KIND_BITS)];
    unsigned long value = READ_ONCE(*known);
    char name[STAPGEN_FUNCTION_NAME];
    enum { KINDS = (1 << STAPGEN_FRAME_KIND_SHIFT) - 1 };
    if (value >> STAPGEN_FRAME_KIND_SHIFT == (address << STAPGEN_FRAME_KIND_SHIFT) >> STAPGEN_FRAME_KIND_SHIFT)
        return (enum stapgen_frame_kind)(value & KINDS);
    /* It is a return address. */
    STAPGEN_NAME_FUNCTION(name, address - 1);
    value = address << STAPGEN_FRAME_KIND_SHIFT | stapgen_kind_of_function(name);
    WRITE_ONCE(*known, value);
    return (enum stapgen_frame_kind)(value & KINDS);
}

/* The first that neither frees nor traces it; SIZE: there is none. */
static inline u32 stapgen_skip_tracing(const unsigned long* frame, u32 size) {
    u32 i;
    for (i = 0; i < size && stapgen_frame_kind_of(frame[i]) == STAPGEN_TRACING_FRAME; i++) {
    }
    return i;
}
/* Copies its part from frame I on to where a thread or an interrupt began, up to ROOM frames; how many. */
static inline u32 stapgen_copy_path(const unsigned long* frame, u32 size, u32 i, unsigned long* to, u32 room) {
    u32 frames = 0;
    for (; i < size && frames < room; i++) {
        if (stapgen_frame_kind_of(frame[i]) == STAPGEN_INTERRUPT_FRAME) break;
        to[frames++] = frame[i];
    }
    return frames;
}
/* A number for what is in it, with what was mixed before. */
static inline u64 stapgen_mix_path(u64 mixed, const unsigned long* frame, u32 frames) {
    u32 i;
    for (i = 0; i < frames; i++)
        mixed = ((mixed << 23 | mixed >> 41) ^ frame[i]) * 0x9e3779b97f4a7c15ULL;
    return mixed;
}

#endif
