/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a TCP connection is known and no packet of it: the frame of one from the local end to the remote one, for
 * filters of addresses and ports. It has nothing else: no flags, no data, no lengths but these headers'. */
#ifndef STAPGEN_CONNECTION_FRAME_H
#define STAPGEN_CONNECTION_FRAME_H

#include "ends.h"
#include "packet_filter.h"

enum { STAPGEN_IP4_HEADER = 20, STAPGEN_IP6_HEADER = 40, STAPGEN_TCP_HEADER = 20 };
struct stapgen_connection_frame {
    struct stapgen_frame of; /* points to: */
    unsigned char headers[STAPGEN_IP6_HEADER + STAPGEN_TCP_HEADER];
};

static inline void stapgen_copy_address(u8* to, const void* from, u32 size, const void** fault) {
    u32 i;
    for (i = 0; i < size; i++)
        to[i] = STAPGEN_READ((const u8*)from + i, fault);
}
/* Whether an IPv6 address is an IPv4 one, ::ffff:a.b.c.d. */
static inline int stapgen_is_mapped(const void* address, const void** fault) {
    return !STAPGEN_READ((const u64*)address, fault) &&
           STAPGEN_READ((const __be32*)address + 2, fault) == htonl(0xffff);
}

static inline void stapgen_make_connection_frame(struct stapgen_connection_frame* frame,
                                                 const struct stapgen_ends* ends, const void** fault) {
    const int is_mapped = !ends->is_ip4 && stapgen_is_mapped(ends->remote, fault), is_ip4 = ends->is_ip4 || is_mapped;
    const u32 size = is_ip4 ? 4 : 16, length = is_ip4 ? STAPGEN_IP4_HEADER : STAPGEN_IP6_HEADER;
    u8 *ip = frame->headers, *addresses = ip + (is_ip4 ? 12 : 8), *tcp = ip + length;
    memset(frame, 0, sizeof(*frame));
    ip[0] = is_ip4 ? 0x45 : 0x60;
    stapgen_set_be16(ip + (is_ip4 ? 2 : 4), is_ip4 ? STAPGEN_IP4_HEADER + STAPGEN_TCP_HEADER : STAPGEN_TCP_HEADER);
    ip[is_ip4 ? 9 : 6] = IPPROTO_TCP;
    stapgen_copy_address(addresses, (const u8*)ends->local + (is_mapped ? 12 : 0), size, fault);
    stapgen_copy_address(addresses + size, (const u8*)ends->remote + (is_mapped ? 12 : 0), size, fault);
    stapgen_set_be16(tcp, ends->local_port);
    stapgen_set_be16(tcp + 2, ends->remote_port);
    tcp[12] = STAPGEN_TCP_HEADER / 4 << 4;
    frame->of.network = ip;
    frame->of.linear = length + STAPGEN_TCP_HEADER;
    frame->of.header_length = ETH_HLEN;
    stapgen_set_be16(frame->of.header + ETH_HLEN - 2, is_ip4 ? ETH_P_IP : ETH_P_IPV6);
    frame->of.length = frame->of.header_length + frame->of.linear;
}

static inline int stapgen_lets_ends_pass(const struct stapgen_ends* ends, const void** fault) {
    struct stapgen_connection_frame frame;
    stapgen_make_connection_frame(&frame, ends, fault);
    return !*fault && stapgen_bpf_run(stapgen_filter, STAPGEN_FILTER_ROOM, &frame.of, fault) != 0;
}

#endif
