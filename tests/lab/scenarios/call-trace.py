# SPDX-License-Identifier: GPL-2.0-or-later
"""What is called for one packet, from the driver's hand-over to the return of the reader's call, and nothing of others."""

import collections

from lablib import kernel
from lablib.events import Trace

DESCRIPTION = "one segment among 1,110 others: its calls in order, nested and as long as they were; datagrams, a card, functions"
IN_CI = ("trixie",)
ALSO_ON = ("trixie-cloud", "trixie-rt")
NET = True
# Probes of 360 functions are put in twice, which takes three times as long where it is to be agreed with another CPU.
APPEND = "threadirqs maxcpus=1"
# An interrupt that comes while a probe's handler runs, such as that of a timer, may wake a waiter by this function.
BY_INTERRUPTS = "ep_poll_callback"
BUILD = {
    "kinds": ["call-trace", "--packets", "10"],
    "few": ["call-trace", "--depth", "5", "--max-calls", "11"],
    "thread": ["call-trace", "--packets", "7", "--in", "inet_recvmsg"],
    "in": ["call-trace", "--packets", "3", "--in", "tcp_v4_do_rcv,tcp_v6_do_rcv", "--functions", "tcp_ack,tcp_rc*"],
}

PORT, OTHER = 7011, 7013
# The packets of the port, in their order: each request and its reply.
CARD, ASLEEP, IP6, UDP, PACKETS = 1, 5, 7, 9, 10
GAP = 500_000_000
# Where time is spent, in a function that is not probed, and which ones call it.
SPENT = {"__wake_up_sync_key": {"sock_def_readable"}, "tcp_mstamp_refresh": {"tcp_rcv_established", "tcp_rcv_space_adjust"},
         "simple_copy_to_iter": {"__skb_datagram_iter"}}
FIRST_NS, MORE_NS = 1_000_003, 100_003
# ns that a call takes beside, for each that is in it and for itself: those are the probes, and what little else it does.
PROBED = {None: 25_000, "arm64": 40_000}  # by a root's architecture
# The timer interrupts every 4 ms (HZ=250), a little late, and a call that it falls into is longer by what it does.
TICK, LATE, TICK_TAKES = 4_000_000, 20_000, 100_000

GUEST = kernel.SPEND + f"""
spend_at {FIRST_NS} {MORE_NS} {" ".join(f"'{function} serve'" for function in SPENT)} || exit 1
make_pair
serve_at() {{
    NETNS=$1 start_ready serve --port "${{@:2}}" || exit 1
}}
serve_at "" {PORT}
serve_at right {PORT} --read read --wait none --threads per-connection
serve_at left {PORT} --family 6
serve_at right {PORT} --udp --read recvfrom
serve_at right {OTHER}
server=$READY_PID
asked() {{ ip netns exec $1 ask --port "${{@:2}}" || exit 1; }}
others() {{ asked left {OTHER} --address 10.9.0.2 --requests $1; }}

record kinds kinds --port {PORT} || exit 1
others 1009
asked outside {PORT} --address 10.0.2.15 --requests 1
others 101
asked left {PORT} --address 10.9.0.2 --requests 2 --gap-ms {GAP // 1_000_000}
spend on
asked right {PORT} --family 6 --address fd09::1 --requests 1
asked left {PORT} --udp --address 10.9.0.2 --requests 1
spend off
end_records kinds

record few few --port {OTHER} || exit 1
others 7
end_records few
record thread thread -x $server || exit 1
others 7
end_records thread
record in in || exit 1
others 7
end_records in
cat /proc/spend >spent
finish
"""

TCP4 = ("ip_rcv_core", "ip_local_deliver", "tcp_v4_rcv", "tcp_v4_do_rcv", "tcp_rcv_established", "tcp_data_queue",
        "tcp_queue_rcv", "tcp_data_ready", "sock_def_readable")
TCP6 = ("ip6_rcv_core", "ip6_input", "tcp_v6_rcv", "tcp_v6_do_rcv", "tcp_rcv_established", "sock_def_readable")
UDP4 = ("ip_rcv_core", "ip_local_deliver", "udp_rcv", "udp_queue_rcv_one_skb", "__udp_enqueue_schedule_skb")
READ = ("inet_recvmsg", "tcp_recvmsg", "tcp_recvmsg_locked", "skb_copy_datagram_iter", "tcp_rcv_space_adjust")


def prepare(lab):
    kernel.build_modules(lab)


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


def check_lengths(lab, name, packet):
    """Each call for the packet is as long as what was spent in it; returns in which of them that was."""
    spent = [one for one in kernel.read_calls(lab.read("spent")) if one.end > one.begin]
    records, _ = kernel.read_records(lab, name)
    calls = [record for record in records if record["packet"] == packet]
    for call in calls:
        call["ns"] = call["in-thread"] if call["in-softirq"] is None else call["in-softirq"]
        call["begin"] = call["time"] - call["ns"]
    found = set()
    for call in calls:
        mine = [one for one in spent if call["begin"] <= one.begin and one.end <= call["time"]]
        inner = [other for other in calls if call["begin"] <= other["begin"] and other["time"] <= call["time"]]
        ns = sum(one.end - one.begin for one in mine)
        ticks = call["time"] // TICK - (call["begin"] - LATE) // TICK
        beside = len(inner) * PROBED[lab.root.architecture] + ticks * TICK_TAKES
        assert ns <= call["ns"] < ns + beside, f"{name}: {ns} ns were spent in {call}"
        found |= {(one.function, plain(call["function"])) for one in mine
                  if not any(other["depth"] > call["depth"] and other["begin"] <= one.begin <= other["time"] for other in inner)}
    print(f"  packet {packet}: {len(calls)} calls are as long as what was spent in them: {', '.join(map(' in '.join, sorted(found)))}")
    return found


