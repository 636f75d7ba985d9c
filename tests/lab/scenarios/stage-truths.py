# SPDX-License-Identifier: GPL-2.0-or-later
"""Both borders of every stage, and its length to the ns, against a module of the lab's own.

kernel/spend.c keeps when packets came to functions that lie between the places where the recipes look at them, and spends a
time of its own at each. So for each record it is known where its packet was in which of its stages, by another hand on the
same clock: it has to be at all the stage's functions within it, and at none else. The same traffic is measured with and
without spending, and each stage grows by just what was spent in it.
"""

import bisect
import collections
import itertools
import json
import statistics

from lablib import kernel
from lablib.events import check_account, check_ended

DESCRIPTION = "time spent at 35 functions of the kernel is in its stage, to the ns, and in no other: all recipes that have stages"
IN_CI = ("trixie",)
NET = True
APPEND = "maxcpus=1"
# All are among the slowest, and so each record is printed, too.
EVERY = "--stap-option=-DSTAPGEN_SLOWEST=1000000"
BUILD = {"flow": ["packet-flow"], "net": ["net-latency"], "net-kprobes": ["net-latency", "--no-workaround", "ftrace-hooks"],
         "sock": ["sock-latency"],
         "rx-bins": ["rx-latency", "--aggregate", EVERY], "tx-bins": ["tx-latency", "--aggregate", EVERY],
         "net-bins": ["net-latency", "--aggregate", EVERY], "sock-bins": ["sock-latency", "--aggregate", EVERY]}

# Where a packet passes, in this order, and in which stage of each recipe it is then; -: in none. In front is for which
# traffic alone. Of UDP, a stage's name has udp for tcp. Which calls count is said in kernel/spend.c. Of names with | between
# them the first that the kernel has is meant, of those with + each: it calls one of them.
#         function, and its other names                  calls    rx-, net-latency  sock-latency  packet-flow
RECEIVED = """
card      vring_interrupt                                all      -                 -             irq-raise
lo        do_softirq.part.0|do_softirq                   backlog  -                 -             raise-softirq
card      add_interrupt_randomness                       all      -                 -             raise-softirq
          net_rx_action                                  all      -                 -             softirq-poll
lo        process_backlog                                backlog  -                 -             poll-drv
card      napi_gro_receive|gro_receive_skb               2        -                 -             poll-drv
lo        ip_rcv                                         1        drv-ip            rx            drv-ip
card      ip_list_rcv                                    serve    drv-ip            rx            drv-ip
          ip_local_deliver                               1        ip-tcp            tcpip_rx      ip-tcp
          raw_local_deliver                              1        ip-tcp            tcpip_rx      ip-tcp
udp       udp_unicast_rcv_skb                            2        tcp-app           tcpip_rx      tcp-queue
tcp       tcp_v4_do_rcv                                  2        tcp-app           tcpip_rx      tcp-queue
tcp       tcp_queue_rcv                                  serve    tcp-app           tcpip_rx      queue-wake
tcp       tcp_data_ready                                 serve    tcp-app           tcpip_rx      queue-wake
          ep_poll_callback                               serve    tcp-app           epoll         queue-wake
          enqueue_task_rt                                task     tcp-app           epoll         wake-run
tcp       tcp_poll                                       serve    tcp-app           epoll         run-copy
udp       udp_poll                                       serve    tcp-app           epoll         run-copy
          inet_recvmsg                                   serve    tcp-app           wait          run-copy
tcp       skb_copy_datagram_iter|__skb_datagram_iter     serve    tcp-app           read          run-copy
udp       __skb_recv_udp                                 serve    tcp-app           read          run-copy
tcp       tcp_cleanup_rbuf|__tcp_cleanup_rbuf            serve    -                 read          copy-return
udp       __consume_stateless_skb+skb_attempt_defer_free serve    -                 app           copy-return
"""
SENT = """
          security_socket_sendmsg                        serve    -                 app           -      
tcp       tcp_sendmsg_locked                             serve    app-tcp           tx            app-tcp
tcp       tcp_write_xmit                                 serve    app-tcp           tx            app-tcp
udp       ip_make_skb                                    serve    app-tcp           tx            app-tcp
udp,lo    udp4_hwcsum                                    1        app-tcp           tx            app-tcp
tcp       tcp_v4_send_check|__ip_queue_xmit              2        tcp-ip            tx            tcp-ip
          __ip_local_out|ip_local_out                    3        tcp-ip            tx            tcp-ip
          ip_finish_output                               3        ip-drv            tx            ip-drv
          __dev_queue_xmit                               1        ip-drv            tx            ip-drv
card      sch_direct_xmit                                1        qdisc             -             qdisc
          dev_hard_start_xmit                            1        qdisc             -             qdisc
lo        loopback_xmit                                  1        -                 -             -
card      start_xmit                                     1        -                 -             drv-done
"""
KINDS = {"rx": "packet", "tx": "packet", "net": "packet", "sock": "request", "flow": "flow"}
COLUMNS = ("packet", "request", "flow")
TRAFFIC = [(protocol, device) for device in ("lo", "card") for protocol in ("tcp", "udp")]
REQUESTS = 12
PHASES = ("off", "on", "hide")   # of kernel/spend.c
PORTS = {(traffic, phase): 7801 + i for i, (phase, traffic) in enumerate(itertools.product(PHASES, TRAFFIC))}
FIRST_NS, MORE_NS = 10_007, 503

