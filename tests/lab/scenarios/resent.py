# SPDX-License-Identifier: GPL-2.0-or-later
"""retransmits --where: each segment that is sent again is classified right, of losses that are planted on this host and elsewhere."""

import collections
import json
import re

from lablib.counters import read_pairs
from lablib.events import read_report

DESCRIPTION = "where segments were lost that are sent again: netem, a queue, rules, a neighbour, acknowledgments, elsewhere, nowhere"
IN_CI = ("trixie",)
BUILD = {"again": ["retransmits", "--where"]}

UNDOS = ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo")
PORT, BYTES = 7601, 1000003
BULK = f"NETNS=right start_ready bulk --receive --port {PORT} || exit 1; in_left bulk --send --address {{address}} --port {PORT} --bytes {BYTES} >{{name}}.bulk || exit 1"
DROPPED = "in_left tc -s -j qdisc show dev left0 >{name}.tc; "
NETEM = "in_left tc qdisc replace dev left0 root netem delay 1ms"
RULE = "table ip {name} {{ chain c {{ type filter hook {hook} priority 0; {what} numgen inc mod {one_in} == 1 counter {verdict}; }}; }}"


def rule(side, name, hook, what, one_in, verdict="drop"):
    return f"in_{side} nft '{RULE.format(name=name, hook=hook, what=what, one_in=one_in, verdict=verdict)}' || exit 1"


def data_to(address):
    return f"ip daddr {address} tcp dport {PORT} meta length > 100"


SYN_ACKS = ("table {family} {name} {{ chain c {{ type filter hook input priority 0; {family} saddr {{address}} "
            "tcp flags & (syn | ack) == (syn | ack) counter drop; }}; }}")

# case -> what is done before it, what sends, what is done behind it. Its address is 10.9.0.11 and so on.
CASES = {
    "netem": (f"{NETEM} loss 7% $(seeded 7) || exit 1", BULK, DROPPED + NETEM),
    "fq-codel": ("in_left tc qdisc replace dev left0 root handle 1: tbf rate 40mbit burst 16kb limit 1mb; "
                 "in_left tc qdisc replace dev left0 parent 1:1 fq_codel limit 13", BULK, DROPPED + NETEM),
    "input": (rule("right", "drops", "input", data_to("{address}"), 37), BULK, ""),
    "output": (rule("left", "drops", "output", data_to("{address}"), 23), BULK, ""),
    "ack": (rule("left", "acks", "input", f"ip saddr {{address}} tcp sport {PORT} meta length 52", 2),
            f"NETNS=right start_ready bulk --receive --port {PORT} || exit 1; in_left python3 slowly.py {{address}}", ""),
    # To a device that swallows it: nothing of this host sees that it is lost.
    "elsewhere": ("in_right ip link add void type dummy; in_right ip link set void up; in_right nft 'table netdev away { chain c { type filter "
                  "hook ingress device right0 priority 0; ip daddr {address} tcp dport 7601 meta length > 100 numgen inc mod 31 == 3 counter "
                  "fwd to \"void\"; }; }' || exit 1", BULK, ""),
    "neighbour": ("", "in_left python3 unreachable.py {address}", ""),
    "needless": ("", "in_left python3 late.py {address}", ""),
    "syn": (rule("right", "syns", "input", "ip daddr {address} tcp flags & (syn | ack) == syn", 1).replace("numgen inc mod 1 == 1", ""),
            "in_left python3 connect.py {address} 3.5", ""),
    # The listener answers each SYN, and discards all but the first.
    "syn-ack": (f"in_left nft '{SYN_ACKS.format(family='ip', name='synacks')}' || exit 1", "in_left python3 connect.py {address} 15.5", ""),
    "syn-ack6": (f"in_left nft '{SYN_ACKS.format(family='ip6', name='synacks6')}' || exit 1", "in_left python3 connect.py {address} 15.5", ""),
    "none": ("", BULK, ""),
}
ADDRESSES = {name: f"fd09::{number}" if name.endswith("6") else f"10.9.0.{number}" for number, name in enumerate(CASES, start=11)}

RUN = """
{before}
{sends}
{behind}
sleep 0.5
in_left cat /proc/net/netstat /proc/net/snmp | grep ^Tcp >{name}.counters
"""


def guest():
    script = [f"""make_pair || exit 1
in_left() {{ ip netns exec left "$@"; }}
in_right() {{ ip netns exec right "$@"; }}
in_left ethtool -K left0 tso off gso off
{NETEM}
NETNS=right start_ready python3 answer.py || exit 1
in_left cat /proc/net/netstat /proc/net/snmp | grep ^Tcp >before.counters
record again again || exit 1"""]
    for name, parts in CASES.items():
        address = ADDRESSES[name]
        before, sends, behind = (part.replace("{address}", address).replace("{name}", name) for part in parts)
        script.append(f"in_right ip address add {address}/{'64' if ':' in address else '24'} dev right0" + " nodad" * (":" in address))
        script.append(RUN.format(name=name, before=before, sends=sends, behind=behind))
    return "\n".join([*script, "in_right nft list ruleset >rules", "end_records again\nfinish"])


GUEST = guest()

