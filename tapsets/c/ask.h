/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions: requests as the socket sees them that sends them. A socket has one at a time. It begins with the first
 * send call after a reply was read, has left when its last byte is handed to a device, and ends with the last receiving
 * call that takes bytes before the next question, or before the socket closes: then its record is printed.
 *
 * Its first sequence number and its reply's are what the other end has, too: docs/guide/both-ends.md. */
#ifndef STAPGEN_ASK_H
#define STAPGEN_ASK_H

#ifndef STAPGEN_BOTH_ENDS
#define STAPGEN_BOTH_ENDS 1
#endif

#include "batch.h"
#include "counters.h"
#include "ends.h"
#include "owner_filter.h"
#include "queues.h"
#include "reader.h"
#include "rx_packet.h"
#include "socket_id.h"
#include "socket_kind.h"
#include "streams.h"
#include "turn.h"
#include "which_end.h"

#ifndef STAPGEN_QUESTIONS
#define STAPGEN_QUESTIONS 8192
#endif

struct stapgen_question {
    struct stapgen_socket_id id;
    s64 asked, left;                                   /* ns; 0: not yet */
    s64 driver, ip, readable, woken, called, returned; /* of its reply; likewise */
    s64 last, came;                                    /* of its newest segment; and as the last call returned */
    s64 thread;                                        /* that read it, below its process */
    struct stapgen_asker asker;
    u64 comm[2], device[2];
    u32 seq, end_seq; /* end_seq: behind what has left */
    u32 reply_seq;
    struct stapgen_streams streams;
    u64 local[2], remote[2];
    u16 local_port, remote_port;
    int is_ip4;
};
STAPGEN_TABLE(stapgen_questions, stapgen_question, STAPGEN_QUESTIONS);

static inline int stapgen_is_chosen(u32 seq) {
    return stapgen_one_request_in < 2 || (seq * 0x9e3779b1U >> 8) % stapgen_one_request_in == 0;
}

/* Of those that take less than this, in ns, only what joins them is printed. */
static s64 stapgen_brief_below;

/* Stages of both ends, in the order of their records: templates/both-ends/recipe.toml. */
enum {
    STAPGEN_END_ASK,
    STAPGEN_END_AWAY,
    STAPGEN_END_RX,
    STAPGEN_END_TCPIP,
    STAPGEN_END_EPOLL,
    STAPGEN_END_WAIT,
    STAPGEN_END_READ,
    STAPGEN_END_APP,
    STAPGEN_END_TX,
    STAPGEN_END_TOTAL,
    STAPGEN_END_ARRIVING,
    STAPGEN_END_FIELDS
};

