// SPDX-License-Identifier: GPL-2.0-or-later
// What the plain model of a server's requests has in place of the tables' rows. world.h is included before.
#pragma once

namespace request_model {

struct Request {
    unsigned long queue;
    s64 driver, ip, readable = 0, woken = 0, called = 0, returned = 0, sent = 0, events = 0;
    u32 reply_seq = 0;
    const sk_buff* skb = nullptr;
    const sk_buff* answer = nullptr;
};

struct Last {
    s64 driver, ip, readable;
};

struct Thread {
    s64 woken = 0, events = 0, called = 0;
    int reads_from = -1;
};

struct TcpState {
    u32 rcv_nxt = 0xfffffff0, written = 0xfffffff8;  // both wrap soon
};

}  // namespace request_model
