// SPDX-License-Identifier: GPL-2.0-or-later
// A sender whose bytes TCP holds back for a known cause, and its receiver, which answers each round of bytes by one.
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: held CAUSE --receive --port N\n"
    "       held CAUSE --address A --port N --rounds N\n"
    "of each round the times (ns, CLOCK_MONOTONIC): it began, the last call but one returned, the cause ended, the "
    "answer\n"
    "came; then TCP_INFO: us with something on its way, of these behind the receiver's window, behind the send "
    "buffer;\n"
    "and how many calls found no room\n";

// The bytes of a round: of its first call, and of its second one.
static const struct cause {
    const char* name;
    size_t first, second;
} causes[] = {{"none", 101, 0},      {"nodelay", 101, 103},        {"nagle", 101, 103},
              {"cork", 107, 0},      {"msg-more", 109, 113},       {"autocork", 103, 101},
              {"rwnd", 40009, 0},    {"cwnd", 40009, 0},           {"loss-recovery", 200009, 0},
              {"sndbuf", 400009, 0}, {"pacing", 20011, 0},         {"tsq", 800011, 0},
              {"eagain", 400009, 0}, {"notsent-lowat", 400009, 0}, {"socket-lock", 8209, 103},
              {"connect", 101, 0},   {"fastopen", 101, 0},         {"local-drop", 101, 0},
              {NULL, 0, 0}};
enum { HELD_US = 20000, READER_SLEEPS_US = 100000, REFUSED_US = 300000, MAX_ROUND = 800011, PAGE = 4096 };
static const struct cause* cause;
static char bytes[MAX_ROUND] __attribute__((aligned(PAGE)));

static bool is(const char* name) {
    return !strcmp(cause->name, name);
}
static void set(int fd, int level, int option, int value) {
    if (setsockopt(fd, level, option, &value, sizeof value)) die("setsockopt %d: %m", option);
}
static long long found_no_room;
static void send_bytes(int fd, size_t count, int flags) {
    while (count) {
        ssize_t sent;
        RETRY(sent, send(fd, bytes, count, flags));
        if (sent < 0 && errno == EAGAIN) {
            struct pollfd polled = {.fd = fd, .events = POLLOUT};
            int ready;
            found_no_room++;
            RETRY(ready, poll(&polled, 1, -1));
            continue;
        }
        if (sent <= 0) die("send: %m");
        count -= (size_t)sent;
    }
}

