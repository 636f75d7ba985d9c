// SPDX-License-Identifier: GPL-2.0-or-later
// The client of serve: sends an exact number of requests and checks every byte of the replies.
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traffic.h"

static const char usage[] =
    "usage: ask --port N [OPTION]...\n"
    "  --family 4|6          ::1 instead of 127.0.0.1\n"
    "  --address A           the server's numeric address\n"
    "  --udp\n"
    "  --requests N          in total, shared out over the connections; 1 if not given\n"
    "  --connections C       each in a thread of its own\n"
    "  --one-thread          one thread for all, one connection after the other\n"
    "  --pipeline P          send P requests at once, then read P replies\n"
    "  --request-parts K     send what is sent at once in K calls\n"
    "  --part-gap-ms G       pause between these\n"
    "  --delay-us D[,D2]     how long serve --delay-from-request is to sleep; D2 is for the 2nd, 4th, ... connection\n"
    "  --gap-ms G            pause before each request but the first\n"
    "  --reply-size B        what serve was given\n";

enum { MAX_CONNECTIONS = 1000 };

static struct {
    unsigned port;
    const char* address;
    bool udp, one_thread;
    uint64_t requests, connections, pipeline, parts, part_gap_us, gap_us, delay_us[2];
    size_t reply_size;
} options = {.requests = 1, .connections = 1, .pipeline = 1, .parts = 1, .reply_size = RECORD};

struct link {
    int fd;
    uint64_t index, requests, done, delay_us;
    uint64_t* round_trips_ns;
    union address from;
};

static void send_batch(const struct link* link, const char* bytes, size_t size) {
    if (options.udp) {
        for (size_t at = 0; at < size; at += RECORD) {
            if (send(link->fd, bytes + at, RECORD, 0) != RECORD) die("send: %m");
        }
        return;
    }
    for (uint64_t i = 0; i < options.parts; i++) {
        size_t begin = size * i / options.parts, end = size * (i + 1) / options.parts;
        if (i) sleep_us(options.part_gap_us);
        ssize_t sent = send(link->fd, bytes + begin, end - begin, 0);
        if (sent < 0) die("send: %m");
        if ((size_t)sent != end - begin) die("send took %zd of %zu bytes", sent, end - begin);
    }
}

static void receive_reply(const struct link* link, char* reply) {
    size_t have = 0;
    while (have < options.reply_size) {
        ssize_t got;
        // One more than a datagram should have.
        size_t room = options.udp ? options.reply_size + 1 : options.reply_size - have;
        RETRY(got, recv(link->fd, reply + have, room, 0));
        if (got < 0) die("recv of a reply: %m");
        if (!got) die("the server closed the connection %zu bytes into a reply", have);
        have += (size_t)got;
        if (options.udp && have != options.reply_size) die("a reply of %zu bytes for %zu", have, options.reply_size);
    }
}

static void exchange(struct link* link) {
    static _Thread_local char batch[MAX_MESSAGE], reply[MAX_MESSAGE + 1];
    if (link->done) sleep_us(options.gap_us);
    uint64_t left = link->requests - link->done, count = left < options.pipeline ? left : options.pipeline;
    for (uint64_t i = 0; i < count; i++)
        write_record(batch + i * RECORD, (link->done + i) * options.connections + link->index, link->delay_us,
                     &link->from);
    uint64_t begin = now_ns();
    send_batch(link, batch, count * RECORD);
    for (uint64_t i = 0; i < count; i++) {
        receive_reply(link, reply);
        link->round_trips_ns[link->done++] = now_ns() - begin;
        check_message(reply, options.reply_size, batch + i * RECORD);
    }
}

static void finish(struct link* link) {
    char surplus;
    ssize_t got;
    if (!options.udp && shutdown(link->fd, SHUT_WR)) die("shutdown: %m");
    RETRY(got, recv(link->fd, &surplus, 1, options.udp ? MSG_DONTWAIT : 0));
    if (got > 0 || (options.udp && !got)) die("the server sent more than the replies");
    if (got < 0 && !(options.udp && errno == EAGAIN)) die("recv of the end: %m");
    close(link->fd);
}

static void* run_link(void* argument) {
    struct link* link = argument;
    pthread_setname_np(pthread_self(), "ask-conn");
    while (link->done < link->requests)
        exchange(link);
    finish(link);
    return NULL;
}

// The mean of nine tenths: the longest have a tick of the timer or other work in them.
static uint64_t usual(const uint64_t* sorted, uint64_t count) {
    uint64_t sum = 0, kept = count - count / 10;
    for (uint64_t i = 0; i < kept; i++)
        sum += sorted[i];
    return sum / kept;
}

static void run_in_turn(struct link* links) {
    // The first connection has the most requests.
    while (links[0].done < links[0].requests) {
        for (uint64_t i = 0; i < options.connections; i++) {
            if (links[i].done < links[i].requests) exchange(&links[i]);
        }
    }
    for (uint64_t i = 0; i < options.connections; i++)
        finish(&links[i]);
}

