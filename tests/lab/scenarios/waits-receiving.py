# SPDX-License-Identifier: GPL-2.0-or-later
"""What received packets wait for until a thread has them: readers that do something known before they read."""

import itertools

from lablib.events import Trace
from lablib.waits import Waits, most_of

DESCRIPTION = "tcp-app and udp-app divided into what packets waited for, of readers that are late for a known reason and time"
IN_CI = ("trixie",)
TIMEOUT = 1200
BUILD = {"waits": ["rx-latency"]}

# name -> port, messages, what is done before it
REASONS = {
    "call": (7401, 53, ""), "poll": (7402, 53, ""), "runs": (7403, 23, ""), "asleep": (7404, 23, ""),
    "twice": (7405, 23, ""), "slices": (7406, 23, ""), "waked": (7407, 23, ""), "worker": (7408, 53, ""),
    "unread": (7409, 7, ""), "header": (7413, 23, ""), "lowat": (7410, 23, ""), "cpu": (7411, 53, ""), "bulk": (7412, 5, ""),
    "call-udp": (7421, 53, ""), "poll-udp": (7422, 53, ""), "runs-udp": (7423, 23, ""), "asleep-udp": (7424, 23, ""),
    "twice-udp": (7425, 23, ""), "cpu-udp": (7431, 53, ""),
    "bulk-lossy": (7441, 5, "in_left tc qdisc replace dev left0 root netem delay 5ms loss 5% $(seeded 19)"),
}
# What is read while the second trace runs, of which each segment and each call is counted.
READS = {"reads-call": (7451, 53, "in_left tc qdisc del dev left0 root"), "reads-bulk": (7452, 5, ""), "reads-call-udp": (7453, 53, "")}
AT_ONCE = 7  # late.c
LITTLE = 200_000
ONCE = 10_000_000  # in one of them: another thread may keep the CPU

RUN = """
{before}
NETNS=right start_ready late {reason} --receive --port {port} {udp} || exit 1
in_left late {reason} --address 10.9.0.2 --port {port} --count {count} {udp} >{name}.sent || exit 1
sleep 0.1
kill $READY_PID 2>/dev/null
cp $READY_OUTPUT {name}.late
"""


def guest():
    script = ['make_pair || exit 1\nin_left() { ip netns exec left "$@"; }\nrecord waits waits || exit 1']
    def run(name, reason, port, count, before):
        return RUN.format(name=name, reason=reason.partition("-")[0], port=port, count=count, before=before,
                          udp="--udp" if name.endswith("-udp") else "")

    script += [run(name, name, *rest) for name, rest in REASONS.items()]
    script.append("end_records waits\nrecord reads waits || exit 1")
    script += [run(name, name.removeprefix("reads-"), *rest) for name, rest in READS.items()]
    return "\n".join([*script, "end_records reads\nfinish"])


GUEST = guest()


def check_amounts(name, pairs, tolerance=LITTLE):
    """Each pair is of a time that is known and of what was found; another thread may come between these."""
    wrong = sorted(abs(expected - found) for expected, found in pairs)
    assert wrong and wrong[len(wrong) // 2] < tolerance and wrong[-1] < ONCE, f"{name}: {sorted(pairs)}"


def check_reason(lab, name, events):
    """EVENTS are those behind the first message, of which the thread had not been seen before."""
    reason = name.partition("-")[0]
    def part(event, *causes):
        return sum(event["waits"].get(cause, 0) for cause in causes)

    if reason in ("call", "poll"):
        own_ones = ("wake-up", "run-queue", "recv-call", "program", "stack")
        assert all(part(event, *own_ones) == event["stage"] or event["stage"] > ONCE / 5 for event in events), name
        own, other = ("recv-call", "program") if reason == "call" else ("program", "recv-call")
        assert sum(part(event, own) for event in events) > sum(part(event, other) for event in events), f"{name}: {other}"
    elif reason == "runs":
        check_amounts(name, [(event["stage"], part(event, "program", "run-queue")) for event in events])
        assert sum(part(event, "program") for event in events) > 0.8 * sum(event["stage"] for event in events)
    elif reason in ("asleep", "twice", "slices", "waked", "header"):
        check_amounts(name, [(event["stage"], part(event, "asleep")) for event in events])
        assert not any(part(event, "unread-bytes") for event in events), f"{name}: unread-bytes"
    elif reason == "unread":
        for at, event in enumerate(events, start=2):
            # Those that come at once with the first message wait for a thread that has not been seen reading. Of the later ones
            # the first two find it asleep, or about to; the others wait while it sleeps before it reads those before them.
            assert (part(event, "unread-bytes") > 0) == (at <= AT_ONCE), f"{name}: {at} {event}"
            assert at <= AT_ONCE or at % AT_ONCE in (1, 2) or most_of(event) == "asleep", f"{name}: {at} {event}"
    elif reason == "lowat":
        check_amounts(name, [(15_000_000, part(event, "rcvlowat")) for event in events if event["bytes"] == 101])
        assert not any(part(event, "rcvlowat") for event in events if event["bytes"] != 101)
    elif reason == "cpu":
        waited = [int(line.split()[1]) for line in lab.read(f"{name}.late").splitlines() if line.startswith("waited")][1:]
        found = [part(event, "run-queue") for event in events]
        # By the kernel's own sum of the thread, in which is what it waited for before the packet, too.
        assert 0.7 * sum(waited) < sum(found) <= sum(waited) + LITTLE, f"{name}: {sum(found)} of {sum(waited)}"
    elif name == "bulk-lossy":
        assert sum(part(event, "missing-bytes") for event in events) > 0.5 * sum(event["stage"] for event in events)
    elif name == "bulk":
        assert not any(part(event, "missing-bytes", "rcvlowat", "unread-bytes") for event in events)


def check_reads(lab):
    """By the programs' own count of their calls, and the kernel's of their sockets' segments."""
    said = [line.split() for name in READS for end in ("late", "sent") for line in lab.read(f"{name}.{end}").splitlines()]
    reads = [(int(words[1]), int(words[2])) for words in said if words[0] == "reads"]
    calls, segments = map(sum, zip(*reads))
    account = Trace(lab, "reads").report["accounting"]
    print(f"{lab.suite} reads: {calls} calls, {segments} segments; {account}")
    assert len(reads) == 5, "a UDP receiver does not end"
    # It sends no answer that is waited for but its messages, one call and one datagram each.
    udp = READS["reads-call-udp"][1]
    assert (account["other"]["receives"], account["other"]["wire-segments"]) == (calls + udp, segments + udp)
    assert account["other"]["wire-segments"] > 1.5 * account["reported"], "nothing was merged"


def check(lab):
    check_reads(lab)
    waits = Waits(lab, "waits", "local", ("tcp-app", "udp-app"))
    for name, (port, count, _) in REASONS.items():
        events = waits.of_port[port]
        waits.say(name, events)
        first = sum(1 for _ in itertools.takewhile(lambda event: "undivided" in event["waits"], events))
        assert not any("undivided" in event["waits"] for event in events[first:]), f"{name}: not divided"
        if not name.startswith("bulk"):
            packets = AT_ONCE if name == "unread" else 2 if name == "lowat" else 1
            assert first <= min(packets, 2) and len(events) == count * packets, f"{name}: {first} of {len(events)}"
        check_reason(lab, name, events[first:])
    assert lab.read("modules-left").strip() == "0"
