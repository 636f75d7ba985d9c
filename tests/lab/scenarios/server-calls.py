# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that waits 20 ms between request and reply, by every call there is: app shows it, and no other stage.

How long it kept a request in truth it measures itself: where 64 threads wake up at once, its sleep ends late.
"""

import itertools
import re

from lablib.events import SOCK_STAGES, Trace, check_sums, in_ms, median, stage

DESCRIPTION = "20 ms in a server show in app and nowhere else: each call, TCP and UDP, IPv4 and IPv6, 64 sockets"
IN_CI = ("trixie",)
BUILD = {"sock": ["sock-latency"]}

READS = ("read", "readv", "recv", "recvfrom", "recvmsg", "recvmmsg", "io_uring")
WRITES = ("write", "writev", "send", "sendto", "sendmsg", "sendmmsg", "sendfile", "io_uring")
WAITS = ("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "select", "none", "io_uring")
DELAY = 20_000_000
# More than another stage takes, and than app differs by from what the server measured.
LITTLE = 50_000
REQUESTS = 13
SOCKETS, SOCKET_REQUESTS = 64, 331
FIRST_PORT = 7100
# 64 sockets, each with a server's thread of its own: one after the other, and all at once. Then their threads wait for
# the guest's two CPUs when they wake up, which is app's time in truth.
MANY = [("turns4", 7904, 4, "--one-thread"), ("turns6", 7906, 6, "--one-thread"),
        ("together4", 7914, 4, "--gap-ms 211"), ("together6", 7916, 6, "--gap-ms 211")]


def runs():
    """Return (port, protocol, family, read, write, wait) of each run: each call of a kind with one of the others."""
    combinations = [(read, "send", "epoll_wait") for read in READS]
    combinations += [("recv", write, "epoll_wait") for write in WRITES if write != "send"]
    combinations += [("recv", "send", wait) for wait in WAITS if wait != "epoll_wait"]
    combinations += [("io_uring", "io_uring", "io_uring")]
    ways = itertools.product(("tcp", "udp"), (4, 6), combinations)
    return [(port, protocol, family, *calls) for port, (protocol, family, calls) in enumerate(ways, FIRST_PORT)]


def is_threaded(protocol, wait):
    """Say whether the server's calls block, so that each connection needs a thread."""
    return protocol == "tcp" and wait == "none"


def guest():
    """Return the guest's script. One module measures all servers, and the clients too."""
    script = ["record sock sock || exit 1", """
one() {
    local port=$1 protocol=$2 family=$3 how=
    [ $protocol = udp ] && how=--udp
    start_ready serve --port $port $how --family $family --read $4 --write $5 --wait $6 $7 --delay-ms 20 || return
    ask --port $port $how --family $family --requests 13
    kill $READY_PID
    wait $READY_PID && cat $READY_OUTPUT
}
"""]
    for port, protocol, family, read, write, wait in runs():
        threads = "--threads=per-connection" if is_threaded(protocol, wait) else ""
        script += [f"one {port} {protocol} {family} {read} {write} {wait} {threads} >out.{port} 2>&1 || cat out.{port}"]
    script += ["end_records sock"]
    for name, port, family, how in MANY:
        script += [f"start_ready serve --port {port} --family {family} --threads per-connection --delay-ms 20 || exit 1",
                   f"record {name} sock --comm serve-conn --port {port} || exit 1",
                   f"ask --port {port} --family {family} --connections {SOCKETS} --requests {SOCKET_REQUESTS} {how} || exit 1",
                   f"end_records {name}", "kill $READY_PID", "wait $READY_PID", f"cp $READY_OUTPUT out.{port}"]
    return "\n".join([*script, "finish"])


GUEST = guest()


def check_delay(lab, events, port, what):
    """The delay is in app, as long as the server says, and in no other stage."""
    app = stage(events, "app")
    kept = int(re.search(r"^kept median-us (\d+)$", lab.read(f"out.{port}"), re.M)[1]) * 1000
    assert min(app) >= DELAY, f"{what}: app is {min(app)} ns, the server slept {DELAY}"
    # A stage that a request passed over took none of its time.
    others = {name: median([event[f"{name}_ns"] or 0 for event in events]) for name in SOCK_STAGES if name != "app"}
    print(f"{what}: n {len(events)} app min {min(app) / 1e6:.2f} median {median(app) / 1e6:.2f} ms, "
          f"the server says {kept / 1e6:.2f}, others {in_ms(others)}")
    assert abs(median(app) - kept) < LITTLE, f"{what}: the median of app is {median(app)} ns, the server's own {kept}"
    for name, value in others.items():
        assert value < LITTLE, f"{what}: the median of {name} is {value} ns"


def check(lab):
    trace = Trace(lab, "sock")
    check_sums(trace.events)
    for port, protocol, family, read, write, wait in runs():
        events = trace.of_port(port)
        trace.expect(len(events), REQUESTS)
        check_delay(lab, events, port, f"{lab.suite} {read:8} {write:8} {wait:12} {protocol} IPv{family}")
        comms = {event["comm"] for event in events}
        assert comms == {"serve-conn" if is_threaded(protocol, wait) else "serve"}, comms
    for name, port, family, _ in MANY:
        many = Trace(lab, name)
        check_sums(many.events)
        many.expect(len(many.events), SOCKET_REQUESTS)
        assert len({event["remote"] for event in many.events}) == SOCKETS
        check_delay(lab, many.events, port, f"{lab.suite} {SOCKETS} sockets {name[:-1]:8} IPv{family}")
    assert lab.read("modules-left").strip() == "0"
