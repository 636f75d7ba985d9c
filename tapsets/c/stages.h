/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stages of packets and requests, in ns. */
#ifndef STAPGEN_STAGES_H
#define STAPGEN_STAGES_H

#include <linux/version.h>

#include "causes.h"

/* It was passed over, or is none of such a packet's. */
#define STAPGEN_NO_STAGE ((s64)-1)

/* Stages of a record that are aggregated, then its total. */
enum { STAPGEN_RECORD_STAGES = 7, STAPGEN_TOTAL = STAPGEN_RECORD_STAGES, STAPGEN_RECORD_FIELDS };

static inline void stapgen_no_stages(s64* stages, int count) {
    int i;
    for (i = 0; i < count; i++)
        stages[i] = STAPGEN_NO_STAGE;
}

/* Of a packet that leaves, in the order of a record's. */
enum {
    STAPGEN_APP_TCP,
    STAPGEN_TCP_IP,
    STAPGEN_APP_UDP,
    STAPGEN_UDP_IP,
    STAPGEN_IP_DRV,
    STAPGEN_QDISC,
    STAPGEN_TX_STAGES
};
/* Of a packet that is read: these. A record has as many of them as its recipe. */
enum {
    STAPGEN_DRV_DRV,
    STAPGEN_DRV_IP,
    STAPGEN_IP_TCP,
    STAPGEN_TCP_APP,
    STAPGEN_IP_UDP,
    STAPGEN_UDP_APP,
    STAPGEN_KNOWN_RX_STAGES
};

/* stapgen makes macros from a recipe's fields: STAPGEN_FIELDS, how many stages, parts of these and values there are,
 * STAPGEN_PARTS, how many of these are in a split (all but a total and values), STAPGEN_UNSPLIT, how many of those that
 * are in none precede the parts, STAPGEN_DIRECTIONS, and STAPGEN_WAITS=1 where stages have parts: what packets wait
 * for. Without it there is no memory for that, and compilers leave out what would note it. Older kernels have one queue
 * for what is sent and what is not, and other names for much of it: there app-tcp is not divided. */
#ifndef STAPGEN_WAITS
#define STAPGEN_WAITS 0
#endif
#if STAPGEN_WAITS && LINUX_VERSION_CODE >= KERNEL_VERSION(4, 15, 0)
#define STAPGEN_TX_WAITS 1
#else
#define STAPGEN_TX_WAITS 0
#endif
/* Of received packets: the fields of tcp-app, then those of udp-app. They are behind a direction's stages. */
enum {
    STAPGEN_UDP_APP_CAUSES = (int)STAPGEN_RX_CAUSES - (int)STAPGEN_UDP_APP_FIRST,
    STAPGEN_RX_PARTS = STAPGEN_WAITS ? (int)STAPGEN_RX_CAUSES + STAPGEN_UDP_APP_CAUSES : 0,
    STAPGEN_TX_PARTS = STAPGEN_WAITS ? (int)STAPGEN_TX_CAUSES : 0
};
#ifndef STAPGEN_DIRECTIONS
#define STAPGEN_DIRECTIONS 1
#endif
#ifndef STAPGEN_FIELDS
enum { STAPGEN_RX_STAGES = STAPGEN_KNOWN_RX_STAGES };
#elif STAPGEN_DIRECTIONS > 1
enum { STAPGEN_RX_STAGES = STAPGEN_FIELDS - STAPGEN_RX_PARTS - STAPGEN_TX_STAGES - STAPGEN_TX_PARTS };
#else
enum { STAPGEN_RX_STAGES = STAPGEN_FIELDS - STAPGEN_RX_PARTS };
#endif
/* A record of one has room for all that are known, for what is aggregated, and for what its recipe has. */
enum {
    STAPGEN_RX_ROOM =
        (int)STAPGEN_RX_STAGES > (int)STAPGEN_RECORD_FIELDS ? (int)STAPGEN_RX_STAGES : (int)STAPGEN_RECORD_FIELDS
};

#endif
