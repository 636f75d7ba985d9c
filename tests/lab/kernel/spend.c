// SPDX-License-Identifier: GPL-2.0-or-later
// Spends a chosen time where a chosen function begins, and keeps when it did. /proc/spend takes a line "FUNCTION WHICH
// NS" for each function, then "on" and "off"; while it is off it spends nothing, and keeps what it passes likewise.
// "hide" is "on" where the lines "FUNCTION WHICH hide" hold: probes that came after that line do not see every third of
// these calls, as if they were skipped. WHICH of a function's calls count:
//   1, 2, 3   where that argument is an skb with data
//   backlog   where the next packet of this CPU's backlog has data
//   serve     in softirq, or by a thread of that name
//   task      where the second argument is a thread of that name
//   all       each
// What is read is a line "FUNCTION BEGIN SPENT TID" for each call that counted, or was hidden.
//
// Time is spent in a handler of ftrace's and not in a kprobe's: in one of those no other kprobe is seen, and the
// interrupts that have waited come in it.
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/string.h>

// A segment of 64 bytes is longer in each layer, and one without data is shorter.
enum { min_data = 70, max_calls = 1 << 19, max_places = 64 };
// The instructions at a function's beginning that call ftrace.
enum { ftrace_call_size = (IS_ENABLED(CONFIG_ARM64) ? 2 : 1) * MCOUNT_INSN_SIZE };

static struct place {
    struct ftrace_ops ops, last;
    struct kprobe probe;
    char function[64], which;
    bool hides;
    s64 ns;
    unsigned int seen;
} places[max_places];
static unsigned int place_count;
static bool is_on, is_hiding, may_hide;

static struct call {
    const struct place* place;
    u64 begin, spent;
    int tid;
} calls[max_calls];
static atomic_t call_count;

static bool has_data(const struct sk_buff* skb) {
    return skb && skb->len >= min_data;
}

static bool is_serve(const struct task_struct* task) {
    return !strcmp(task->comm, "serve");
}

static bool counts(const struct place* place, struct pt_regs* regs) {
    switch (place->which) {
        case 'a':
            return true;
        case 'b':
            return has_data(skb_peek(&this_cpu_ptr(&softnet_data)->input_pkt_queue));
        case 's':
            return !in_hardirq() && (in_serving_softirq() || is_serve(current));
        case 't':
            return is_serve((struct task_struct*)regs_get_kernel_argument(regs, 1));
        default:
            return has_data((struct sk_buff*)regs_get_kernel_argument(regs, place->which - '1'));
    }
}

static void keep(const struct place* place, u64 begin, u64 spent) {
    int at = atomic_inc_return(&call_count) - 1;
    if (at < max_calls) calls[at] = (struct call){place, begin, spent, current->pid};
}

// The registers that have the function's arguments; arm64 has no others there.
static struct pt_regs* registers_of(struct ftrace_regs* fregs, struct pt_regs* copy) {
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
    return ftrace_get_regs(fregs);
#else
    return ftrace_partial_regs(fregs, copy);
#endif
}

static void notrace on_call(unsigned long ip, unsigned long caller, struct ftrace_ops* ops, struct ftrace_regs* fregs) {
    const struct place* place = container_of(ops, struct place, ops);
    struct pt_regs copy;
    unsigned long flags;
    u64 begin, now;
    if (!counts(place, registers_of(fregs, &copy))) return;
    local_irq_save(flags);
    begin = now = ktime_get_ns();
    while (is_on && now - begin < place->ns)
        now = ktime_get_ns();
    keep(place, begin, now - begin);
    local_irq_restore(flags);
}

static bool is_to_hide(struct place* place, struct pt_regs* regs) {
    if (!is_hiding || !counts(place, regs) || place->seen++ % 3) return false;
    keep(place, ktime_get_ns(), 0);
    return true;
}

static int begin_handler(struct place* place, struct ftrace_ops* ops, ftrace_func_t handler) {
    int failed;
    ops->func = handler;
    ops->flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED;
    failed = ftrace_set_filter_ip(ops, (unsigned long)place->probe.addr, 0, 0);
    return failed ? failed : register_ftrace_function(ops);
}

static void end_handler(struct ftrace_ops* ops) {
    unregister_ftrace_function(ops);
    ftrace_set_filter(ops, NULL, 0, 1);
}

// A kprobe knows the function's address. ftrace_set_filter() compares the names of all functions, which takes longer.
static int find(struct place* place) {
    place->probe.flags = KPROBE_FLAG_DISABLED;
    return register_kprobe(&place->probe);
}

static int begin_spending(struct place* place) {
    int failed = find(place);
    if (failed) return failed;
    failed = begin_handler(place, &place->ops, on_call);
    if (failed) unregister_kprobe(&place->probe);
    return failed;
}

#ifdef CONFIG_KPROBES_ON_FTRACE
// All probes are handlers of ftrace's. The newest handler of a place is called first: what comes behind it takes itself
// for its own recursion, until the oldest one. The first bit stands for the context, the second for a change of it.
static struct hidden {
    unsigned long flags;
    int bits[2];
    bool is_on;
} hidden[NR_CPUS];

