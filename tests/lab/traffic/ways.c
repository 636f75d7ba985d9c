// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of an exact number, in each way that a program may send and read them: one side serves, the other sends. A
// message is a record of 64 bytes, or of --size; it is answered by a plain send where the kind has answers.
#include <errno.h>
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/tls.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"

static const char usage[] =
    "usage: ways serve KIND READ ADDRESS PORT COUNT [SIZE]\n"
    "       ways send KIND WRITE ADDRESS PORT COUNT [SIZE [GAP-US]]\n"
    "       ways xdp-pass FILE     pin a program for XDP there that passes all\n";

// ike: to a socket that takes ESP, too (RFC 3948: what begins with zeros is the program's). gso: three datagrams in one
// call; gro: they are read at once. group: three readers of each datagram, no answers.
enum kind { TCP, MPTCP, KTLS, FASTOPEN, UDP, IKE, GSO, GRO, GROUP };
static const char* const kinds[] = {"tcp", "mptcp", "ktls", "fastopen", "udp", "ike", "gso", "gro", "group", NULL};
enum { READERS = 3, SEGMENTS = 3 };

static char message[MAX_MESSAGE], room[MAX_MESSAGE];
static size_t size = RECORD;
static uint64_t gap_us = 1000;

static bool is_stream(enum kind kind) {
    return kind <= FASTOPEN;
}
static bool is_answered(enum kind kind) {
    return kind <= IKE;
}
static void set(int fd, int level, int option, const void* value, socklen_t length) {
    if (setsockopt(fd, level, option, value, length)) die("setsockopt %d, %d: %m", level, option);
}
static void set_number(int fd, int level, int option, int value) {
    set(fd, level, option, &value, sizeof value);
}

// Both directions have the same key: nobody is to be kept from reading it.
static void begin_tls(int fd) {
    struct tls12_crypto_info_aes_gcm_128 key = {
        .info = {.version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128}};
    set(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof "tls");
    set(fd, 282 /* SOL_TLS */, TLS_TX, &key, sizeof key);
    set(fd, 282 /* SOL_TLS */, TLS_RX, &key, sizeof key);
}

