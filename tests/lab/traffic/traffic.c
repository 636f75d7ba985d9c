// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void complain(const char* format, va_list arguments) {
    int error = errno;
    flockfile(stderr);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    errno = error;  // for %m
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
}

void die(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    fflush(NULL);
    _exit(1);
}

void skip(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    _exit(SKIPPED);
}

long long number(const char* option, const char* text, long long least, long long most) {
    char* end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        die("--%s %s: give a number from %lld to %lld", option, text, least, most);
    return value;
}

int choose(const char* option, const char* text, const char* const* names) {
    for (int i = 0; names[i]; i++) {
        if (!strcmp(names[i], text)) return i;
    }
    fprintf(stderr, "%s: --%s %s: give one of", program_invocation_short_name, option, text);
    for (int i = 0; names[i]; i++)
        fprintf(stderr, " %s", names[i]);
    fputc('\n', stderr);
    exit(1);
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t now_us(void) {
    return now_ns() / 1000;
}

void sleep_us(uint64_t us) {
    if (!us) return;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + us % 1000000 * 1000;
    until.tv_sec += (time_t)(us / 1000000 + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    int error;
    while ((error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))) {
        if (error != EINTR) die("clock_nanosleep: %s", strerror(error));
    }
}

static int compare(const void* left, const void* right) {
    uint64_t a = *(const uint64_t*)left, b = *(const uint64_t*)right;
    return a < b ? -1 : a > b;
}

uint64_t median(uint64_t* times, size_t count) {
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

const char* const families[] = {[FAMILY_4] = "4", [FAMILY_6] = "6", [FAMILY_MAPPED] = "mapped", NULL};

union address to_address(const char* text, unsigned port, bool mapped) {
    union address address;
    memset(&address, 0, sizeof address);
    char as_v6[64];
    snprintf(as_v6, sizeof as_v6, "%s%s", strchr(text, ':') ? "" : "::ffff:", text);
    if (!mapped && !strchr(text, ':') && inet_pton(AF_INET, text, &address.v4.sin_addr) == 1) {
        address.v4.sin_family = AF_INET;
        address.v4.sin_port = htons((uint16_t)port);
    } else if ((mapped || strchr(text, ':')) && inet_pton(AF_INET6, as_v6, &address.v6.sin6_addr) == 1) {
        address.v6.sin6_family = AF_INET6;
        address.v6.sin6_port = htons((uint16_t)port);
    } else {
        die("%s is no numeric IPv4 or IPv6 address", text);
    }
    return address;
}

socklen_t address_length(const union address* address) {
    return address->any.sa_family == AF_INET6 ? sizeof address->v6 : sizeof address->v4;
}

union address local_address(int fd) {
    union address address;
    memset(&address, 0, sizeof address);
    socklen_t length = sizeof address;
    if (getsockname(fd, &address.any, &length)) die("getsockname: %m");
    return address;
}

unsigned port_of(const union address* address) {
    return ntohs(address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port);
}

const char* loopback(enum family family) {
    return family == FAMILY_6 ? "::1" : "127.0.0.1";
}

int open_bound(enum family family, int type, unsigned port) {
    union address address = to_address(family == FAMILY_4 ? "0.0.0.0" : "::", port, false);
    int fd = socket(address.any.sa_family, type | SOCK_CLOEXEC, 0);
    if (fd < 0) die("socket: %m");
    int on = 1, v6_only = family == FAMILY_6;
    if (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on)) die("SO_REUSEADDR: %m");
    if (family != FAMILY_4 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only))
        die("IPV6_V6ONLY: %m");
    if (bind(fd, &address.any, address_length(&address))) die("bind to port %u: %m", port);
    if (type == SOCK_STREAM && listen(fd, 1024)) die("listen: %m");
    return fd;
}

int open_connected(const char* address, unsigned port, int type) {
    union address server = to_address(address, port, false);
    int fd = socket(server.any.sa_family, type | SOCK_CLOEXEC, 0);
    if (fd < 0) die("socket: %m");
    if (type == SOCK_STREAM) no_delay(fd);
    if (connect(fd, &server.any, address_length(&server))) die("connect to %s port %u: %m", address, port);
    limit_wait(fd);
    return fd;
}

int accept_one(int listener) {
    int fd;
    RETRY(fd, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
    if (fd < 0) die("accept: %m");
    no_delay(fd);
    return fd;
}

void no_delay(int fd) {
    int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on)) die("TCP_NODELAY: %m");
}

void limit_wait(int fd) {
    struct timeval limit = {.tv_sec = 60};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit)) die("SO_RCVTIMEO: %m");
}

void say_ready(int fd) {
    union address address = local_address(fd);
    printf("ready %d %u\n", (int)getpid(), port_of(&address));
    fflush(stdout);
}

bool read_record(int fd, char record[RECORD]) {
    size_t have = 0;
    while (have < RECORD) {
        ssize_t got;
        RETRY(got, recv(fd, record + have, RECORD - have, 0));
        if (got < 0) die("recv: %m");
        if (!got) return false;
        have += (size_t)got;
    }
    return true;
}

void write_record(char record[RECORD], unsigned long long seq, uint64_t delay_us, const union address* from) {
    char host[INET6_ADDRSTRLEN], text[128];
    const void* bytes =
        from->any.sa_family == AF_INET6 ? (const void*)&from->v6.sin6_addr : (const void*)&from->v4.sin_addr;
    if (!inet_ntop(from->any.sa_family, bytes, host, sizeof host)) die("inet_ntop: %m");
    int length =
        snprintf(text, sizeof text, "%llu %llu %s %u ", seq, (unsigned long long)delay_us, host, port_of(from));
    if (length > RECORD) die("\"%s\" is longer than a record of %d bytes", text, RECORD);
    memset(record, ' ', RECORD);
    memcpy(record, text, (size_t)length);
}

struct header parse_record(const char record[RECORD], bool mapped) {
    struct header header;
    char text[RECORD + 1], host[INET6_ADDRSTRLEN];
    unsigned long long delay;
    unsigned port;
    memcpy(text, record, RECORD);
    text[RECORD] = 0;
    if (sscanf(text, "%llu %llu %45s %u", &header.seq, &delay, host, &port) != 4)
        die("\"%s\" is no record of SEQ DELAY_US ADDRESS PORT", text);
    header.delay_us = delay;
    header.from = to_address(host, port, mapped);
    return header;
}

void fill_message(char* message, size_t size, const char record[RECORD]) {
    for (size_t i = 0; i < size; i++)
        message[i] = record[i % RECORD];
}

void check_message(const char* message, size_t size, const char record[RECORD]) {
    for (size_t i = 0; i < size; i++) {
        if (message[i] != record[i % RECORD])
            die("byte %zu of %zu differs from what was sent: \"%.*s\" for \"%.*s\"", i, size,
                (int)(size < RECORD ? size : RECORD), message, RECORD, record);
    }
}
