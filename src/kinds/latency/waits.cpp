// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/waits.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stapgen::kinds::latency {

namespace {

constexpr std::string_view undivided = "undivided";
constexpr std::string_view received = "tcp-app udp-app";

/// Parts: tapsets/c/causes.h; how they are known: tx_wait.h and rx_wait.h beside it. Remedies are of Linux 6.1 to 7.2;
/// counters are spelled as nstat spells them, settings as sysctl does.
constexpr auto waits = std::to_array<Wait>({
    {"drv-drv", "", "between two devices of this host", "from the first hand-over (netif_receive_skb) to the last one",
     "an ifb's qdisc (tc -s qdisc show dev ifb0), a bridge, or what takes it out of a tunnel (IPsec: decryption)"},
    {"drv-ip", "", "between its driver and IP", "from the last hand-over (netif_receive_skb) to ip_rcv_core",
     "packet sockets (tcpdump), tc, generic XDP, a bridge: tc -s filter show dev DEV ingress; bpftool net"},
    {"ip-tcp ip-udp", "", "in routing and netfilter on its way in", "from ip_rcv_core to tcp_v4_rcv or udp_rcv",
     "fewer firewall rules before the one that matches, or sets instead of lists: nft list ruleset"},
    {"tcp-app", "backlog", "for a thread that held the socket",
     "TCP put it into the socket's backlog (tcp_add_backlog), until it was processed (tcp_rcv_established)",
     "smaller reads and writes: the thread copies while it holds the socket; one thread for each socket"},
    {"tcp-app", "missing-bytes", "for earlier bytes of its connection, which came later",
     "rcv_nxt was before its first byte as it came, until it had passed its end",
     "find the loss or reordering: stapgen retransmits on the sender; ethtool -S DEV, nstat -az TcpExtTCPOFOQueue"},
    {"tcp-app", "rcvlowat", "for as many bytes as the program wants at once (SO_RCVLOWAT)",
     "it was in order, and fewer than sk_rcvlowat bytes were there",
     "a smaller SO_RCVLOWAT; or the sender sends in pieces: stapgen why there"},
    {"tcp-app", "unread-bytes",
     "for earlier bytes of its connection to be read, by a thread that had not read it before",
     "copied_seq was before its first byte as it was ready, and came there in an earlier receiving call than the one "
     "that took it; another thread, or none, had read the connection last",
     "one thread for each connection"},
    {received, "stack", "for TCP's or UDP's own work",
     "from tcp_v4_rcv or udp_rcv until it was in its socket's queue, in order, with no cause above",
     "microseconds are normal; more: a BPF filter of the socket, or interrupts on that CPU"},
    {received, "wake-up", "for its thread to wake up",
     "the thread slept as the packet was ready, in a receiving call or else for up to 0.2 ms, until it could run",
     "busy polling (SO_BUSY_POLL, net.core.busy_read), shallow idle states (cpupower idle-set -D 10), thread and "
     "interrupts on near CPUs"},
    {received, "asleep", "while its thread slept, and not in a receiving call: a lock, a disk, a timer, another server",
     "the thread neither ran (sum_exec_runtime) nor waited for a CPU (sched_info.run_delay) since the packet was ready",
     "find the call it sleeps in: strace -f -T -p PID; then shorten that, or read in another thread"},
    {received, "run-queue", "for a CPU: the reading thread was runnable but not scheduled",
     "what the thread's sched_info.run_delay (/proc/PID/task/TID/schedstat) rose by since the packet was ready",
     "fewer threads for each CPU (taskset, cpuset.cpus); of its cgroup a larger cpu.weight or cpu.max (cpu.stat: "
     "nr_throttled)"},
    {received, "program", "while its thread ran the program, and did not read yet",
     "what the thread's sum_exec_runtime rose by until its receiving call began; interrupts on its CPU are in it",
     "profile the thread: perf record -t TID; more threads, or less work between two reads"},
    {received, "recv-call", "while its thread ran in the receiving call",
     "what the thread's sum_exec_runtime rose by since the call began (inet_recvmsg); interrupts are in it",
     "copying is normal; more: interrupts on that CPU (mpstat -I SUM -P ALL), smaller reads"},
    {received, undivided, "for its thread, and what that did is not known",
     "the thread had read nothing before, came onto a CPU more than once since its last read, or had no room in a "
     "table",
     "measure for longer (it is mostly first packets of connections), or fewer sockets (--port, --sample)"},
    {"app-tcp", "send-call", "while the send call ran: it copied, or had lost its CPU",
     "from inet_sendmsg to the attempt to send (tcp_write_xmit), with all earlier bytes sent and the socket free",
     "microseconds are normal; more: smaller writes, or fewer threads for each CPU (taskset, cpuset.cpus, cpu.max)"},
    {"app-tcp", "socket-lock", "for the socket, which another thread held",
     "sk_lock.owned was set at inet_sendmsg, until the call had the lock (tcp_sendmsg_locked)",
     "smaller writes: the other thread holds the socket while it copies; one thread for each socket"},
    {"app-tcp", "connect", "for the end of its connection's handshake",
     "sk_state was CLOSE (MSG_FASTOPEN), SYN_SENT or SYN_RECV as the call had the lock, until the attempt to send",
     "keep connections open; more than a round trip: lost SYNs (nstat -az TcpExtTCPSynRetrans)"},
    {"app-tcp", "sending", "while TCP sent it, and segments before it in the same attempt",
     "from tcp_write_xmit to its own __tcp_transmit_skb",
     "microseconds are normal; more: what each segment passes on its way out (nft list ruleset, tc -s qdisc)"},
    {"app-tcp", "nagle", "for an acknowledgment: Nagle; the program does not set TCP_NODELAY",
     "an attempt ended with a last, small segment unsent, nonagle 0, and snd_sml, the small one before it, not "
     "acknowledged",
     "set TCP_NODELAY, or write at once what belongs together (writev); 40 ms is the peer's delayed acknowledgment"},
    {"app-tcp", "cork", "for the program to take TCP_CORK away",
     "an attempt ended with a last, small segment unsent, and TCP_CORK in tp->nonagle",
     "take TCP_CORK away after the last write, or one writev (of nginx: tcp_nopush); it ends after 200 ms anyway"},
    {"app-tcp", "msg-more", "for more bytes, which the send call had promised (MSG_MORE)",
     "an attempt ended with a last, small segment unsent, and a cork in its argument, not in tp->nonagle",
     "the last write without MSG_MORE (of splice: SPLICE_F_MORE)"},
    {"app-tcp", "autocork", "for the device to be done with what the socket had sent before (autocorking)",
     "the call ended without an attempt to send, and the next attempt was in softirq or in another call",
     "net.ipv4.tcp_autocorking=0 (nstat -az TcpExtTCPAutoCorking counts); more than microseconds: see qdisc"},
    {"app-tcp", "cwnd", "for room in the congestion window",
     "an attempt ended, and packets_out - sacked_out - lost_out + retrans_out was snd_cwnd or more",
     "initcwnd of the route, net.ipv4.tcp_slow_start_after_idle=0, another congestion control; ss -ti shows cwnd"},
    {"app-tcp", "loss-recovery", "for room in the congestion window after a loss",
     "as cwnd, and icsk_ca_state was Recovery or Loss",
     "find the loss: stapgen retransmits, stapgen dropwatch; a policer or a short queue on the path"},
    {"app-tcp", "rwnd", "for room in the receiver's window",
     "an attempt ended without tcp_chrono_stop, and chrono_type was TCP_CHRONO_RWND_LIMITED (ss -ti: rwnd_limited)",
     "on the receiver: read faster, a larger last value of net.ipv4.tcp_rmem, no small SO_RCVBUF"},
    {"app-tcp", "zero-window", "for the receiver to read: its window was shut",
     "as rwnd, and nothing was on its way as the attempt began, nor sent by it",
     "on the receiver: its program does not read; stapgen why there shows what it does instead"},
    {"app-tcp", "sndbuf", "for room in the send buffer: all that it takes was sent and not acknowledged",
     "all was sent and cwnd was not full; a thread waited for room (sk_stream_wait_memory, sk_wmem_queued >= "
     "sk_sndbuf), or had found none (SOCK_NOSPACE)",
     "no SO_SNDBUF of the program, and a last value of net.ipv4.tcp_wmem of twice bandwidth times round trip or more"},
    {"app-tcp", "notsent-lowat", "until less was unsent than TCP_NOTSENT_LOWAT allows",
     "all was sent; a thread had begun to wait for room (sk_stream_wait_memory) with sk_wmem_queued < sk_sndbuf and "
     "unsent bytes >= notsent_lowat",
     "a larger TCP_NOTSENT_LOWAT, or net.ipv4.tcp_notsent_lowat"},
    {"app-tcp", "tcp-memory", "for memory: TCP of this host or of its cgroup may have no more",
     "a thread waited for room (sk_stream_wait_memory) though the send buffer had some",
     "net.ipv4.tcp_mem against /proc/net/sockstat; memory.max of the cgroup; nstat -az TcpExtTCPMemoryPressures"},
    {"app-tcp", "pacing", "for its turn at the rate that TCP paces the connection with",
     "sk_pacing_status was SK_PACING_NEEDED, and tcp_wstamp_ns was in the future as an attempt ended",
     "SO_MAX_PACING_RATE, or the congestion control's rate (ss -ti: pacing_rate); with the qdisc fq the wait is in "
     "qdisc"},
    {"app-tcp", "tsq", "for this host's own queues, which had enough of the socket (TCP small queues)",
     "an attempt ended with a flag of sk_tsq_flags set, and nothing above held",
     "the device or its qdisc is the limit: tc -s qdisc show dev DEV; BQL; net.ipv4.tcp_limit_output_bytes"},
    {"app-tcp", "tso-defer", "for more to send at once (TSO deferral)",
     "an attempt ended with more than mss_now unsent, and nothing above held",
     "up to 1 ms is normal; a larger net.ipv4.tcp_tso_win_divisor defers less"},
    {"app-tcp", "local-drop", "to be sent again: this host had refused it",
     "TCP had handed the segment to IP, and as the attempt ended snd_nxt was still its first byte",
     "stapgen dropwatch shows where; netfilter's output (nft list ruleset), tc -s qdisc, a BPF program of its cgroup"},
    {"app-tcp", "other", "for something else",
     "an attempt ended and none of TCP's tests explains it, or it was a probe of the MTU",
     "rare; net.ipv4.tcp_mtu_probing; if it is much, a report with a recording (-o) helps"},
    {"app-tcp", undivided, "for something that is not known",
     "its socket's clock had begun later, had no room in its table, or did not add up; before Linux 4.15 always",
     "measure for longer, or fewer sockets (--port, --sample)"},
    {"tcp-ip udp-ip", "", "in routing and netfilter on its way out",
     "from __tcp_transmit_skb or ip_send_skb to ip_output", "fewer firewall rules: nft list ruleset (output); ip rule"},
    {"app-udp", "", "in the send call, until UDP handed it to IP", "from inet_sendmsg to ip_send_skb",
     "a full send buffer (ss -uam, net.core.wmem_default), UDP_CORK or MSG_MORE"},
    {"ip-drv", "", "between IP and the device's queue", "from ip_output to net_dev_queue",
     "netfilter (nft list ruleset, postrouting), the neighbour (ip neigh), devices on top of others (ip -d link)"},
    {"qdisc", "", "in the device's queueing discipline", "from net_dev_queue to net_dev_start_xmit",
     "a shaper, netem, a rate limit, or the device is busy: tc -s qdisc show dev DEV; with fq also SO_MAX_PACING_RATE "
     "or TCP's own pacing (ss -ti: pacing_rate)"},
    // Of recipes that do not divide their stages.
    {received, "", "for its reader", "from tcp_v4_rcv or udp_rcv until a thread had taken its last byte",
     "stapgen why, rx-latency and net-latency divide it into what the thread did: measure with one of them"},
    {"app-tcp", "", "in TCP until it was sent", "from the send call (inet_sendmsg) to __tcp_transmit_skb",
     "stapgen why, tx-latency and net-latency divide it into what TCP waited for: measure with one of them"},
    // sock-latency
    {"rx tcpip_rx", "", "in the kernel on its way to the socket",
     "from netif_receive_skb until its reader is being woken",
     "stapgen rx-latency: netfilter, a socket in use by another thread", "request"},
    {"ask", "", "to leave its client's host", "from the send call until its last byte is handed to the device",
     "stapgen why at the client has the parts: app-tcp, qdisc", "request"},
    {"away", "", "for its reply, between the hosts and at the server",
     "from there until the reply's first byte leaves the driver",
     "record the server with both-ends, too: stapgen between says which of the two", "request"},
    {"epoll", "", "for its thread to come out of epoll_wait, poll or select",
     "from the wake-up of the socket's reader until the call returned",
     "stapgen why --who: the thread works for another socket, has no CPU, or sleeps elsewhere", "request"},
    {"wait", "", "for other sockets of the same epoll_wait to be served",
     "from the return of epoll_wait until the receive call; epoll_events is how many it returned",
     "more threads, or less work for each socket", "request"},
    {"read", "", "while it was read",
     "the receive calls that took it, from the first to the last one; of joined recordings the client's, from the "
     "reply's last segment on",
     "larger reads; a request that comes in parts: stapgen rx-latency", "request"},
    {"app", "", "for the program", "from the last receive call's return to the first send call",
     "stapgen why --requests divides it: the program computes, or waits for a disk, a lock, another server", "request"},
    {"app", "running", "for its program, which ran",
     "its thread was on a CPU (sched_switch); interrupts and softirqs on top of it are in it",
     "a profiler: perf record -t TID", "request"},
    {"app", "syscall", "while its thread ran in system calls",
     "as running, between sys_enter and sys_exit: only with --syscalls, else it is in running",
     "which calls: perf trace -s -p PID; fewer and larger ones", "request"},
    {"app", "run-queue", "for a CPU: its thread was runnable but not scheduled",
     "from sched_waking, or a switch to another thread, until it had a CPU (sched_switch)",
     "fewer threads for each CPU (taskset, cpuset.cpus); of its cgroup a larger cpu.weight; stapgen why --who says who "
     "had the CPU",
     "request"},
    {"app", "throttled", "for the next period of its cgroup, whose quota was used up",
     "as run-queue, while its cgroup's run queue was throttled (throttle_cfs_rq)",
     "a larger cpu.max, or fewer threads (cpu.stat: nr_throttled)", "request"},
    {"app", "disk", "for a file or a block device",
     "its thread slept in a call on one (read, write, fsync), or with in_iowait set",
     "less of it in the request (which files: stapgen sock-latency --parts); how long the device takes: iostat -x 1",
     "request"},
    {"app", "swap", "for memory that had been swapped out", "its thread slept in a page fault, in do_swap_page",
     "more memory, or less of it in use: vmstat 1 (si), memory.swap.max of its cgroup; mlock() what requests need",
     "request"},
    {"app", "memory", "for memory: some had to be freed first",
     "from the tracepoints of reclaim (mm_vmscan_direct_reclaim_begin, mm_vmscan_memcg_reclaim_begin) and compaction "
     "to "
     "their ends, on a CPU or not; or it slept with in_memstall set",
     "a larger memory.high or memory.max of its cgroup (memory.events: high); on a full host less memory in use",
     "request"},
    {"app", "lock", "for a lock that another thread had",
     "its thread slept in futex() on a word that says it is contended (FUTEX_WAIT of 2, or FUTEX_LOCK_PI); who held it "
     "is read from glibc's mutex, who ended the sleep from sched_waking",
     "hold it for less time; all locks and their holders: stapgen sock-latency --parts", "request"},
    {"app", "futex", "for another thread: a condition, a semaphore, a channel, its end",
     "its thread slept in futex(), and the word says of no owner",
     "what the thread does that ends the sleeps (who: stapgen sock-latency --parts): perf trace -s -t TID", "request"},
    {"app", "kernel-lock", "for a lock of the kernel: of its address space, a directory, a file",
     "its thread slept in the kernel's rwsem or mutex code (rwsem_down_read_slowpath, __mutex_lock), in a call or a "
     "page fault; or in flock() or fcntl(F_SETLKW)",
     "fewer calls at once that take it (which function or file: stapgen sock-latency --parts): of an address space "
     "mmap, munmap, mprotect and new threads; of a directory new files; of a locked file who ended the sleep had it",
     "request"},
    {"app", "server", "for another server's answer",
     "its thread slept for a socket on which it had sent since it read the request",
     "record that one, too: stapgen both-ends on both hosts, then stapgen between", "request"},
    {"app", "process", "for another process: a pipe, a unix socket, a child",
     "its thread slept in a call on one, or was woken by a thread that was in none of the network's code",
     "what the process does that ends the sleeps (who: stapgen sock-latency --parts); ls -l /proc/PID/fd, ss -xp",
     "request"},
    {"app", "timer", "until a time", "its thread slept in nanosleep(), or its own timeout ended its wait",
     "the program sleeps on purpose: strace -f -T -p TID shows where", "request"},
    {"app", "other-sockets", "for other sockets",
     "its thread slept for a socket on which it had not sent since it read the request, or in accept(); or it worked "
     "for another request of its own",
     "the program waits for its other clients first: more threads", "request"},
    {"app", "asleep", "in another call, or a page fault", "its thread slept, and its call is none of those above",
     "which call: its number is in stapgen sock-latency --parts; strace -f -T -p TID, or cat /proc/PID/task/TID/stack",
     "request"},
    {"app", "goroutine", "for its goroutine, which ran, or waited for anything but an answer it had asked for",
     "a Go program's: which goroutine a thread runs is in a register (R14, of arm64 R28), and its stack is where that "
     "says. What it waits for in Go's scheduler, for a channel, a mutex or another goroutine, the kernel does not see",
     "go tool pprof: its block and mutex profiles, and runtime/trace", "request"},
    {"app", "handed-over", "for another thread, which sent the reply",
     "the thread that read it is not the one that replied, and it is not proved that this one did nothing else: it was "
     "awake as the request was read, or not woken by its reader alone",
     "often a queue: more threads in the pool; what these do: stapgen why --who -p PID", "request"},
    {"app", undivided, "for something that is not known",
     "its thread waited with several requests open, and this one had asked nobody; or it had no room in a table",
     "fewer connections at once: --port, --addr", "request"},
    {"tx", "", "to be sent", "from the send call until its first segment is handed to the device (net_dev_queue)",
     "stapgen tx-latency: Nagle, the window, netfilter", "request"},
    // between
    {"between", "", "between the hosts", "how long the client waited, less how long the server had it: by no clock",
     "stapgen retransmits --where on both hosts; else stapgen why on both: qdisc; else the network, a card, its "
     "interrupts",
     "request"},
    {"between", "fastest", "between the hosts for as long as the fastest do",
     "the fastest forth and the fastest back together; how that divides no two clocks can say",
     "the distance, or what each packet waits for on the way; fewer requests one after the other", "request"},
    {"between", "forth", "on its way to the server",
     "from the client's device to the server's driver; by two clocks what is above the fastest",
     "sent again? stapgen retransmits --where at the client's host; else stapgen why there: qdisc; else the network, "
     "or the server's card and interrupts",
     "request"},
    {"between", "back", "for its reply, on the way back",
     "from the server's device to the client's driver; by two clocks what is above the fastest",
     "sent again? stapgen retransmits --where at the server's host; else stapgen why there: qdisc; else the network, "
     "or the client's card and interrupts",
     "request"},
    {"server", "", "at the server's host", "from its last byte at the driver to its reply's first one at the device",
     "stapgen why with the server's own recording: what requests waited for there", "request"},
    {"reply", "", "for the rest of its reply", "from the reply's first segment to its last one, at the client",
     "the server sends slowly, or the network carries slowly: stapgen why at the server, app-tcp is its wait to send",
     "request"},
    // packet-flow
    {"irq-raise", "", "in its card's interrupt handler", "from irq_handler_entry to softirq_raise",
     "a slow or shared handler: stapgen irq-latency"},
    {"raise-softirq softirq-poll", "", "for the softirq, and others' polls in it",
     "from softirq_raise to the poll of its device (napi_poll)",
     "interrupts off, other softirqs, ksoftirqd without a CPU: stapgen irq-latency; interrupts on more CPUs"},
    {"poll-drv", "", "for packets before it in the poll, and GRO", "from napi_poll to netif_receive_skb",
     "interrupts and queues on more CPUs (ethtool -X DEV, RPS)"},
    {"tcp-queue udp-queue", "", "for its socket to take it", "from tcp_v4_rcv or udp_rcv until it is in the queue",
     "a BPF filter of the socket, another thread that holds it"},
    {"queue-wake", "", "for its reader to be woken", "from the socket's queue to sched_waking",
     "epoll with many waiters (EPOLLEXCLUSIVE), a thread that holds the socket"},
    {"wake-run", "", "for a CPU: its reader was woken but not scheduled", "from sched_waking to sched_switch",
     "fewer threads for each CPU; shallow idle states; cpu.max of its cgroup: stapgen why --who"},
    {"run-copy", "", "for the program, between waking up and reading", "from sched_switch to the copy of its bytes",
     "a profiler (perf record -t TID); strace -f -T -p PID where the thread sleeps elsewhere"},
    {"copy-return", "", "for further packets of the same receive call", "from the copy to the call's return",
     "no MSG_WAITALL, smaller reads"},
    {"drv-done", "", "for the device to report that it is sent", "from net_dev_start_xmit until the skb is freed",
     "devices report late, or with the next packet; else ethtool -c DEV, pause frames (ethtool -S DEV)"},
    // forward-latency
    {"prerouting", "", "in netfilter and routing before it was forwarded", "from ip_rcv_core to ip_forward",
     "fewer firewall rules (nft list ruleset, prerouting); ip rule; a flowtable"},
    {"forward", "", "in netfilter while it was forwarded", "from ip_forward to ip_output",
     "fewer firewall rules (nft list ruleset, forward), sets instead of lists; a flowtable"},
    {"postrouting", "", "in netfilter after routing", "from ip_output to ip_finish_output",
     "fewer firewall rules (nft list ruleset, postrouting), NAT"},
    {"neighbour", "", "for its neighbour's address", "from ip_finish_output to net_dev_queue",
     "ARP or ND: ip neigh, stapgen softnet (neigh.*); fragments: the devices' MTU"},
    {"bridge", "", "in the bridge", "from netif_receive_skb to the other device's net_dev_queue",
     "rules of the bridge (nft list ruleset, ebtables -L), br_netfilter"},
    // accept-latency
    {"handshake", "", "for its client", "from the first SYN to the handshake's end",
     "one round trip is normal; a second or more: SYNs are dropped: stapgen accept-latency --queues", "connection"},
    {"queue", "", "for the server to call accept()", "from the handshake's end until a thread took it",
     "accept sooner, in more threads; stapgen accept-latency --queues says how long the queue was", "connection"},
    // irq-latency
    {"raise-entry", "", "for its softirq's turn on that CPU", "from the first softirq_raise to softirq_entry",
     "long handlers before it (stapgen irq-latency --slowest 20), interrupts off; interrupts and queues on more CPUs",
     "run"},
    {"run", "", "while its handler ran", "from irq_handler_entry or softirq_entry to its exit",
     "which handler: stapgen report --by name; interrupts and queues on more CPUs (ethtool -X DEV, RPS)", "run"},
    // connect-latency
    {"call", "", "in connect() until its SYN", "from connect() to tcp_transmit_skb of the SYN",
     "rules of cgroups (bpftool cgroup tree), few free ports (ip_local_port_range)", "connection"},
    {"answer", "", "for the other end's answer", "from the first SYN until it is established",
     "one round trip is normal; more: syns says whether SYNs were repeated: stapgen accept-latency there",
     "connection"},
    {"failure", "", "until it failed", "from the first SYN until it has failed",
     "the column result says why: stapgen report --by result", "connection"},
});

}  // namespace

std::vector<std::string> Wait::names() const {
    std::vector<std::string> names;
    for (const auto stage : base::words(stages))
        names.push_back(cause.empty() ? std::string(stage) : std::string(stage) + '.' + std::string(cause));
    return names;
}

std::span<const Wait> known_waits() {
    return waits;
}

const Wait* wait_of(std::string_view name) {
    const auto* const found = std::ranges::find_if(waits, [&](const Wait& wait) {
        const auto names = wait.names();
        return std::ranges::find(names, name) != names.end();
    });
    return found == waits.end() ? nullptr : found;
}

bool is_undivided(std::string_view name) {
    return name.ends_with('.' + std::string(undivided));
}

}  // namespace stapgen::kinds::latency
