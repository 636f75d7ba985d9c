# SPDX-License-Identifier: GPL-2.0-or-later
"""accept-latency's queues: each segment that a full one turned away, by listener and client, and the lengths that connections met."""

import collections

from lablib.counters import rises
from lablib.events import read_report

DESCRIPTION = "full queues of listeners: SYNs dropped, answered with cookies, handshakes' ends forgotten, as the kernel counts them"
IN_CI = ("trixie",)
BUILD = {"accept": ["accept-latency", "--queues"]}

# A queue is full with one more than its backlog.
BACKLOG = 16
FLOOD, COOKIES, ALWAYS, FULL, LATE, FULL6 = 7801, 7802, 7803, 7804, 7805, 7806
DROPPED, SENT_COOKIES, ALWAYS_COOKIES, TOO_MANY, FORGOTTEN, TOO_MANY6 = 31, 29, 5, 7, 11, 3
EXPECTED = {("syn-queue", f"10.9.0.2:{FLOOD}", "10.9.0.1"): DROPPED, ("cookie", f"10.9.0.2:{COOKIES}", "10.9.0.1"): SENT_COOKIES,
            ("cookie", f"10.9.0.2:{ALWAYS}", "10.9.0.1"): ALWAYS_COOKIES, ("accept-queue", f"10.9.0.2:{FULL}", "10.9.0.3"): TOO_MANY,
            ("accept-queue-ack", f"10.9.0.2:{LATE}", "10.9.0.1"): FORGOTTEN,
            ("accept-queue", f"[fd09::2]:{FULL6}", "fd09::1"): TOO_MANY6}

SERVER = f"""
import os, socket, time
servers = [socket.create_server(("", port), backlog={BACKLOG}) for port in ({FLOOD}, {COOKIES}, {ALWAYS}, {FULL}, {LATE})]
servers.append(socket.create_server(("::", {FULL6}), family=socket.AF_INET6, backlog={BACKLOG}))
print("ready", flush=True)
while not os.path.exists("go"):
    time.sleep(0.001)
kept = [servers[4].accept() for _ in range({BACKLOG + 1})]
open("accepted", "w").close()
time.sleep(3600)
"""

# flood.py PORT COUNT: so many SYNs that nobody goes on with.
FLOOD_PROGRAM = """
import socket, struct, sys
port, count = int(sys.argv[1]), int(sys.argv[2])
source, destination = socket.inet_aton("10.9.0.1"), socket.inet_aton("10.9.0.2")
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
for i in range(count):
    header = struct.pack("!HHIIBBHHH", 20001 + 2 * i, port, 1000 + i, 0, 5 << 4, 2, 65535, 0, 0)
    words = struct.unpack("!16H", source + destination + struct.pack("!BBH", 0, 6, len(header)) + header)
    total = sum(words)
    total = (total & 0xffff) + (total >> 16)
    checksum = ~(total + (total >> 16)) & 0xffff
    raw.sendto(header[:16] + struct.pack("!H", checksum) + header[18:], ("10.9.0.2", 0))
"""

# fill.py FROM TO PORT MORE: connections that fill an accept queue, and so many more, which are not waited for.
FILL = f"""
import socket, sys, time
source, address, port, more = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
kept = [socket.create_connection((address, port), source_address=(source, 0)) for _ in range({BACKLOG + 1})]
for _ in range(more):
    kept.append(socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET))
    kept[-1].bind((source, 0))
    kept[-1].setblocking(False)
    kept[-1].connect_ex((address, port))
time.sleep(0.1)
"""

# Connections whose last ACK is lost; later, with a full accept queue, each sends a byte, which has the ACK again.
LAST_ACKS = f"""
import socket, struct, subprocess, time
right = ["ip", "netns", "exec", "right"]
subprocess.run([*right, "nft", "add rule ip lab input tcp dport {LATE} tcp flags & (syn | ack) == ack counter drop"], check=True)
half = [socket.create_connection(("10.9.0.2", {LATE})) for _ in range({FORGOTTEN})]
time.sleep(0.05)
subprocess.run([*right, "nft", "flush chain ip lab input"], check=True)
kept = [socket.create_connection(("10.9.0.2", {LATE})) for _ in range({BACKLOG + 1})]
for connection in half:
    connection.send(b"x")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
open("go", "w").close()
time.sleep(0.2)
"""

