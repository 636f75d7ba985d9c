/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tapset's functions need of SystemTap to call those in these headers. */
#ifndef STAPGEN_STAP_H
#define STAPGEN_STAP_H

#define STAPGEN_SKB(number) ((struct sk_buff*)(uintptr_t)(number))
#define STAPGEN_SOCK(number) ((struct sock*)(uintptr_t)(number))

/* A call that may read, and reports in &fault: then it is an error of the script. */
#define STAPGEN_TRY(call)                        \
    do {                                         \
        const void* fault = NULL;                \
        call;                                    \
        if (unlikely(fault)) DEREF_FAULT(fault); \
    } while (0)

#endif
