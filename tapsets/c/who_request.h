/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads slept for while they had requests: of each thread, each thing, and whoever woke it, a row of who_sums.h.
 */
#ifndef STAPGEN_WHO_REQUEST_H
#define STAPGEN_WHO_REQUEST_H

#include "causes.h"
#include "ends.h"
#include "who_sums.h"

/* Kinds of rows: enum stapgen_app_wait from STAPGEN_BY_APP on, and of questions that were answered: */
enum {
    STAPGEN_BY_FIRST =
        (int)STAPGEN_BY_APP + (int)STAPGEN_APP_CAUSES, /* from the send call to the answer's first byte */
    STAPGEN_BY_REST,                                   /* from there until it is read */
};
/* What a thing is known by, and so what is in `what` and `name`. */
enum stapgen_thing_form {
    STAPGEN_NO_THING,
    STAPGEN_THING_FUTEX,    /* its address in the process */
    STAPGEN_THING_ENDPOINT, /* a port; an address, IPv4 as v4-mapped */
    STAPGEN_THING_FILE,     /* a device's number; its name without folders */
    STAPGEN_THING_PIPE,
    STAPGEN_THING_UNIX,
    STAPGEN_THING_CHILD,
    STAPGEN_THING_CALL,     /* the number of a system call */
    STAPGEN_THING_FUNCTION, /* an address in one of the kernel's */
};
enum stapgen_waker {
    STAPGEN_NO_WAKER,
    STAPGEN_WAKER_THREAD,
    STAPGEN_WAKER_NETWORK,
    STAPGEN_WAKER_SOFTIRQ,
    STAPGEN_WAKER_IRQ
};
/* In the place of a row's frames. */
struct stapgen_thing {
    u64 form, what, name[4];
    u64 waker, waker_tid, waker_comm[2];
    u64 holder_tid, holder_comm[2]; /* of a lock; 0: not known */
    u64 meanwhile; /* what the holder did for most of that time: 1 and enum stapgen_app_wait; 0: not known */
};
enum { STAPGEN_THING_WORDS = sizeof(struct stapgen_thing) / sizeof(unsigned long) };

/* Of the peer of a socket. */
static inline void stapgen_thing_of_peer(struct stapgen_thing* thing, const struct sock* sk, const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 13, 0)
    struct stapgen_ends ends;
    u32* word = (u32*)thing->name;
    int i;
    stapgen_read_ends(sk, &ends, fault);
    word[2] = ends.is_ip4 ? htonl(0xffff) : 0;
    for (i = 0; i < (ends.is_ip4 ? 1 : 4); i++)
        word[ends.is_ip4 ? 3 : i] = STAPGEN_READ((const u32*)ends.remote + i, fault);
    thing->form = *fault ? STAPGEN_NO_THING : STAPGEN_THING_ENDPOINT;
    thing->what = ends.remote_port;
#endif
}
/* A request may have waited so long for that, which is added up once it is answered. */
static inline void stapgen_note_thing(struct stapgen_who_times* times, u32 tid, const u64* comm, u32 kind,
                                      const struct stapgen_thing* thing, s64 ns) {
    struct stapgen_by by = {};
    struct stapgen_who_ref ref;
    by.kind = kind;
    by.frames = STAPGEN_THING_WORDS;
    by.frame = (const unsigned long*)thing;
    by.number = stapgen_mix_path(0, by.frame, by.frames);
    ref = stapgen_add_who(tid, comm, &by, 0, 0);
    stapgen_add_time(times, &ref, ns);
}

/* ---- what is printed ---- */

#ifndef STAPGEN_NAME_ADDRESS
#define STAPGEN_NAME_ADDRESS(name, address, is_ip4, port) \
    snprintf((name), sizeof(name), (is_ip4) ? "%pI4:%u" : "[%pI6c]:%u", (address), (port))
