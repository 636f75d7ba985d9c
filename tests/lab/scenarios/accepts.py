# SPDX-License-Identifier: GPL-2.0-or-later
"""accept-latency against servers that wait in accept(), accept late, are far away, or never accept."""

import statistics

from lablib.counters import rises
from lablib.events import Trace

DESCRIPTION = "each connection in its stage: handshake, queue or wake-up; a full accept queue, each SYN accounted for"
IN_CI = ("trixie",)
BUILD = {"accept": ["accept-latency"]}

# port -> connections
WAITS, WAITS6, MAPPED, LATE, FAR, FULL = 7601, 7602, 7603, 7604, 7605, 7606
COUNTS = {WAITS: 23, WAITS6: 5, MAPPED: 3, LATE: 7, FAR: 11}
LATE_MS, DELAY_MS = 150, 30
BACKLOG, TOO_MANY = 3, 13  # Linux keeps one more than the backlog

# server.py PORT HOW COUNT: accepts so many; how: waits, waits6 (IPv4, too), late, never. Then waits for its end.
SERVER = f"""
import os, socket, sys, time
port, how, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = socket.create_server(("::" if how == "waits6" else "", port), family=socket.AF_INET6 if how == "waits6" else socket.AF_INET,
                              backlog={BACKLOG} if how == "never" else 64, dualstack_ipv6=how == "waits6")
print("ready", flush=True)
if how == "late":
    while not os.path.exists("go"):
        time.sleep(0.001)
    time.sleep({LATE_MS / 1000})
kept = [server.accept() for _ in range(count)]
time.sleep(3600)
"""

# client.py ADDRESS PORT COUNT [at-once]: so many connections, one after the other with a pause, and all are kept.
CLIENT = """
import socket, sys, time
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
kept = []
for _ in range(count):
    if len(sys.argv) > 4:
        kept.append(socket.socket())
        kept[-1].setblocking(False)
        kept[-1].connect_ex((address, port))
        time.sleep(0.01)
    else:
        kept.append(socket.create_connection((address, port)))
        time.sleep(0.02)
if len(sys.argv) > 4:
    time.sleep(1.5)
"""

GUEST = f"""
make_pair && ip -n left link set lo up || exit 1
ip netns exec left tc qdisc replace dev left0 root netem delay {DELAY_MS}ms || exit 1
start_ready python3 server.py {WAITS} waits 1000 || exit 1
start_ready python3 server.py {WAITS6} waits6 1000 || exit 1
start_ready python3 server.py {MAPPED} waits6 1000 || exit 1
NETNS=right start_ready python3 server.py {FAR} waits 1000 || exit 1
start_ready python3 server.py {FULL} never 0 || exit 1
record all accept || exit 1
python3 client.py 127.0.0.1 {WAITS} {COUNTS[WAITS]} || exit 1
python3 client.py ::1 {WAITS6} {COUNTS[WAITS6]} || exit 1
python3 client.py 127.0.0.1 {MAPPED} {COUNTS[MAPPED]} || exit 1
ip netns exec left python3 client.py 10.9.0.2 {FAR} {COUNTS[FAR]} || exit 1
start_ready python3 server.py {LATE} late {COUNTS[LATE]} || exit 1
python3 client.py 127.0.0.1 {LATE} {COUNTS[LATE]} || exit 1
touch go
sleep 1
grep ^TcpExt: /proc/net/netstat >before
python3 client.py 127.0.0.1 {FULL} {TOO_MANY} at-once || exit 1
grep ^TcpExt: /proc/net/netstat >after
end_records all
record one accept --port {WAITS} || exit 1
python3 client.py 127.0.0.1 {WAITS} 17 || exit 1
python3 client.py 127.0.0.1 {MAPPED} 19 || exit 1
end_records one
finish
"""


def prepare(lab):
    (lab.work / "server.py").write_text(SERVER)
    (lab.work / "client.py").write_text(CLIENT)


def check(lab):
    trace = Trace(lab, "all")
    for port, count in COUNTS.items():
        events = trace.of_port(port)
        trace.expect(len(events), count, f"connections to {port}")
        for event in events:
            assert (event["queue_ns"] is None) != (event["wake-up_ns"] is None), event
            if port == LATE:
                assert event["wake-up_ns"] is None and event["queue_ns"] >= LATE_MS * 1_000_000, event
            else:
                assert event["queue_ns"] is None, event
        low, high = (DELAY_MS * 1_000_000, 2 * DELAY_MS * 1_000_000) if port == FAR else (0, 20_000_000)
        handshakes = [event["handshake_ns"] for event in events]
        assert low <= min(handshakes) <= statistics.median(handshakes) < high, handshakes
        wake_ups = [event["wake-up_ns"] for event in events if event["wake-up_ns"] is not None]
        assert port == LATE or statistics.median(wake_ups) < 20_000_000, wake_ups
    ends = trace.of_port(WAITS6)[0], trace.of_port(MAPPED)[0]
    assert ends[0]["remote"].startswith("[::1]:") and ends[1]["remote"].startswith("127.0.0.1:"), ends
    # What met a full queue: each client sends its SYN once more in this time.
    account, kept = trace.accounting, BACKLOG + 1
    dropped = rises(lab, "before", "after")["TcpExt.ListenDrops"]
    print(f"{lab.suite}: {dropped} dropped, {account['other']}")
    assert account["seen"] == sum(COUNTS.values()) + TOO_MANY and account["filtered"] == 0
    assert {cause: n for cause, n in account["incomplete_by"].items() if n} == {"handshake": TOO_MANY - kept, "queued": kept}, account
    assert dropped == 2 * (TOO_MANY - kept) and account["other"]["syns-dropped-or-cookie"] == dropped, account
    assert account["other"]["syns-again"] == TOO_MANY - kept
    one = Trace(lab, "one")
    one.expect(len(one.events), 17)
    assert one.accounting["filtered"] == 19 and {event["local"] for event in one.events} == {f"127.0.0.1:{WAITS}"}
    assert lab.read("modules-left").strip() == "0"
