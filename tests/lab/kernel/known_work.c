// SPDX-License-Identifier: GPL-2.0-or-later
// Does work of known length in an interrupt and in softirqs while it is loaded, and then tells the kernel's log of
// each: "known_work: KIND CPU BEGIN END", ns of the monotonic clock. The interrupt is one of its own that no device
// raises.
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/timer.h>

enum { rounds = 13, quick_interrupts = 101, nested = 5 };
enum { interrupt_us = 1103, tasklet_us = 2309, timer_us = 3701, raised_us = 1709 };

static struct work {
    const char* kind;
    unsigned int cpu;
    u64 begin, end;
} all[4 * rounds + 2 * nested];
static unsigned int count;
static unsigned int irq;
static bool is_quick, is_nested;
static DECLARE_COMPLETION(finished);

static void note(const char* kind, u64 begin) {
    all[count++] = (struct work){kind, smp_processor_id(), begin, ktime_get_ns()};
}

static void work_for(u64 us) {
    u64 end = ktime_get_ns() + us * 1000;
    while (ktime_get_ns() < end)
        ;
}

static irqreturn_t on_interrupt(int number, void* nothing) {
    u64 begin = ktime_get_ns();
    if (is_quick) return IRQ_HANDLED;
    work_for(interrupt_us);
    note("irq", begin);
    return IRQ_HANDLED;
}

static void interrupt(void) {
    unsigned long flags;
    local_irq_save(flags);
    generic_handle_irq(irq);
    local_irq_restore(flags);
}

static void on_tasklet(struct tasklet_struct* nothing) {
    u64 begin = ktime_get_ns();
    work_for(tasklet_us);
    if (is_nested) interrupt();
    note(is_nested ? "interrupted" : "tasklet", begin);
    complete(&finished);
}

static void on_timer(struct timer_list* nothing) {
    u64 begin = ktime_get_ns();
    work_for(timer_us);
    note("timer", begin);
    complete(&finished);
}

static DECLARE_TASKLET(tasklet, on_tasklet);
static DEFINE_TIMER(timer, on_timer);

// The tasklet's softirq is raised, and cannot run while this thread keeps softirqs off.
static void raise_and_wait(void) {
    u64 begin;
    local_bh_disable();
    begin = ktime_get_ns();
    tasklet_schedule(&tasklet);
    work_for(raised_us);
    note("raised", begin);
    local_bh_enable();
}

static void work(void) {
    int i;
    is_quick = true;
    for (i = 0; i < quick_interrupts; i++)
        interrupt();
    is_quick = false;
    for (i = 0; i < rounds; i++) {
        interrupt();
        raise_and_wait();
        wait_for_completion(&finished);
        mod_timer(&timer, jiffies + 1);
        wait_for_completion(&finished);
    }
    is_nested = true;
    for (i = 0; i < nested; i++) {
        tasklet_schedule(&tasklet);
        wait_for_completion(&finished);
    }
}

static int __init load(void) {
    unsigned int i;
    // No owner: this module could not be unloaded.
    int failed, got = __irq_alloc_descs(-1, 0, 1, NUMA_NO_NODE, NULL, NULL);
    if (got < 0) return got;
    irq = got;
    irq_modify_status(irq, IRQ_NOREQUEST, 0);
    irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
    failed = request_irq(irq, on_interrupt, 0, "known-work", NULL);
    if (failed) return failed;
    work();
    for (i = 0; i < count; i++)
        pr_info("known_work: %s %u %llu %llu\n", all[i].kind, all[i].cpu, all[i].begin, all[i].end);
    return 0;
}

static void __exit unload(void) {
    free_irq(irq, NULL);
    irq_free_desc(irq);
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Work of known length in an interrupt and in softirqs");
