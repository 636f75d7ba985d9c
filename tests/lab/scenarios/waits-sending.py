# SPDX-License-Identifier: GPL-2.0-or-later
"""What TCP's segments wait for between their send call and their transmission: traffic that is held back for a known cause."""

from lablib.waits import Waits, most_of, sent_at

DESCRIPTION = "app-tcp divided into what segments waited for, of a sender that is held back for a known cause and time"
IN_CI = ("trixie",)
TIMEOUT = 1200
BUILD = {"waits": ["tx-latency"]}

LOSSY = """ip netns exec right nft 'table ip lossy {
    chain input { type filter hook input priority 0; tcp dport 7312 numgen inc mod 29 17 drop; };
}'"""
# cause -> port, rounds, what is done before it
CAUSES = {
    "none": (7301, 103, ""),
    "nodelay": (7302, 53, ""),
    "nagle": (7303, 53, ""),
    "cork": (7304, 53, ""),
    "msg-more": (7305, 53, ""),
    "rwnd": (7306, 11, ""),
    "pacing": (7307, 7, ""),
    "socket-lock": (7308, 23, ""),
    "connect": (7309, 1, "in_left tc qdisc replace dev left0 root netem delay 50ms"),
    "fastopen": (7318, 1, ""),   # without a cookie: the call connects
    "cwnd": (7310, 7, "in_left ip route replace 10.9.0.0/24 dev left0 initcwnd 2"),
    "sndbuf": (7311, 3, "in_left ip route replace 10.9.0.0/24 dev left0 initcwnd 400"),
    "eagain": (7316, 3, ""),
    "notsent-lowat": (7317, 3, ""),
    "loss-recovery": (7312, 7, "in_left ip route replace 10.9.0.0/24 dev left0; in_left ethtool -K left0 tso off gso off; "
                          "in_left tc qdisc replace dev left0 root netem delay 5ms; " + LOSSY),
    "tsq": (7313, 3, "in_left ethtool -K left0 tso on gso on; "
                     "in_left tc qdisc replace dev left0 root tbf rate 8mbit burst 32kb limit 4mb"),
    "autocork": (7314, 53, "in_left tc qdisc replace dev left0 root tbf rate 80kbit burst 1600 limit 4mb"),
    "local-drop": (7315, 3, "in_left tc qdisc replace dev left0 root netem delay 1ms"),
}
TICK = 4_000_000  # TCP_INFO's times are in jiffies
LITTLE = 100_000  # a way there and back, and a few system calls
ONCE = 10_000_000  # in one of them: another thread may keep the CPU
OWN = {"send-call", "sending"}  # what everything that is sent takes

RUN = """
{before}
NETNS=right start_ready held {cause} --receive --port {port} || exit 1
in_left held {cause} --address 10.9.0.2 --port {port} --rounds {rounds} >{cause}.held || exit 1
"""
GUEST = "\n".join(['make_pair || exit 1\nin_left() { ip netns exec left "$@"; }\nrecord waits waits || exit 1',
                   *(RUN.format(cause=cause, port=port, rounds=rounds, before=before)
                     for cause, (port, rounds, before) in CAUSES.items()), "end_records waits\nfinish"])


class Held:
    """What the sender says: the rounds, each with its segments, and TCP_INFO's microseconds as ns."""

    def __init__(self, lab, cause, events):
        lines = [line.split() for line in lab.read(f"{cause}.held").splitlines()]
        clock = int(lines[0][1])
        self.rounds = [tuple(map(int, line[1:])) for line in lines if line[0] == "round"]
        self.busy, self.rwnd, self.sndbuf = (1000 * int(us) for us in lines[-2][1:])
        self.eagain = int(lines[-1][1])
        self.segments = [[event for event in events if began <= sent_at(event, clock) <= answered]
                         for began, _, _, answered in self.rounds]

    def last(self):
        """Yield (round, its last segment): what that waited for, the socket did."""
        for times, segments in zip(self.rounds, self.segments):
            yield times, max(segments, key=lambda event: event["time_ns"])


def check_most(cause, events, expected, least=0.99):
    right = sum(most_of(event) == expected for event in events)
    assert right >= least * len(events) > 0, f"{cause}: {right} of {len(events)} waited for {expected}"


