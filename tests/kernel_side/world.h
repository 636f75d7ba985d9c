// SPDX-License-Identifier: GPL-2.0-or-later
// What the shim needs of a test: clocks, threads, bad memory, and what was printed.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernel_shim.h"

inline thread_local s64 shim_time = 1000;
inline thread_local std::string shim_printed;
inline thread_local const void* shim_bad_begin = nullptr;
inline thread_local const void* shim_bad_end = nullptr;
inline thread_local task_struct shim_tasks[8];
inline thread_local int shim_task = 0;
inline thread_local u16 shim_packets = 0;

/// Every look at the clock is 1 ns later than the one before.
inline s64 shim_now() {
    return ++shim_time;
}
inline task_struct* shim_current() {
    return &shim_tasks[shim_task];
}
inline int shim_is_bad(const void* address) {
    return address >= shim_bad_begin && address < shim_bad_end;
}
inline void shim_print(const char* text) {
    shim_printed += text;
}
/// What was printed when it was handed over last.
inline thread_local std::string shim_handed_over;
inline void shim_hand_over() {
    shim_handed_over = shim_printed;
}
inline thread_local bool shim_came_late = false;
inline bool shim_takes_text() {
    return !shim_came_late;
}
inline void* _stp_reserve_bytes(int bytes) {
    shim_printed.resize(shim_printed.size() + static_cast<std::size_t>(bytes));
    return shim_printed.data() + shim_printed.size() - bytes;
}
inline void _stp_unreserve_bytes(int bytes) {
    shim_printed.resize(shim_printed.size() - static_cast<std::size_t>(bytes));
}
#ifndef SHIM_RULES_OF_TEST
inline void shim_broke_rule(const char* rule) {
    std::fprintf(stderr, "while a lock is held: %s\n", rule);
    std::abort();
}
#endif

/// A packet with an IPv4 header at 16, a header of TCP (20 bytes) or UDP at 36, and its shared part behind all.
struct Packet {
    alignas(64) unsigned char bytes[256] = {};
    net_device device{};
    sk_buff skb{};

    explicit Packet(bool is_tcp, u32 payload, u32 seq = 0, u16 from = 4001, u16 to = 11211) {
        std::snprintf(device.name, sizeof(device.name), "eth0");
        device.adj_list.lower = {&device.adj_list.lower, &device.adj_list.lower};
        skb.dev = &device;
        skb.protocol = htons(0x0800);
        skb.head = bytes;
        skb.data = bytes + 16;
        skb.network_header = 16;
        skb.transport_header = 36;
        skb.end = 192;
        const u32 headers = is_tcp ? 40 : 28;
        skb.len = headers + payload;
        // Only the headers are in the first part.
        skb.data_len = payload;
        bytes[16] = 0x45;
        bytes[16 + 9] = is_tcp ? IPPROTO_TCP : IPPROTO_UDP;
        put16(18, static_cast<u16>(skb.len));
        put16(20, ++shim_packets);
        bytes[16 + 12] = 10, bytes[16 + 15] = 1;
        bytes[16 + 16] = 10, bytes[16 + 19] = 2;
        put16(36, from);
        put16(38, to);
        if (is_tcp) {
            put32(40, seq);
            bytes[48] = 0x50;
            tcp_skb_cb cb{};
            cb.seq = seq;
            cb.end_seq = seq + payload;
            std::memcpy(skb.cb, &cb, sizeof(cb));
        } else {
            put16(40, static_cast<u16>(payload + 8));
        }
    }
    Packet(const Packet&) = delete;

    /// The identification of its IP header: no other packet has it.
    u16 id() const { return static_cast<u16>(bytes[20] << 8 | bytes[21]); }
    void put16(int at, u16 value) { value = htons(value), std::memcpy(bytes + at, &value, 2); }
    void put32(int at, u32 value) { value = htonl(value), std::memcpy(bytes + at, &value, 4); }
};

struct Socket {
    tcp_sock tcp{};
    explicit Socket(u16 peer = 1, u64 cookie = 0) { becomes(peer, cookie); }
    void becomes(u16 peer, u64 cookie = 0) {
        tcp = {};
        tcp.inet.inet_dport = htons(peer);
        tcp.inet.inet_sport = htons(11211);
        tcp.inet.sk.sk_cookie = cookie;
    }
    sock* sk() { return &tcp.inet.sk; }
    unsigned long key() { return reinterpret_cast<unsigned long>(&tcp); }
};

inline unsigned long key_of(const void* p) {
    return reinterpret_cast<unsigned long>(p);
}
