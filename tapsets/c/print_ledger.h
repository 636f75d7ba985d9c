/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ledger's records, and what cards count themselves: docs/guide/lost.md. */
#ifndef STAPGEN_PRINT_LEDGER_H
#define STAPGEN_PRINT_LEDGER_H

#include <linux/if_link.h>

#include "ledger.h"
#include "line.h"

/* A card's own counters at the first reading and at the last one, and what its driver had handed over by then. */
enum { STAPGEN_CARD_PACKETS, STAPGEN_CARD_MISSED, STAPGEN_CARD_ERRORS, STAPGEN_CARD_HANDED, STAPGEN_CARD_COUNTERS };
struct stapgen_ledger_card {
    u64 first[STAPGEN_CARD_COUNTERS], last[STAPGEN_CARD_COUNTERS];
    int readings;
};
static struct stapgen_ledger_card stapgen_ledger_cards[STAPGEN_LEDGER_ROWS];

/* The counters of a device are read. */
static inline void stapgen_ledger_reads(const struct net_device* dev, const struct rtnl_link_stats64* counters,
                                        const void** fault) {
    struct stapgen_ledger_card* card;
    u64 now[STAPGEN_CARD_COUNTERS], fifo, over;
    int row;
    if (!dev || !counters || !STAPGEN_IS_READABLE(dev, fault) || !dev->dev.parent) return;
    row = stapgen_ledger_row(dev, fault);
    if (*fault || row >= STAPGEN_LEDGER_ROWS - 1) return;
    card = &stapgen_ledger_cards[row];
    now[STAPGEN_CARD_PACKETS] = STAPGEN_READ(&counters->rx_packets, fault);
    now[STAPGEN_CARD_ERRORS] = STAPGEN_READ(&counters->rx_errors, fault);
    now[STAPGEN_CARD_MISSED] = STAPGEN_READ(&counters->rx_missed_errors, fault);
    /* Drivers use three names for one loss: rx_fifo_errors and rx_over_errors in include/uapi/linux/if_link.h. */
    fifo = STAPGEN_READ(&counters->rx_fifo_errors, fault);
    over = STAPGEN_READ(&counters->rx_over_errors, fault);
    now[STAPGEN_CARD_MISSED] = max_t(u64, now[STAPGEN_CARD_MISSED], max_t(u64, fifo, over));
    now[STAPGEN_CARD_HANDED] = (u64)stapgen_ledger_sum(STAPGEN_HANDED, row);
    if (*fault) return;
    if (!card->readings++) memcpy(card->first, now, sizeof(now));
    memcpy(card->last, now, sizeof(now));
}
/* What rose between the first reading and the last one. */
static inline s64 stapgen_ledger_card_rise(int row, int counter) {
    return (s64)(stapgen_ledger_cards[row].last[counter] - stapgen_ledger_cards[row].first[counter]);
}

static inline const char* stapgen_ledger_step_name(int step) {
    static const char* const names[] = {"", "backlog", "way in", "way out", "tcp", "udp", "icmp", "other protocol"};
    return step > 0 && step < (int)(sizeof(names) / sizeof(names[0])) ? names[step] : "";
}

static s64 stapgen_ledger_printed[STAPGEN_LEDGER_ENTRIES][STAPGEN_LEDGER_ROWS];

static inline void stapgen_print_entry(const char* entry, const char* of, s64 n) {
    struct stapgen_line line;
    union {
        char text[16];
        u64 numbers[2];
    } name;
    line.length = 0;
    memset(&name, 0, sizeof(name));
    snprintf(name.text, sizeof(name.text), "%s", of);
    stapgen_put_text(&line, "ledger\t");
    stapgen_put_text(&line, entry);
    stapgen_put_name(&line, name.numbers);
    stapgen_put_number(&line, n);
    stapgen_print_line_of_many(&line);
}
/* What came since the last time. */
static inline void stapgen_print_entries(int entry, const char* name, int rows, const char* const* of) {
    int row;
    for (row = 0; row < rows; row++) {
        s64 now = stapgen_ledger_sum(entry, row), n = now - stapgen_ledger_printed[entry][row];
        if (n <= 0) continue;
        stapgen_ledger_printed[entry][row] = now;
        stapgen_print_entry(name, of ? of[row] : stapgen_ledger_device_name(row), n);
    }
}
static inline void stapgen_print_card(int row) {
    static const char* const names[] = {"card", "card-missed", "card-errors", "card-handed-over"};
    int counter;
    if (stapgen_ledger_cards[row].readings < 2) return;
    for (counter = 0; counter < STAPGEN_CARD_COUNTERS; counter++)
        stapgen_print_entry(names[counter], stapgen_ledger_device_name(row), stapgen_ledger_card_rise(row, counter));
}
static inline void stapgen_print_ledger(int at_end) {
    static const char* const reasons[] = {"several hosts", "not IP", "fragments"};
    static const char* const protocols[] = {"tcp", "udp", "icmp", "other protocol"};
    static const char* const queues[] = {"syn", "accept"};
    s64 in_qdisc;
    int row;
    stapgen_print_entries(STAPGEN_RECEIVED, "received", STAPGEN_LEDGER_ROWS, NULL);
    stapgen_print_entries(STAPGEN_UNFOLLOWED, "not-followed", STAPGEN_NOT_LEFT_OUT, reasons);
    stapgen_print_entries(STAPGEN_REACHED, "reached", STAPGEN_PROTOCOLS, protocols);
    stapgen_print_entries(STAPGEN_LISTEN_QUEUE, "listen-queue", 2, queues);
    stapgen_print_entries(STAPGEN_PASSED_ON, "passed-on", STAPGEN_LEDGER_ROWS, NULL);
    if (!at_end) return;
    in_qdisc = stapgen_ledger_sum(STAPGEN_IN_QDISC, 0);
    if (in_qdisc > 0) stapgen_print_entry("under-way", "qdisc", in_qdisc);
    if (in_qdisc < 0) stapgen_print_entry("under-way-before", "qdisc", -in_qdisc);
    for (row = 0; row < STAPGEN_LEDGER_ROWS - 1; row++)
        stapgen_print_card(row);
}

#endif
