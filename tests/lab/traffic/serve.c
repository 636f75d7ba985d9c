// SPDX-License-Identifier: GPL-2.0-or-later
// A request-response server: answers each record with a reply that repeats it.
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "wait.h"

static const char usage[] =
    "usage: serve [OPTION]...\n"
    "  --port N               0, the default, takes a free one\n"
    "  --family 4|6|mapped    mapped: an IPv6 socket that IPv4 clients use\n"
    "  --udp\n"
    "  --read CALL            read readv recv recvfrom recvmsg recvmmsg io_uring\n"
    "  --write CALL           write writev send sendto sendmsg sendmmsg sendfile io_uring\n"
    "  --wait HOW             epoll_wait epoll_pwait epoll_pwait2 poll select none io_uring\n"
    "  --threads one|per-connection   with --wait none and TCP always per-connection\n"
    "  --read-delay-ms R      sleep before each receiving call, after the wait\n"
    "  --delay-ms D           sleep between a request and its reply; says at its end how long it kept them\n"
    "  --delay-from-request   the same, as long as the request says (ask --delay-us)\n"
    "  --reply-size B         64 if not given\n"
    "  --reply-parts K        send each reply in K calls\n"
    "  --reply-thread         another thread, \"replier\", sends the replies\n";

static const char* const thread_models[] = {"one", "per-connection", NULL};

static struct {
    unsigned port;
    enum family family;
    bool udp, per_connection, delay_from_request, reply_thread;
    enum read_call read;
    enum write_call write;
    enum wait_how wait;
    uint64_t read_delay_us, delay_us;
    size_t reply_size, reply_parts;
} options = {.read = RECV, .write = SEND, .reply_size = RECORD, .reply_parts = 1};

struct connection {
    struct waited waited;
    bool is_listener;
    size_t have;
    char record[RECORD + 1];  // one more, so that a longer datagram shows
};

struct reply {
    int fd;
    bool has_to;
    union address to;
    char bytes[MAX_MESSAGE];
};

static atomic_ullong served;

// How long each of the first requests was kept, by the server's own clock: from what has been received to what is sent.
enum { MAX_KEPT = 1 << 16 };
static uint64_t kept_us[MAX_KEPT];
static atomic_size_t kept;

static void note_kept(uint64_t us) {
    size_t index = atomic_fetch_add(&kept, 1);
    if (index < MAX_KEPT) kept_us[index] = us;
}

static void say_kept(void) {
    size_t count = atomic_load(&kept);
    if (count > MAX_KEPT) count = MAX_KEPT;
    if (count) printf("kept median-us %llu\n", (unsigned long long)median(kept_us, count));
}

static void send_reply(const struct reply* reply) {
    atomic_fetch_add(&served, 1);  // before the last byte: who has it may ask us to end
    size_t size = options.reply_size, parts = options.reply_parts;
    for (size_t i = 0; i < parts; i++) {
        size_t begin = size * i / parts, end = size * (i + 1) / parts;
        transmit(options.write, reply->fd, reply->bytes + begin, end - begin, reply->has_to ? &reply->to : NULL);
    }
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool full;
    struct reply reply;
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void* replier(void* unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "replier");
    pthread_mutex_lock(&desk.lock);
    for (;;) {
        while (!desk.full)
            pthread_cond_wait(&desk.changed, &desk.lock);
        send_reply(&desk.reply);
        desk.full = false;
        pthread_cond_broadcast(&desk.changed);
    }
    return NULL;
}

static void hand_over(const struct reply* reply) {
    pthread_mutex_lock(&desk.lock);
    while (desk.full)
        pthread_cond_wait(&desk.changed, &desk.lock);
    desk.reply = *reply;
    desk.full = true;
    pthread_cond_broadcast(&desk.changed);
    pthread_mutex_unlock(&desk.lock);
}

static void wait_for_replier(void) {
    pthread_mutex_lock(&desk.lock);
    while (desk.full)
        pthread_cond_wait(&desk.changed, &desk.lock);
    pthread_mutex_unlock(&desk.lock);
}

