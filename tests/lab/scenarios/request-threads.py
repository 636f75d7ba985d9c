# SPDX-License-Identifier: GPL-2.0-or-later
"""sock-latency --parts against servers of several clients: a pool of threads, an event loop, one that asks other servers."""

import collections
from statistics import median

from lablib.events import Trace
from lablib.waits import parts_of_app

DESCRIPTION = "what a request waits for where another thread replies, and where one thread has several requests"
IN_CI = ("trixie",)
BUILD = {"parts": ["sock-latency", "--parts"]}

IDLE, BUSY, LOOP, PROXY, SLOW, FAST, SPINS = 7431, 7432, 7433, 7434, 7435, 7436, 7437
REQUESTS = {IDLE: 101, BUSY: 403, LOOP: 153, PROXY: 107, SPINS: 53}
LATE = 1_000_000

GUEST = f"""
start_ready serve --port {SLOW} --delay-ms 9 || exit 1
start_ready serve --port {FAST} --delay-ms 4 || exit 1
measure() {{
    local name=$1 port=$2 clients=$3
    shift 3
    start_ready pool "$@" --port $port --clients $clients || exit 1
    local pid=$READY_PID
    ask --port $port --connections $clients --requests ${{COUNT}} ${{GAP:+--gap-ms $GAP}} || exit 1
    wait $pid || exit 1
    cp $READY_OUTPUT $name.log
}}
record threads parts --comm reader || exit 1
COUNT={REQUESTS[IDLE]} GAP=2 measure idle {IDLE} 1 workers --workers 4 --ms 5
COUNT={REQUESTS[BUSY]} GAP=4 measure busy {BUSY} 8 workers --workers 4 --ms 3
COUNT={REQUESTS[LOOP]} measure loop {LOOP} 3 loop --ms 8
COUNT={REQUESTS[PROXY]} measure proxy {PROXY} 2 proxy --servers {SLOW},{FAST} --ms 3
COUNT={REQUESTS[SPINS]} measure spins {SPINS} 1 spins --ms 3
end_records threads
finish
"""


def requests_of(lab, trace, name, port):
    """Return [(event, its parts, what the server says of it)]: each connection's are in one order."""
    events = trace.of_port(port)
    trace.expect(len(events), REQUESTS[port], name)
    told = collections.defaultdict(list)
    for line in lab.read(f"{name}.log").splitlines():
        if not line.startswith("ready"):
            client, idle, tid, ns = map(int, line.split())
            told[client].append((bool(idle), tid, ns))
    found = []
    for event in sorted(events, key=lambda event: event["time_ns"]):
        idle, tid, ns = told[int(event["remote"].rsplit(":", 1)[1])].pop(0)
        parts = parts_of_app(event)
        assert sum(parts.values()) == event["app_ns"], (name, event)
        found.append((event, parts, idle, tid, ns))
    assert not any(told.values()), told
    usual = {part: median(of.get(part, 0) for _, of, *_ in found) / 1e6 for part in sorted({part for _, of, *_ in found for part in of})}
    print(f"  {name}: " + ", ".join(f"{part} {ms:.3f}" for part, ms in usual.items()))
    return found


def check(lab):
    trace = Trace(lab, "threads", skips=True)
    # One client: each worker is idle, and each request's way is proved but for those that wake one for the first time.
    found = requests_of(lab, trace, "idle", IDLE)
    handed = [parts for _, parts, *_ in found if "handed-over" in parts]
    assert len(handed) <= 4, len(handed)
    for _, parts, *_ in found:
        assert "handed-over" in parts or parts["timer"] >= 5_000_000 - LATE, parts
    # Eight clients for four: who found no idle worker is handed over, and no other thread's work is given to a request.
    found = requests_of(lab, trace, "busy", BUSY)
    known = [(parts, idle, ns) for _, parts, idle, _, ns in found if "handed-over" not in parts]
    assert all(idle for _, idle, _ in known), "a request that waited in the queue was given to a thread"
    assert known, "none was proved"
    were_idle = sum(idle for _, _, idle, *_ in found)
    print(f"  busy: {were_idle} of {len(found)} found an idle worker, of {len(known)} it is proved")
    for parts, _, ns in known:
        assert abs(sum(parts.values()) - ns) < LATE and parts["timer"] >= 3_000_000 - LATE, (parts, ns)
    # The first client's requests run for 8 ms each, and the others' wait for that.
    found = requests_of(lab, trace, "loop", LOOP)
    assert not [parts for _, parts, *_ in found if "undivided" in parts or "handed-over" in parts]
    slow = [parts for _, parts, *_ in found if parts.get("running", 0) + parts.get("run-queue", 0) >= 8_000_000 - LATE]
    assert len(slow) == REQUESTS[LOOP] // 3, len(slow)
    # Each has its own server's time, though both are under way at once, and answers do not come as they were asked for. Those
    # of the first client run then, and nothing of that is the other one's.
    found = requests_of(lab, trace, "proxy", PROXY)
    runs = {event["remote"] for event, parts, *_ in found if parts["running"] >= 3_000_000 - LATE}
    assert len(runs) == 1, runs
    for event, parts, *_ in found:
        is_first = event["remote"] in runs
        asked = 9_000_000 - LATE if is_first else 4_000_000 - LATE
        assert parts.get("server", 0) >= asked, parts
        assert (parts["running"] >= 3_000_000 - LATE) == is_first, parts
    # In a loaded guest an answer may come before its question's call has ended: of one it is not known then.
    assert sum(parts.get("undivided", 0) >= LATE / 10 for _, parts, *_ in found) <= 1, found
    # What a thread did that was awake as the request came is not known.
    found = requests_of(lab, trace, "spins", SPINS)
    assert all("handed-over" in parts for _, parts, *_ in found)
    assert lab.read("modules-left").strip() == "0"
