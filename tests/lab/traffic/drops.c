// SPDX-License-Identifier: GPL-2.0-or-later
// Makes losses on the loopback whose number is known.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: drops WHAT N\n"
    "  full-buffer N      N datagrams to a small buffer that nobody reads\n"
    "  bad-checksum N     N datagrams with a wrong UDP checksum (root)\n"
    "  refused N          N TCP connections to a closed port\n"
    "  unreachable N      N datagrams to a closed UDP port\n"
    "  listen-overflow N  N TCP connections to a listener with room for one\n"
    "Each prints what was done, and kernel counters before and after.\n";

struct counter {
    const char *group, *name;  // as in /proc/net/snmp and /proc/net/netstat
    unsigned long long before;
};

// Both files have lines of names, each followed by a line of values, which begin with the group.
static unsigned long long read_counter(const struct counter* counter) {
    static const char* const files[] = {"/proc/net/snmp", "/proc/net/netstat"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE* file = fopen(files[i], "re");
        if (!file) die("%s: %m", files[i]);
        char names[8192], values[8192];
        while (fgets(names, sizeof names, file) && fgets(values, sizeof values, file)) {
            char *name_state, *value_state;
            char *name = strtok_r(names, " \n", &name_state), *value = strtok_r(values, " \n", &value_state);
            if (!name || strcmp(name, counter->group)) continue;
            while ((name = strtok_r(NULL, " \n", &name_state)) && (value = strtok_r(NULL, " \n", &value_state))) {
                if (strcmp(name, counter->name)) continue;
                fclose(file);
                return (unsigned long long)number(name, value, 0, INT64_MAX);
            }
        }
        fclose(file);
    }
    die("the kernel has no counter %s %s", counter->group, counter->name);
}

static void note(struct counter* counter) {
    counter->before = read_counter(counter);
}

// Others on this machine may make the counter rise as well.
static void print_counter(const struct counter* counter, unsigned long long least) {
    unsigned long long after = read_counter(counter);
    if (after - counter->before < least)
        die("%s%s rose by %llu, not by %llu", counter->group, counter->name, after - counter->before, least);
    printf(" %s %llu %llu", counter->name, counter->before, after);
}

static int open_loopback(int type, union address* address) {
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    *address = to_address("127.0.0.1", 0, false);
    if (fd < 0 || bind(fd, &address->any, address_length(address))) die("bind: %m");
    *address = local_address(fd);
    return fd;
}

static void send_byte(int fd, const union address* to) {
    if (sendto(fd, "x", 1, 0, &to->any, address_length(to)) != 1) die("sendto: %m");
}

static unsigned drain(int fd) {
    unsigned count = 0;
    char byte;
    while (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0)
        count++;
    if (errno != EAGAIN) die("recv: %m");
    return count;
}

static void full_buffer(unsigned count) {
    union address address, unused;
    int reader = open_loopback(SOCK_DGRAM, &address), sender = open_loopback(SOCK_DGRAM, &unused);
    int size = 1;  // the kernel raises it to its least
    if (setsockopt(reader, SOL_SOCKET, SO_RCVBUF, &size, sizeof size)) die("SO_RCVBUF: %m");
    struct counter errors = {.group = "Udp:", .name = "RcvbufErrors"};
    note(&errors);
    for (unsigned i = 0; i < count; i++)
        send_byte(sender, &address);
    uint32_t memory[SK_MEMINFO_VARS];
    socklen_t length = sizeof memory;
    if (getsockopt(reader, SOL_SOCKET, SO_MEMINFO, memory, &length)) die("SO_MEMINFO: %m");
    uint32_t dropped = memory[SK_MEMINFO_DROPS];
    unsigned held = drain(reader);
    if (held + dropped != count) die("%u datagrams held and %u dropped are not %u", held, dropped, count);
    printf("full-buffer %u dropped %u", count, dropped);
    print_counter(&errors, dropped);
}

