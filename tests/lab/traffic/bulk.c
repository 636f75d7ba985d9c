// SPDX-License-Identifier: GPL-2.0-or-later
// Sends bytes over TCP and compares checksums with the receiver.
#include <errno.h>
#include <getopt.h>
#include <linux/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"

static const char usage[] =
    "usage: bulk --receive [--port N] [--family 4|6|mapped]\n"
    "       bulk --send --port N [--family 4|6] [--address A] [--bytes B] [--chunk N] [--write CALL]\n"
    "  --bytes B     1000003 if not given\n"
    "  --chunk N     bytes of one writing call; 16384 if not given\n"
    "  --write CALL  write writev send sendto sendmsg sendmmsg sendfile io_uring\n";

static struct {
    bool send, receive;
    unsigned port;
    enum family family;
    const char* address;
    uint64_t bytes;
    size_t chunk;
    enum write_call write;
} options = {.bytes = 1000003, .chunk = 16384, .write = SEND};

struct summary {
    uint64_t bytes, checksum;
};

// FNV-1a
static void add(struct summary* summary, const unsigned char* data, size_t size) {
    for (size_t i = 0; i < size; i++)
        summary->checksum = (summary->checksum ^ data[i]) * 0x100000001b3;
    summary->bytes += size;
}

static const struct summary nothing = {0, 0xcbf29ce484222325};

static void receive_all(void) {
    static unsigned char buffer[65536];
    int listener = open_bound(options.family, SOCK_STREAM, options.port);
    say_ready(listener);
    int fd = accept_one(listener);
    limit_wait(fd);
    struct summary summary = nothing;
    ssize_t got;
    for (;;) {
        RETRY(got, recv(fd, buffer, sizeof buffer, 0));
        if (got < 0) die("recv after %llu bytes: %m", (unsigned long long)summary.bytes);
        if (!got) break;
        add(&summary, buffer, (size_t)got);
    }
    transmit(SEND, fd, &summary, sizeof summary, NULL);
    printf("received %llu\n", (unsigned long long)summary.bytes);
}

static void send_all(void) {
    int fd = open_connected(options.address, options.port, SOCK_STREAM);
    unsigned char* data = malloc(options.chunk);
    if (!data) die("malloc: %m");
    struct summary sent = nothing, received;
    uint64_t random = 1;
    while (sent.bytes < options.bytes) {
        uint64_t left = options.bytes - sent.bytes;
        size_t size = left < options.chunk ? (size_t)left : options.chunk;
        for (size_t i = 0; i < size; i++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            data[i] = (unsigned char)(random >> 56);
        }
        transmit(options.write, fd, data, size, NULL);
        add(&sent, data, size);
    }
    free(data);
    if (shutdown(fd, SHUT_WR)) die("shutdown: %m");
    ssize_t got;
    RETRY(got, recv(fd, &received, sizeof received, MSG_WAITALL));
    if (got < 0) die("recv of the checksum: %m");
    if (got != sizeof received) die("the checksum has %zd bytes instead of %zu", got, sizeof received);
    if (received.bytes != sent.bytes || received.checksum != sent.checksum)
        die("%llu bytes with checksum %llx were sent, %llu with %llx received", (unsigned long long)sent.bytes,
            (unsigned long long)sent.checksum, (unsigned long long)received.bytes,
            (unsigned long long)received.checksum);
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length)) die("TCP_INFO: %m");
    printf("sent %llu segments %u retransmitted %u bytes-retransmitted %llu ", (unsigned long long)sent.bytes,
           info.tcpi_data_segs_out, info.tcpi_total_retrans, (unsigned long long)info.tcpi_bytes_retrans);
    printf("cwnd %u ssthresh %u srtt-us %u rttvar-us %u rto-us %u\n", info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh,
           info.tcpi_rtt, info.tcpi_rttvar, info.tcpi_rto);
}

static void parse(int argc, char** argv) {
    static const struct option longs[] = {{"send", 0, NULL, 's'},   {"receive", 0, NULL, 'r'}, {"port", 1, NULL, 'p'},
                                          {"family", 1, NULL, 'f'}, {"address", 1, NULL, 'a'}, {"bytes", 1, NULL, 'b'},
                                          {"chunk", 1, NULL, 'c'},  {"write", 1, NULL, 'w'},   {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (option) {
            case 's':
                options.send = true;
                break;
            case 'r':
                options.receive = true;
                break;
            case 'p':
                options.port = (unsigned)number("port", optarg, 0, 65535);
                break;
            case 'f':
                options.family = (enum family)choose("family", optarg, families);
                break;
            case 'a':
                options.address = optarg;
                break;
            case 'b':
                options.bytes = (uint64_t)number("bytes", optarg, 1, 1LL << 40);
                break;
            case 'c':
                options.chunk = (size_t)number("chunk", optarg, 1, 1 << 30);
                break;
            case 'w':
                options.write = (enum write_call)choose("write", optarg, write_calls);
                break;
            default:
                die("%s", usage);
        }
    }
    if (optind != argc || options.send == options.receive || (options.send && !options.port)) die("%s", usage);
    if (!options.address) options.address = loopback(options.family);
}

int main(int argc, char** argv) {
    parse(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    if (options.receive)
        receive_all();
    else
        send_all();
}
