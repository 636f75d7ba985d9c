# SPDX-License-Identifier: GPL-2.0-or-later
"""sock-latency --parts --syscalls of a server that runs in strace, beside what strace counts. By hand: it fetches strace."""

import collections
import re

from lablib.captures import unpack_packages
from lablib.events import Trace, read_report
from lablib.waits import parts_of_app

DESCRIPTION = "sock-latency --parts --syscalls beside strace -f -c -w, by hand"
IN_CI = ()
BUILD = {"calls": ["sock-latency", "--parts", "--syscalls"]}

REQUESTS, MS = 53, 7
TOOLS = "/lab/work/tools/usr"
# Its port, and in what the server runs.
RUNS = {"untraced": (8086, ""), "traced": (8087, f"{TOOLS}/bin/strace -f -c -w -o traced.calls"),
        "traced-cpu": (8088, f"{TOOLS}/bin/strace -f -c -o traced-cpu.calls")}
# The calls of the server between a request and its reply, and their numbers.
CALLS = {"read": 0, "openat": 257, "close": 3}

GUEST = f"""
# measure NAME PORT [COMMAND]
measure() {{
    local name=$1 port=$2
    shift 2
    start_ready "$@" works calls --ms {MS} --port $port || exit 1
    local program=$READY_PID
    record $name calls --port $port --comm worker || exit 1
    ask --port $port --requests {REQUESTS} || exit 1
    end_records $name
    wait $program || exit 1
}}
export LD_LIBRARY_PATH={TOOLS}/lib/x86_64-linux-gnu
{"".join(f'''measure {name} {port} {command}
''' for name, (port, command) in RUNS.items())}
finish
"""


def prepare(lab):
    unpack_packages(lab, "strace")


def said_by_strace(lab, name):
    """Return {call: (ns, how often)}."""
    rows = re.findall(r"^ *[\d.]+ +([\d.]+) +\d+ +(\d+) +(?:\d+ +)?(\w+)$", lab.read(f"{name}.calls"), re.M)
    return {call: (round(float(seconds) * 1e9), int(calls)) for seconds, calls, call in rows}


def check(lab):
    for name, (port, command) in RUNS.items():
        trace = Trace(lab, name, skips=True)
        events = trace.of_port(port)
        trace.expect(len(events), REQUESTS)
        total = collections.Counter()
        for event in events:
            parts = parts_of_app(event)
            assert sum(parts.values()) == event["app_ns"], event
            total.update(parts)
        print(f"  {name}: " + ", ".join(f"{part} {ns / 1e6:.3f} ms" for part, ns in total.most_common()))
        if not command:
            assert set(total) <= {"running", "syscall", "run-queue"} and total["syscall"] >= REQUESTS * MS * 1_000_000, total
            continue
        said = said_by_strace(lab, name)
        assert said["sendto"][1] == REQUESTS, said
        # Each call stops the thread twice, until strace goes on.
        stops = collections.Counter()
        for row in read_report(lab, name, skips=True)["who"]:
            assert row["group"]["waited"] == "asleep" and row["group"]["waker"].startswith("strace["), row
            stops[row["group"]["by"]] += row["n"]
        for call, number in CALLS.items():
            assert stops[f"call {number}"] == 2 * said[call][1], (call, stops, said)
        ns = sum(said[call][0] for call in CALLS)
        print(f"    stops {dict(stops)}; strace: {sum(said[call][1] for call in CALLS)} calls of {ns / 1e6:.3f} ms")
        # By its clock a call is from one stop to the other. Its CPU time is the kernel's estimate, by ticks.
        if "-w" in command:
            assert total["syscall"] < ns < total["syscall"] + total["asleep"] + total["run-queue"], (ns, total)
    assert lab.read("modules-left").strip() == "0"