// Calls that name no receiver need a connected socket, so that the first client of a UDP socket is its only one.
static void address_reply(struct reply* reply, const union address* client) {
    static union address connected;
    reply->has_to = takes_address(options.write);
    reply->to = *client;
    if (reply->has_to) return;
    if (!connected.any.sa_family) {
        if (connect(reply->fd, &client->any, address_length(client))) die("connect of a UDP socket: %m");
        connected = *client;
    } else if (memcmp(&connected, client, sizeof connected)) {
        die("a second client of UDP with --write %s; use one that takes an address", write_calls[options.write]);
    }
}

static void answer(const struct connection* connection) {
    static _Thread_local struct reply reply;
    uint64_t began = options.delay_us ? now_us() : 0;
    struct header header = parse_record(connection->record, options.family == FAMILY_MAPPED);
    reply.fd = connection->waited.fd;
    fill_message(reply.bytes, options.reply_size, connection->record);
    if (options.udp) address_reply(&reply, &header.from);
    sleep_us(options.delay_from_request ? header.delay_us : options.delay_us);
    if (began) note_kept(now_us() - began);
    if (options.reply_thread)
        hand_over(&reply);
    else
        send_reply(&reply);
}

static void prepare_buffer(struct connection* connection) {
    struct waited* waited = &connection->waited;
    if (options.read != READ_IO_URING || options.wait != WAIT_IO_URING) return;
    waited->buffer = connection->record + connection->have;
    waited->room = options.udp ? sizeof connection->record : RECORD - connection->have;
}

// One receiving call, and the reply if the request is whole; false at the stream's end.
static bool advance(struct connection* connection) {
    size_t got;
    sleep_us(options.read_delay_us);
    if (connection->waited.buffer)
        got = (size_t)connection->waited.received;
    else
        got = receive(options.read, connection->waited.fd, connection->record + connection->have,
                      options.udp ? sizeof connection->record : RECORD - connection->have);
    if (options.udp && got != RECORD) die("a datagram of %zu bytes instead of %d", got, RECORD);
    if (!got && connection->have) die("the stream ended %zu bytes into a request", connection->have);
    if (!got) return false;
    connection->have += got;
    if (connection->have == RECORD) {
        answer(connection);
        connection->have = 0;
    }
    prepare_buffer(connection);
    return true;
}

static struct connection* new_connection(int fd) {
    struct connection* connection = calloc(1, sizeof *connection);
    if (!connection) die("calloc: %m");
    connection->waited.fd = fd;
    prepare_buffer(connection);
    return connection;
}

static void end_connection(struct connection* connection) {
    if (options.reply_thread) wait_for_replier();
    if (close(connection->waited.fd)) die("close: %m");
    free(connection);
}

static void serve_with_waiter(struct waiter* waiter) {
    static _Thread_local struct waited* ready[MAX_SOCKETS];
    while (waiter->count) {
        size_t count = waiter_wait(waiter, ready);
        for (size_t i = 0; i < count; i++) {
            struct connection* connection = (struct connection*)ready[i];
            if (connection->is_listener) {
                waiter_add(waiter, &new_connection(accept_one(connection->waited.fd))->waited);
            } else if (!advance(connection)) {
                waiter_remove(waiter, &connection->waited);
                end_connection(connection);
            }
        }
    }
}

static void serve_socket(struct connection* connection) {
    if (options.wait == WAIT_NONE) {
        while (advance(connection))
            continue;
        end_connection(connection);
    } else {
        static _Thread_local struct waiter waiter;
        waiter_open(&waiter, options.wait);
        waiter_add(&waiter, &connection->waited);
        serve_with_waiter(&waiter);
        waiter_close(&waiter);
    }
    calls_done();
}

static void* serve_connection(void* connection) {
    pthread_setname_np(pthread_self(), "serve-conn");
    serve_socket(connection);
    return NULL;
}

static pthread_t start_thread(void* (*run)(void*), void* argument) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run, argument);
    if (error) die("pthread_create: %s", strerror(error));
    pthread_detach(thread);
    return thread;
}