/* Not a packet's: where it leaves, NAT may have changed them. Before 3.13 both-ends does not run. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 13, 0)
static inline void stapgen_put_ends_of(struct stapgen_line* line, const struct sock* sk, const void** fault) {
    struct stapgen_ends ends;
    stapgen_read_ends(sk, &ends, fault);
    stapgen_put_endpoint(line, ends.local, ends.is_ip4, ends.local_port, fault);
    stapgen_put_endpoint(line, ends.remote, ends.is_ip4, ends.remote_port, fault);
}
static inline void stapgen_note_ends(const struct sock* sk, struct stapgen_question* question, const void** fault) {
    struct stapgen_ends ends;
    int i;
    stapgen_read_ends(sk, &ends, fault);
    question->is_ip4 = ends.is_ip4;
    question->local_port = ends.local_port;
    question->remote_port = ends.remote_port;
    for (i = 0; i < (ends.is_ip4 ? 1 : 4); i++) {
        ((u32*)question->local)[i] = STAPGEN_READ((const u32*)ends.local + i, fault);
        ((u32*)question->remote)[i] = STAPGEN_READ((const u32*)ends.remote + i, fault);
    }
}
#else
static inline void stapgen_put_ends_of(struct stapgen_line* line, const struct sock* sk, const void** fault) {}
static inline void stapgen_note_ends(const struct sock* sk, struct stapgen_question* question, const void** fault) {}
#endif

/* Positions: bytes before it. -1: not known. */
static inline void stapgen_put_numbers_of_end(struct stapgen_line* line, enum stapgen_end end, u32 seq, u32 reply_seq,
                                              const struct stapgen_streams* streams, const struct stapgen_for* of,
                                              const s64* stages) {
    u32 first = end == STAPGEN_CLIENT ? streams->sent : streams->received;
    u32 reply_first = end == STAPGEN_CLIENT ? streams->received : streams->sent;
    stapgen_put_number(line, seq);
    stapgen_put_number(line, reply_seq);
    stapgen_put_number(line, streams->is_known ? (s64)(u32)(seq - first) : -1);
    stapgen_put_number(line, streams->is_known ? (s64)(u32)(reply_seq - reply_first) : -1);
    stapgen_put_number(line, of && of->sk ? (s64)of->seq : -1);
    stapgen_put_number(line, of && of->sk ? (s64)of->stream : -1);
    stapgen_put_stages(line, stages, STAPGEN_END_FIELDS);
    stapgen_print_record(line);
}
/* Whether that is all that is printed of it: no stages, which would be a part of all requests'. */
static inline int stapgen_is_printed_briefly(s64 now, enum stapgen_end end, u32 seq, u32 reply_seq, const s64* stages) {
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    if (stages[STAPGEN_END_TOTAL] >= stapgen_brief_below) return 0;
    STAPGEN_ADD(ends_brief);
    line.length = 0;
    stapgen_put_text(&line, "brief");
    stapgen_put_number(&line, now);
    stapgen_put_text(&line, end == STAPGEN_CLIENT ? "\tclient" : "\tserver");
    stapgen_put_number(&line, seq);
    stapgen_put_number(&line, reply_seq);
    stapgen_put_number(&line, end == STAPGEN_CLIENT ? stages[STAPGEN_END_ASK] : 0);
    stapgen_put_number(&line, end == STAPGEN_CLIENT ? stages[STAPGEN_END_AWAY] : 0);
    stapgen_put_number(&line, stages[STAPGEN_END_TOTAL]);
    stapgen_put_number(&line, stages[STAPGEN_END_ARRIVING]);
    stapgen_print_record(&line);
    return 1;
}
/* From what was passed over the next stage begins where the one before it ended: request.h. A request's time is divided
 * by all questions for it, however short. */
static inline void stapgen_print_question(const struct stapgen_question* question, const void** fault) {
    s64 stages[STAPGEN_END_FIELDS], from = question->readable ? question->readable : question->ip;
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    s64 woken = question->woken < from ? 0 : question->woken, called;
    stapgen_no_stages(stages, STAPGEN_END_FIELDS);
    stages[STAPGEN_END_ASK] = question->left - question->asked;
    stages[STAPGEN_END_AWAY] = question->driver - question->left;
    stages[STAPGEN_END_RX] = question->ip - question->driver;
    if (question->readable) stages[STAPGEN_END_TCPIP] = question->readable - question->ip;
    if (woken) {
        stages[STAPGEN_END_EPOLL] = woken - from;
        from = woken;
    }
    called = question->called < from ? 0 : question->called;
    if (called) {
        stages[STAPGEN_END_WAIT] = called - from;
        from = called;
    }
    stages[STAPGEN_END_READ] = question->returned - from;
    stages[STAPGEN_END_TOTAL] = question->returned - question->asked;
    stages[STAPGEN_END_ARRIVING] = question->came - question->driver;
    if (!question->asker.of.sk &&
        stapgen_is_printed_briefly(question->returned, STAPGEN_CLIENT, question->seq, question->reply_seq, stages))
        return;
    stapgen_begin_line(&line, "ends", question->returned, question->thread, question->comm);
    stapgen_put_text(&line, "\tclient");
    stapgen_put_endpoint(&line, question->local, question->is_ip4, question->local_port, fault);
    stapgen_put_endpoint(&line, question->remote, question->is_ip4, question->remote_port, fault);
    if (*fault) return;
    stapgen_put_name(&line, question->device);
    stapgen_put_numbers_of_end(&line, STAPGEN_CLIENT, question->seq, question->reply_seq, &question->streams,
                               &question->asker.of, stages);
}

/* ---- what a question becomes ---- */

/* Under the lock: it ends. Whether it is to be printed. */
static inline int stapgen_end_question(const struct stapgen_question* question) {
    if (!question->returned) {
        STAPGEN_ADD(question_unanswered);
        return 0;
    }
    if (!stapgen_is_chosen(question->seq)) {
        STAPGEN_ADD(question_not_chosen);
        return 0;
    }
    STAPGEN_ADD(question_reported);
    return 1;
}
/* Under the lock: the row of a socket; 0: none. What is there of another socket, whose end was missed, ends. */
static inline u32 stapgen_find_question(unsigned long sk, const struct stapgen_socket_id* id) {
    u32 at = stapgen_first_row(&stapgen_questions, sk);
    if (!at || stapgen_is_same_socket(&stapgen_questions_rows[at].of.id, id)) return at;
    STAPGEN_ADD(question_unanswered);
    stapgen_drop_row(&stapgen_questions, at);
    return 0;
}
static inline void stapgen_begin_question(struct stapgen_question* question, const struct stapgen_question* fresh) {
    *question = *fresh;
    STAPGEN_ADD(questions);
}
/* ---- what happens ---- */

