/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a packet that was passed on. */
#ifndef STAPGEN_PRINT_FORWARD_H
#define STAPGEN_PRINT_FORWARD_H

#include "batch.h"
#include "forward.h"
#include "frame.h"

/* One end of a packet, whose port is 0 where it has none: not TCP or UDP, a later fragment, IPv6's extension headers.
 * What is not IP has no address, which is written as ::. */
static inline void stapgen_put_end(struct stapgen_line* line, const struct sk_buff* skb, const unsigned char* ip,
                                   int is_destination, const void** fault) {
    static const unsigned char none[16] = {0};
    const unsigned char *ports = NULL, *address = none;
    int version = ip ? STAPGEN_READ(ip, fault) >> 4 : 0, protocol = 0;
    u16 port = 0;
    if (version == 4) {
        if (!(stapgen_be16_at(ip + 6, fault) & 0x1fff)) protocol = STAPGEN_READ(ip + 9, fault);
        ports = ip + (STAPGEN_READ(ip, fault) & 0xf) * 4;
        address = ip + (is_destination ? 16 : 12);
    } else if (version == 6) {
        protocol = STAPGEN_READ(ip + 6, fault);
        ports = ip + 40;
        address = ip + (is_destination ? 24 : 8);
    }
    if ((protocol == IPPROTO_TCP || protocol == IPPROTO_UDP) && ports + 4 <= stapgen_linear_end(skb))
        port = stapgen_be16_at(ports + (is_destination ? 2 : 0), fault);
    if (address == none)
        stapgen_put_text(line, "\t0.0:0");
    else
        stapgen_put_endpoint(line, address, version == 4, port, fault);
}
/* The one that has left from this CPU last; it is with its last device now. */
static inline void stapgen_print_forwarded(const char* tag, const struct sk_buff* skb, s64 now, const void** fault) {
    static const char* const hows[] = {"\trouted", "\tbridged", "\tredirected"};
    const struct stapgen_forwarded* packet = STAPGEN_THIS_CPU(stapgen_forward_left);
    s64 stages[STAPGEN_FORWARD_STAGES];
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    const unsigned char* ip;
    u64 device[2] = {};
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stapgen_read_device(skb, device, fault);
    ip = stapgen_find_network_header(skb, fault);
    stapgen_forward_stages(packet, now, stages);
    line.length = 0;
    stapgen_put_text(&line, tag);
    stapgen_put_number(&line, now);
    stapgen_put_number(&line, smp_processor_id());
    stapgen_put_name(&line, packet->device);
    stapgen_put_name(&line, device);
    stapgen_put_text(&line, hows[packet->how % 3]);
    stapgen_put_end(&line, skb, ip, 0, fault);
    stapgen_put_end(&line, skb, ip, 1, fault);
    if (*fault) return;
    stapgen_put_number(&line, packet->bytes);
    stapgen_put_stages(&line, stages, STAPGEN_FORWARD_STAGES);
    stapgen_print_record(&line);
}

#endif