# Answers each message by a byte, of whatever connection.
ANSWER = """
import socket, threading
def answer(connection):
    while connection.recv(65536):
        connection.sendall(b"k")
server = socket.create_server(("", 7602))
server6 = socket.create_server(("", 7602), family=socket.AF_INET6)   # nobody gets as far as that
print("ready", flush=True)
while True:
    threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
"""
SENDS = """
import socket, subprocess, sys, time
def run(*words): subprocess.run(words, check=True)
connection = socket.create_connection((sys.argv[1], {port}))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
"""
# One at a time, so that each acknowledgment counts.
SLOWLY = SENDS.format(port=PORT) + """
for _ in range(23):
    connection.sendall(b"x" * 1009)
    time.sleep(0.5)
"""
# The other end does not answer ARP while a message is sent.
UNREACHABLE = SENDS.format(port=7602) + """
run("ip", "netns", "exec", "right", "ip", "link", "set", "right0", "arp", "off")
run("ip", "neigh", "flush", "dev", "left0")
connection.sendall(b"x" * 101)
time.sleep(7)
run("ip", "netns", "exec", "right", "ip", "link", "set", "right0", "arp", "on")
connection.recv(1)
"""
# The way back takes longer than before: TCP sends again what has arrived.
LATE = SENDS.format(port=7602) + """
def delay(time): run("ip", "netns", "exec", "right", "tc", "qdisc", "replace", "dev", "right0", "root", "netem", "delay", time)
for _ in range(7):
    delay("1ms")
    for _ in range(23):
        connection.sendall(b"x" * 101)
        connection.recv(1)
    delay("900ms")
    connection.sendall(b"y" * 1009)
    connection.recv(1)
run("ip", "netns", "exec", "right", "tc", "qdisc", "del", "dev", "right0", "root")
time.sleep(2)
"""
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 7602), timeout=float(sys.argv[2]))
except TimeoutError:
    print("timed out")
"""


def prepare(lab):
    for name, text in {"answer.py": ANSWER, "slowly.py": SLOWLY, "unreachable.py": UNREACHABLE, "late.py": LATE, "connect.py": CONNECT}.items():
        (lab.work / name).write_text(text)


def check(lab):
    report = read_report(lab, "again")
    counted = collections.defaultdict(collections.Counter)
    for row in report["counts"]:
        counted[row["group"]["remote"]][row["group"]["where"]] += row["count"]
    places = collections.Counter()
    for row in report["drops"]:
        places[row["symbol"], row["reason"]] += row["count"]
    print(f"{lab.suite} lost at {dict(places)}")
    dropped = {name: int(n) for name, n in re.findall(r"table \w+ (\w+) \{[^}]*?counter packets (\d+)", lab.read("rules"))}
    before = read_pairs(lab.read("before.counters"))
    for name, address in ADDRESSES.items():
        after = read_pairs(lab.read(f"{name}.counters"))
        resent = after["Tcp.RetransSegs"] - before["Tcp.RetransSegs"]
        acked_twice = after["TcpExt.TCPDSACKRecvSegs"] - before["TcpExt.TCPDSACKRecvSegs"]
        where = counted[address]
        undone = sum(after["TcpExt." + undo] - before["TcpExt." + undo] for undo in UNDOS)
        print(f"{lab.suite} {name}: {resent} sent again: {dict(where)}, {acked_twice} by duplicate SACKs, {undone} undone")
        before = after
        assert sum(where.values()) == resent, name
        # A tail probe or a timer may go off too early in any case. The other end then tells that it has the segment twice,
        # or its timestamps tell that the first one came.
        needless = where["needless"]
        if name != "needless":
            assert where.pop("needless", 0) <= acked_twice or undone, name
        if name in ("netem", "fq-codel"):
            dropped[name] = sum(qdisc["drops"] for qdisc in json.loads(lab.read(f"{name}.tc")) if qdisc["kind"] != "tbf")
        check_case(name, where, dropped, needless)


def check_case(name, where, dropped, needless):
    if name in ("netem", "fq-codel"):
        # What is dropped there may be several segments. The handshake's last acknowledgment is not sent again.
        assert 0 < dropped[name] <= where["lost-here"] + 1 and set(where) == {"lost-here"}, f"{name}: {dropped}"
    elif name in ("neighbour", "syn"):
        assert where["lost-here"] >= 2 and not where["not-here"] and not where["ack-lost-here"], name
    elif name in ("syn-ack", "syn-ack6"):
        assert where["ack-lost-here"] >= 3 and set(where) == {"ack-lost-here"}, name
    elif name == "input":
        assert where["lost-here"] == dropped["drops"] and not where["not-here"], f"{name}: {dropped}"
    elif name == "ack":
        assert where["ack-lost-here"] > 10 and not where["lost-here"], name
    elif name == "elsewhere":
        # What is sent again needlessly may be swallowed, too.
        assert 0 <= dropped["away"] - where["not-here"] <= needless and not where["lost-here"], f"{name}: {dropped}"
    elif name == "needless":
        assert where["needless"] >= 7 and set(where) == {"needless"}, name
    else:
        assert name == "output" or not where, name