# What is left of a stage, less what is spent in it: by so many ns may the least differ, and that where a thread is woken or
# where the script's printing lies in the stage, whose digits are more or fewer. The median may have the tick's interrupt, and
# one record all that follows one, or another thread's system call.
LITTLE, LITTLE_VARYING, TICK, ONCE = 300, 4_000, 4_000, 10_000_000
VARYING = {"poll-drv", "tcpip_rx", "queue-wake", "wake-run", "copy-return", "epoll", "tcp-app", "udp-app"}
# The card of lablib/guest.py has sent a packet so much later, and its interrupt and softirq take less than that.
CARD_NS, CARD_INTERRUPT = 7_000_000, 50_000

# Packets that a probe has missed: the probe, which packets, and how a recipe counts them.
HIDDEN = {"ip_rcv_core": 1, "ip_output": 3}
MISSED = {"rx": {"ip_rcv_core": "no-ip"}, "tx": {"ip_output": "no-ip-output"}, "sock": {"ip_rcv_core": "no-driver"},
          "net": {"ip_rcv_core": "no-ip", "ip_output": "no-ip-output"},
          "flow": {"ip_rcv_core": "no-ip", "ip_output": "no-ip-output"}}

# What is hidden from a hook is counted, as its own recursion; from the kernel's kprobes it is not.
# Probes that are skipped though every packet and request is counted. The last print of packet-flow wakes its reader, and a
# wake-up's probe in a probe is skipped. An interrupt that waited for the end of a handler in a thread has its softirq's
# kprobes missed (docs/inside/kernel-quirks.md): once in twenty runs the four of an acknowledgment's way.
SKIPPED = {"flow": 1, "sock": 4}


class Place:
    """One line of these tables."""

    def __init__(self, line, way):
        words = line.split()
        self.way = way
        self.only = set(words.pop(0).split(",")) if line[0] != " " else set()
        self.names, self.calls = words[0], words[1]
        self.functions = self.names.replace("+", "|").split("|")
        self.stages = dict(zip(COLUMNS, words[2:], strict=True))

    def stage(self, kind, protocol):
        return self.stages[kind].replace("tcp-", f"{protocol}-").replace("-tcp", f"-{protocol}")


PLACES = [Place(line, way) for way, table in (("rx", RECEIVED), ("tx", SENT)) for line in table.strip("\n").splitlines()]
PLACE_OF = {function: place for place in PLACES for function in place.functions}