GUEST = f"""
make_pair || exit 1
ip -n left address add 10.9.0.3/24 dev left0
ip netns exec left nft -f - <<'END' || exit 1
table ip lab {{
    chain input {{
        type filter hook input priority 0
        tcp sport {{ {FLOOD}, {COOKIES}, {ALWAYS} }} counter drop
    }}
}}
END
ip netns exec right nft 'add table ip lab; add chain ip lab input {{ type filter hook input priority 0; }}' || exit 1
NETNS=right start_ready python3 server.py || exit 1
cookies() {{ ip netns exec right sysctl -q -w net.ipv4.tcp_syncookies=$1; }}
counters() {{ ip netns exec right grep ^TcpExt: /proc/net/netstat >$1; }}
record all accept || exit 1
record one accept --port {FLOOD} || exit 1
counters before
cookies 0
ip netns exec left python3 flood.py {FLOOD} {BACKLOG + 1 + DROPPED} || exit 1
cookies 1
ip netns exec left python3 flood.py {COOKIES} {BACKLOG + 1 + SENT_COOKIES} || exit 1
cookies 2
ip netns exec left python3 flood.py {ALWAYS} {ALWAYS_COOKIES} || exit 1
cookies 1
ip netns exec left python3 fill.py 10.9.0.3 10.9.0.2 {FULL} {TOO_MANY} || exit 1
ip netns exec left python3 fill.py fd09::1 fd09::2 {FULL6} {TOO_MANY6} || exit 1
ip netns exec left python3 last-acks.py || exit 1
wait_for 'test -e accepted'
counters after
end_records all one
finish
"""


def prepare(lab):
    for name, text in {"server.py": SERVER, "flood.py": FLOOD_PROGRAM, "fill.py": FILL, "last-acks.py": LAST_ACKS}.items():
        (lab.work / name).write_text(text)


def turned_away(report):
    return {(row["group"]["queue"], row["group"]["local"], row["group"]["remote"]): row["count"] for row in report["counts"]}


def check(lab):
    report, known = read_report(lab, "all"), rises(lab, "before", "after")
    found = turned_away(report)
    print(f"{lab.suite}: {found}; { {name: known[name] for name in known if 'Listen' in name or 'ReqQ' in name} }")
    assert found == EXPECTED, found
    sums = collections.Counter()
    for (queue, _, _), count in found.items():
        sums[queue] += count
    overflows = sums["accept-queue"] + sums["accept-queue-ack"]
    assert known["TcpExt.ListenOverflows"] == overflows and known["TcpExt.ListenDrops"] == overflows + sums["syn-queue"], known
    assert known["TcpExt.TCPReqQFullDrop"] == sums["syn-queue"] and known["TcpExt.TCPReqQFullDoCookies"] == sums["cookie"], known
    other = report["accounting"]["other"]
    assert other["overflows"] == sum(EXPECTED.values()) and other["overflows-evicted"] == 0, other
    # Each connection in a queue that nobody empties meets one more than the one before it.
    met = {(row["group"].get("local"), row["value"]): (row["n"], row["min"], row["max"], row["mean"]) for row in report["values"]}
    print(f"{lab.suite}: {met}")
    each = BACKLOG + 1
    for listener, half in ((f"10.9.0.2:{FULL}", 0), (f"10.9.0.2:{LATE}", FORGOTTEN), (f"[fd09::2]:{FULL6}", 0)):
        assert met.pop((listener, "accept-queue")) == (each, 0, BACKLOG, BACKLOG / 2), met
        assert met.pop((listener, "syn-queue")) == (each, half, half, half), met
        assert met.pop((listener, "queue-limit")) == (each, BACKLOG, BACKLOG, BACKLOG), met
    one = read_report(lab, "one")
    assert turned_away(one) == {key: count for key, count in EXPECTED.items() if key[1].endswith(f":{FLOOD}")}, one["counts"]
    assert lab.read("modules-left").strip() == "0"
