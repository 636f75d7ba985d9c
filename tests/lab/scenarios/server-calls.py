"""A server that waits 20 ms between request and reply, by every call there is: app shows it, and no other stage."""

from lablib.events import SOCK_STAGES, Trace, check_sums, median, stage

DESCRIPTION = "20 ms in a server show in app and nowhere else: each read, write and wait call, IPv4 and IPv6, 64 sockets"
BUILD = {"sock": ["sock-latency"]}

READS = ("read", "readv", "recv", "recvfrom", "recvmsg", "recvmmsg", "io_uring")
WRITES = ("write", "writev", "send", "sendto", "sendmsg", "sendmmsg", "sendfile", "io_uring")
WAITS = ("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "select", "none", "io_uring")
DELAY = 20_000_000
REQUESTS = 13
SOCKETS, SOCKET_REQUESTS = 64, 331
FIRST_PORT = 7100
MANY_PORT = 7900


def runs():
    """Return (port, family, read, write, wait) of each run: each call of a kind with one of the others."""
    combinations = [(read, "send", "epoll_wait") for read in READS]
    combinations += [("recv", write, "epoll_wait") for write in WRITES if write != "send"]
    combinations += [("recv", "send", wait) for wait in WAITS if wait != "epoll_wait"]
    combinations += [("io_uring", "io_uring", "io_uring")]
    return [(FIRST_PORT + 2 * i + (family == 6), family, *calls)
            for i, calls in enumerate(combinations) for family in (4, 6)]


def guest():
    """Return the guest's script. One module measures all servers, and the clients too."""
    script = ["trace sock sock || exit 1", """
one() {
    local port=$1 family=$2 threads=one
    [ "$5" = none ] && threads=per-connection
    serve --port $port --family $family --read $3 --write $4 --wait $5 --threads $threads --delay-ms 20 >ready.$port &
    wait_for "grep -q ready ready.$port" || return
    ask --port $port --family $family --requests 13
    kill %%
    wait %%
}
"""]
    script += [f"one {port} {family} {read} {write} {wait} >out.{port} 2>&1 || cat out.{port}"
               for port, family, read, write, wait in runs()]
    script += ["end_trace sock"]
    for family in (4, 6):
        port = MANY_PORT + family
        script += [f"serve --port {port} --family {family} --threads per-connection --delay-ms 20 >ready.{port} &",
                   f"wait_for 'grep -q ready ready.{port}' || exit 1",
                   f"trace many{family} sock --comm serve-conn --port {port} || exit 1",
                   f"ask --port {port} --family {family} --connections {SOCKETS} --requests {SOCKET_REQUESTS} --gap-ms 211"
                   " || exit 1",
                   f"end_trace many{family}"]
    return "\n".join([*script, "finish"])


GUEST = guest()


def check_delay(events, what):
    """The delay is in app, its median within a tenth, and no other stage's median is a quarter of it."""
    app = stage(events, "app")
    assert min(app) >= DELAY, f"{what}: app is {min(app)} ns, the server slept {DELAY}"
    others = {name: median(stage(events, name)) for name in SOCK_STAGES if name != "app"}
    print(f"{what}: n {len(events)} app min {min(app) / 1e6:.2f} median {median(app) / 1e6:.2f} ms, others "
          + " ".join(f"{name} {value / 1e6:.2f}" for name, value in others.items() if value is not None))
    assert median(app) <= 1.1 * DELAY, f"{what}: the median of app is {median(app)} ns"
    for name, value in others.items():
        assert value is None or value < 5_000_000, f"{what}: the median of {name} is {value} ns"


def check(lab):
    trace = Trace(lab, "sock")
    check_sums(trace.events)
    missing = 0
    for port, family, read, write, wait in runs():
        events = trace.of_port(port)
        missing += REQUESTS - len(events)
        assert len(events) <= REQUESTS, f"{len(events)} of {REQUESTS} requests"
        check_delay(events, f"{lab.suite} {read:8} {write:8} {wait:12} IPv{family}")
        comms = {event["comm"] for event in events}
        assert comms == {"serve-conn" if wait == "none" else "serve"}, comms
    assert missing <= trace.skipped, f"{missing} requests are missing"
    for family in (4, 6):
        many = Trace(lab, f"many{family}")
        check_sums(many.events)
        assert SOCKET_REQUESTS - many.skipped <= len(many.events) <= SOCKET_REQUESTS
        assert len({event["remote"] for event in many.events}) == SOCKETS
        check_delay(many.events, f"{lab.suite} {SOCKETS} sockets IPv{family}")
    assert lab.read("modules-left").strip() == "0"
