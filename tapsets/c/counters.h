/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of packets and requests. Each CPU counts for itself, so that none waits for another. */
#ifndef STAPGEN_COUNTERS_H
#define STAPGEN_COUNTERS_H

#include <linux/smp.h>
#include <linux/string.h>

#include "per_cpu.h"
#include "read.h"

/* The one list of them. A script names them so: stapgen_counted("rx_queued"). Those of a packet's way are in the order
 * of the way. */
/* clang-format off */
#define STAPGEN_COUNTERS(counter) \
    counter(rx_arrived)              /* segments with data and datagrams that reached TCP or UDP */ \
    counter(rx_unwanted)             /* of these: a filter left them out */ \
    counter(rx_dropped_before)       /* dropped before TCP or UDP */ \
    counter(rx_divided)              /* of these: copies for further readers, and pieces behind the first */ \
    counter(rx_mptcp)                /* met a subflow of MPTCP, which programs do not read themselves */ \
    counter(rx_fast_open)            /* came with the SYN, for which there is no socket yet */ \
    counter(rx_encapsulated)         /* met a socket that unwraps: VXLAN, WireGuard, ESP; and no thread has read it */ \
    counter(rx_queued)               /* met their socket; each is one of the next nine, or unread */ \
    counter(rx_retransmitted)        /* had come before */ \
    counter(rx_no_driver)            /* not seen leaving their driver */ \
    counter(rx_no_ip)                /* not seen entering IP */ \
    counter(rx_dropped)              /* the socket had no room, or the checksum was wrong */ \
    counter(rx_evicted)              /* gave way to later ones */ \
    counter(rx_in_kernel)            /* taken in softirq, by no thread */ \
    counter(rx_reported)             /* read by a wanted thread */ \
    counter(rx_filtered)             /* read by another */ \
    counter(rx_wire_segments)        /* that GRO has merged into the reported ones */ \
    counter(rx_recv_calls)           /* that took reported ones */ \
    counter(who_threads_evicted)     /* threads that --who no more follows: they gave way to others */ \
    counter(losses_evicted)          /* drops that gave way to others within a minute: c/resent.h */ \
    counter(tx_segments)             /* sent by TCP for the first time, with data */ \
    counter(tx_datagrams)            /* sent by UDP; each of both is one of the next nine, or has not left */ \
    counter(tx_unwanted)             /* a filter left them out */ \
    counter(tx_filtered)             /* another thread's */ \
    counter(tx_mptcp)                /* of a subflow of MPTCP, to which programs do not write themselves */ \
    counter(tx_no_call)              /* the send call was not seen */ \
    counter(tx_dropped)              /* freed on their way */ \
    counter(tx_no_ip)                /* reached the driver and were not seen leaving IP */ \
    counter(tx_mismatched)           /* what had their memory later was not them */ \
    counter(tx_evicted)              /* gave way to later ones */ \
    counter(tx_reported)             /* left */ \
    counter(tx_acks)                 /* segments without data */ \
    counter(tx_retransmits)          /* segments that were sent before */ \
    counter(tx_send_eagain)          /* calls that found no room in the send buffer and did not wait */ \
    counter(forward_seen)            /* passed on to another device; each is one of the next six, or has not left */ \
    counter(forward_no_driver)       /* not seen leaving the driver */ \
    counter(forward_filtered)        /* a filter left them out */ \
    counter(forward_dropped)         /* freed on their way */ \
    counter(forward_fragmented)      /* IP cut them for a smaller MTU */ \
    counter(forward_evicted)         /* gave way to later ones */ \
    counter(forward_reported)        /* left */ \
    counter(forward_copies)          /* further copies of a flooded one, or of one not seen before */ \
    counter(requests)                /* each is one of the others, or goes on */ \
    counter(request_no_driver)       /* not seen leaving the driver, or entering IP */ \
    counter(request_evicted)         /* gave way to later ones */ \
    counter(request_no_reply)        /* read, and the socket closed */ \
    counter(request_unread)          /* the socket closed, or had no room */ \
    counter(request_ambiguous)       /* read, and which one was answered is not known */ \
    counter(request_mismatched)      /* what had the memory of the answer later was not it */ \
    counter(request_read_by_others)  /* read by an unwanted thread */ \
    counter(request_joined)          /* more of a request that was read and not answered */ \
    counter(request_ktls)            /* segments to a socket that decrypts what programs read, or calls that send to it */ \
    counter(request_reported)        /* answered */ \
    counter(request_not_chosen)      /* of these: not one of the sample */ \
    counter(samples_slow)            /* requests whose program took long, and replied from the thread that read them */ \
    counter(samples_elsewhere)       /* such that another thread replied to: it is not known where the time went */ \
    counter(samples_overwritten)     /* samples of slow requests that later ones replaced */ \
    counter(samples_unread)          /* taken of threads of 32 bits */ \
    counter(samples_evicted)         /* threads that gave way to others */ \
    counter(questions)               /* each is one of the next seven, or goes on */ \
    counter(question_unanswered)     /* the socket closed, or the run ended */ \
    counter(question_overlapping)    /* more was sent before the reply was read: early or pipelined */ \
    counter(question_no_driver)      /* its reply was not seen leaving the driver, or entering IP */ \
    counter(question_read_by_others) /* its reply was read by an unwanted thread */ \
    counter(question_evicted)        /* gave way to later ones */ \
    counter(question_not_chosen)     /* not one of the sample */ \
    counter(question_reported)       /* answered, and read */ \
    counter(ends_brief)              /* of these and of the requests that were reported: printed briefly */ \
    counter(resent_of_none)          /* segments that an end has sent again, of no request that is known */
/* clang-format on */

#define STAPGEN_COUNTER_NUMBER(name) STAPGEN_COUNT_##name,
#define STAPGEN_COUNTER_NAME(name) #name,
enum { STAPGEN_COUNTERS(STAPGEN_COUNTER_NUMBER) STAPGEN_COUNTS };
static const char* const stapgen_counter_names[] = {STAPGEN_COUNTERS(STAPGEN_COUNTER_NAME)};

struct stapgen_counts {
    long of[STAPGEN_COUNTS];
};
STAPGEN_PER_CPU(struct stapgen_counts, stapgen_counts);
static struct stapgen_counts stapgen_snapshot;

static inline void stapgen_add_all(int what, long n) {
    long* count = &STAPGEN_THIS_CPU(stapgen_counts)->of[what];
    WRITE_ONCE(*count, *count + n);
}
static inline void stapgen_add(int what) {
    stapgen_add_all(what, 1);
}
#define STAPGEN_ADD(name) stapgen_add(STAPGEN_COUNT_##name)
#define STAPGEN_NUMBER_OF(name) STAPGEN_COUNT_##name

static inline long stapgen_count_now(int what) {
    long sum = 0;
    int cpu;
    for_each_possible_cpu(cpu) sum += READ_ONCE(STAPGEN_OF_CPU(stapgen_counts, cpu)->of[what]);
    return sum;
}
/* All at one moment, as stapgen_counter() gives them until the next time. What comes later on a packet's way is read
 * first, so that nothing has ended which has not begun. */
static inline void stapgen_snapshot_counts(void) {
    int what;
    for (what = STAPGEN_COUNTS - 1; what >= 0; what--)
        stapgen_snapshot.of[what] = stapgen_count_now(what);
}
/* NULL: there is none of that name. */
static inline long* stapgen_counter(const char* name) {
    int what;
    for (what = 0; what < STAPGEN_COUNTS; what++)
        if (!strcmp(stapgen_counter_names[what], name)) return &stapgen_snapshot.of[what];
    return NULL;
}

#endif
