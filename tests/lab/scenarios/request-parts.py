# SPDX-License-Identifier: GPL-2.0-or-later
"""sock-latency --parts against a server that does one known thing for each request."""

from statistics import median

from lablib.events import Trace

DESCRIPTION = "what a request waits for inside the program: a lock, another server, a disk, a timer, a CPU; the parts are the whole"
IN_CI = ("trixie",)
BUILD = {"parts": ["sock-latency", "--parts"]}

REQUESTS, SERVER = 53, 7402
# THING -> (the part that has it, ms, port). What it takes is at least that, less what it began too late for.
THINGS = {"runs": ("running", 7, 7411), "queued": ("run-queue", 3, 7412), "lock": ("lock", 7, 7413), "condition": ("futex", 5, 7414),
          "semaphore": ("futex", 13, 7415), "sleeps": ("timer", 6, 7416), "polls": ("timer", 4, 7417), "pipe": ("process", 3, 7418),
          "asks": ("server", 9, 7419), "epoll-asks": ("server", 9, 7420), "file": ("disk", 8, 7421), "hands": ("handed-over", 5, 7422)}
LATE = 1_000_000

GUEST = f"""
start_ready serve --port {SERVER} --delay-ms 9 || exit 1
dd if=/dev/urandom of=/data bs=64k count=64 status=none && sync || exit 1
measure() {{
    local thing=$1 port=$3
    start_ready works "$@" || exit 1
    record $thing parts --port $port || exit 1
    ask --port $port --requests {REQUESTS} || exit 1
    end_records $thing
}}
{"".join(f'''measure {thing} --port {port} --ms {max(ms, 11) if thing == "queued" else ms} {f"--server {SERVER}" if "asks" in thing else "--file /data" if thing == "file" else ""}
''' for thing, (_, ms, port) in THINGS.items())}
finish
"""


def check(lab):
    for thing, (part, ms, port) in THINGS.items():
        # As the run hands over records it wakes their reader, within a handler.
        trace = Trace(lab, thing, skips=True)
        assert trace.accounting["skipped_probes"] <= 2, trace.accounting
        events = [event for event in trace.of_port(port) if event["app_ns"] is not None]
        trace.expect(len(events), REQUESTS, thing)
        parts = [{name[len("app."):-len("_ns")]: ns for name, ns in event.items() if name.startswith("app.") and ns} for event in events]
        for event, of in zip(events, parts):
            assert sum(of.values()) == event["app_ns"], (thing, event)
        usual = {name: median(of.get(name, 0) for of in parts) for name in sorted({name for of in parts for name in of})}
        print(f"  {thing}: app {median(event['app_ns'] for event in events) / 1e6:.3f} ms: "
              + ", ".join(f"{name} {ns / 1e6:.3f}" for name, ns in usual.items()))
        assert usual[part] >= ms * 1_000_000 - LATE, (thing, usual)
        # What it is not is not there: what it runs for besides is little.
        others = sum(ns for name, ns in usual.items() if name not in (part, "running"))
        assert thing in ("queued", "file") or others < LATE, (thing, usual)
        assert not usual.get("undivided"), (thing, usual)
    assert lab.read("modules-left").strip() == "0"
