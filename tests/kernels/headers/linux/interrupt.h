// SPDX-License-Identifier: GPL-2.0-or-later
// What <linux/interrupt.h> brings for the casts of the tapsets.
struct irqaction {
    const char* name;
};
