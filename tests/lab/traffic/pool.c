// SPDX-License-Identifier: GPL-2.0-or-later
// A server of several clients, which says of each request what it knows of it. It ends with its last client.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: pool HOW --port N --clients C --ms T [--workers W] [--servers PORT,PORT]\n"
    "  workers  one thread reads, W others reply after T ms each\n"
    "  loop     one thread for all; the requests of the first client to come run for T ms\n"
    "  proxy    one thread for all; those of the first client ask the first server, then run for T ms, of others ask\n"
    "           the second one\n"
    "  spins    one thread reads, another one is awake then, works for T ms, waits for the first one, and replies\n"
    "at its end, for each request: the client's port, whether a worker was idle as it came, who replied, ns until "
    "then\n";

enum { MAX_CLIENTS = 64, MAX_LOG = 1 << 14 };
struct client {
    int fd, server, index;
    unsigned port;
    uint64_t read;
    bool found_idle;
    char record[RECORD];
    struct client* next;
};
static struct {
    unsigned port;
    int was_idle;
    long tid;
    uint64_t ns;
} entries[MAX_LOG];
static unsigned logged;
static uint64_t us;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct client *first, **last = &first;
static unsigned idle;

static void run(uint64_t for_us) {
    const uint64_t until = now_us() + for_us;
    while (now_us() < until) {
    }
}
static void reply(struct client* client) {
    if (logged == MAX_LOG) die("too many requests");
    entries[logged].port = client->port;
    entries[logged].was_idle = client->found_idle;
    entries[logged].tid = syscall(SYS_gettid);
    entries[logged++].ns = now_ns() - client->read;
    if (send(client->fd, client->record, RECORD, MSG_NOSIGNAL) != RECORD) die("send: %m");
}
static _Atomic(struct client*) to_spin;
static atomic_bool has_spun;
static sem_t go_on;
static void* spin(void* unused) {
    (void)unused;
    for (;;) {
        struct client* client;
        while (!(client = atomic_exchange(&to_spin, NULL))) {
        }
        run(us);
        atomic_store(&has_spun, true);
        sem_wait(&go_on);
        reply(client);
    }
    return NULL;
}
static void let_spin(struct client* client) {
    atomic_store(&to_spin, client);
    while (!atomic_exchange(&has_spun, false)) {
    }
    sem_post(&go_on);
}
static void* work(void* unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "worker");
    pthread_mutex_lock(&mutex);
    for (;;) {
        idle++;
        while (!first)
            pthread_cond_wait(&wanted, &mutex);
        idle--;
        struct client* client = first;
        first = client->next;
        if (!first) last = &first;
        pthread_mutex_unlock(&mutex);
        sleep_us(us);
        pthread_mutex_lock(&mutex);
        reply(client);
    }
    return NULL;
}
static void hand_over(struct client* client) {
    unsigned waiting = 0;
    pthread_mutex_lock(&mutex);
    for (const struct client* other = first; other; other = other->next)
        waiting++;
    client->found_idle = idle > waiting;
    client->next = NULL;
    *last = client;
    last = &client->next;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&mutex);
}
static void ask(struct client* client) {
    const union address from = local_address(client->server);
    char asked[RECORD];
    write_record(asked, 1, 0, &from);
    if (send(client->server, asked, sizeof asked, MSG_NOSIGNAL) != sizeof asked) die("send: %m");
}

int main(int argc, char** argv) {
    static struct client clients[MAX_CLIENTS];
    unsigned port = 0, count = 1, workers = 0, servers[2] = {0, 0};
    if (argc < 2) die("%s", usage);
    const bool is_loop = !strcmp(argv[1], "loop"), is_proxy = !strcmp(argv[1], "proxy"),
               is_spin = !strcmp(argv[1], "spins");
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--port")) port = (unsigned)number("--port", argv[i + 1], 0, 65535);
        if (!strcmp(argv[i], "--ms")) us = (uint64_t)number("--ms", argv[i + 1], 1, 10000) * 1000;
        if (!strcmp(argv[i], "--clients")) count = (unsigned)number("--clients", argv[i + 1], 1, MAX_CLIENTS);
        if (!strcmp(argv[i], "--workers")) workers = (unsigned)number("--workers", argv[i + 1], 1, 64);
        if (!strcmp(argv[i], "--servers") && sscanf(argv[i + 1], "%u,%u", &servers[0], &servers[1]) != 2)
            die("%s", usage);
    }
    for (unsigned i = 0; i < workers; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL)) die("pthread_create");
    }
    pthread_t spinner;
    if (sem_init(&go_on, 0, 0) || (is_spin && pthread_create(&spinner, NULL, spin, NULL))) die("pthread_create");
    const int listener = open_bound(FAMILY_4, SOCK_STREAM, port), epoll = epoll_create1(0);
    pthread_setname_np(pthread_self(), "reader");
    say_ready(listener);
    for (unsigned i = 0; i < count; i++) {
        struct client* client = &clients[i];
        union address peer;
        socklen_t length = sizeof peer;
        client->fd = accept_one(listener);
        client->index = (int)i;
        no_delay(client->fd);
        if (getpeername(client->fd, &peer.any, &length)) die("getpeername: %m");
        client->port = port_of(&peer);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = 2 * i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event)) die("epoll_ctl: %m");
        if (!is_proxy) continue;
        client->server = open_connected("127.0.0.1", servers[i != 0], SOCK_STREAM);
        no_delay(client->server);
        event.data.u64 = 2 * i + 1;
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->server, &event)) die("epoll_ctl: %m");
    }
    while (count) {
        struct epoll_event events[MAX_CLIENTS];
        int ready;
        RETRY(ready, epoll_wait(epoll, events, MAX_CLIENTS, -1));
        for (int i = 0; i < ready; i++) {
            struct client* client = &clients[events[i].data.u64 / 2];
            char answer[RECORD];
            if (events[i].data.u64 % 2) {
                if (!read_record(client->server, answer)) die("a server has gone");
                if (!client->index) run(us);
                reply(client);
                continue;
            }
            if (!read_record(client->fd, client->record)) {
                if (epoll_ctl(epoll, EPOLL_CTL_DEL, client->fd, NULL)) die("epoll_ctl: %m");
                count--;
                continue;
            }
            client->read = now_ns();
            if (is_proxy) {
                ask(client);
            } else if (is_spin) {
                let_spin(client);
            } else if (is_loop) {
                if (!client->index) run(us);
                reply(client);
            } else {
                hand_over(client);
            }
        }
    }
    for (unsigned i = 0; i < logged; i++)
        printf("%u %d %ld %llu\n", entries[i].port, entries[i].was_idle, entries[i].tid,
               (unsigned long long)entries[i].ns);
    return 0;
}