// Its own thread, so that the signal interrupts no call that is measured.
static void* end_on_signal(void* signals) {
    int number_of_signal;
    pthread_setname_np(pthread_self(), "serve-end");
    sigwait(signals, &number_of_signal);
    say_kept();
    printf("served %llu\n", atomic_load(&served));
    fflush(stdout);
    _exit(0);
}

static void parse(int argc, char** argv) {
    static const struct option longs[] = {{"port", 1, NULL, 'p'},         {"family", 1, NULL, 'f'},
                                          {"udp", 0, NULL, 'u'},          {"read", 1, NULL, 'r'},
                                          {"write", 1, NULL, 'w'},        {"wait", 1, NULL, 'h'},
                                          {"threads", 1, NULL, 't'},      {"read-delay-ms", 1, NULL, 'R'},
                                          {"delay-ms", 1, NULL, 'D'},     {"delay-from-request", 0, NULL, 'q'},
                                          {"reply-size", 1, NULL, 's'},   {"reply-parts", 1, NULL, 'k'},
                                          {"reply-thread", 0, NULL, 'y'}, {NULL, 0, NULL, 0}};
    bool one = false;
    for (int option; (option = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (option) {
            case 'p':
                options.port = (unsigned)number("port", optarg, 0, 65535);
                break;
            case 'f':
                options.family = (enum family)choose("family", optarg, families);
                break;
            case 'u':
                options.udp = true;
                break;
            case 'r':
                options.read = (enum read_call)choose("read", optarg, read_calls);
                break;
            case 'w':
                options.write = (enum write_call)choose("write", optarg, write_calls);
                break;
            case 'h':
                options.wait = (enum wait_how)choose("wait", optarg, wait_hows);
                break;
            case 't':
                options.per_connection = choose("threads", optarg, thread_models);
                one = !options.per_connection;
                break;
            case 'R':
                options.read_delay_us = (uint64_t)number("read-delay-ms", optarg, 0, 60000) * 1000;
                break;
            case 'D':
                options.delay_us = (uint64_t)number("delay-ms", optarg, 0, 60000) * 1000;
                break;
            case 'q':
                options.delay_from_request = true;
                break;
            case 's':
                options.reply_size = (size_t)number("reply-size", optarg, 1, MAX_MESSAGE);
                break;
            case 'k':
                options.reply_parts = (size_t)number("reply-parts", optarg, 1, MAX_MESSAGE);
                break;
            case 'y':
                options.reply_thread = true;
                break;
            default:
                die("%s", usage);
        }
    }
    if (optind != argc) die("%s", usage);
    if (options.wait == WAIT_NONE && !options.udp) options.per_connection = true;
    if (options.per_connection && one) die("--wait none with TCP needs --threads per-connection");
    if (options.udp && (options.per_connection || options.reply_parts > 1))
        die("--udp has one socket and one datagram for each reply: no --threads per-connection, no --reply-parts");
    if (options.delay_us && options.delay_from_request) die("give --delay-ms or --delay-from-request, not both");
    if (options.reply_parts > options.reply_size) die("more --reply-parts than bytes in a reply");
    if (options.read_delay_us &&
        (options.wait == WAIT_NONE || (options.wait == WAIT_IO_URING && options.read == READ_IO_URING)))
        die("--read-delay-ms needs a wait that ends before the receiving call begins");
}

int main(int argc, char** argv) {
    parse(argc, argv);
    if (options.read == READ_IO_URING || options.write == WRITE_IO_URING || options.wait == WAIT_IO_URING) {
        struct ring ring;
        ring_open(&ring);  // ends here, before "ready", if it is not permitted
        ring_close(&ring);
    }
    static sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    start_thread(end_on_signal, &signals);
    if (options.reply_thread) start_thread(replier, NULL);

    int fd = open_bound(options.family, options.udp ? SOCK_DGRAM : SOCK_STREAM, options.port);
    say_ready(fd);
    while (options.per_connection)
        start_thread(serve_connection, new_connection(accept_one(fd)));
    struct connection* first = new_connection(fd);
    if (!options.udp) {
        first->is_listener = true;
        first->waited.buffer = NULL;
    }
    serve_socket(first);
}
