// SPDX-License-Identifier: GPL-2.0-or-later
// What <net/tcp.h> brings for the casts of the tapsets: the structures and fields that they may name, as each
// kernel has them. Order and offsets are not the kernel's; what is tested is which fields there are.
// KERNEL is 310 for 3.10; EL7 has of some changes what later kernels have.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

struct in6_addr {
    u8 bytes[16];
};
typedef struct {
    int counter;
} atomic_t;
typedef struct {
    atomic_t refs;
} refcount_t;
struct list_head {
    struct list_head *next, *prev;
};
struct net {
    int ifindex;
#if KERNEL >= 406
    struct {
        u8 sysctl_tcp_syncookies;
    } ipv4;
#endif
};
struct net_device;
struct napi_struct {
    struct net_device* dev;
};

struct net_device {
    char name[16];
    int ifindex;
#if KERNEL >= 313 || defined(EL7)
    struct {
        struct list_head upper, lower;
    } adj_list;
#endif
};

struct task_struct {
    char comm[16];
    int pid;
};

struct ipv6_pinfo {
    struct in6_addr saddr, rcv_saddr, daddr;
};

struct sock_common {
    unsigned short skc_family;
    unsigned char skc_state;
    int skc_bound_dev_if;
#if KERNEL >= 401
    struct {
        struct net* net;
    } skc_net;
#else
    struct net* skc_net;
#endif
#if KERNEL >= 310
    u32 skc_daddr, skc_rcv_saddr;
    u16 skc_dport, skc_num;
#endif
#if KERNEL >= 313 || defined(EL7)
    struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
#endif
};

struct sock {
    struct sock_common __sk_common;
#if KERNEL >= 506
    u16 sk_type, sk_protocol;
#else
    unsigned int sk_protocol : 8, sk_type : 16;
#endif
    int sk_err;
};

struct socket {
    int state;
    struct sock* sk;
};

struct inet_sock {
    struct sock sk;
    struct ipv6_pinfo* pinet6;
#if KERNEL >= 310
    u32 inet_saddr;
    u16 inet_sport;
#else
    u32 daddr, rcv_saddr, saddr;
    u16 dport, num, sport;
#endif
};

struct inet_connection_sock {
    struct inet_sock icsk_inet;
    u32 icsk_rto;
    u8 icsk_ca_state, icsk_retransmits, icsk_pending;
};

struct tcp_sock {
    struct inet_connection_sock inet_conn;
    u32 rcv_nxt, copied_seq, snd_nxt, snd_una, write_seq;
    u32 snd_cwnd, snd_ssthresh, packets_out, sacked_out, lost_out, retrans_out, total_retrans;
#if KERNEL >= 315
    u32 srtt_us, mdev_us;
#else
    u32 srtt, mdev;
#endif
};

struct sk_buff {
    struct sock* sk;
    struct net_device* dev;
#if KERNEL >= 300
    int skb_iif;
#else
    int iif;
#endif
    char cb[48];
    unsigned int len, data_len, mark;
    u16 protocol;
#if KERNEL >= 311 || defined(EL7)
    u16 transport_header, network_header, mac_header;
#else
    unsigned int transport_header, network_header, mac_header;
#endif
    unsigned int end;
    unsigned char *head, *data;
#if KERNEL >= 413
    refcount_t users;
#else
    atomic_t users;
#endif
};

struct skb_shared_info {
    atomic_t dataref;
    u16 gso_segs;
};

struct tcp_skb_cb {
    u32 seq, end_seq, ack_seq, tcp_tw_isn;
#if KERNEL >= 318
    u16 tcp_gso_segs;
#endif
};
