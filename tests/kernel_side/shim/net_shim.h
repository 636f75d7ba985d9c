// SPDX-License-Identifier: GPL-2.0-or-later
/* What kernel_shim.h has of sockets and packets. */
#ifndef NET_SHIM_H
#define NET_SHIM_H

struct list_head {
    struct list_head *next, *prev;
};
struct net_device;
struct net {
    struct {
        u32 inum;
    } ns;
    struct net_device* loopback_dev;
    struct {
        int sysctl_tcp_limit_output_bytes;
        unsigned int sysctl_tcp_notsent_lowat;
    } ipv4;
};
typedef struct {
    struct net* net;
} possible_net_t;
struct rtnl_link_ops {
    const char* kind;
};
struct device {
    struct device* parent;
};
enum { LOOPBACK_IFINDEX = 1, IFF_LOOPBACK = 8 };
struct net_device {
    char name[16];
    possible_net_t nd_net;
    unsigned int flags, priv_flags;
    struct device dev;
    const struct rtnl_link_ops* rtnl_link_ops;
    struct {
        struct list_head lower;
    } adj_list;
};
struct kernfs_node {
    u64 id;
};
struct cgroup {
    struct cgroup_subsys_state self;
    struct kernfs_node* kn;
};
#define CONFIG_SOCK_CGROUP_DATA 1
struct sock_cgroup_data {
    struct cgroup* cgroup;
    u32 classid;
};
static inline struct cgroup* sock_cgroup_ptr(struct sock_cgroup_data* data) {
    return data->cgroup;
}
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(p, type, member) ((type*)((char*)(p)-offsetof(type, member)))
struct sock;
#define IS_ENABLED(option) option
#define CONFIG_IPV6 1
static inline bool ipv6_addr_v4mapped(const struct in6_addr* address) {
    return IN6_IS_ADDR_V4MAPPED(address);
}
struct sock_common {
    u64 skc_cookie;
    __be32 skc_daddr, skc_rcv_saddr;
    __be16 skc_dport;
    u16 skc_num, skc_family;
    struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
    possible_net_t skc_net;
    volatile unsigned char skc_state;
    struct sock* skc_listener;
};
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT, TCP_SYN_RECV, TCP_TIME_WAIT = 6, TCP_CLOSE };
enum { SOCK_NOSPACE = 2 };
struct file;
struct socket {
    unsigned long flags;
    struct file* file;
    struct sock* sk;
};
typedef struct {
    atomic_t refs;
} refcount_t;
static inline unsigned int refcount_read(const refcount_t* count) {
    return (unsigned int)count->refs.counter;
}
struct sk_buff;
struct sk_buff_head {
    struct sk_buff *next, *prev;
};
enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
#define SOCK_BINDPORT_LOCK 8
struct sock {
    struct sock_common __sk_common;
    u16 sk_protocol;
    u8 sk_net_refcnt : 1, sk_userlocks : 4;
    struct sock_cgroup_data sk_cgrp_data;
    struct {
        int owned;
    } sk_lock;
    int sk_rcvlowat, sk_sndbuf, sk_wmem_queued;
    refcount_t sk_wmem_alloc;
    unsigned long sk_tsq_flags, sk_pacing_rate;
    u32 sk_pacing_status;
    u8 sk_pacing_shift;
    struct sk_buff_head sk_write_queue;
    u32 sk_ack_backlog, sk_max_ack_backlog;
    struct socket* sk_socket;
};
#define sk_state __sk_common.skc_state
static inline struct net* sock_net(const struct sock* sk) {
    return sk->__sk_common.skc_net.net;
}
struct request_sock {
    struct sock_common __req_common;
};
struct tcp_request_sock {
    struct request_sock req;
    u32 snt_isn;
};
#define tcp_rsk(req) ((const struct tcp_request_sock*)(req))
#define rsk_listener __req_common.skc_listener
#define sk_cookie __sk_common.skc_cookie
struct inet_sock {
    struct sock sk;
    __be16 inet_dport, inet_sport;
};
struct udp_sock {
    struct inet_sock inet;
    u8 encap_type;
};
#define CONFIG_MPTCP 1
struct inet_bind_bucket {
    signed char fastreuse;
};
struct tcp_sock {
    struct inet_sock inet;
    const struct inet_bind_bucket* icsk_bind_hash;
    bool is_mptcp;
    u32 rcv_nxt, copied_seq, write_seq, snd_nxt;
    u32 snd_una, snd_up, snd_wnd, snd_cwnd, snd_sml, packets_out, sacked_out, lost_out, retrans_out, notsent_lowat;
    u64 tcp_wstamp_ns, tcp_clock_cache, bytes_acked, bytes_received;
    u32 undo_marker;
    u8 chrono_type : 2, nonagle : 4, icsk_ca_state : 5;
    u32 qlen;
    const struct tcp_ulp_ops* icsk_ulp_ops;
    void* icsk_ulp_data;
};
enum { TCP_CHRONO_UNSPEC, TCP_CHRONO_BUSY, TCP_CHRONO_RWND_LIMITED, TCP_CHRONO_SNDBUF_LIMITED };
enum { TCP_NAGLE_OFF = 1, TCP_NAGLE_CORK = 2, TCP_NAGLE_PUSH = 4 };
enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
enum { TSQ_THROTTLED, TSQ_QUEUED, TCP_TSQ_DEFERRED };
enum { TCPHDR_FIN = 1 };
#define CONFIG_TLS 1
struct tcp_ulp_ops {
    char name[16];
};
enum { TLS_BASE, TLS_SW };
struct tls_context {
    u8 tx_conf : 3, rx_conf : 3;
};
#define inet_sk(sk) ((const struct inet_sock*)(sk))
#define inet_csk(sk) ((const struct tcp_sock*)(sk))
#define tcp_sk(sk) ((const struct tcp_sock*)(sk))
#define udp_sk(sk) ((const struct udp_sock*)(sk))
static inline int inet_csk_reqsk_queue_len(const struct sock* sk) {
    return (int)inet_csk(sk)->qlen;
}
static inline int inet_csk_reqsk_queue_is_full(const struct sock* sk) {
    return inet_csk(sk)->qlen > sk->sk_max_ack_backlog;
}
static inline bool sk_acceptq_is_full(const struct sock* sk) {
    return sk->sk_ack_backlog > sk->sk_max_ack_backlog;
}
struct skb_shared_info {
    atomic_t dataref;
    unsigned short gso_size SHIM_OF_CPP(= 0), gso_segs SHIM_OF_CPP(= 0);
    unsigned int gso_type SHIM_OF_CPP(= 0);
};
enum { SKB_GSO_DODGY = 2 };
struct sk_buff {
    struct sk_buff *next, *prev;
    unsigned int truesize;
    struct net_device* dev;
    struct sock* sk;
    char cb[48];
    u32 len, data_len;
    int skb_iif;
    u8 pkt_type : 3, encapsulation : 1;
    __be16 protocol, vlan_proto;
    u16 vlan_tci;
    u16 transport_header, network_header, mac_header, inner_network_header;
    u64 skb_mstamp_ns;
    u32 end;
    unsigned char *head, *data;
    unsigned long _skb_refdst;
};
struct rtable {
    u16 rt_type;
};
enum { RTN_LOCAL = 2 };
#define SKB_DST_PTRMASK ~1UL
#define GFP_ATOMIC 0x820
static inline int netif_is_bridge_port(const struct net_device* dev) {
    return dev->priv_flags & 1;
}
enum { VLAN_HLEN = 4 };
#define skb_vlan_tag_present(skb) ((skb)->vlan_proto != 0)
#define skb_vlan_tag_get(skb) ((skb)->vlan_tci)
/* What is in pages: by the test. */
int skb_copy_bits(const struct sk_buff* skb, int offset, void* to, int length);
#define skb_shinfo(skb) ((const struct skb_shared_info*)((skb)->head + (skb)->end))
struct inet_skb_parm {
    int iif;
    u16 flags, frag_max_size;
};
struct inet6_skb_parm {
    int iif;
    u16 nhoff, flags, frag_max_size;
};
struct tcp_skb_cb {
    u32 seq, end_seq;
    u8 tcp_flags, sacked;
    u16 tcp_gso_segs, tcp_gso_size;
    u32 ack_seq;
    union {
        struct inet_skb_parm h4;
        struct inet6_skb_parm h6;
    } header;
};
enum {
    SKB_DROP_REASON_NOT_SPECIFIED = 2,
    SKB_DROP_REASON_NO_SOCKET = 3,
    SKB_DROP_REASON_TCP_CSUM = 5,
    SKB_DROP_REASON_TCP_OLD_DATA = 37,
    SKB_DROP_REASON_TCP_OFOMERGE = 40
};
#define IPCB(skb) ((const struct inet_skb_parm*)&(skb)->cb[0])
#define IP6CB(skb) ((const struct inet6_skb_parm*)&(skb)->cb[0])
#define TCP_SKB_CB(skb) ((const struct tcp_skb_cb*)&(skb)->cb[0])

#endif