/* A thread sends, and write_seq is still unchanged: a question begins, or it is more of one. */
static inline void stapgen_question_is_asked(const struct sock* sk, const struct stapgen_for* of, const void** fault) {
    STAPGEN_UNINITIALIZED struct stapgen_question done;
    struct stapgen_question fresh = {};
    unsigned long queue = (unsigned long)sk;
    int has_room, is_done = 0;
    u32 at;
    if (stapgen_has_owner_filter() && !stapgen_is_wanted_sock(sk)) return;
    if (stapgen_reads_tls(sk, fault)) {
        STAPGEN_ADD(request_ktls);
        return;
    }
    fresh.asked = STAPGEN_NOW();
    fresh.seq = fresh.end_seq = STAPGEN_READ(&tcp_sk(sk)->write_seq, fault);
    fresh.id = stapgen_socket_id_of(sk, fault);
    stapgen_note_ends(sk, &fresh, fault);
    fresh.streams = stapgen_streams_of(sk, STAPGEN_CLIENT, fault);
    if (*fault) return;
    fresh.asker.thread = stapgen_this_thread_of();
    fresh.asker.of = *of;
    has_room = stapgen_evict_if_full(&stapgen_questions);
    if (has_room > 0) STAPGEN_ADD(question_evicted);
    stapgen_lock_queue(&stapgen_questions, queue);
    at = stapgen_find_question(queue, &fresh.id);
    if (at) {
        struct stapgen_question* question = &stapgen_questions_rows[at].of;
        if (question->returned) {
            is_done = stapgen_end_question(question);
            if (is_done) done = *question;
            stapgen_begin_question(question, &fresh);
        } else if (question->driver) { /* its reply has begun, and is not read */
            STAPGEN_ADD(question_overlapping);
            fresh.asker.of.sk = 0;
            stapgen_begin_question(question, &fresh);
        } else if (question->asker.of.sk != of->sk || question->asker.of.seq != of->seq) {
            question->asker.of.sk = 0;
        }
    } else if (has_room >= 0) {
        at = stapgen_add_row(&stapgen_questions, queue, 0, fresh.asked);
        stapgen_begin_question(&stapgen_questions_rows[at].of, &fresh);
    }
    stapgen_unlock_queue(&stapgen_questions, queue);
    if (is_done) stapgen_print_question(&done, fault);
}
/* Data is handed to a device: up to this byte, for the first time. Behind the reply's first byte it is the rest of a
 * question that is answered before the other end has all of it. */
static inline void stapgen_question_leaves(unsigned long sk, u32 end_seq) {
    struct stapgen_question* question;
    u32 at;
    if (!stapgen_may_have(&stapgen_questions, sk)) return;
    stapgen_lock_queue(&stapgen_questions, sk);
    at = stapgen_first_row(&stapgen_questions, sk);
    question = &stapgen_questions_rows[at].of;
    if (at && stapgen_after(end_seq, question->end_seq)) {
        question->end_seq = end_seq;
        question->left = STAPGEN_NOW();
        if (question->driver) {
            STAPGEN_ADD(question_overlapping);
            stapgen_drop_row(&stapgen_questions, at);
        }
    }
    stapgen_unlock_queue(&stapgen_questions, sk);
}
/* The question that a byte is of: whether it is known. */
static inline int stapgen_question_of(unsigned long sk, u32 seq, u32* question) {
    u32 at;
    stapgen_lock_queue(&stapgen_questions, sk);
    at = stapgen_first_row(&stapgen_questions, sk);
    if (at) *question = stapgen_questions_rows[at].of.seq;
    stapgen_unlock_queue(&stapgen_questions, sk);
    return at && !stapgen_after(*question, seq);
}
/* Data has come, which says up to which byte the other end had what was sent: of the first one behind a question its
 * reply begins there. Of several requests at once the other end's times are those of another byte. */
