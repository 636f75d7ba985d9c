/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The classic BPF machine, as libpcap's bpf_filter(): McCanne and Jacobson, The BSD Packet Filter, 1993. The kernel's
 * own reads where skb->data points now, and reads without a look at the address.
 *
 * Each word of a program is one instruction: the mark in bit 63, its code from bit 48 on, 8 bits of jump-true, 8 of
 * jump-false, 32 of K. All jumps go forward, so that a program ends. Where a word without the mark is met, the packet
 * does not pass. */
#ifndef STAPGEN_BPF_H
#define STAPGEN_BPF_H

#include <linux/filter.h>

#include "frame.h"

#ifndef BPF_MOD
#define BPF_MOD 0x90
#define BPF_XOR 0xa0
#endif

#define STAPGEN_BPF_MARK (1UL << 63)

/* The operation of an instruction of class ALU; of a division by 0 *FAILED. */
static inline u32 stapgen_bpf_alu(u32 operation, u32 a, u32 operand, int* failed) {
    switch (operation) {
        case BPF_ADD:
            return a + operand;
        case BPF_SUB:
            return a - operand;
        case BPF_MUL:
            return a * operand;
        case BPF_DIV:
        case BPF_MOD:
            *failed = !operand;
            if (!operand) return 0;
            return operation == BPF_DIV ? a / operand : a % operand;
        case BPF_OR:
            return a | operand;
        case BPF_AND:
            return a & operand;
        case BPF_XOR:
            return a ^ operand;
        case BPF_LSH:
            return operand < 32 ? a << operand : 0;
        case BPF_RSH:
            return operand < 32 ? a >> operand : 0;
        case BPF_NEG:
            return 0 - a;
        default:
            *failed = 1;
            return 0;
    }
}
/* The condition of an instruction of class JMP. */
static inline int stapgen_bpf_is_true(u32 condition, u32 a, u32 operand) {
    switch (condition) {
        case BPF_JEQ:
            return a == operand;
        case BPF_JGT:
            return a > operand;
        case BPF_JGE:
            return a >= operand;
        default:
            return (a & operand) != 0;
    }
}

/* What LD and LDX take that is no byte of the frame. */
static inline u32 stapgen_bpf_value(u32 mode, u32 k, const u32* memory, const struct stapgen_frame* frame,
                                    int* failed) {
    switch (mode) {
        case BPF_MEM:
            *failed = k >= BPF_MEMWORDS;
            return *failed ? 0 : memory[k];
        case BPF_IMM:
            return k;
        case BPF_LEN:
            return frame->length;
        default:
            *failed = 1;
            return 0;
    }
}

/* What the program returns of a frame; 0: it does not pass. A load beyond the frame's end ends it so. */
static inline u32 stapgen_bpf_run(const unsigned long* program, u32 room, const struct stapgen_frame* frame,
                                  const void** fault) {
    u32 a = 0, x = 0, memory[BPF_MEMWORDS] = {0}, at;
    for (at = 0; at < room && program[at] & STAPGEN_BPF_MARK; at++) {
        const u32 code = program[at] >> 48 & 0xff, k = (u32)program[at];
        const u32 operand = BPF_SRC(code) == BPF_X ? x : k;
        const u32 size = BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
        int failed = 0;
        switch (BPF_CLASS(code)) {
            case BPF_LD:
                if (BPF_MODE(code) == BPF_ABS)
                    failed = !stapgen_load(frame, k, size, &a, fault);
                else if (BPF_MODE(code) == BPF_IND)
                    failed = x + k < k || !stapgen_load(frame, x + k, size, &a, fault);
                else
                    a = stapgen_bpf_value(BPF_MODE(code), k, memory, frame, &failed);
                break;
            case BPF_LDX:
                if (BPF_MODE(code) == BPF_MSH) {
                    failed = !stapgen_load(frame, k, 1, &x, fault);
                    x = (x & 0xf) << 2;
                } else
                    x = stapgen_bpf_value(BPF_MODE(code), k, memory, frame, &failed);
                break;
            case BPF_ST:
            case BPF_STX:
                failed = k >= BPF_MEMWORDS;
                if (!failed) memory[k] = BPF_CLASS(code) == BPF_ST ? a : x;
                break;
            case BPF_ALU:
                a = stapgen_bpf_alu(BPF_OP(code), a, operand, &failed);
                break;
            case BPF_JMP:
                if (BPF_OP(code) != BPF_JA)
                    at += stapgen_bpf_is_true(BPF_OP(code), a, operand) ? program[at] >> 40 & 0xff
                                                                        : program[at] >> 32 & 0xff;
                else if (k < room - at)
                    at += k;
                else
                    failed = 1;
                break;
            case BPF_RET:
                return BPF_RVAL(code) == BPF_A ? a : k;
            default:
                if (BPF_MISCOP(code) == BPF_TAX)
                    x = a;
                else
                    a = x;
        }
        if (failed) return 0;
    }
    return 0;
}

#endif
