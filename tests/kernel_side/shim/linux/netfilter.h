// SPDX-License-Identifier: GPL-2.0-or-later
// What tapsets/c/netfilter.h uses of netfilter, nftables and iptables.
#ifndef STAPGEN_TESTS_SHIM_NETFILTER_H
#define STAPGEN_TESTS_SHIM_NETFILTER_H
#include "../kernel_shim.h"
struct nf_hook_state {
    u8 hook, pf;
};
struct nf_hook_ops {
    u8 pf;
    unsigned int hooknum;
};
struct xt_table {
    u8 af;
    char name[32];
};
struct nft_table {
    u16 family : 6, flags : 8, genmask : 2;
    char* name;
};
struct nft_chain {
    struct nft_table* table;
    char* name;
};
struct nft_base_chain {
    struct nf_hook_ops ops;
    struct nft_chain chain;
};
static inline struct nft_base_chain* nft_base_chain(const struct nft_chain* chain) {
    return (struct nft_base_chain*)((char*)chain - offsetof(struct nft_base_chain, chain));
}
#endif