static inline void stapgen_question_is_answered(unsigned long sk, const struct stapgen_socket_id* id,
                                                const struct stapgen_rx_packet* packet, u32 seq, u32 ack) {
    struct stapgen_question* question;
    u32 at;
    if (!stapgen_may_have(&stapgen_questions, sk)) return;
    stapgen_lock_queue(&stapgen_questions, sk);
    at = stapgen_find_question(sk, id);
    question = &stapgen_questions_rows[at].of;
    if (at && !question->driver && (!question->left || stapgen_after(question->end_seq, ack))) {
        STAPGEN_ADD(question_overlapping);
        stapgen_drop_row(&stapgen_questions, at);
    } else if (at && !question->driver && (!packet->driver || !packet->ip)) {
        STAPGEN_ADD(question_no_driver);
        stapgen_drop_row(&stapgen_questions, at);
    } else if (at && !question->driver) {
        question->driver = packet->driver;
        question->ip = packet->ip;
        question->device[0] = packet->device[0];
        question->device[1] = packet->device[1];
        question->reply_seq = seq;
    }
    if (at && question->driver) question->last = packet->driver;
    stapgen_unlock_queue(&stapgen_questions, sk);
}
/* The readers of a socket are being woken: whether it has a question. */
static inline int stapgen_question_is_readable(unsigned long sk) {
    u32 at;
    if (!stapgen_may_have(&stapgen_questions, sk)) return 0;
    stapgen_lock_queue(&stapgen_questions, sk);
    at = stapgen_first_row(&stapgen_questions, sk);
    if (at && stapgen_questions_rows[at].of.driver && !stapgen_questions_rows[at].of.readable)
        stapgen_questions_rows[at].of.readable = STAPGEN_NOW();
    stapgen_unlock_queue(&stapgen_questions, sk);
    return at != 0;
}
/* This thread's receiving call returns with bytes: whether the socket has a question, and who has asked it. */
static inline int stapgen_question_is_read(unsigned long sk, const struct stapgen_thread* thread, int is_target,
                                           struct stapgen_asker* asker) {
    struct stapgen_reader reader;
    s64 now;
    u32 at;
    if (!stapgen_may_have(&stapgen_questions, sk)) return 0;
    now = STAPGEN_NOW();
    reader = stapgen_reader_of(thread);
    stapgen_lock_queue(&stapgen_questions, sk);
    at = stapgen_first_row(&stapgen_questions, sk);
    if (at && stapgen_questions_rows[at].of.driver) {
        struct stapgen_question* question = &stapgen_questions_rows[at].of;
        if (!question->returned) {
            question->woken = reader.woken;
            question->called = reader.called;
            question->thread = reader.thread;
            question->comm[0] = reader.comm[0];
            question->comm[1] = reader.comm[1];
        }
        question->returned = now;
        question->came = question->last;
        *asker = question->asker;
        if (!is_target) {
            STAPGEN_ADD(question_read_by_others);
            stapgen_drop_row(&stapgen_questions, at);
        }
    }
    stapgen_unlock_queue(&stapgen_questions, sk);
    return at != 0;
}
/* A socket closes. */
static inline void stapgen_question_ends(unsigned long sk) {
    STAPGEN_UNINITIALIZED struct stapgen_question done;
    const void* fault = NULL;
    int is_done = 0;
    u32 at;
    if (!stapgen_may_have(&stapgen_questions, sk)) return;
    stapgen_lock_queue(&stapgen_questions, sk);
    at = stapgen_first_row(&stapgen_questions, sk);
    if (at) {
        done = stapgen_questions_rows[at].of;
        is_done = stapgen_end_question(&done);
        stapgen_drop_row(&stapgen_questions, at);
    }
    stapgen_unlock_queue(&stapgen_questions, sk);
    if (is_done) stapgen_print_question(&done, &fault);
}
/* The run ends: of connections that stay open what was answered. */
static inline void stapgen_questions_end(void) {
    int list;
    for (list = 0; list < STAPGEN_LISTS; list++)
        while (READ_ONCE(stapgen_questions.lists[list].first)) {
            unsigned long sk = 0;
            stapgen_lock(&stapgen_questions.locks[list].lock);
            if (stapgen_questions.lists[list].first)
                sk = stapgen_row_at(&stapgen_questions, stapgen_questions.lists[list].first)->queue;
            stapgen_unlock(&stapgen_questions.locks[list].lock);
            if (sk) stapgen_question_ends(sk);
        }
}

#endif
