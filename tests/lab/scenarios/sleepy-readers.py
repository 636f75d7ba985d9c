# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader that sleeps 50 ms while its data waits in the socket: the last stage shows it, and no other."""

from lablib.events import RECEIVE_STAGES, Trace, in_ms, median, stage

DESCRIPTION = "a reader sleeps 50 ms before each receiving call: tcp-app or udp-app shows it, TCP and UDP, IPv4 and IPv6"
IN_CI = ("trixie",)
BUILD = {"rx": ["rx-latency"]}

SLEEP = 50_000_000
LITTLE = 200_000  # until a sleeper runs
ONCE = 10_000_000  # in one of them: another thread's system call may keep the CPU
MESSAGES = 23
SIZE = 101
# by port
READERS = {7301: ("tcp", 4), 7302: ("tcp", 6), 7303: ("udp", 4), 7304: ("udp", 6)}


def guest():
    script = ["record rx rx || exit 1"]
    for port, (protocol, family) in READERS.items():
        sleepy = f"sleepy --{protocol} --family {family} --port {port} --count {MESSAGES}"
        script += [f"start_ready {sleepy} --sleep-ms 50 --before-data || exit 1", f"{sleepy} --send || exit 1",
                   "wait $READY_PID || exit 1"]
    return "\n".join([*script, "end_records rx", "finish"])


GUEST = guest()


def check(lab):
    trace = Trace(lab, "rx")
    for port, (protocol, family) in READERS.items():
        events = trace.of_port(port)
        trace.expect(len(events), MESSAGES, "messages")
        assert all(event["bytes"] == SIZE and event["comm"] == "sleepy" for event in events)
        slept = stage(events, f"{protocol}-app")
        others = {name: median(stage(events, name)) for name in RECEIVE_STAGES if name != f"{protocol}-app"}
        print(f"{lab.suite} {protocol} IPv{family}: n {len(events)} {protocol}-app min {min(slept) / 1e6:.2f} median "
              f"{median(slept) / 1e6:.2f} ms, others {in_ms(others)}")
        assert len(slept) == len(events) and SLEEP <= min(slept) <= median(slept) < SLEEP + LITTLE, slept
        assert max(slept) < SLEEP + ONCE, slept
        assert [name for name, value in others.items() if value is not None] == ["drv-ip", f"ip-{protocol}"]
        for name, value in others.items():
            assert value is None or 0 < value < 10_000, f"the median of {name} is {value} ns"
    assert lab.read("modules-left").strip() == "0"
