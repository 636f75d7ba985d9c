// SPDX-License-Identifier: GPL-2.0-or-later
// What the plain model of a server's requests has in place of the tables' rows. world.h is included before.
#pragma once

namespace request_model {

/// What becomes of a request.
inline constexpr int ends[] = {
    STAPGEN_COUNT_request_no_driver, STAPGEN_COUNT_request_evicted,        STAPGEN_COUNT_request_no_reply,
    STAPGEN_COUNT_request_ambiguous, STAPGEN_COUNT_request_mismatched,     STAPGEN_COUNT_request_unread,
    STAPGEN_COUNT_request_joined,    STAPGEN_COUNT_request_read_by_others, STAPGEN_COUNT_request_reported};

struct Request {
    unsigned long queue;
    s64 driver, ip, readable = 0, woken = 0, called = 0, returned = 0, sent = 0, events = 0;
    s64 thread = 0;
    u32 reply_seq = 0;
    const sk_buff* skb = nullptr;
    const sk_buff* answer = nullptr;
    u16 id = 0, answer_id = 0;
};

template <class Requests>
Request* last_of(Requests& requests, unsigned long queue) {
    Request* last = nullptr;
    for (auto& request : requests)
        if (request.queue == queue) last = &request;
    return last;
}
/// The oldest that is not answered, if it is read.
template <class Requests>
Request* read_of(Requests& requests, unsigned long queue) {
    for (auto& request : requests)
        if (request.queue == queue && request.sent == 0) return request.returned != 0 ? &request : nullptr;
    return nullptr;
}
/// Whether it is read and not answered.
inline bool waits(const Request& request, unsigned long queue) {
    return request.queue == queue && request.returned != 0 && request.sent == 0;
}
/// Whether there are several such that this thread has not read in one go.
template <class Requests>
bool are_ambiguous(const Requests& requests, unsigned long queue, s64 thread) {
    const Request* before = nullptr;
    for (const auto& request : requests) {
        if (!waits(request, queue)) continue;
        if (before != nullptr &&
            (before->thread != thread || request.thread != thread || request.ip > before->returned))
            return true;
        before = &request;
    }
    return false;
}

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