static void receive(unsigned port) {
    int fd = open_bound(FAMILY_4, SOCK_STREAM, port);
    if (is("rwnd")) set(fd, SOL_SOCKET, SO_RCVBUF, 4608);
    say_ready(fd);
    fd = accept_one(fd);
    for (;;) {
        // Else the first acknowledgments of a connection are not delayed.
        set(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
        if (is("rwnd")) sleep_us(READER_SLEEPS_US);
        for (size_t missing = cause->first + cause->second; missing;) {
            ssize_t got;
            RETRY(got, recv(fd, bytes, missing, 0));
            if (!got) return;
            if (got < 0) die("recv: %m");
            missing -= (size_t)got;
            set(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
        }
        send_bytes(fd, 1, MSG_NOSIGNAL);
    }
}

// netfilter drops what is sent to that port, until a child of this process ends that.
static void refuse(unsigned port) {
    char rules[256];
    snprintf(rules, sizeof rules,
             "nft 'table ip held { chain output { type filter hook output priority 0; tcp dport %u drop; }; }'", port);
    if (system(rules)) die("%s failed", rules);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) die("fork: %m");
    if (child) return;
    sleep_us(REFUSED_US);
    _exit(system("nft delete table ip held") != 0);
}
// A page of what is sent is missing: the call that copies it has the socket's lock for HELD_US.
static int faults = -1;
static sem_t is_held;
static char* const missing = bytes + PAGE;
static void watch_page(void) {
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register page = {.range = {(uintptr_t)missing, PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &page)) die("userfaultfd: %m");
    if (sem_init(&is_held, 0, 0)) die("sem_init: %m");
}
static void* bring_page(void* unused) {
    struct uffd_msg fault;
    struct uffdio_zeropage page = {.range = {(uintptr_t)missing, PAGE}};
    (void)unused;
    if (read(faults, &fault, sizeof fault) != sizeof fault) die("no fault: %m");
    sem_post(&is_held);
    sleep_us(HELD_US);
    if (ioctl(faults, UFFDIO_ZEROPAGE, &page)) die("UFFDIO_ZEROPAGE: %m");
    return NULL;
}
static void* send_beside(void* fd) {
    int waited;
    RETRY(waited, sem_wait(&is_held));
    send_bytes(*(int*)fd, cause->second, 0);
    return NULL;
}
static void send_held(int fd, uint64_t* returned, uint64_t* ended) {
    pthread_t handler, beside;
    if (madvise(missing, PAGE, MADV_DONTNEED)) die("madvise: %m");
    if (pthread_create(&handler, NULL, bring_page, NULL) || pthread_create(&beside, NULL, send_beside, &fd))
        die("no thread");
    send_bytes(fd, cause->first, 0);
    *returned = now_ns();
    pthread_join(handler, NULL);
    pthread_join(beside, NULL);
    *ended = now_ns();
}
static void send_round(int fd, const union address* server, uint64_t* returned, uint64_t* ended) {
    if (is("fastopen")) {
        const ssize_t count = sendto(fd, bytes, cause->first, MSG_FASTOPEN, &server->any, address_length(server));
        if (count != (ssize_t)cause->first) die("MSG_FASTOPEN: %m");
        *returned = *ended = now_ns();
        return;
    }
    if (is("socket-lock")) {
        send_held(fd, returned, ended);
        return;
    }
    if (is("local-drop")) refuse(port_of(server));
    if (is("cork")) set(fd, IPPROTO_TCP, TCP_CORK, 1);
    send_bytes(fd, cause->first, is("msg-more") ? MSG_MORE : is("eagain") ? MSG_DONTWAIT : 0);
    *returned = now_ns();
    if (is("cork") || is("msg-more")) sleep_us(HELD_US);
    *ended = now_ns();
    if (is("cork")) set(fd, IPPROTO_TCP, TCP_CORK, 0);
    send_bytes(fd, cause->second, 0);
}
static int open_sender(const char* address, const union address* server) {
    if (!is("connect") && !is("fastopen")) return open_connected(address, port_of(server), SOCK_STREAM);
    int fd = socket(server->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) die("socket: %m");
    if (is("connect") && (!connect(fd, &server->any, address_length(server)) || errno != EINPROGRESS))
        die("connect: %m");
    if (fcntl(fd, F_SETFL, 0)) die("fcntl: %m");
    return fd;
}
static void send_rounds(const char* address, unsigned port, long long rounds) {
    const union address server = to_address(address, port, false);
    int fd = open_sender(address, &server);
    struct timespec epoch;
    clock_gettime(CLOCK_REALTIME, &epoch);
    printf("clock %lld\n", epoch.tv_sec * 1000000000LL + epoch.tv_nsec - (long long)now_ns());
    set(fd, IPPROTO_TCP, TCP_NODELAY, is("nodelay") || is("autocork"));
    if (is("notsent-lowat")) set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1);
    if (is("pacing")) set(fd, SOL_SOCKET, SO_MAX_PACING_RATE, 100000);
    if (is("sndbuf") || is("eagain")) set(fd, SOL_SOCKET, SO_SNDBUF, 4608);
    if (is("rwnd") || is("cwnd") || is("loss-recovery") || is("tsq")) set(fd, SOL_SOCKET, SO_SNDBUFFORCE, 8 << 20);
    if (is("socket-lock")) watch_page();
    for (long long i = 0; i < rounds; i++) {
        uint64_t began, returned, ended;
        ssize_t got;
        char answer;
        began = now_ns();
        send_round(fd, &server, &returned, &ended);
        RETRY(got, recv(fd, &answer, 1, 0));
        if (got != 1) die("no answer to round %lld: %m", i);
        printf("round %llu %llu %llu %llu\n", (unsigned long long)began, (unsigned long long)returned,
               (unsigned long long)ended, (unsigned long long)now_ns());
    }
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size)) die("TCP_INFO: %m");
    printf("info %llu %llu %llu\n", (unsigned long long)info.tcpi_busy_time, (unsigned long long)info.tcpi_rwnd_limited,
           (unsigned long long)info.tcpi_sndbuf_limited);
    printf("eagain %lld\n", found_no_room);
}

int main(int argc, char** argv) {
    const char* address = "127.0.0.1";
    bool receives = false;
    unsigned port = 0;
    long long rounds = 1;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--receive"))
            receives = true;
        else if (i + 1 == argc)
            die("%s", usage);
        else if (!strcmp(argv[i], "--address"))
            address = argv[++i];
        else if (!strcmp(argv[i], "--port"))
            port = (unsigned)number("port", argv[++i], 1, 65535);
        else if (!strcmp(argv[i], "--rounds"))
            rounds = number("rounds", argv[++i], 1, 100000);
        else
            die("%s", usage);
    }
    for (cause = causes; cause->name && (argc < 2 || strcmp(cause->name, argv[1]) != 0);)
        cause++;
    if (!cause->name || !port) die("%s", usage);
    signal(SIGPIPE, SIG_IGN);
    if (receives)
        receive(port);
    else
        send_rounds(address, port, rounds);
}