def guest(names):
    """Return the script that measures the same traffic in each phase, with each of these modules."""
    places = " ".join(f"'{place.names} {place.calls}'" for place in PLACES)
    # Where a tick's softirq has come behind a wake-up, Linux leaves the rest to this thread.
    script = ["chrt -f -p 60 $(pgrep -x ksoftirqd/0) || exit 1", kernel.SPEND,
              f"spend_at {FIRST_NS} {MORE_NS} {places} || exit 1",
              *(f"spend {function} {which} hide || exit 1" for function, which in HIDDEN.items())]
    traffic = []
    for ((protocol, device), phase), port in PORTS.items():
        options = f"--port {port}" + " --udp" * (protocol == "udp")
        client = "outside chrt -f 50 ask --address 10.0.2.15" if device == "card" else "chrt -f 50 ask"
        # In their class, nobody else has the CPU while they want it.
        script.append(f"start_ready chrt -f 50 serve {options} --write sendto || exit 1")
        traffic += [f"spend {phase} || exit 1", f"{client} {options} --requests {REQUESTS} || exit 1"]
    for name in names:
        script += [f"record {name} {name} || exit 1", *traffic, "spend off", f"end_records {name}"]
    return "\n".join([*script, "cat /proc/spend >calls", "finish"])


GUEST = guest(BUILD)


def prepare(lab):
    kernel.build_modules(lab)


class Record:
    """A record, with the time at which each of its stages begins and ends."""

    def __init__(self, fields, stages):
        self.fields = fields
        self.way = fields.get("way", "rx" if "tcp-app" in fields else "tx")
        self.stages = {name: fields[name] for name in stages if fields[name] is not None and name != "total"}
        self.total = fields.get("total", sum(self.stages.values()))
        self.begin, self.end = fields["time"] - sum(self.stages.values()), fields["time"]
        ends = list(itertools.accumulate(self.stages.values(), initial=self.begin))
        self.spans = dict(zip(self.stages, zip(ends, ends[1:])))


def read_records(lab, name):
    records, stages = kernel.read_records(lab, name)
    return [Record(fields, stages) for fields in records]


def records_of(records, traffic, phase, way):
    """Return the server's records of such traffic, less the first, which may have come with the end of the handshake."""
    port = PORTS[traffic, phase]
    return [record for record in records if record.fields["local"].endswith(f":{port}") and record.way == way][1:]


def calls_within(record, calls):
    """Return the calls in each of the record's stages, none of which is in two."""
    found = {name: [] for name in record.spans}
    first = bisect.bisect(calls, record.begin, key=lambda call: call.end)
    last = bisect.bisect(calls, record.end, key=lambda call: call.begin)
    for call in calls[first:last]:
        of = [name for name, (begin, end) in record.spans.items() if begin <= call.begin and call.end <= end]
        assert len(of) == 1, f"{call} is on the border of a stage: {record.fields}"
        found[of[0]].append(call)
    return found


def check_places(record, kind, traffic, within):
    """Each stage has the places that are its own, and none else, in their order."""
    def belongs(place):
        return place.stages[kind] != "-" and place.only <= set(traffic) and (kind == "request" or place.way == record.way)

    expected = collections.defaultdict(list)
    for place in filter(belongs, PLACES):
        expected[place.stage(kind, traffic[0])].append(place)
    seen = set()
    for stage in {**within, **expected}:
        found = []
        for call in within.get(stage, []):
            place = PLACE_OF[call.function]
            # Behind its interrupt others may come, and Linux 6.1 may leave the softirq to its thread, at each call. What
            # happens to the packet at its other end is not its sender's.
            is_repeated = place.calls in ("all", "backlog") and (call.function in seen or not belongs(place))
            is_other = is_repeated or not place.only <= set(traffic)
            if not is_other and (kind == "request" or place.way == record.way):
                found.append(call.function)
            seen.add(call.function)
        names = [place.functions for place in expected.get(stage, [])]
        assert len(found) == len(names) and all(map(lambda one, of: one in of, found, names)), \
            f"{stage} has {found}, not {[of[0] for of in names]}: {record.fields}"


def check_left(what, stage, left):
    """What is left of a stage is the same whether time was spent in it or not."""
    off, on = left["off"], left["on"] + left["hide"]
    more, more_of_most = min(on) - min(off), statistics.median(on) - statistics.median(off)
    if stage == "drv-done":
        # The card's own time is known. The sender goes on meanwhile, and what it spends is not in it.
        assert CARD_NS < min(off) and statistics.median(off) < CARD_NS + CARD_INTERRUPT, f"{what} {stage}: {off}"
    else:
        little = LITTLE_VARYING if stage in VARYING else LITTLE
        assert abs(more) < little and abs(more_of_most) < little + TICK, f"{what} {stage} grew by {more} ns too much: {left}"
    assert max(off + on) < min(off + on) + ONCE, f"{what} {stage}: {left}"
    return f"{stage} {min(off)} {more:+}"