#endif
#define STAPGEN_APP_WAIT_NAME(name) #name,
/* The fields from `waited` on but for times. */
static inline void stapgen_put_cause(struct stapgen_line* line, u32 cause) {
    static const char* const names[] = {STAPGEN_APP_CAUSES_LIST(STAPGEN_APP_WAIT_NAME)};
    const char* name = names[cause % STAPGEN_APP_CAUSES];
    stapgen_put_byte(line, '\t');
    for (; *name; name++)
        stapgen_put_byte(line, *name == '_' ? '-' : *name);
}
static inline void stapgen_put_file(struct stapgen_line* line, const struct stapgen_thing* thing) {
    const char* name = (const char*)thing->name;
    u32 i;
    stapgen_put_byte(line, '\t');
    for (i = 0; i < sizeof(thing->name) && name[i]; i++)
        stapgen_put_byte(line, name[i] > ' ' && name[i] < 127 && name[i] != '\\' ? name[i] : '?');
    stapgen_put_text(line, " on ");
    stapgen_put_digits(line, thing->what >> 20);
    stapgen_put_digits_behind(line, ':', 0, thing->what & ((1 << 20) - 1));
}
static inline void stapgen_put_thing(struct stapgen_line* line, const struct stapgen_thing* thing) {
    char name[STAPGEN_FUNCTION_NAME];
    switch (thing->form) {
        case STAPGEN_THING_FUTEX:
            stapgen_put_text(line, "\t0x");
            stapgen_put_hex(line, thing->what);
            break;
        case STAPGEN_THING_ENDPOINT: {
            int is_ip4 = !thing->name[0] && ((const u32*)thing->name)[2] == htonl(0xffff);
            STAPGEN_NAME_ADDRESS(name, (const char*)thing->name + (is_ip4 ? 12 : 0), is_ip4, (unsigned)thing->what);
            stapgen_put_byte(line, '\t');
            stapgen_put_text(line, name);
            break;
        }
        case STAPGEN_THING_FILE:
            stapgen_put_file(line, thing);
            break;
        case STAPGEN_THING_PIPE:
            stapgen_put_text(line, "\tpipe");
            break;
        case STAPGEN_THING_UNIX:
            stapgen_put_text(line, "\tunix socket");
            break;
        case STAPGEN_THING_CHILD:
            stapgen_put_text(line, "\tchild");
            break;
        case STAPGEN_THING_CALL:
            stapgen_put_text(line, "\tcall ");
            stapgen_put_digits(line, thing->what);
            break;
        case STAPGEN_THING_FUNCTION:
            STAPGEN_NAME_FUNCTION(name, thing->what - 1);
            stapgen_put_byte(line, '\t');
            stapgen_put_bytes(line, name, strnlen(name, 64));
            break;
        default:
            stapgen_put_text(line, "\t-");
    }
}
static inline void stapgen_put_slept_for(struct stapgen_line* line, const struct stapgen_thing* thing, u32 kind,
                                         s64 ns) {
    static const char* const wakers[] = {"\t-", "", "\tnetwork", "\tsoftirq", "\tinterrupt"};
    if (kind == STAPGEN_BY_FIRST)
        stapgen_put_text(line, "\tserver.first");
    else if (kind == STAPGEN_BY_REST)
        stapgen_put_text(line, "\tserver.rest");
    else
        stapgen_put_cause(line, kind - STAPGEN_BY_APP);
    stapgen_put_thing(line, thing);
    if (ns >= 0) stapgen_put_number(line, ns);
    if (thing->waker == STAPGEN_WAKER_THREAD)
        stapgen_put_thread(line, thing->waker_comm, thing->waker_tid);
    else
        stapgen_put_text(line, wakers[thing->waker % ARRAY_SIZE(wakers)]);
    stapgen_put_thread(line, thing->holder_comm, thing->holder_tid);
    if (thing->meanwhile)
        stapgen_put_cause(line, (u32)thing->meanwhile - 1);
    else
        stapgen_put_text(line, "\t-");
}
/* Its declaration is in stapgen_request_parts.stp. */
static inline void stapgen_print_thing_row(const struct stapgen_who_row* row) {
    struct stapgen_line line;
    line.length = 0;
    stapgen_put_text(&line, "who-request");
    stapgen_put_number(&line, row->tid);
    stapgen_put_name(&line, row->comm);
    stapgen_put_slept_for(&line, (const struct stapgen_thing*)row->frame, row->kind, -1);
    stapgen_put_number(&line, (s64)row->n);
    stapgen_put_number(&line, row->ns);
    stapgen_put_number(&line, row->held);
    stapgen_put_number(&line, row->max);
    stapgen_print_line_of_many(&line);
}
/* The fields waited, by, waited_ns, waker, holder and meanwhile of a request; nothing where that is not known. */
static inline void stapgen_put_longest_thing(struct stapgen_line* line, const struct stapgen_who_time* longest) {
    const struct stapgen_who_row* row = longest->ns ? stapgen_look_at_who(&longest->ref) : NULL;
    if (row)
        stapgen_put_slept_for(line, (const struct stapgen_thing*)row->frame, row->kind, longest->ns);
    else
        stapgen_put_text(line, "\t-\t-\t0\t-\t-\t-");
}

#endif
