# SPDX-License-Identifier: GPL-2.0-or-later
"""One thread serves a fast socket and a slow one in turn: the slow one's time is in its own app, not in the other's."""

from lablib.events import SOCK_STAGES, Trace, check_sums, in_ms, median, stage

DESCRIPTION = "one thread, two sockets: 0.3 ms and 20 ms in app, the fast one's wait behind the slow one in epoll and wait"
IN_CI = ("trixie",)
BUILD = {"sock": ["sock-latency"], "rx": ["rx-latency"]}

REQUESTS = 101   # on each socket
FAST, SLOW = 300_000, 20_011_000
LITTLE = 500_000  # until a sleeper runs, and what the other socket's request takes beside its sleep
ONCE = 10_000_000  # in one of them: another thread's system call may keep the CPU
PORT = 7011

GUEST = r"""
for family in 4 6; do
    start_ready serve --port 7011 --family $family --delay-from-request || exit 1
    for recipe in sock rx; do
        record $recipe$family $recipe -x $READY_PID || exit 1
        ask --port 7011 --family $family --connections 2 --requests 202 --delay-us 300,20011 || exit 1
        end_records $recipe$family
    done
    kill $READY_PID
    wait $READY_PID
done
finish
"""


def two_sockets(trace, name):
    """Return the events of the two sockets, that with the lesser median of a stage first."""
    remotes = {event["remote"] for event in trace.events}
    assert len(remotes) == 2, remotes
    sockets = [[event for event in trace.of_port(PORT) if event["remote"] == remote] for remote in remotes]
    assert sum(map(len, sockets)) == len(trace.events)
    for events in sockets:
        trace.expect(len(events), REQUESTS)
    return sorted(sockets, key=lambda events: median(stage(events, name)))


def spread(values):
    return f"min {min(values) / 1e6:.2f} median {median(values) / 1e6:.2f} max {max(values) / 1e6:.2f} ms"


def check_sock(lab, family):
    trace = Trace(lab, f"sock{family}")
    check_sums(trace.events)
    fast, slow = two_sockets(trace, "app")
    for what, events in (("fast", fast), ("slow", slow)):
        medians = {name: median(stage(events, name)) for name in SOCK_STAGES}
        print(f"  {what} {events[0]['remote']} n {len(events)}: app {spread(stage(events, 'app'))}; "
              f"medians {in_ms(medians)}")
    for what, events, slept in (("slow", slow, SLOW), ("fast", fast, FAST)):
        app = stage(events, "app")
        assert slept <= min(app) <= median(app) < slept + LITTLE, f"{what}: its server slept {slept}: {spread(app)}"
        assert max(app) < slept + ONCE, f"{what}: its server slept {slept}: {spread(app)}"
    behind = [(event["epoll_ns"] or 0) + (event["wait_ns"] or 0) for event in fast]
    print(f"  fast: epoll and wait {spread(behind)}")
    # Its client asks again at once, so most of its requests meet a thread that sleeps for the other socket.
    assert SLOW - LITTLE < median(behind) < SLOW + LITTLE, f"the fast socket's requests wait for the slow one's: {spread(behind)}"
    for name in ("rx", "tcpip_rx", "read", "tx"):
        for what, events in (("fast", fast), ("slow", slow)):
            assert 0 < median(stage(events, name)) < 20_000, f"{name} of the {what} socket: {spread(stage(events, name))}"


def check_rx(lab, family):
    trace = Trace(lab, f"rx{family}")
    assert all(event["bytes"] == 64 and event["comm"] == "serve" for event in trace.events)
    slow, fast = two_sockets(trace, "tcp-app")
    for what, events in (("fast", fast), ("slow", slow)):
        print(f"  {what} {events[0]['remote']} n {len(events)}: tcp-app {spread(stage(events, 'tcp-app'))}")
    for events, behind in ((fast, SLOW), (slow, FAST)):
        waited = stage(events, "tcp-app")
        assert behind - LITTLE < median(waited) < behind + LITTLE, f"packets wait for the other socket's {behind}: {spread(waited)}"


def check(lab):
    for family in (4, 6):
        check_sock(lab, family)
        check_rx(lab, family)
    assert lab.read("modules-left").strip() == "0"
