/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the latency recipes' records, put together here: SystemTap's printf() takes some hundred instructions
 * for each number, and a text is copied whole from function to function (docs/inside/benchmarks.md). What is in them is
 * in docs/reference/recording-format.md. */
#ifndef STAPGEN_LINE_H
#define STAPGEN_LINE_H

#include <asm/div64.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "read.h"
#include "stages.h"

/* An upper bound: 9 stages, 6 numbers, two endpoints, two names with each byte escaped, three numbers of --by, what
 * --who adds, and all parts of one stage. */
enum { STAPGEN_LINE = 704 + (STAPGEN_WAITS ? 512 : 0) };
struct stapgen_line {
    int length;
    char text[STAPGEN_LINE];
};

/* A line is written before it is read: compilers need not fill it with zeros, as kernels may ask of them. */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define STAPGEN_UNINITIALIZED __attribute__((uninitialized))
#else
#define STAPGEN_UNINITIALIZED
#endif
#else
#define STAPGEN_UNINITIALIZED
#endif

/* What a line has room for, but for its end. */
static inline int stapgen_room(const struct stapgen_line* line) {
    return (int)sizeof(line->text) - 2 - line->length;
}
static inline void stapgen_put_byte(struct stapgen_line* line, char byte) {
    if (likely(stapgen_room(line) > 0)) line->text[line->length++] = byte;
}
static inline void stapgen_put_bytes(struct stapgen_line* line, const char* bytes, int n) {
    int room = stapgen_room(line);
    if (likely(n <= room)) {
        memcpy(line->text + line->length, bytes, n);
        line->length += n;
    } else if (room > 0) {
        memcpy(line->text + line->length, bytes, room);
        line->length += room;
    }
}
static inline void stapgen_put_text(struct stapgen_line* line, const char* text) {
    stapgen_put_bytes(line, text, strlen(text));
}
/* Up to 24 bytes, which have as many behind them that may be read: moved as three words, with no call. */
enum { STAPGEN_WORDS = 24 };
static __always_inline void stapgen_put_words(struct stapgen_line* line, const char* bytes, int n) {
    if (likely(stapgen_room(line) >= STAPGEN_WORDS)) {
        __builtin_memcpy(line->text + line->length, bytes, STAPGEN_WORDS);
        line->length += n;
    } else {
        stapgen_put_bytes(line, bytes, n);
    }
}
/* Two digits at a time, to the left of END; where they begin. */
static __always_inline char* stapgen_make_digits(char* end, u64 number) {
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
        "555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    while (number >= 100) {
        u32 pair = do_div(number, 100);
        end -= 2;
        __builtin_memcpy(end, pairs + 2 * pair, 2);
    }
    if (number < 10) {
        *--end = (char)('0' + number);
        return end;
    }
    end -= 2;
    __builtin_memcpy(end, pairs + 2 * number, 2);
    return end;
}
/* Behind a sign, or another byte; 0: none. */
static __attribute__((__noinline__)) void stapgen_put_digits_behind(struct stapgen_line* line, char before, char sign,
                                                                    u64 number) {
    STAPGEN_UNINITIALIZED char digits[2 * STAPGEN_WORDS];
    char *end = digits + STAPGEN_WORDS, *begin = stapgen_make_digits(end, number);
    if (sign) *--begin = sign;
    if (before) *--begin = before;
    stapgen_put_words(line, begin, end - begin);
}
static inline void stapgen_put_digits(struct stapgen_line* line, u64 number) {
    stapgen_put_digits_behind(line, 0, 0, number);
}
static inline void stapgen_put_hex(struct stapgen_line* line, u64 number) {
    STAPGEN_UNINITIALIZED char digits[2 * STAPGEN_WORDS];
    char *end = digits + STAPGEN_WORDS, *begin = end;
    do
        *--begin = "0123456789abcdef"[number & 0xf];
    while (number >>= 4);
    stapgen_put_words(line, begin, end - begin);
}

/* Fields, each with a tab before it. */
static inline void stapgen_put_number(struct stapgen_line* line, s64 number) {
    stapgen_put_digits_behind(line, '\t', number < 0 ? '-' : 0, number < 0 ? -(u64)number : number);
}
static inline void stapgen_put_stages(struct stapgen_line* line, const s64* ns, int stages) {
    int i;
    for (i = 0; i < stages; i++) {
        if (ns[i] == STAPGEN_NO_STAGE)
            stapgen_put_text(line, "\t-");
        else
            stapgen_put_number(line, ns[i]);
    }
}
/* A name of at most 15 bytes in two numbers. Whoever gave it may have meant it to look like something else. A line
 * without the room for any such name gets none, and is not a whole record then. */
