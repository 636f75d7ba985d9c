// SPDX-License-Identifier: GPL-2.0-or-later
// A server whose thread does one known thing between a request and its reply, and says how long that took. One
// connection.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: works THING --port N --ms T [--server PORT] [--file F]\n"
    "  runs     on its CPU for T ms\n"
    "  calls    runs for T ms in its own code, then for T ms in system calls\n"
    "  queued   runs for T ms, and another thread does on the same CPU\n"
    "  lock, pi-lock  a mutex that the thread \"holder\" has for T ms\n"
    "  condition, semaphore  that \"holder\" signals after T ms\n"
    "  sleeps, polls  nanosleep, and poll with a timeout of T ms\n"
    "  pipe, unix  that \"holder\" writes to after T ms\n"
    "  asks, epoll-asks, udp-asks  the server at PORT of 127.0.0.1\n"
    "  file     reads F past the page cache, until T ms have passed\n"
    "  faults   reads pages of F, mapped and not cached, until T ms have passed\n"
    "  syncs    writes to F, and waits for it to be on its disk, until T ms have passed\n"
    "  touches  T MB of its memory, one page after the other\n"
    "  maps     maps and unmaps a page, as \"holder\" changes the protection of many, until T ms have passed\n"
    "  hands    to \"holder\", which replies after T ms\n"
    "at its end, of each request between the read's return and the reply's call: ns, and what the kernel says of its\n"
    "thread: ns on a CPU, ns queued for one (schedstat)\n";

static const char* thing;
static uint64_t us;
static unsigned server_port;
static const char* file;
static bool is(const char* name) {
    return !strcmp(thing, name);
}

static pthread_mutex_t mutex;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t begin, done;
static int pipe_ends[2], client = -1;
static char* many;  // pages
enum { MANY = 64 << 20 };
static bool signalled;
static char record[RECORD];

static void run(uint64_t for_us) {
    const uint64_t until = now_us() + for_us;
    while (now_us() < until) {
    }
}
static void send_reply(void) {
    if (send(client, record, sizeof record, MSG_NOSIGNAL) != sizeof record) die("send: %m");
}
static void* hold(void* unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "holder");
    for (;;) {
        sem_wait(&begin);
        if (is("queued")) {
            run(us);
            continue;
        }
        if (is("maps")) {
            const uint64_t until = now_us() + us;
            for (int access = PROT_READ; now_us() < until; access ^= PROT_WRITE)
                if (mprotect(many, MANY, access)) die("mprotect: %m");
            continue;
        }
        if (is("lock") || is("pi-lock")) {
            pthread_mutex_lock(&mutex);
            sem_post(&done);
        }
        sleep_us(us);
        if (is("lock") || is("pi-lock")) pthread_mutex_unlock(&mutex);
        if (is("semaphore")) sem_post(&done);
        if ((is("pipe") || is("unix")) && write(pipe_ends[1], "x", 1) != 1) die("write: %m");
        if (is("hands")) send_reply();
        if (is("condition")) {
            pthread_mutex_lock(&mutex);
            signalled = true;
            pthread_cond_signal(&condition);
            pthread_mutex_unlock(&mutex);
        }
    }
    return NULL;
}
static void ask(int fd, int epoll) {
    const union address from = local_address(fd);
    char asked[RECORD];
    size_t have = 0;
    write_record(asked, 1, 0, &from);
    if (send(fd, asked, sizeof asked, MSG_NOSIGNAL) != sizeof asked) die("send: %m");
    while (have < sizeof asked) {
        struct epoll_event event;
        ssize_t got;
        if (epoll >= 0) {
            int ready;
            RETRY(ready, epoll_wait(epoll, &event, 1, 10000));
            if (ready != 1) die("epoll_wait: %m");
        }
        RETRY(got, recv(fd, asked + have, sizeof asked - have, 0));
        if (got <= 0) die("recv: %m");
        have += (size_t)got;
    }
}
static void read_past_cache(int fd) {
    static char block[1 << 16] __attribute__((aligned(4096)));
    static off_t at;
    const uint64_t until = now_us() + us;
    while (now_us() < until) {
        ssize_t got = pread(fd, block, sizeof block, at);
        if (got < 0) die("pread: %m");
        at = got < (ssize_t)sizeof block ? 0 : at + got;
    }
}

static void fault_in(int fd) {
    static off_t at;
    struct stat of;
    const uint64_t until = now_us() + us;
    if (fstat(fd, &of) || of.st_size < 1 << 16) die("fstat: %m");
    while (now_us() < until) {
        char* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, at);
        if (page == MAP_FAILED || madvise(page, 4096, MADV_RANDOM)) die("mmap: %m");
        (void)*(volatile char*)page;
        // All of the file: no part of a large folio is dropped, and what has written the file made some.
        if (munmap(page, 4096) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) die("munmap: %m");
        at = (at + (17 << 12)) % (of.st_size & ~4095L);
    }
}
static void sync_writes(int fd) {
    const uint64_t until = now_us() + us;
    while (now_us() < until)
        if (pwrite(fd, record, sizeof record, 0) != sizeof record || fsync(fd)) die("fsync: %m");
}
static void read_zeros(void) {
    static char zeros[1 << 20];
    const uint64_t until = now_us() + us;
    const int fd = open("/dev/zero", O_RDONLY);
    while (now_us() < until)
        if (read(fd, zeros, sizeof zeros) != sizeof zeros) die("/dev/zero: %m");
    close(fd);
}
static void touch(void) {
    for (size_t at = 0; at < us / 1000 << 20; at += 4096)
        many[at]++;
}
static void map_pages(void) {
    const uint64_t until = now_us() + us;
    while (now_us() < until) {
        void* page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || munmap(page, 4096)) die("mmap: %m");
    }
}

