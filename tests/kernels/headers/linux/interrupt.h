// What <linux/interrupt.h> brings for the casts of the tapsets.
struct irqaction {
    const char* name;
};