static void run_in_threads(struct link* links) {
    pthread_t threads[MAX_CONNECTIONS];
    for (uint64_t i = 0; i < options.connections; i++) {
        int error = pthread_create(&threads[i], NULL, run_link, &links[i]);
        if (error) die("pthread_create: %s", strerror(error));
    }
    for (uint64_t i = 0; i < options.connections; i++)
        pthread_join(threads[i], NULL);
}

static void parse_delays(char* text) {
    char* second = strchr(text, ',');
    if (second) *second++ = 0;
    options.delay_us[0] = (uint64_t)number("delay-us", text, 0, 60000000);
    options.delay_us[1] = second ? (uint64_t)number("delay-us", second, 0, 60000000) : options.delay_us[0];
}

static void parse(int argc, char** argv) {
    static const struct option longs[] = {
        {"port", 1, NULL, 'p'},        {"family", 1, NULL, 'f'},   {"address", 1, NULL, 'a'},
        {"udp", 0, NULL, 'u'},         {"requests", 1, NULL, 'n'}, {"connections", 1, NULL, 'c'},
        {"one-thread", 0, NULL, 'o'},  {"pipeline", 1, NULL, 'P'}, {"request-parts", 1, NULL, 'k'},
        {"part-gap-ms", 1, NULL, 'G'}, {"delay-us", 1, NULL, 'd'}, {"gap-ms", 1, NULL, 'g'},
        {"reply-size", 1, NULL, 's'},  {NULL, 0, NULL, 0}};
    enum family family = FAMILY_4;
    for (int option; (option = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (option) {
            case 'p':
                options.port = (unsigned)number("port", optarg, 1, 65535);
                break;
            case 'f':
                family = (enum family)choose("family", optarg, families);
                break;
            case 'a':
                options.address = optarg;
                break;
            case 'u':
                options.udp = true;
                break;
            case 'n':
                options.requests = (uint64_t)number("requests", optarg, 1, 100000000);
                break;
            case 'c':
                options.connections = (uint64_t)number("connections", optarg, 1, MAX_CONNECTIONS);
                break;
            case 'o':
                options.one_thread = true;
                break;
            case 'P':
                options.pipeline = (uint64_t)number("pipeline", optarg, 1, MAX_MESSAGE / RECORD);
                break;
            case 'k':
                options.parts = (uint64_t)number("request-parts", optarg, 1, RECORD);
                break;
            case 'G':
                options.part_gap_us = (uint64_t)number("part-gap-ms", optarg, 0, 60000) * 1000;
                break;
            case 'd':
                parse_delays(optarg);
                break;
            case 'g':
                options.gap_us = (uint64_t)number("gap-ms", optarg, 0, 60000) * 1000;
                break;
            case 's':
                options.reply_size = (size_t)number("reply-size", optarg, 1, MAX_MESSAGE);
                break;
            default:
                die("%s", usage);
        }
    }
    if (optind != argc || !options.port) die("%s", usage);
    if (!options.address) options.address = loopback(family);
    if (options.udp && options.parts > 1) die("a request over --udp is one datagram: no --request-parts");
    if (options.requests < options.connections) die("fewer --requests than --connections");
    // Else each side might wait for the other one to read.
    if (options.pipeline * options.reply_size > MAX_MESSAGE && options.pipeline > 1)
        die("--pipeline times --reply-size is over %d bytes", MAX_MESSAGE);
}

int main(int argc, char** argv) {
    parse(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    struct link* links = calloc(options.connections, sizeof *links);
    uint64_t *round_trips_ns = calloc(options.requests, sizeof *round_trips_ns), given = 0;
    if (!links || !round_trips_ns) die("calloc: %m");
    for (uint64_t i = 0; i < options.connections; i++) {
        struct link* link = &links[i];
        link->fd = open_connected(options.address, options.port, options.udp ? SOCK_DGRAM : SOCK_STREAM);
        link->from = local_address(link->fd);
        link->index = i;
        link->requests = options.requests / options.connections + (i < options.requests % options.connections);
        link->delay_us = options.delay_us[i % 2];
        link->round_trips_ns = round_trips_ns + given;
        given += link->requests;
    }
    if (options.one_thread)
        run_in_turn(links);
    else
        run_in_threads(links);

    uint64_t asked = 0;
    for (uint64_t i = 0; i < options.connections; i++)
        asked += links[i].done;
    if (asked != options.requests) die("asked %llu of %llu", (unsigned long long)asked, (unsigned long long)given);
    uint64_t median_ns = median(round_trips_ns, asked);
    printf("asked %llu min-us %llu median-us %llu usual-ns %llu\n", (unsigned long long)asked,
           (unsigned long long)round_trips_ns[0] / 1000, (unsigned long long)median_ns / 1000,
           (unsigned long long)usual(round_trips_ns, asked));
    free(round_trips_ns);
    free(links);
}
