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

static inline void stapgen_put_byte(struct stapgen_line* line, char byte) {
    if (line->length < (int)sizeof(line->text) - 2) line->text[line->length++] = byte;
}
static inline void stapgen_put_bytes(struct stapgen_line* line, const char* bytes, int n) {
    int room = (int)sizeof(line->text) - 2 - line->length;
    if (n > room) n = room;
    memcpy(line->text + line->length, bytes, n);
    line->length += n;
}
static inline void stapgen_put_text(struct stapgen_line* line, const char* text) {
    stapgen_put_bytes(line, text, strlen(text));
}
static inline void stapgen_put_digits(struct stapgen_line* line, u64 number) {
    char digits[20];
    int at = sizeof(digits);
    do
        digits[--at] = '0' + do_div(number, 10);
    while (number);
    stapgen_put_bytes(line, digits + at, sizeof(digits) - at);
}
static inline void stapgen_put_hex(struct stapgen_line* line, u64 number) {
    char digits[16];
    int at = sizeof(digits);
    do
        digits[--at] = "0123456789abcdef"[number & 0xf];
    while (number >>= 4);
    stapgen_put_bytes(line, digits + at, sizeof(digits) - at);
}

/* Fields, each with a tab before it. */
static inline void stapgen_put_number(struct stapgen_line* line, s64 number) {
    stapgen_put_byte(line, '\t');
    if (number < 0) stapgen_put_byte(line, '-');
    stapgen_put_digits(line, number < 0 ? -(u64)number : number);
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
/* A name of at most 15 bytes in two numbers. Whoever gave it may have meant it to look like something else. */
static inline void stapgen_put_name(struct stapgen_line* line, const u64* name) {
    unsigned char byte[16];
    int i;
    memcpy(byte, name, sizeof(byte));
    stapgen_put_byte(line, '\t');
    for (i = 0; i < 15 && byte[i]; i++) {
        if (byte[i] >= ' ' && byte[i] <= '~' && byte[i] != '\\' && byte[i] != '"') {
            stapgen_put_byte(line, byte[i]);
        } else {
            stapgen_put_byte(line, '\\');
            stapgen_put_byte(line, '0' + (byte[i] >> 6));
            stapgen_put_byte(line, '0' + (byte[i] >> 3 & 7));
            stapgen_put_byte(line, '0' + (byte[i] & 7));
        }
    }
}
/* An IPv4 address is the v4-mapped ::ffff:a.b.c.d. */
static inline void stapgen_put_endpoint(struct stapgen_line* line, const void* address, int is_ip4, u16 port,
                                        const void** fault) {
    u64 upper = 0, lower;
    if (is_ip4) {
        lower = 0xffff00000000ULL | ntohl(STAPGEN_READ((const __be32*)address, fault));
    } else {
        upper = be64_to_cpu(STAPGEN_READ((const __be64*)address, fault));
        lower = be64_to_cpu(STAPGEN_READ((const __be64*)address + 1, fault));
    }
    stapgen_put_byte(line, '\t');
    stapgen_put_hex(line, upper);
    stapgen_put_byte(line, '.');
    stapgen_put_hex(line, lower);
    stapgen_put_byte(line, ':');
    stapgen_put_digits(line, port);
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
static inline void stapgen_begin_line(struct stapgen_line* line, const char* tag, s64 now, s64 thread,
                                      const u64* comm) {
    line->length = 0;
    stapgen_put_text(line, tag);
    stapgen_put_number(line, now);
    stapgen_put_number(line, smp_processor_id());
    stapgen_put_number(line, thread >> 32);
    stapgen_put_number(line, (u32)thread);
    stapgen_put_name(line, comm);
}
static inline void stapgen_print_line(struct stapgen_line* line) {
    line->text[line->length] = '\n';
    line->text[line->length + 1] = 0;
    _stp_print(line->text);
}
/* One of many that a handler prints. SystemTap has 8 KB for what a handler prints, and hands them over when they are
 * full, in the middle of a line: there another CPU's may come between. */
static inline void stapgen_print_line_of_many(struct stapgen_line* line) {
    stapgen_print_line(line);
    _stp_print_flush();
}

#endif