static void notrace on_first(unsigned long ip, unsigned long caller, struct ftrace_ops* ops,
                             struct ftrace_regs* fregs) {
    unsigned long flags;
    struct hidden* here;
    local_irq_save(flags);
    here = &hidden[smp_processor_id()];
    here->is_on = is_to_hide(container_of(ops, struct place, ops), ftrace_get_regs(fregs));
    if (!here->is_on) {
        local_irq_restore(flags);
        return;
    }
    here->flags = flags;
    here->bits[0] = ftrace_test_recursion_trylock(ip, caller);
    here->bits[1] = ftrace_test_recursion_trylock(ip, caller);
}

static void notrace on_last(unsigned long ip, unsigned long caller, struct ftrace_ops* ops, struct ftrace_regs* fregs) {
    struct hidden* here = &hidden[raw_smp_processor_id()];
    int i;
    if (!irqs_disabled() || !here->is_on) return;
    here->is_on = false;
    for (i = 1; i >= 0; i--)
        if (here->bits[i] >= 0) ftrace_test_recursion_unlock(here->bits[i]);
    local_irq_restore(here->flags);
}

static int prepare_hiding(struct place* place) {
    int failed = find(place);
    return failed ? failed : begin_handler(place, &place->last, on_last);
}

static int begin_hiding_at(struct place* place) {
    return begin_handler(place, &place->ops, on_first);
}

static void end_hiding_at(struct place* place) {
    end_handler(&place->ops);
}

static void forget_hiding(struct place* place) {
    end_handler(&place->last);
    unregister_kprobe(&place->probe);
}
#else
// Newer kprobes of a place come first, and with 1 the others do not come at all. The function goes on behind its call
// of ftrace.
static int on_hidden(struct kprobe* probe, struct pt_regs* regs) {
    if (!is_to_hide(container_of(probe, struct place, probe), regs)) return 0;
    instruction_pointer_set(regs, (unsigned long)probe->addr + ftrace_call_size);
    return 1;
}

static int prepare_hiding(struct place* place) {
    return 0;
}

static int begin_hiding_at(struct place* place) {
    place->probe = (struct kprobe){.symbol_name = place->function, .pre_handler = on_hidden};
    return register_kprobe(&place->probe);
}

static void end_hiding_at(struct place* place) {
    unregister_kprobe(&place->probe);
}

static void forget_hiding(struct place* place) {}
#endif

// Also where nothing is hidden: it takes the same time then.
static int begin_to_hide(void) {
    unsigned int i;
    int failed = 0;
    for (i = 0; i < place_count && !failed; i++)
        if (places[i].hides) failed = begin_hiding_at(&places[i]);
    may_hide = !failed;
    return failed;
}

static void end_hiding(void) {
    unsigned int i;
    if (!may_hide) return;
    for (i = 0; i < place_count; i++)
        if (places[i].hides) end_hiding_at(&places[i]);
    may_hide = false;
}

static int begin(const char* function, char which, const char* what) {
    struct place* place = &places[place_count];
    int failed;
    place->hides = !strcmp(what, "hide");
    failed = place->hides ? 0 : kstrtos64(what, 10, &place->ns);
    if (failed) return failed;
    strscpy(place->function, function, sizeof(place->function));
    place->which = which;
    place->probe.symbol_name = place->function;
    failed = place->hides ? prepare_hiding(place) : begin_spending(place);
    if (failed)
        memset(place, 0, sizeof(*place));
    else
        place_count++;
    return failed;
}

static int turn(const char* how) {
    is_on = strcmp(how, "off");
    is_hiding = !strcmp(how, "hide");
    end_hiding();
    return begin_to_hide();
}

static ssize_t write(struct file* file, const char __user* data, size_t size, loff_t* position) {
    char line[128] = {0}, function[64], which[16], what[24];
    int words, failed = 0;
    if (size >= sizeof(line) || place_count == max_places) return -EINVAL;
    if (copy_from_user(line, data, size)) return -EFAULT;
    words = sscanf(line, "%63s %15s %23s", function, which, what);
    if (words == 1)
        failed = turn(function);
    else if (words == 3 && strchr("123bsta", which[0]))
        failed = begin(function, which[0], what);
    else
        return -EINVAL;
    return failed ? failed : size;
}

static int show(struct seq_file* file, void* nothing) {
    int i, count = min_t(int, atomic_read(&call_count), max_calls);
    for (i = 0; i < count; i++)
        seq_printf(file, "%s %llu %llu %d\n", calls[i].place->function, calls[i].begin, calls[i].spent, calls[i].tid);
    return 0;
}

static int open(struct inode* inode, struct file* file) {
    return single_open(file, show, NULL);
}

static const struct proc_ops operations = {.proc_open = open,
                                           .proc_read = seq_read,
                                           .proc_lseek = seq_lseek,
                                           .proc_release = single_release,
                                           .proc_write = write};

static int __init load(void) {
    return proc_create("spend", 0600, NULL, &operations) ? 0 : -ENOMEM;
}

static void __exit unload(void) {
    unsigned int i;
    remove_proc_entry("spend", NULL);
    end_hiding();
    for (i = 0; i < place_count; i++) {
        if (places[i].hides) {
            forget_hiding(&places[i]);
            continue;
        }
        end_handler(&places[i].ops);
        unregister_kprobe(&places[i].probe);
    }
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Spends a chosen time where a chosen function begins");
