// SPDX-License-Identifier: GPL-2.0-or-later
// The tracepoints that tapsets use, with the arguments they have in each kernel (include/trace/events of the
// sources named in ../../../README.md). TRACE_x is defined where the kernel's symbol table has it.
struct sk_buff;
struct net_device;
struct sock;
struct request_sock;
struct irqaction;
struct softirq_action;
struct task_struct;
struct page;
enum skb_drop_reason { SKB_DROP_REASON_NOT_SPECIFIED };
enum sk_rst_reason { SK_RST_REASON_NOT_SPECIFIED };

#ifdef TRACE_netif_receive_skb
DECLARE_TRACE(netif_receive_skb, PARAMS(struct sk_buff* skb), )
#endif
#ifdef TRACE_netif_rx
DECLARE_TRACE(netif_rx, PARAMS(struct sk_buff* skb), )
#endif
#ifdef TRACE_net_dev_queue
DECLARE_TRACE(net_dev_queue, PARAMS(struct sk_buff* skb), )
#endif
#ifdef TRACE_net_dev_start_xmit
DECLARE_TRACE(net_dev_start_xmit, PARAMS(const struct sk_buff* skb, const struct net_device* dev), )
#endif
#ifdef TRACE_net_dev_xmit
DECLARE_TRACE(net_dev_xmit, PARAMS(struct sk_buff* skb, int rc, struct net_device* dev, unsigned int skb_len), )
#endif
#ifdef TRACE_consume_skb
DECLARE_TRACE(consume_skb, PARAMS(struct sk_buff* skb), )
#endif
#ifdef TRACE_kfree_skb
#if KERNEL >= 611 || defined(EL9)
DECLARE_TRACE(kfree_skb, PARAMS(struct sk_buff* skb, void* location, enum skb_drop_reason reason, struct sock* rx_sk), )
#elif KERNEL >= 517
DECLARE_TRACE(kfree_skb, PARAMS(struct sk_buff* skb, void* location, enum skb_drop_reason reason), )
#else
DECLARE_TRACE(kfree_skb, PARAMS(struct sk_buff* skb, void* location), )
#endif
#endif
#ifdef TRACE_tcp_probe
DECLARE_TRACE(tcp_probe, PARAMS(struct sock* sk, struct sk_buff* skb), )
#endif
#ifdef TRACE_tcp_rcv_space_adjust
DECLARE_TRACE(tcp_rcv_space_adjust, PARAMS(struct sock* sk), )
#endif
#ifdef TRACE_tcp_retransmit_skb
#if KERNEL >= 702
DECLARE_TRACE(tcp_retransmit_skb, PARAMS(const struct sock* sk, const struct sk_buff* skb, int err), )
#else
DECLARE_TRACE(tcp_retransmit_skb, PARAMS(const struct sock* sk, const struct sk_buff* skb), )
#endif
#endif
#ifdef TRACE_tcp_send_reset
#if KERNEL >= 612
DECLARE_TRACE(tcp_send_reset,
              PARAMS(const struct sock* sk, const struct sk_buff* skb__nullable, const enum sk_rst_reason reason), )
#elif KERNEL >= 610 || defined(EL9)
DECLARE_TRACE(tcp_send_reset,
              PARAMS(const struct sock* sk, const struct sk_buff* skb, const enum sk_rst_reason reason), )
#else
DECLARE_TRACE(tcp_send_reset, PARAMS(const struct sock* sk, const struct sk_buff* skb), )
#endif
#endif
#ifdef TRACE_tcp_retransmit_synack
DECLARE_TRACE(tcp_retransmit_synack, PARAMS(const struct sock* sk, const struct request_sock* req), )
#endif
#ifdef TRACE_irq_handler_entry
DECLARE_TRACE(irq_handler_entry, PARAMS(int irq, struct irqaction* action), )
DECLARE_TRACE(irq_handler_exit, PARAMS(int irq, struct irqaction* action, int ret), )
#endif
#ifdef TRACE_softirq_entry
#if KERNEL >= 300
DECLARE_TRACE(softirq_entry, PARAMS(unsigned int vec_nr), )
DECLARE_TRACE(softirq_exit, PARAMS(unsigned int vec_nr), )
DECLARE_TRACE(softirq_raise, PARAMS(unsigned int vec_nr), )
#else
DECLARE_TRACE(softirq_entry, PARAMS(struct softirq_action* h, struct softirq_action* vec), )
DECLARE_TRACE(softirq_exit, PARAMS(struct softirq_action* h, struct softirq_action* vec), )
DECLARE_TRACE(softirq_raise, PARAMS(struct softirq_action* h, struct softirq_action* vec), )
#endif
#endif
#ifdef TRACE_sched_process_exit
#if KERNEL >= 615
DECLARE_TRACE(sched_process_exit, PARAMS(struct task_struct* p, _Bool group_dead), )
#else
DECLARE_TRACE(sched_process_exit, PARAMS(struct task_struct* p), )
#endif
#endif
#ifdef TRACE_mm_page_alloc
DECLARE_TRACE(mm_page_alloc, PARAMS(struct page* page, unsigned int order, unsigned int gfp_flags, int migratetype), )
#endif
