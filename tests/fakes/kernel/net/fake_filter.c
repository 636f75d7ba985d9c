// SPDX-License-Identifier: GPL-2.0-or-later
/* Sections of code whose sizes are known to the byte, each behind another that must not count. */

__attribute__((section(".modinfo"), used)) static const char info[] =
    "license=GPL\0name=fake_filter\0vermagic=6.12.117-fake SMP preempt mod_unload modversions ";

__asm__(".text\n .balign 16\n"
        ".globl filter_first\nfilter_first: .skip 67, 0x90\n"
        "filter_second: .skip 34, 0x90\n"
        ".section .init.text, \"ax\"\n .balign 16\n"
        ".globl init_module\ninit_module: .skip 31, 0x90\n"
        ".section .data.filter, \"aw\"\n filter_data: .skip 53\n"
        ".section .text.unlikely, \"ax\"\n"
        "filter_cold: .skip 3, 0x90\n"
        ".section .exit.text, \"ax\"\n .balign 64\n"
        ".globl cleanup_module\ncleanup_module: .skip 5, 0x90\n"
        ".text\n");

int filtered;

__attribute__((section(".noinstr.text"), aligned(32))) int filter_in_c(int length) {
    filtered += length;
    return filtered;
}

__attribute__((section(".init.text"), aligned(16))) int filter_start(int length) {
    filtered = length;
    return 0;
}