def check_rows(lab, name, records):
    """The report's rows are what its records add up to; returns its account."""
    report = json.loads(lab.report(name, "--format", "json"))
    for row in (row for row in report["stages"] if "part_of" not in row):
        values = [{**record.stages, "total": record.total}.get(row["stage"]) for record in records]
        values = [value for value in values if value is not None]
        if not row["group"]:
            reported = row["n"], row["sum_ns"], row["min_ns"], row["max_ns"]
            found = len(values), sum(values), min(values, default=None), max(values, default=None)
            assert reported == found, f"{name}'s row is not its records': {row}"
    check_ended(lab, name)
    check_account(report["accounting"])
    return report["accounting"]


def check_records(name, records, calls):
    """Return what is left of each stage: {(traffic, way): {stage: {phase: [ns]}}}."""
    kind = KINDS[name.split("-")[0]]
    left = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for traffic, phase, way in itertools.product(TRAFFIC, PHASES, ("rx", "tx")):
        for record in records_of(records, traffic, phase, way):
            within = calls_within(record, calls)
            check_places(record, kind, traffic, within)
            assert record.total == sum(record.stages.values()), record.fields
            for stage, of in within.items():
                spent = sum(call.end - call.begin for call in of)
                left[traffic, way][stage][phase].append(record.stages[stage] - spent)
    return left


def check_numbers(lab, name, account, hidden):
    """Each packet or request is reported, or missed a probe and is counted so."""
    kind = name.split("-")[0]
    ends = 2 if kind in ("net", "flow") else 1
    expected = {cause: hidden[function] for function, cause in MISSED[kind].items()}
    found = {cause: count for cause, count in account["incomplete_by"].items() if count and cause != "no-reply"}
    assert found == expected and min(expected.values()) > REQUESTS, f"{name}: {found}, not {expected}"
    assert account["seen"] == ends * 2 * REQUESTS * len(PORTS), account
    # A client answers no reply, and its last may be hidden.
    unanswered = account["incomplete_by"].get("no-reply", 0)
    assert kind != "sock" or len(PORTS) - len(TRAFFIC) <= unanswered <= len(PORTS), account
    assert account["reported"] == account["seen"] - sum(expected.values()) - unanswered, account
    is_hooked = not lab.root.architecture and "kprobes" not in name
    skipped = account["skipped_probes"] - (sum(expected.values()) if is_hooked else 0)
    assert 0 <= skipped <= SKIPPED.get(kind, 0), account
    assert kind != "sock" or sum(account.get("skipped_by", {}).values()) == account["skipped_probes"], account


def check_recipe(lab, name, calls, hidden):
    """Where each packet was in which stage, and how much longer the stages are by that."""
    records = read_records(lab, name)
    account = check_rows(lab, name, records)
    check_numbers(lab, name, account, hidden)
    print(f"{lab.suite} {name}: {account['reported']} records; the ns left of each stage, and how much more with spending")
    for (traffic, way), stages in check_records(name, records, calls).items():
        what = f"{name} {' '.join(traffic)} {way}"
        print(f"  {what}: " + ", ".join(check_left(what, stage, left) for stage, left in stages.items()))


def read_calls(lab, names):
    """Return the calls, and how often each function was hidden from each of the recipes that were measured one by one."""
    calls = kernel.read_calls(lab.read("calls"))
    hidden = {function: sum(call.function == function for call in calls) for function in HIDDEN}
    assert all(count % len(names) == 0 for count in hidden.values()), hidden
    return ([call for call in calls if call.function not in HIDDEN],
            {function: count // len(names) for function, count in hidden.items()})


def check(lab):
    calls, hidden = read_calls(lab, BUILD)
    for name in BUILD:
        check_recipe(lab, name, calls, hidden)
    assert lab.read("modules-left").strip() == "0"
