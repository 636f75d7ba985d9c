// What <linux/sched.h> brings for SystemTap's own casts.
struct task_struct {
    char comm[16];
};
