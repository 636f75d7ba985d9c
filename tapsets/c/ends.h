/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection's two ends. */
#ifndef STAPGEN_ENDS_H
#define STAPGEN_ENDS_H

#include "read.h"

/* Addresses and ports of a connected socket. */
struct stapgen_ends {
    const void *local, *remote;
    int is_ip4;
    u16 local_port, remote_port;
};

#endif
