// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/account_names.h"

#include <array>

namespace stapgen::analyze {

std::span<const AccountName> account_names() {
    static constexpr std::array names{
        AccountName{"dropped-before", "rx", "dropped between driver and TCP or UDP: dropwatch shows where"},
        AccountName{"not-queued", "rx", "TCP or UDP dropped it (checksum, no socket, no room): dropwatch"},
        AccountName{"retransmitted", "rx",
                    "its bytes had arrived before, or already wait in order. The cause is "
                    "loss or a late ACK"},
        AccountName{
            "no-driver, no-ip", "rx, sock, forward",
            "the hand-over or IP was not seen: before the start, evicted, skipped. A few at the start are normal"},
        AccountName{"unread", "rx, sock", "nobody read it yet, or the socket closed. Many: a slow or absent reader"},
        AccountName{"in-kernel", "rx", "code of the kernel took it in softirq (sockmap, kTLS that copies)"},
        AccountName{
            "mptcp", "rx, tx, sock, accept",
            "a subflow of MPTCP: programs read and write another socket, so its packets have no reader and no call"},
        AccountName{
            "fast-open", "rx, sock, accept",
            "TCP Fast Open: data that came with the SYN, before there was a socket; a connection accepted with it"},
        AccountName{"encapsulated", "rx, sock",
                    "the outer packet of a tunnel over UDP (VXLAN, WireGuard, ESP); the inner one is followed. What a "
                    "program reads from such a socket (IKE) is not one"},
        AccountName{"ktls", "sock",
                    "a segment of kTLS: programs read records, which begin and end elsewhere. rx and tx follow it"},
        AccountName{"no-send-call", "tx", "the call was before the start, or the kernel's own"},
        AccountName{"dropped", "tx, forward", "netfilter or the queueing discipline; TCP will retransmit"},
        AccountName{"no-ip-output, no-device", "tx",
                    "it reached the device another way (tunnel, IPsec), was copied to another packet, or was "
                    "under way at the end"},
        AccountName{
            "mismatched", "tx, sock",
            "what had its memory later was not it, by sequence number, length or socket, so its end was not seen: "
            "IPsec, or skipped probes. Of sock-latency the answer"},
        AccountName{"no-reply", "sock",
                    "read, not answered: a \"quit\", one-way, or in progress. One per closed connection is normal"},
        AccountName{"ambiguous", "sock",
                    "read over UDP, and which one of several from that peer was answered is not known: one was not "
                    "answered, or other threads than the reading one answer"},
        AccountName{
            "lost.evicted", "all",
            "a table was full: 16384 waiting packets (rx), some 8,000 under way (tx), 4096 requests (sock), 2048 "
            "pairs of place and reason in an interval (dropwatch: a shorter -i), 8192 connections under way (connect)"},
        AccountName{"lost.transport", "all", "records did not reach user space, or were not understood (input)"},
        AccountName{"acks, retransmits", "tx", "beside the account: segments without data, and those sent again"},
        AccountName{
            "divided", "rx",
            "further deliveries of one packet: a multicast's or broadcast's other readers, the pieces of UDP GSO "
            "after the first. seen counts each of them"},
        AccountName{"wire-segments, receives", "rx",
                    "beside the account: the segments on the wire that GRO merged into the reported packets (of a "
                    "multicast for each reader), and the receive calls that read these, without those that began "
                    "before the run"},
        AccountName{
            "send-eagain", "tx",
            "beside the account: send calls of these threads, over any port, that found no room and did not wait "
            "(EAGAIN). app-tcp begins with the next call: the time in between is not in it"},
        AccountName{"joined-before-reply, segments-filtered", "sock",
                    "beside the account: further parts of a request that was read and not yet answered; segments "
                    "of other sockets"},
        AccountName{"slow-requests, slow-elsewhere", "sock",
                    "beside the account, with --functions: requests that took the program that long, whose code was "
                    "sampled; and those to which another thread replied, and where the time went is not known"},
        AccountName{"samples-overwritten, samples-unread, threads-unsampled", "sock",
                    "with --functions: samples of a request before its last 64, those of 32-bit "
                    "programs, and threads that gave way to others"},
        AccountName{"not-at-server, not-at-client", "between",
                    "a request of one end that the other end's recording does not have. Many: a proxy in between, "
                    "pipelined requests, or recordings that did not run at the same time"},
        AccountName{"same-numbers", "between",
                    "its sequence numbers are those of others, too, and not as often at both ends"},
        AccountName{"longer-at-server", "between",
                    "the server had it for longer than its client waited: they are not of one request"},
        AccountName{"waits-evicted, threads-evicted", "rx",
                    "beside the account, with --who: waits, and threads, that gave way to others in its tables"},
    };
    return names;
}

}  // namespace stapgen::analyze
