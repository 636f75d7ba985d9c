"""What is called for one packet, from the driver's hand-over to the return of the reader's call, and nothing of others."""

import collections

from lablib.events import Trace

DESCRIPTION = "one segment among 1,110 others: its calls in order and nested; datagrams, IPv6, a card, threads, functions"
IN_CI = ("trixie",)
NET = True
# 360 probes are put in eight times, which takes three times as long where it is to be agreed with another CPU.
APPEND = "maxcpus=1 threadirqs"
BUILD = {
    "one": ["call-trace"],
    "two": ["call-trace", "--packets", "2"],
    "three": ["call-trace", "--packets", "3", "--depth", "5"],
    "few": ["call-trace", "--max-calls", "11"],
    "thread": ["call-trace", "--packets", "7"],
    "in": ["call-trace", "--packets", "3", "--in", "tcp_v4_do_rcv,tcp_v6_do_rcv", "--functions", "tcp_ack,tcp_rc*"],
}

PORT, OTHER, BLOCKING, IP6, UDP = 7011, 7013, 7017, 7019, 7027

GUEST = f"""
make_pair
serve_at() {{
    NETNS=right start_ready serve "$@" || exit 1
}}
serve_at --port {PORT}
server=$READY_PID
serve_at --port {OTHER}
serve_at --port {BLOCKING} --read read --wait none --threads per-connection
serve_at --port {IP6} --family 6
serve_at --port {UDP} --udp --read recvfrom
left() {{ ip netns exec left "$@" || exit 1; }}
others() {{ left ask --address 10.9.0.2 --port {OTHER} --requests $1; }}
asked() {{ left ask --address 10.9.0.2 "$@"; }}

trace one one --port {PORT} -o one.rec || exit 1
others 1009
asked --port {PORT} --requests 1
others 101
end_trace one
stapgen report one.rec >one.txt || exit 1
stapgen report one.rec --format html >one.html || exit 1

# Without the replies, which have this port, too.
trace blocking two --port {BLOCKING} --dev right0 || exit 1
asked --port {BLOCKING} --requests 2 --gap-ms 500
end_trace blocking
trace six one --port {IP6} || exit 1
left ask --family 6 --address fd09::2 --port {IP6} --requests 1
end_trace six
trace udp one --port {UDP} || exit 1
asked --udp --port {UDP} --requests 1
end_trace udp
trace three three --port {PORT} || exit 1
asked --port {PORT} --requests 7
end_trace three
trace few few --port {PORT} || exit 1
asked --port {PORT} --requests 7
end_trace few
trace thread thread -x $server || exit 1
others 101
asked --port {PORT} --requests 7
end_trace thread
trace in in || exit 1
asked --port {PORT} --requests 7
end_trace in

start_ready serve --port 11211 || exit 1
trace card one --port 11211 --dev $LAB_NIC || exit 1
outside ask --address 10.0.2.15 --port 11211 --requests 1 || exit 1
end_trace card
finish
"""

TCP4 = ("ip_rcv_core", "ip_local_deliver", "tcp_v4_rcv", "tcp_v4_do_rcv", "tcp_rcv_established", "tcp_data_queue",
        "tcp_queue_rcv", "tcp_data_ready", "sock_def_readable")
TCP6 = ("ip6_rcv_core", "ip6_input", "tcp_v6_rcv", "tcp_v6_do_rcv", "tcp_rcv_established", "sock_def_readable")
UDP4 = ("ip_rcv_core", "ip_local_deliver", "udp_rcv", "udp_queue_rcv_one_skb", "__udp_enqueue_schedule_skb")
READ = ("inet_recvmsg", "tcp_recvmsg", "tcp_recvmsg_locked", "skb_copy_datagram_iter", "tcp_rcv_space_adjust")


def plain(name):
    """Return a function's name without what the compiler has added."""
    return name.split(".")[0]


def names(calls):
    return [plain(call["function"]) for call in sorted(calls, key=lambda call: (call["begin_ns"], call["depth"]))]


def expect_order(calls, expected):
    """Each of the expected functions begins after the one before it."""
    rest = iter(found := names(calls))
    missing = [name for name in expected if name not in rest]
    assert not missing, f"{missing[0]} is not where it should be among {found}"


def met_in_use(calls, expected):
    """What is to be expected where the server had the socket in a call of its own, and works the segment off in that."""
    if "tcp_add_backlog" not in names(calls):
        return expected
    print("  a segment went into the backlog")
    return (*(name for name in expected[:3]), "tcp_add_backlog")


def check_nesting(calls):
    """Each call lies in one of its context that is one less deep; returns how many do."""
    contexts = collections.defaultdict(list)
    for call in calls:
        contexts[call["packet"], call["context"], call["tid" if call["context"] == "thread" else "cpu"]].append(call)
    inner = 0
    for context in contexts.values():
        stack = []
        for call in sorted(context, key=lambda call: (call["begin_ns"], call["depth"])):
            del stack[call["depth"]:]
            assert len(stack) == call["depth"], f"nothing has called {call}"
            if stack:
                inner += 1
                end = stack[-1]["begin_ns"] + stack[-1]["duration_ns"]
                assert call["begin_ns"] + call["duration_ns"] <= end, f"{call} ends after {stack[-1]}"
            stack.append(call)
    return inner