static inline void stapgen_put_name(struct stapgen_line* line, const u64* name) {
    const unsigned char* byte = (const unsigned char*)name;
    int i, length = line->length;
    if (stapgen_room(line) < 1 + 15 * 4) return;
    line->text[length++] = '\t';
    for (i = 0; i < 15 && byte[i]; i++) {
        if (likely(byte[i] >= ' ' && byte[i] <= '~' && byte[i] != '\\' && byte[i] != '"')) {
            line->text[length++] = (char)byte[i];
        } else {
            line->text[length++] = '\\';
            line->text[length++] = (char)('0' + (byte[i] >> 6));
            line->text[length++] = (char)('0' + (byte[i] >> 3 & 7));
            line->text[length++] = (char)('0' + (byte[i] & 7));
        }
    }
    line->length = length;
}
/* An IPv4 address is the v4-mapped ::ffff:a.b.c.d. */
static inline void stapgen_put_endpoint(struct stapgen_line* line, const void* address, int is_ip4, u16 port,
                                        const void** fault) {
    STAPGEN_UNINITIALIZED char digits[2 * STAPGEN_WORDS];
    char *end = digits + STAPGEN_WORDS, *begin = end;
    if (is_ip4) {
        u32 number = ntohl(STAPGEN_READ((const __be32*)address, fault));
        for (; begin > end - 8; number >>= 4)
            *--begin = "0123456789abcdef"[number & 0xf];
        begin -= 7;
        __builtin_memcpy(begin, "\t0.ffff", 7);
        stapgen_put_words(line, begin, end - begin);
    } else {
        stapgen_put_byte(line, '\t');
        stapgen_put_hex(line, be64_to_cpu(STAPGEN_READ((const __be64*)address, fault)));
        stapgen_put_byte(line, '.');
        stapgen_put_hex(line, be64_to_cpu(STAPGEN_READ((const __be64*)address + 1, fault)));
    }
    stapgen_put_digits_behind(line, ':', 0, port);
}
/* Source or destination of a packet of TCP or UDP, whose skb can be read. */
static inline void stapgen_put_source(struct stapgen_line* line, const struct sk_buff* skb, const void** fault) {
    const unsigned char* ip = stapgen_network_header_of(skb);
    const __be16* ports = (const __be16*)stapgen_transport_header_of(skb);
    int is_ip4 = (STAPGEN_READ(ip, fault) & 0xf0) == 0x40;
    stapgen_put_endpoint(line, ip + (is_ip4 ? 12 : 8), is_ip4, ntohs(STAPGEN_READ(ports, fault)), fault);
}
static inline void stapgen_put_destination(struct stapgen_line* line, const struct sk_buff* skb, const void** fault) {
    const unsigned char* ip = stapgen_network_header_of(skb);
    const __be16* ports = (const __be16*)stapgen_transport_header_of(skb);
    int is_ip4 = (STAPGEN_READ(ip, fault) & 0xf0) == 0x40;
    stapgen_put_endpoint(line, ip + (is_ip4 ? 16 : 24), is_ip4, ntohs(STAPGEN_READ(ports + 1, fault)), fault);
}
/* What each begins with. The thread is below its process. */
static inline void stapgen_begin_line_of(struct stapgen_line* line, const char* tag, s64 now, int cpu, s64 thread,
                                         const u64* comm) {
    line->length = 0;
    stapgen_put_text(line, tag);
    stapgen_put_number(line, now);
    stapgen_put_number(line, cpu);
    stapgen_put_number(line, thread >> 32);
    stapgen_put_number(line, (u32)thread);
    stapgen_put_name(line, comm);
}
static inline void stapgen_begin_line(struct stapgen_line* line, const char* tag, s64 now, s64 thread,
                                      const u64* comm) {
    stapgen_begin_line_of(line, tag, now, smp_processor_id(), thread, comm);
}
static inline void stapgen_end_line(struct stapgen_line* line) {
    line->text[line->length++] = '\n';
    line->text[line->length] = 0;
}
static inline void stapgen_print_line(struct stapgen_line* line) {
    stapgen_end_line(line);
    _stp_print(line->text);
}
/* One of many that a handler prints. SystemTap has 8 KB for what a handler prints, and hands them over when they are
 * full, in the middle of a line: there another CPU's may come between. */
static inline void stapgen_print_line_of_many(struct stapgen_line* line) {
    stapgen_print_line(line);
    _stp_print_flush();
}

#endif