def check_times(cause, times, tolerance=LITTLE):
    """Each pair is of a time that is known and of what was found; another thread may come between these."""
    wrong = sorted(abs(expected - found) for expected, found in times)
    assert wrong and wrong[len(wrong) // 2] < tolerance and wrong[-1] < max(ONCE, tolerance), f"{cause}: {sorted(times)}"


def check_others(cause, events, allowed):
    for event in events:
        assert set(event["waits"]) <= OWN | set(allowed), f"{cause}: waited for something else: {event}"


def check_cause(cause, events, sums, held):
    def part(event, name=cause):
        return event["waits"].get(name, 0)

    second = [segments[-1] for segments in held.segments if len(segments) > 1]
    if cause in ("none", "nodelay"):
        check_others(cause, events, ())
        check_most(cause, events, "send-call")
    elif cause == "nagle":
        check_others(cause, events, ("nagle",))
        # The receiver may acknowledge the first ones at once.
        check_most(cause, second, "nagle", 0.9)
        check_times(cause, [(answered - returned, part(segments[-1])) for (_, returned, _, answered), segments
                            in zip(held.rounds, held.segments) if part(segments[-1]) > TICK])
    elif cause in ("cork", "msg-more"):
        check_others(cause, events, (cause,))
        check_most(cause, events, cause)
        check_times(cause, [(ended - returned, part(event)) for (_, returned, ended, _), event in held.last()])
    elif cause in ("connect", "fastopen"):
        check_times(cause, [(50_000_000, part(event, "connect")) for event in events], TICK)
    elif cause == "rwnd":
        waited = sum(part(event) + part(event, "zero-window") for _, event in held.last())
        check_times(cause, [(held.rwnd, waited)], 2 * TICK)
    elif cause == "sndbuf":
        check_times(cause, [(returned - began, part(event)) for (began, returned, _, _), event in held.last()
                            if returned - began > ONCE], TICK)
        assert sums["sndbuf"] > 0.98 * sum(sums.values())
    elif cause == "pacing":
        check_times(cause, [(answered - began, part(event)) for (began, _, _, answered), event in held.last()], TICK)
    elif cause == "notsent-lowat":
        # A thread waits for the mark as long as bytes are unsent: what holds these is what its own wait for.
        assert not sums["sndbuf"] and not sums["tcp-memory"]
    elif cause == "cwnd":
        assert sums["cwnd"] > 0.98 * sum(sums.values())
    elif cause == "loss-recovery":
        assert sums["loss-recovery"] and sums["cwnd"] + sums["loss-recovery"] + sums["tso-defer"] > 0.97 * sum(sums.values())
    elif cause == "tsq":
        assert sums["tsq"] > 0.9 * sum(sums.values())
        assert sums["tsq"] + sums["cwnd"] + sums["tso-defer"] > 0.98 * sum(sums.values())
    elif cause == "autocork":
        # Until the device is done with the first one.
        check_most(cause, second, "autocork", 0.9)
        check_times(cause, [(segments[0]["qdisc_ns"], part(segments[-1])) for segments in held.segments
                            if len(segments) > 1 and part(segments[-1])])
    elif cause == "local-drop":
        check_most(cause, events, "local-drop")
        check_others(cause, events, ("local-drop",))
        assert all(part(event) > 250_000_000 for event in events), "it is refused for 300 ms from a little before the call on"
    elif cause == "socket-lock":
        beside = [event for event in events if event["tid"] != event["pid"]]
        assert all(part(event) == 0 for event in events if event["tid"] == event["pid"])
        # The other call keeps the lock while a page of its bytes is brought in.
        assert len(beside) == len(held.rounds)
        check_times(cause, [(20_000_000, part(event)) for event in beside], TICK)


def check(lab):
    waits = Waits(lab, "waits", "remote", ("app-tcp",))
    for cause, (port, rounds, _) in CAUSES.items():
        events = waits.of_port[port]
        sums = waits.say(cause, events)
        assert not sums["undivided"], f"{cause}: not divided"
        held = Held(lab, cause, events)
        assert len(held.rounds) == rounds
        if cause == "eagain":
            counted = waits.trace.report["accounting"]["other"]["send-eagain"]
            assert counted == held.eagain > 0, f"{counted} of {held.eagain} calls that found no room"
        check_cause(cause, events, sums, held)
    assert lab.read("modules-left").strip() == "0"