class Calls(Trace):
    """A run, with its calls by context. Nothing is unreturned, and all has its place in a tree."""

    def __init__(self, lab, name, trees=1):
        # An interrupt that waited for a handler's end skips the probes in its softirqs: docs/kernel-quirks.md.
        super().__init__(lab, name, skips=True)
        self.calls = self.report["calls"]
        assert len(self.calls) == len(self.events) and self.report["calls_left_out"] == 0
        assert self.accounting["other"].get("complete") == trees, self.accounting
        assert self.accounting["incomplete"] == 0, self.accounting
        inner = check_nesting(self.calls)
        print(f"  {len(self.calls)} calls, {inner} of them in others")
        self.softirq = [call for call in self.calls if call["context"] == "softirq"]
        self.thread = [call for call in self.calls if call["context"] == "thread"]

    def expect_packet(self, receive, entry, read, reader):
        """One packet's way: all of the functions in order, its entry into the protocol once, one thread."""
        receive = met_in_use(self.softirq, receive)
        expect_order(self.softirq, receive)
        expect_order(self.thread, read)
        assert names(self.softirq).count(entry) == 1, names(self.softirq)
        assert {call["comm"] for call in self.thread} == {reader}, self.thread
        assert [call["args"] for call in self.softirq if call["function"] == entry] == ["skb"]
        assert all(call["depth"] < 20 for call in self.calls)
        # The reader cannot copy before the packet is in its socket.
        copied = next(call for call in self.thread if plain(call["function"]) in ("skb_copy_datagram_iter", "skb_consume_udp"))
        met = next(call for call in self.softirq if plain(call["function"]) == receive[-1])
        assert met["begin_ns"] < copied["begin_ns"]


def check_text(lab):
    text, page = lab.read("one.txt"), lab.read("one.html")
    assert "packet 1\n" in text and "|    ip_rcv_core(skb)" in text and " tcp_v4_rcv(skb) {" in text, text
    assert "<pre>packet 1\n" in page and "tcp_v4_rcv(skb) {" in page


def check(lab):
    one = Calls(lab, "one")
    one.expect_packet(TCP4, "tcp_v4_rcv", READ, "serve")
    assert "tcp_rcv_established(sk, skb" in lab.read("one.txt") or "tcp_add_backlog" in names(one.softirq)
    check_text(lab)
    assert names(one.thread)[0] in ("__sys_recvfrom", "ksys_read"), names(one.thread)

    # Its second request finds the thread asleep in its call, which began before the packet came.
    second = [call for call in Calls(lab, "blocking", 2).calls if call["packet"] == 2]
    receive = [call for call in second if call["context"] == "softirq"]
    read = [call for call in second if call["context"] == "thread"]
    expect_order(receive, TCP4)
    expect_order(read, ("inet_recvmsg", "tcp_recvmsg", "sk_wait_data", "skb_copy_datagram_iter"))
    asleep = next(call for call in read if call["function"] == "sk_wait_data")
    assert asleep["begin_ns"] < min(call["begin_ns"] for call in receive) and asleep["duration_ns"] > 400_000_000, asleep
    Calls(lab, "six").expect_packet(TCP6, "tcp_v6_rcv", ("inet6_recvmsg", *READ[1:]), "serve")
    Calls(lab, "udp").expect_packet(UDP4, "udp_rcv", ("inet_recvmsg", "udp_recvmsg", "skb_consume_udp"), "serve")
    card = Calls(lab, "card")
    card.expect_packet(TCP4, "tcp_v4_rcv", READ, "serve")

    three = Calls(lab, "three", 3)
    assert max(call["depth"] for call in three.calls) == 4 and three.accounting["filtered"] > 0
    assert {call["packet"] for call in three.calls} == {1, 2, 3}
    # Deeper than that; what is deeper is counted.
    assert "tcp_rcv_established" not in names(three.softirq)

    few = Calls.__new__(Calls)
    Trace.__init__(few, lab, "few")
    assert len(few.events) == 11 and few.accounting["lost_by"]["max-calls"] > 11, few.accounting

    thread = Calls(lab, "thread", 7)
    assert not thread.softirq and {call["comm"] for call in thread.calls} == {"serve"}
    assert len({call["tid"] for call in thread.calls}) == 1
    assert {call["packet"] for call in thread.calls} == set(range(1, 8))

    inside = Calls(lab, "in", 3)
    roots = [call for call in inside.calls if call["depth"] == 0]
    assert [plain(call["function"]) for call in roots] == ["tcp_v4_do_rcv"] * 3, roots
    # What two patterns and the list have in common is there once.
    for packet in (1, 2, 3):
        mine = names(call for call in inside.calls if call["packet"] == packet)
        assert mine.count("tcp_rcv_established") + mine.count("tcp_rcv_state_process") == 1, mine
    assert lab.read("modules-left").strip() == "0"
