"""One thread serves a fast socket and a slow one in turn: the slow one's time is in its own app, not in the other's."""

from lablib.events import SOCK_STAGES, Trace, check_sums, in_ms, median, stage

DESCRIPTION = "one thread, two sockets: 0.3 ms and 20 ms in app, the fast one's wait behind the slow one in epoll and wait"
IN_CI = ("trixie",)
BUILD = {"sock": ["sock-latency"], "rx": ["rx-latency"]}

REQUESTS = 101   # on each socket
FAST, SLOW = 300_000, 20_011_000
PORT = 7011

GUEST = r"""
for family in 4 6; do
    start_ready serve --port 7011 --family $family --delay-from-request || exit 1
    for recipe in sock rx; do
        trace $recipe$family $recipe -x $READY_PID || exit 1
        ask --port 7011 --family $family --connections 2 --requests 202 --delay-us 300,20011 || exit 1
        end_trace $recipe$family
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
    assert min(stage(slow, "app")) >= SLOW, "the slow socket's app is shorter than its server slept"
    assert min(stage(fast, "app")) >= FAST, "the fast socket's app is shorter than its server slept"
    assert median(stage(fast, "app")) < 5_000_000, "the fast socket's app has the slow one's time"
    behind = [(event["epoll_ns"] or 0) + (event["wait_ns"] or 0) for event in fast]
    print(f"  fast: epoll and wait {spread(behind)}")
    # Its client asks again at once, so most of its requests meet a thread that sleeps for the other socket.
    assert median(behind) > SLOW / 2, "the fast socket's requests have not waited for the slow one's"
    for name in ("rx", "tcpip_rx", "read", "tx"):
        assert median(stage(fast, name)) < 5_000_000, f"{name} of the fast socket has the slow one's time"


def check_rx(lab, family):
    trace = Trace(lab, f"rx{family}")
    assert all(event["bytes"] == 64 and event["comm"] == "serve" for event in trace.events)
    slow, fast = two_sockets(trace, "tcp-app")
    for what, events in (("fast", fast), ("slow", slow)):
        print(f"  {what} {events[0]['remote']} n {len(events)}: tcp-app {spread(stage(events, 'tcp-app'))}")
    assert median(stage(fast, "tcp-app")) > SLOW / 2, "the fast socket's packets have not waited for the slow one's"


def check(lab):
    for family in (4, 6):
        check_sock(lab, family)
        check_rx(lab, family)
    assert lab.read("modules-left").strip() == "0"
