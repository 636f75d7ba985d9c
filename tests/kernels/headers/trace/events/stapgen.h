// The tracepoints that tapsets use, with the arguments they have in each kernel (include/trace/events of the
// sources named in ../../../README.md). TRACE_x is defined where the kernel's symbol table has it.
struct sk_buff;
struct net_device;
struct sock;
enum skb_drop_reason { SKB_DROP_REASON_NOT_SPECIFIED };

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
#if KERNEL >= 611
DECLARE_TRACE(kfree_skb, PARAMS(struct sk_buff* skb, void* location, enum skb_drop_reason reason, struct sock* rx_sk), )
#elif KERNEL >= 517
DECLARE_TRACE(kfree_skb, PARAMS(struct sk_buff* skb, void* location, enum skb_drop_reason reason), )
#else
DECLARE_TRACE(kfree_skb, PARAMS(struct sk_buff* skb, void* location), )
#endif
#endif