// Only a raw socket sends what is verified: the kernel's own datagrams have no checksum yet on the loopback.
static void bad_checksum(unsigned count) {
    union address address;
    int reader = open_loopback(SOCK_DGRAM, &address);
    int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    if (raw < 0 && errno == EPERM) skip("skipped: a raw socket takes root");
    if (raw < 0) die("raw socket: %m");
    struct {
        struct iphdr ip;
        struct udphdr udp;
        char data[8];
    } packet = {
        .ip = {.version = 4,
               .ihl = sizeof packet.ip / 4,
               .ttl = 64,
               .protocol = IPPROTO_UDP,
               .saddr = htonl(INADDR_LOOPBACK),
               .daddr = htonl(INADDR_LOOPBACK),
               .tot_len = htons(sizeof packet)},
        .udp = {.source = htons(9), .dest = address.v4.sin_port, .len = htons(sizeof packet.udp + sizeof packet.data)},
        .data = "checked"};
    const uint8_t* words = (const uint8_t*)&packet.udp;
    uint32_t sum = 2 * (INADDR_LOOPBACK >> 16) + 2 * (INADDR_LOOPBACK & 0xffff) + IPPROTO_UDP + sizeof packet.udp +
                   sizeof packet.data;
    for (size_t i = 0; i < sizeof packet.udp + sizeof packet.data; i += 2)
        sum += (uint32_t)words[i] << 8 | words[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    uint16_t right = (uint16_t)~sum;
    address.v4.sin_port = 0;  // the packet has it

    struct counter errors = {.group = "Udp:", .name = "InCsumErrors"};
    note(&errors);
    // First the right one, which has to arrive: the others are dropped for their checksum and nothing else.
    packet.udp.check = htons(right);
    for (unsigned i = 0; i <= count; i++) {
        if (sendto(raw, &packet, sizeof packet, 0, &address.any, sizeof address.v4) != sizeof packet) die("sendto: %m");
        unsigned read = drain(reader);
        if (read != (i == 0)) die("datagram %u, %s, was read %u times", i, i ? "a bad one" : "the good one", read);
        packet.udp.check = htons(right == 1 ? 2 : (uint16_t)(right - 1));  // 0 would mean that there is none
    }
    printf("bad-checksum %u", count);
    print_counter(&errors, count);
}

static void refused(unsigned count) {
    union address address;
    open_loopback(SOCK_STREAM, &address);  // keeps others from the port, and does not listen
    struct counter resets = {.group = "Tcp:", .name = "OutRsts"};
    note(&resets);
    for (unsigned i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) die("socket: %m");
        if (!connect(fd, &address.any, address_length(&address)) || errno != ECONNREFUSED)
            die("connect to a closed port: %m");
        close(fd);
    }
    printf("refused %u", count);
    print_counter(&resets, count);
}

static void unreachable(unsigned count) {
    union address address, elsewhere;
    int holder = open_loopback(SOCK_DGRAM, &address), sender = open_loopback(SOCK_DGRAM, &elsewhere);
    // Connected to its own address, the holder keeps others from the port and takes nothing from the sender.
    if (connect(holder, &address.any, address_length(&address))) die("connect: %m");
    struct counter none = {.group = "Udp:", .name = "NoPorts"};
    note(&none);
    for (unsigned i = 0; i < count; i++)
        send_byte(sender, &address);
    if (drain(holder)) die("the closed port took a datagram");
    printf("unreachable %u", count);
    print_counter(&none, count);
}

static void listen_overflow(unsigned count) {
    union address address;
    int listener = open_loopback(SOCK_STREAM, &address);
    if (listen(listener, 0)) die("listen: %m");
    struct counter overflows = {.group = "TcpExt:", .name = "ListenOverflows"};
    struct counter drops = {.group = "TcpExt:", .name = "ListenDrops"};
    note(&overflows);
    note(&drops);
    // All within the second after which the first one would be sent again.
    uint64_t begin = now_us();
    struct pollfd connections[1000];
    for (unsigned i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) die("socket: %m");
        if (connect(fd, &address.any, address_length(&address)) && errno != EINPROGRESS) die("connect: %m");
        connections[i] = (struct pollfd){.fd = fd, .events = POLLOUT};
    }
    int connected = poll(connections, count, 0);
    if (connected < 0) die("poll: %m");
    printf("listen-overflow %u connected %d", count, connected);
    print_counter(&overflows, count - (unsigned)connected);
    print_counter(&drops, count - (unsigned)connected);
    if (now_us() - begin > 900000) die("took over 0.9 s, so that the kernel may have sent some twice");
}

int main(int argc, char** argv) {
    static const char* const names[] = {"full-buffer", "bad-checksum",    "refused",
                                        "unreachable", "listen-overflow", NULL};
    static void (*const makers[])(unsigned) = {full_buffer, bad_checksum, refused, unreachable, listen_overflow};
    if (argc != 3) die("%s", usage);
    int what = choose("WHAT", argv[1], names);
    makers[what]((unsigned)number("N", argv[2], 1, 1000));
    printf("\n");
}