static int open_socket(enum kind kind, const union address* at) {
    const int type = is_stream(kind) ? SOCK_STREAM : SOCK_DGRAM;
    const int fd = socket(at->any.sa_family, type | SOCK_CLOEXEC, kind == MPTCP ? 262 /* IPPROTO_MPTCP */ : 0);
    if (fd < 0) die("socket: %m");
    set_number(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (kind == GROUP) set_number(fd, SOL_SOCKET, SO_BROADCAST, 1);
    // Routers may cut datagrams; those of IPv6 do not.
    if (!is_stream(kind) && at->any.sa_family == AF_INET6)
        set_number(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT);
    else if (!is_stream(kind))
        set_number(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
    return fd;
}
static int open_listening(enum kind kind, const union address* at) {
    const int fd = open_socket(kind, at);
    if (kind == GRO) set_number(fd, IPPROTO_UDP, UDP_GRO, 1);
    if (kind == IKE) set_number(fd, IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_ESPINUDP);
    if (bind(fd, &at->any, address_length(at))) die("bind to port %u: %m", port_of(at));
    if (kind == GROUP) {
        // By every device; one may have no address for it.
        const bool is_6 = at->any.sa_family == AF_INET6;
        const union address to = to_address(is_6 ? "ff15::9" : "239.9.9.9", 0, false);
        struct group_req group = {0};
        memcpy(&group.gr_group, &to, sizeof to);
        for (group.gr_interface = 1; group.gr_interface < 64; group.gr_interface++)
            setsockopt(fd, is_6 ? IPPROTO_IPV6 : IPPROTO_IP, MCAST_JOIN_GROUP, &group, sizeof group);
    }
    if (kind == FASTOPEN) set_number(fd, IPPROTO_TCP, TCP_FASTOPEN, 64);
    if (is_stream(kind) && listen(fd, 64)) die("listen: %m");
    return fd;
}

// Takes a whole message, or what a datagram has.
static size_t take(enum kind kind, enum read_call call, int fd) {
    size_t have = 0;
    do {
        const size_t got = receive(call, fd, room + have, is_stream(kind) ? size - have : sizeof room);
        if (!got) die("the other side ended %zu bytes into a message", have);
        have += got;
    } while (is_stream(kind) && have < size);
    return have;
}

static void serve_connections(enum kind kind, enum read_call call, int listener, uint64_t count) {
    int fd = -1;
    for (uint64_t i = 0; i < count; i++) {
        if (fd < 0) {
            RETRY(fd, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
            if (fd < 0) die("accept: %m");
            if (kind == KTLS) begin_tls(fd);
        }
        take(kind, call, fd);
        transmit(SEND, fd, message, RECORD, NULL);
        if (kind == FASTOPEN) {
            if (recv(fd, room, 1, 0)) die("recv of the end: %m");
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0 && recv(fd, room, 1, 0)) die("recv of the end: %m");
}
static void serve_datagrams(enum kind kind, enum read_call call, int fd, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        union address from;
        socklen_t length = sizeof from;
        // Whom to answer is asked before it is read.
        if (is_answered(kind) && recvfrom(fd, room, 1, MSG_PEEK, &from.any, &length) < 0) die("recvfrom: %m");
        const size_t have = take(kind, call, fd), expected = kind == GRO ? SEGMENTS * size : size;
        if (have != expected) die("a datagram of %zu bytes for %zu", have, expected);
        if (is_answered(kind) && sendto(fd, message, RECORD, 0, &from.any, length) < 0) die("sendto: %m");
    }
}
static void serve_group(enum kind kind, enum read_call call, const int* readers, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        for (int reader = 0; reader < READERS; reader++)
            take(kind, call, readers[reader]);
    }
}
static void serve(enum kind kind, enum read_call call, const union address* at, uint64_t count) {
    int fd = open_listening(kind, at), readers[READERS] = {fd};
    if (kind == GROUP)
        for (int i = 1; i < READERS; i++)
            readers[i] = open_listening(kind, at);
    say_ready(fd);
    if (is_stream(kind))
        serve_connections(kind, call, fd, count);
    else if (kind == GROUP)
        serve_group(kind, call, readers, count);
    else
        serve_datagrams(kind, call, fd, kind == GSO ? SEGMENTS * count : count);
    printf("served %llu\n", (unsigned long long)count);
}

static int open_sender(enum kind kind, enum write_call call, const union address* to) {
    const int fd = open_socket(kind, to);
    if (kind == GSO || kind == GRO) set_number(fd, IPPROTO_UDP, UDP_SEGMENT, (int)size);
    if (call == ZEROCOPY) set_number(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
    if (kind == FASTOPEN) return fd;
    if (connect(fd, &to->any, address_length(to))) die("connect: %m");
    if (is_stream(kind) && kind != MPTCP) no_delay(fd);
    if (kind == KTLS) begin_tls(fd);
    return fd;
}
static void send_all(enum kind kind, enum write_call call, const union address* to, uint64_t count) {
    int fd = kind == FASTOPEN ? -1 : open_sender(kind, call, to);
    for (uint64_t i = 0; i < count; i++) {
        if (kind == FASTOPEN) {
            fd = open_sender(kind, call, to);
            if (sendto(fd, message, size, MSG_FASTOPEN, &to->any, address_length(to)) != (ssize_t)size)
                die("MSG_FASTOPEN: %m");
        } else {
            transmit(call, fd, message, kind == GSO || kind == GRO ? SEGMENTS * size : size, NULL);
        }
        if (is_answered(kind)) take(is_stream(kind) ? TCP : UDP, RECV, fd);
        if (kind == FASTOPEN) close(fd);
        sleep_us(gap_us);
    }
    printf("sent %llu\n", (unsigned long long)count);
}

static void pin_xdp_pass(const char* path) {
    const struct bpf_insn passes[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = XDP_PASS},
                                      {.code = BPF_JMP | BPF_EXIT}};
    union bpf_attr attr = {
        .prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = 2, .insns = (uintptr_t)passes, .license = (uintptr_t) "GPL"};
    const long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
    if (fd < 0) die("BPF_PROG_LOAD: %m");
    memset(&attr, 0, sizeof attr);
    attr.pathname = (uintptr_t)path;
    attr.bpf_fd = (unsigned)fd;
    if (syscall(SYS_bpf, BPF_OBJ_PIN, &attr, sizeof attr)) die("BPF_OBJ_PIN %s: %m", path);
}

int main(int argc, char** argv) {
    if (argc == 3 && !strcmp(argv[1], "xdp-pass")) {
        pin_xdp_pass(argv[2]);
        return 0;
    }
    const bool serves = argc > 1 && !strcmp(argv[1], "serve");
    if ((!serves && (argc < 2 || strcmp(argv[1], "send"))) || argc < 7) die("%s", usage);
    if (serves) prctl(PR_SET_NAME, "ways-serve");
    const enum kind kind = (enum kind)choose("kind", argv[2], kinds);
    const char** rest = (const char**)argv + 5;
    const unsigned port = (unsigned)number("port", rest[0], 1, 65535);
    const uint64_t count = (uint64_t)number("count", rest[1], 1, 1000000);
    if (rest[2]) size = (size_t)number("size", rest[2], RECORD, is_stream(kind) ? RECORD : MAX_MESSAGE / SEGMENTS);
    if (rest[2] && rest[3]) gap_us = (uint64_t)number("gap-us", rest[3], 0, 1000000);
    const union address at = to_address(argv[4], port, false);
    char record[RECORD];
    write_record(record, 0, 0, &at);
    fill_message(message, sizeof message, record);
    if (kind == IKE) memset(message, 0, 4);
    if (serves)
        serve(kind, (enum read_call)choose("read", argv[3], read_calls), &at, count);
    else
        send_all(kind, (enum write_call)choose("write", argv[3], write_calls), &at, count);
    calls_done();
    return 0;
}
