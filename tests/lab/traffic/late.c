// SPDX-License-Identifier: GPL-2.0-or-later
// A reader that does something known before it takes a message, and its sender, which waits for its answer.
#include <errno.h>
#include <linux/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: late REASON --receive --port N [--udp]\n"
    "       late REASON --address A --port N --count N [--udp]\n"
    "the reader prints of each message what its thread has waited for a CPU since the one before, and in all, and "
    "with\n"
    "futex how long for a lock (ns); both print how many calls took bytes, and in how many segments these came\n";

static const char* const reasons[] = {"call",   "poll",   "runs",   "asleep", "twice", "slices", "waked",
                                      "worker", "unread", "lowat",  "cpu",    "bulk",  "futex",  "shares",
                                      "flood",  "quota",  "header", "other",  "stops", NULL};
enum { SIZE = 101, MORE = 907, BULK = 1000003, AT_ONCE = 7, HEADER = 5 };
static const char* reason;
static bool is_udp;
static int fd;
static union address peer;
static char bytes[BULK];
static long long calls;

static bool is(const char* name) {
    return !strcmp(reason, name);
}
static void spin_us(uint64_t us) {
    for (uint64_t end = now_ns() + us * 1000; now_ns() < end;) {
    }
}
static void pin_to_first_cpu(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    if (sched_setaffinity(0, sizeof set, &set)) die("sched_setaffinity: %m");
}
// How long this thread has waited for a CPU, by the kernel's own sum.
static long long waited(void) {
    long long ran, delay;
    FILE* file = fopen("/proc/thread-self/schedstat", "re");
    if (!file || fscanf(file, "%lld %lld", &ran, &delay) != 2) die("schedstat: %m");
    fclose(file);
    return delay;
}
// False where the sender has gone.
static bool take(size_t count) {
    while (count) {
        socklen_t length = sizeof peer;
        ssize_t got;
        RETRY(got, recvfrom(fd, bytes, count, 0, &peer.any, &length));
        if (got < 0) die("recvfrom: %m");
        if (!got) return false;
        calls++;
        count -= is_udp ? count : (size_t)got;
    }
    return true;
}
static void say_reads(void) {
    struct tcp_info info = {.tcpi_data_segs_in = (unsigned)calls};
    socklen_t size = sizeof info;
    if (!is_udp && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size)) die("TCP_INFO: %m");
    printf("reads %lld %u\n", calls, info.tcpi_data_segs_in);
}
static void answer(void) {
    if (sendto(fd, "k", 1, MSG_NOSIGNAL, is_udp ? &peer.any : NULL, is_udp ? address_length(&peer) : 0) != 1)
        die("sendto: %m");
}

// Another thread reads than the one that waits.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_given;
static void wait_until(bool given) {
    pthread_mutex_lock(&mutex);
    while (is_given != given)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}
static void give(bool given) {
    pthread_mutex_lock(&mutex);
    is_given = given;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}
static void* work(void* unused) {
    (void)unused;
    for (;;) {
        wait_until(true);
        if (!take(SIZE)) exit(0);
        give(false);
        answer();
    }
}

// A thread that has a lock for 7 ms whenever it is asked to.
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static atomic_int asked, turns;
static void* hold(void* unused) {
    (void)unused;
    for (;;) {
        while (!asked)
            sleep_us(20);
        pthread_mutex_lock(&held);
        asked = 0;
        turns++;
        sleep_us(7000);
        pthread_mutex_unlock(&held);
    }
    return NULL;  // gcc does not see that it never does
}
static uint64_t wait_for_lock(void) {
    int before = turns;
    asked = 1;
    while (turns == before)
        sleep_us(20);
    uint64_t begin = now_ns();
    pthread_mutex_lock(&held);
    uint64_t end = now_ns();
    pthread_mutex_unlock(&held);
    return end - begin;
}

// Waits for 7 ms in a receiving call on a socket to which nothing comes.
static void receive_elsewhere(void) {
    static int other = -1;
    struct timeval timeout = {.tv_usec = 7000};
    char byte;
    if (other < 0) {
        other = socket(AF_INET, SOCK_DGRAM, 0);
        if (other < 0 || setsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout)) die("SO_RCVTIMEO: %m");
    }
    (void)!recv(other, &byte, 1, 0);
}
// Is stopped, for 7 ms.
static void stop(void) {
    static int stopped = -1;
    if (stopped < 0) {
        int ends[2];
        if (pipe(ends)) die("pipe: %m");
        stopped = ends[1];
        if (!fork()) {
            char byte;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (read(ends[0], &byte, 1) == 1) {
                sleep_us(7000);
                kill(getppid(), SIGCONT);
            }
            _exit(0);
        }
    }
    if (write(stopped, "s", 1) != 1) die("pipe: %m");
    raise(SIGSTOP);
}

