// SPDX-License-Identifier: GPL-2.0-or-later
/* What tests ask of it: which function and which line each place_* is. */

const char linux_proc_banner[] = "%s version %s (builder@fake) #1\n";
const char linux_banner_format[] = "Linux version %s (builder@fake)\n";
const char linux_banner[] = "Linux version 6.12.117-fake (builder@fake) (gcc) #1 SMP\n";

__attribute__((section(".BTF"))) const unsigned char btf[] = {0x9f, 0xeb, 1, 0, 24, 0, 0};

int packets = 1009;
int drops;

#define PLACE(name) __asm__ volatile(".globl place_" #name "\nplace_" #name ":\n\tnop")

__attribute__((noinline)) void kfree_skb_reason(int reason) {
    drops += reason;
    PLACE(free);
}

static inline __attribute__((always_inline)) int checked(int length) {
    PLACE(inlined);
    return length > packets;
}

static inline __attribute__((always_inline)) int validated(int length) {
    if (length == 7) return 1;
    return checked(length);
}

__attribute__((noinline)) int fake_rcv(int length) {
    if (validated(length)) {
        kfree_skb_reason(3);
        PLACE(after_call);
        return 1;
    }
    packets += length;
    return 0;
}

__attribute__((noinline)) static int fake_local(int length) {
    drops -= length;
    PLACE(local);
    return drops;
}

__attribute__((weak)) int fake_weak(int length) {
    return fake_local(length) + packets;
}

__attribute__((section(".init.text"))) int fake_init(void) {
    PLACE(init);
    return fake_weak(fake_rcv(packets));
}
