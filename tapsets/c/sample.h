/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of sockets. */
#ifndef STAPGEN_SAMPLE_H
#define STAPGEN_SAMPLE_H

#include "read.h"

/* Whether a socket is one of the sample, by a hash of its ends: the same for both directions, on both hosts, and for an
 * IPv4 address inside of an IPv6 one. Multiplied by an odd number near 2^61 / golden ratio (Knuth, The Art of Computer
 * Programming, 6.4), so that ports in a row are spread; a product's low bits are poor. */
static inline int stapgen_is_sampled(const void* from, const void* to, int is_ip4, u32 ports, s64 one_of,
                                     const void** fault) {
    const u64 by = 0x13c6ef372fe94f83ULL;
    u64 addresses = 0;
    int i;
    if (is_ip4)
        addresses = ntohl(STAPGEN_READ((const __be32*)from, fault)) ^ ntohl(STAPGEN_READ((const __be32*)to, fault));
    for (i = 0; i < 2 && !is_ip4; i++)
        addresses ^= be64_to_cpu(STAPGEN_READ((const __be64*)from + i, fault)) ^
                     be64_to_cpu(STAPGEN_READ((const __be64*)to + i, fault));
    return !((s64)((addresses * by + ports) * by) >> 32 & (one_of - 1));
}
/* The same of a packet, whose headers are complete. */
static inline int stapgen_is_sampled_packet(const struct sk_buff* skb, s64 one_of, const void** fault) {
    const unsigned char *ip, *ports, *addresses;
    int is_ip4;
    if (!STAPGEN_IS_READABLE(skb, fault)) return 0;
    ip = stapgen_network_header_of(skb);
    ports = stapgen_transport_header_of(skb);
    is_ip4 = (STAPGEN_READ(ip, fault) & 0xf0) == 0x40;
    addresses = ip + (is_ip4 ? 12 : 8);
    return stapgen_is_sampled(
        addresses, addresses + (is_ip4 ? 4 : 16), is_ip4,
        ntohs(STAPGEN_READ((const __be16*)ports, fault)) ^ ntohs(STAPGEN_READ((const __be16*)ports + 1, fault)), one_of,
        fault);
}

#endif