// A process that has this CPU whenever it can: it computes, or keeps the kernel's softirqs busy.
_Noreturn static void run_beside(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int flooding = is("flood") ? open_connected("127.0.0.1", 9, SOCK_DGRAM) : -1;
    for (;;) {
        if (flooding < 0)
            spin_us(1000000);
        else
            (void)!send(flooding, bytes, SIZE, 0);
    }
}

static void receive(unsigned port) {
    size_t size = is("lowat") ? SIZE + MORE : is("bulk") ? BULK : SIZE;
    int wanted = (int)size;
    fd = open_bound(FAMILY_4, is_udp ? SOCK_DGRAM : SOCK_STREAM, port);
    say_ready(fd);
    if (!is_udp) fd = accept_one(fd);
    if (is("lowat") && setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted)) die("SO_RCVLOWAT: %m");
    if (is("cpu") || is("shares") || is("flood")) {
        pin_to_first_cpu();
        int child = fork();
        if (!child) run_beside();
        printf("beside %d\n", child);
    }
    pthread_t thread;
    if (is("worker") && pthread_create(&thread, NULL, work, NULL)) die("no thread");
    if (is("futex") && pthread_create(&thread, NULL, hold, NULL)) die("no thread");
    for (int i = 1;; i++) {
        long long before = waited();
        // Behind the first message, whose thread has not been seen before it.
        if (is("futex") && i > 1) printf("locked %llu\n", (unsigned long long)wait_for_lock());
        if ((is("shares") || is("flood") || is("quota")) && i > 1) spin_us(20000);
        if (is("runs")) spin_us(30000);
        if (is("asleep")) sleep_us(30000);
        if (is("twice")) sleep_us(15000), sleep_us(15000);
        if (is("slices")) spin_us(7000), sleep_us(23000);
        if (is("unread") && !is_udp) sleep_us(5000);
        if (is("other") && i > 1) receive_elsewhere();
        if (is("stops") && i > 1) stop();
        if (is("header") && take(HEADER)) sleep_us(9000);
        if (is("poll") || is("waked") || is("worker")) {
            struct pollfd polled = {.fd = fd, .events = POLLIN};
            int ready;
            RETRY(ready, poll(&polled, 1, -1));
        }
        if (is("waked")) sleep_us(20000);
        if (is("worker")) {
            give(true);
            wait_until(false);
            continue;
        }
        if (!take(is("header") ? size - HEADER : size)) {
            say_reads();
            return;
        }
        long long now = waited();
        printf("waited %lld\ndelayed %lld\n", now - before, now);
        fflush(stdout);
        if (!is("unread") || i % AT_ONCE == 0) answer();
    }
}
static void send_messages(const char* address, unsigned port, long long count) {
    fd = open_connected(address, port, is_udp ? SOCK_DGRAM : SOCK_STREAM);
    for (long long i = 0; i < count; i++) {
        size_t size = is("bulk") ? BULK : SIZE;
        char byte;
        ssize_t got;
        sleep_us(is("runs") || is("asleep") || is("twice") || is("slices") ? 10000 : 2000);
        for (int j = is("unread") ? AT_ONCE : 1; j; j--)
            if (send(fd, bytes, size, 0) != (ssize_t)size) die("send: %m");
        if (is("lowat")) {
            sleep_us(15000);
            if (send(fd, bytes, MORE, 0) != MORE) die("send: %m");
        }
        RETRY(got, recv(fd, &byte, 1, 0));
        if (got != 1) die("no answer to message %lld: %m", i);
        calls++;
    }
    printf("sent %lld\n", count);
    say_reads();
}

int main(int argc, char** argv) {
    const char* address = "127.0.0.1";
    bool receives = false;
    unsigned port = 0;
    long long count = 1;
    if (argc < 2) die("%s", usage);
    reason = reasons[choose("REASON", argv[1], reasons)];
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--receive"))
            receives = true;
        else if (!strcmp(argv[i], "--udp"))
            is_udp = true;
        else if (i + 1 == argc)
            die("%s", usage);
        else if (!strcmp(argv[i], "--address"))
            address = argv[++i];
        else if (!strcmp(argv[i], "--port"))
            port = (unsigned)number("port", argv[++i], 1, 65535);
        else if (!strcmp(argv[i], "--count"))
            count = number("count", argv[++i], 1, 100000);
        else
            die("%s", usage);
    }
    if (!port) die("%s", usage);
    signal(SIGPIPE, SIG_IGN);
    if (receives)
        receive(port);
    else
        send_messages(address, port, count);
}
