// SPDX-License-Identifier: GPL-2.0-or-later
// What <linux/sched.h> brings for SystemTap's own casts.
struct task_struct {
    char comm[16];
};