struct spent {
    uint64_t ns, running, queued;
};

static uint64_t queued_ns(int schedstat) {
    unsigned long long ran, queued;
    char text[64];
    const ssize_t length = pread(schedstat, text, sizeof text - 1, 0);
    if (length <= 0) die("schedstat: %m");
    text[length] = 0;
    if (sscanf(text, "%llu %llu", &ran, &queued) != 2) die("schedstat: %s", text);
    return queued;
}
// The clock has what schedstat's first number is, up to now.
static struct spent spent_by_now(int schedstat) {
    struct spent spent;
    do {
        struct timespec running;
        spent.queued = queued_ns(schedstat);
        if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &running)) die("clock_gettime: %m");
        spent.running = (uint64_t)running.tv_sec * 1000000000 + (uint64_t)running.tv_nsec;
        spent.ns = now_ns();
    } while (spent.queued != queued_ns(schedstat));
    return spent;
}

static void make_mutex(void) {
    pthread_mutexattr_t attribute;
    pthread_mutexattr_init(&attribute);
    if (is("pi-lock") && pthread_mutexattr_setprotocol(&attribute, PTHREAD_PRIO_INHERIT)) die("no PI mutexes");
    if (pthread_mutex_init(&mutex, &attribute)) die("pthread_mutex_init");
}

int main(int argc, char** argv) {
    enum { MAX_TIMES = 1 << 12 };
    static struct spent times[MAX_TIMES];
    size_t count = 0;
    unsigned port = 0;
    if (argc < 2) die("%s", usage);
    thing = argv[1];
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--port")) port = (unsigned)number("--port", argv[i + 1], 0, 65535);
        if (!strcmp(argv[i], "--ms")) us = (uint64_t)number("--ms", argv[i + 1], 1, 10000) * 1000;
        if (!strcmp(argv[i], "--server")) server_port = (unsigned)number("--server", argv[i + 1], 1, 65535);
        if (!strcmp(argv[i], "--file")) file = argv[i + 1];
    }
    if (is("queued")) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        if (sched_setaffinity(0, sizeof one, &one)) die("sched_setaffinity: %m");
    }
    make_mutex();
    if (is("touches") || is("maps")) {
        many = mmap(NULL, MANY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (many == MAP_FAILED) die("mmap: %m");
        if (is("maps")) memset(many, 1, MANY);
    }
    if (sem_init(&begin, 0, 0) || sem_init(&done, 0, 0)) die("sem_init: %m");
    if (is("unix") ? socketpair(AF_UNIX, SOCK_STREAM, 0, pipe_ends) : pipe(pipe_ends)) die("pipe: %m");
    pthread_t holder;
    if (pthread_create(&holder, NULL, hold, NULL)) die("pthread_create");
    const int server =
        server_port ? open_connected("127.0.0.1", server_port, is("udp-asks") ? SOCK_DGRAM : SOCK_STREAM) : -1;
    const int epoll = is("epoll-asks") ? epoll_create1(0) : -1;
    if (epoll >= 0) {
        struct epoll_event event = {.events = EPOLLIN};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event)) die("epoll_ctl: %m");
    }
    const int disk = file ? open(file, is("file") ? O_RDONLY | O_DIRECT : O_RDWR) : -1;
    if (file && disk < 0) die("%s: %m", file);
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    if (schedstat < 0) die("schedstat: %m");
    const int listener = open_bound(FAMILY_4, SOCK_STREAM, port);
    pthread_setname_np(pthread_self(), "worker");
    say_ready(listener);
    client = accept_one(listener);
    while (read_record(client, record)) {
        const struct spent before = spent_by_now(schedstat);
        if (is("runs") || is("calls")) run(us);
        if (is("calls")) read_zeros();
        if (is("queued")) {
            sem_post(&begin);
            run(us);
        }
        if (is("lock") || is("pi-lock")) {
            sem_post(&begin);
            sem_wait(&done);  // "holder" has it
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        if (is("condition")) {
            pthread_mutex_lock(&mutex);
            signalled = false;
            sem_post(&begin);
            while (!signalled)
                pthread_cond_wait(&condition, &mutex);
            pthread_mutex_unlock(&mutex);
        }
        if (is("semaphore")) {
            sem_post(&begin);
            sem_wait(&done);
        }
        if (is("sleeps")) sleep_us(us);
        if (is("polls") && poll(NULL, 0, (int)(us / 1000))) die("poll: %m");
        if (is("touches")) touch();
        if (is("maps")) {
            sem_post(&begin);
            map_pages();
        }
        if (is("pipe") || is("unix")) {
            char byte;
            ssize_t got;
            sem_post(&begin);
            RETRY(got, read(pipe_ends[0], &byte, 1));
            if (got != 1) die("read: %m");
        }
        if (server >= 0) ask(server, epoll);
        if (is("file")) read_past_cache(disk);
        if (is("faults")) fault_in(disk);
        if (is("syncs")) sync_writes(disk);
        if (count < MAX_TIMES) {
            const struct spent now = spent_by_now(schedstat);
            times[count++] =
                (struct spent){now.ns - before.ns, now.running - before.running, now.queued - before.queued};
        }
        if (is("hands"))
            sem_post(&begin);
        else
            send_reply();
    }
    for (size_t i = 0; i < count; i++)
        printf("%llu %llu %llu\n", (unsigned long long)times[i].ns, (unsigned long long)times[i].running,
               (unsigned long long)times[i].queued);
    return 0;
}
