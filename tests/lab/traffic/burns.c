// SPDX-License-Identifier: GPL-2.0-or-later
// A server that spends a known part of each slow request's CPU time in each of two functions, or all of it in a system
// call. Each second request is fast. One connection.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "traffic.h"

static const char usage[] =
    "usage: burns --port N --ms T [--in-kernel]\n"
    "  T ms for each slow request: four fifths in burn_most(), the rest in burn_rest(), or in getrandom()\n"
    "at its end the CPU time in these: ns in burn_most() and in burn_rest(), and how many requests were slow\n";

enum { PARTS = 5 };

static uint64_t cpu_ns(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) die("clock_gettime: %m");
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
// Each is a function of its own.
__attribute__((noipa)) static void burn_most(uint64_t turns) {
    for (uint64_t i = 0; i < turns; i++)
        __asm__ volatile("" : "+r"(i));
}
__attribute__((noipa)) static void burn_rest(uint64_t turns) {
    for (uint64_t i = 0; i < turns; i++)
        __asm__ volatile("" : "+r"(i));
}
__attribute__((noipa)) static void burn_briefly(uint64_t turns) {
    for (uint64_t i = 0; i < turns; i++)
        __asm__ volatile("" : "+r"(i));
}
static uint64_t most_ns, rest_ns, slow;

__attribute__((noipa)) static void burn(uint64_t turns) {
    const uint64_t begin = cpu_ns();
    burn_most(turns * (PARTS - 1) / PARTS);
    const uint64_t between = cpu_ns();
    burn_rest(turns / PARTS);
    most_ns += between - begin;
    rest_ns += cpu_ns() - between;
}
__attribute__((noipa)) static void burn_in_kernel(uint64_t ns) {
    static char bytes[1 << 16];
    const uint64_t begin = cpu_ns();
    while (cpu_ns() - begin < ns)
        if (getrandom(bytes, sizeof bytes, 0) < 0) die("getrandom: %m");
}

int main(int argc, char** argv) {
    enum { TRIAL = 1000000, BRIEF = 50 };
    static char record[RECORD];
    uint64_t ns = 0, turns;
    unsigned port = 0;
    bool in_kernel = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--in-kernel"))
            in_kernel = true;
        else if (i + 1 == argc)
            die("%s", usage);
        else if (!strcmp(argv[i], "--port"))
            port = (unsigned)number("--port", argv[++i], 0, 65535);
        else if (!strcmp(argv[i], "--ms"))
            ns = number("--ms", argv[++i], 1, 1000) * 1000000;
        else
            die("%s", usage);
    }
    const uint64_t begin = cpu_ns();
    burn_briefly(TRIAL);
    turns = ns * TRIAL / (cpu_ns() - begin + 1);
    const int listener = open_bound(FAMILY_4, SOCK_STREAM, port);
    say_ready(listener);
    const int client = accept_one(listener);
    for (uint64_t requests = 0; read_record(client, record); requests++) {
        if (requests % 2) {
            slow++;
            if (in_kernel)
                burn_in_kernel(ns);
            else
                burn(turns);
        } else {
            burn_briefly(turns / BRIEF);
        }
        if (send(client, record, sizeof record, MSG_NOSIGNAL) != sizeof record) die("send: %m");
    }
    printf("%llu %llu %llu\n", (unsigned long long)most_ns, (unsigned long long)rest_ns, (unsigned long long)slow);
    return 0;
}