def expect_missed(account):
    """All that was skipped are calls from an interrupt."""
    missed = account.get("skipped_by", {})
    assert sum(missed.values()) == account["skipped_probes"], account
    assert set(missed) <= {BY_INTERRUPTS, f"return of {BY_INTERRUPTS}"}, account


class Calls(Trace):
    """A run, with its calls by context. Nothing is unreturned, and all has its place in a tree."""

    def __init__(self, lab, name, trees=1):
        super().__init__(lab, name, skips=True)
        expect_missed(self.accounting)
        self.calls = self.report["calls"]
        assert len(self.calls) == len(self.events) and self.report["calls_left_out"] == 0
        assert self.accounting["other"].get("complete") == trees, self.accounting
        assert self.accounting["incomplete"] == 0, self.accounting
        inner = check_nesting(self.calls)
        print(f"  {len(self.calls)} calls, {inner} of them in others")

    def of(self, packet, context):
        return [call for call in self.calls if (call["packet"], call["context"]) == (packet, context)]

    def expect_packet(self, packet, receive, entry, read):
        """One packet's way: all of the functions in order, its entry into the protocol once, one thread."""
        softirq, thread = self.of(packet, "softirq"), self.of(packet, "thread")
        receive = met_in_use(softirq, receive)
        expect_order(softirq, receive)
        expect_order(thread, read)
        assert names(softirq).count(entry) == 1, names(softirq)
        assert {call["comm"] for call in thread} == {"serve"}, thread
        assert [call["args"] for call in softirq if call["function"] == entry] == ["skb"]
        assert all(call["depth"] < 20 for call in self.calls)
        # The reader cannot copy before the packet is in its socket.
        copied = next(call for call in thread if plain(call["function"]) in ("skb_copy_datagram_iter", "skb_consume_udp"))
        met = next(call for call in softirq if plain(call["function"]) == receive[-1])
        assert met["begin_ns"] < copied["begin_ns"]


def check(lab):
    kinds = Calls(lab, "kinds", PACKETS)
    assert {call["packet"] for call in kinds.calls} == set(range(1, PACKETS + 1))
    kinds.expect_packet(CARD, TCP4, "tcp_v4_rcv", READ)
    assert any(call["function"] == "tcp_rcv_established" and call["args"].startswith("sk, skb") for call in kinds.calls)
    assert names(kinds.of(CARD, "thread"))[0] in ("__sys_recvfrom", "ksys_read"), names(kinds.of(CARD, "thread"))

    # This request finds the thread asleep in its call, which began before the packet came.
    receive, read = kinds.of(ASLEEP, "softirq"), kinds.of(ASLEEP, "thread")
    expect_order(receive, TCP4)
    expect_order(read, ("inet_recvmsg", "tcp_recvmsg", "sk_wait_data", "skb_copy_datagram_iter"))
    asleep = next(call for call in read if call["function"] == "sk_wait_data")
    assert asleep["begin_ns"] < min(call["begin_ns"] for call in receive), asleep
    # The sender's gap, of which the reader is at the request before for a little; the segment's arrival ends the sleep.
    woken = next(call["begin_ns"] for call in receive if plain(call["function"]) == "sock_def_readable")
    copied = next(call["begin_ns"] for call in read if plain(call["function"]) == "skb_copy_datagram_iter")
    assert woken < asleep["begin_ns"] + asleep["duration_ns"] < copied, asleep
    assert asleep["duration_ns"] > GAP * 9 // 10, asleep
    kinds.expect_packet(IP6, TCP6, "tcp_v6_rcv", ("inet6_recvmsg", *READ[1:]))
    kinds.expect_packet(UDP, UDP4, "udp_rcv", ("inet_recvmsg", "udp_recvmsg", "skb_consume_udp"))
    found = check_lengths(lab, "kinds", IP6)
    spent = {(function, caller) for function, callers in SPENT.items() for caller in callers}
    # The reader may not be asleep yet.
    assert found | {("__wake_up_sync_key", "sock_def_readable")} == spent, found
    found = check_lengths(lab, "kinds", UDP)
    assert ("__wake_up_sync_key", "sock_def_readable") in found, found

    few = Trace(lab, "few", skips=True)
    expect_missed(few.accounting)
    assert len(few.events) == 11 and max(event["depth"] for event in few.events) == 4, few.events
    # Deeper than that; what is deeper is counted, and what is more.
    assert "tcp_rcv_established" not in [plain(event["function"]) for event in few.events]
    assert few.accounting["filtered"] > 0 and few.accounting["lost_by"]["max-calls"] > 0, few.accounting

    thread = Calls(lab, "thread", 7)
    assert {(call["comm"], call["context"]) for call in thread.calls} == {("serve", "thread")}
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
