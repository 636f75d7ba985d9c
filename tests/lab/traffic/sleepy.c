// SPDX-License-Identifier: GPL-2.0-or-later
// A reader that sleeps before each receiving call, and its sender, which waits for the reader before each message.
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: sleepy --udp|--tcp --count N --sleep-ms S [--before-data] [--port N] [--family 4|6|mapped]\n"
    "       sleepy --udp|--tcp --count N --send --port N [--family 4|6]\n"
    "  --before-data   wait for each message first, so that it is at least S ms in the socket\n"
    "  --size B        bytes of a message; 101 if not given, to both\n";

static struct {
    int type;
    bool send, before_data;
    uint64_t count, sleep_us;
    unsigned port;
    enum family family;
    size_t size;
} options = {.size = 101};

// The acknowledgements have a socket of their own, so that the measured one carries messages only.
static void read_messages(void) {
    static char message[MAX_MESSAGE + 1];
    int fd = open_bound(options.family, options.type, options.port);
    int acks = socket(options.family == FAMILY_4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (acks < 0) die("socket: %m");
    say_ready(fd);
    if (options.type == SOCK_STREAM) fd = accept_one(fd);
    limit_wait(fd);
    for (uint64_t i = 0; i < options.count; i++) {
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        int ready = 1;
        if (options.before_data) RETRY(ready, poll(&polled, 1, 60000));
        if (ready != 1) die("poll for message %llu: %d", (unsigned long long)i, ready);
        sleep_us(options.sleep_us);
        ssize_t got;
        RETRY(got, recv(fd, message, options.size + (options.type == SOCK_DGRAM), 0));
        if (got < 0) die("recv of message %llu: %m", (unsigned long long)i);
        if ((size_t)got != options.size) die("a message of %zd bytes for %zu", got, options.size);
        struct header header = parse_record(message, options.family == FAMILY_MAPPED);
        if (header.seq != i) die("message %llu came for %llu", header.seq, (unsigned long long)i);
        check_message(message, options.size, message);
        if (sendto(acks, message, RECORD, 0, &header.from.any, address_length(&header.from)) != RECORD)
            die("sendto: %m");
    }
    printf("read %llu\n", (unsigned long long)options.count);
}

static void send_messages(void) {
    static char message[MAX_MESSAGE];
    char record[RECORD], ack[RECORD + 1];
    const char* host = loopback(options.family);
    int fd = open_connected(host, options.port, options.type);
    int acks = open_bound(options.family, SOCK_DGRAM, 0);
    limit_wait(acks);
    union address bound = local_address(acks), from = to_address(host, port_of(&bound), false);
    for (uint64_t i = 0; i < options.count; i++) {
        write_record(record, i, 0, &from);
        fill_message(message, options.size, record);
        if (send(fd, message, options.size, 0) != (ssize_t)options.size) die("send: %m");
        ssize_t got;
        RETRY(got, recv(acks, ack, sizeof ack, 0));
        if (got < 0) die("recv of the acknowledgement of message %llu: %m", (unsigned long long)i);
        check_message(ack, (size_t)got, record);
    }
    printf("sent %llu\n", (unsigned long long)options.count);
}

static void parse(int argc, char** argv) {
    static const struct option longs[] = {{"udp", 0, NULL, 'u'},   {"tcp", 0, NULL, 't'},
                                          {"count", 1, NULL, 'n'}, {"sleep-ms", 1, NULL, 'S'},
                                          {"send", 0, NULL, 's'},  {"before-data", 0, NULL, 'b'},
                                          {"port", 1, NULL, 'p'},  {"family", 1, NULL, 'f'},
                                          {"size", 1, NULL, 'B'},  {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (option) {
            case 'u':
                options.type = SOCK_DGRAM;
                break;
            case 't':
                options.type = SOCK_STREAM;
                break;
            case 'n':
                options.count = (uint64_t)number("count", optarg, 1, 1000000);
                break;
            case 'S':
                options.sleep_us = (uint64_t)number("sleep-ms", optarg, 0, 60000) * 1000;
                break;
            case 's':
                options.send = true;
                break;
            case 'b':
                options.before_data = true;
                break;
            case 'p':
                options.port = (unsigned)number("port", optarg, 0, 65535);
                break;
            case 'f':
                options.family = (enum family)choose("family", optarg, families);
                break;
            case 'B':
                options.size = (size_t)number("size", optarg, RECORD, MAX_MESSAGE);
                break;
            default:
                die("%s", usage);
        }
    }
    if (optind != argc || !options.type || !options.count || (options.send && !options.port)) die("%s", usage);
}

int main(int argc, char** argv) {
    parse(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    if (options.send)
        send_messages();
    else
        read_messages();
}
