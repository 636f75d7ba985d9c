# SPDX-License-Identifier: GPL-2.0-or-later
"""retransmits against the kernel's own counters of what it sent again, and why."""

import collections

from lablib.counters import rises
from lablib.events import read_report

DESCRIPTION = "segments sent again by cause and destination: as many as RetransSegs and TCPTimeouts, TCPFastRetrans ... say"
IN_CI = ("trixie",)
BUILD = {"again": ["retransmits"]}

BULK, ASK, DEAD, HALF, HANDSHAKE = 7501, 7502, 7503, 7504, 7505
COUNTERS = ("Tcp.RetransSegs", "TcpExt.TCPTimeouts", "TcpExt.TCPFastRetrans", "TcpExt.TCPSlowStartRetrans", "TcpExt.TCPLossProbes",
            "TcpExt.TCPSynRetrans", "TcpExt.TCPRetransFail")
# Netfilter's own count of what it dropped is the truth of losses on the way.
RULES = f"""
table ip lab {{
    chain input {{
        type filter hook input priority 0
        tcp dport {BULK} numgen inc mod 17 == 11 counter drop
        tcp dport {ASK} meta length > 60 numgen inc mod 5 == 3 counter drop
        tcp dport {DEAD} counter drop
    }}
}}
"""
DEAF = f"add rule ip lab input tcp dport {HALF} counter drop"
NO_ANSWER = f"""
table ip lab {{
    chain input {{
        type filter hook input priority 0
        tcp sport {HANDSHAKE} tcp flags & (syn | ack) == syn | ack counter drop
    }}
}}
"""

# connect.py ADDRESS PORT SECONDS: tries for so long.
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=float(sys.argv[3]))
except TimeoutError:
    print("timed out")
"""
# A message that is not acknowledged before the host hears again.
UNHEARD = f"""
import socket, subprocess, time
connection = socket.create_connection(("10.9.0.2", {HALF}))
time.sleep(0.1)
subprocess.run(["ip", "netns", "exec", "right", "nft", "{DEAF}"], check=True)
for _ in range(7):
    connection.sendall(b"x" * 3000)
time.sleep(2)
subprocess.run(["ip", "netns", "exec", "right", "nft", "flush", "chain", "ip", "lab", "input"], check=True)
time.sleep(4)
"""
LISTEN = f"""
import socket, time
servers = [socket.create_server(("", port)) for port in ({HALF}, {HANDSHAKE})]
print("ready", flush=True)
kept = servers[0].accept()
while kept[0].recv(65536):
    pass
time.sleep(3600)
"""

GUEST = f"""
make_pair || exit 1
NETNS=right start_ready bulk --receive --port {BULK} || exit 1
NETNS=right start_ready serve --port {ASK} || exit 1
NETNS=right start_ready python3 listen.py || exit 1
ip netns exec right nft -f rules && ip netns exec left nft -f no-answer || exit 1
counters() {{ ip netns exec $1 cat /proc/net/netstat /proc/net/snmp | grep ^Tcp >$1.$2; }}
counters left before; counters right before
record again again || exit 1
ip netns exec left bulk --send --address 10.9.0.2 --port {BULK} --bytes 1000003 >bulk || exit 1
ip netns exec left ask --address 10.9.0.2 --port {ASK} --requests 101 >ask || exit 1
ip netns exec left python3 connect.py 10.9.0.2 {DEAD} 3.5 || exit 1
ip netns exec left python3 connect.py 10.9.0.2 {HANDSHAKE} 3.5 || exit 1
ip netns exec left python3 unheard.py || exit 1
end_records again
counters left after; counters right after
record one again --port {ASK} || exit 1
ip netns exec right nft -f rules
ip netns exec left ask --address 10.9.0.2 --port {ASK} --requests 101 >ask || exit 1
ip netns exec left python3 connect.py 10.9.0.2 {DEAD} 1.5 || exit 1
end_records one
finish
"""


def prepare(lab):
    for name, text in {"connect.py": CONNECT, "unheard.py": UNHEARD, "listen.py": LISTEN, "rules": RULES, "no-answer": NO_ANSWER}.items():
        (lab.work / name).write_text(text)


def check(lab):
    report = read_report(lab, "again")
    sent = {"10.9.0.2": collections.Counter(), "10.9.0.1": collections.Counter()}
    for row in report["counts"]:
        sent[row["group"]["remote"]][row["group"]["cause"]] += row["count"]
    for (remote, causes), side in zip(sent.items(), ("left", "right")):
        known = rises(lab, f"{side}.before", f"{side}.after")
        print(f"{lab.suite} to {remote}: {dict(causes)}, kernel: { {name: known[name] for name in COUNTERS} }")
        assert sum(causes.values()) == known["Tcp.RetransSegs"] and not known["TcpExt.TCPRetransFail"]
        assert causes["fast"] == known["TcpExt.TCPFastRetrans"] and causes["after-timeout"] == known["TcpExt.TCPSlowStartRetrans"]
        assert causes["syn"] + causes["syn-ack"] == known["TcpExt.TCPSynRetrans"] and not causes["other"]
        # Of SYN-ACKs some answer a SYN that came again, and no timer does.
        by_timer = causes["timeout"] + causes["syn"]
        timeouts = known["TcpExt.TCPTimeouts"]
        assert by_timer == timeouts if side == "left" else by_timer < timeouts <= causes["syn-ack"]
        assert causes["tail-loss-probe"] <= known["TcpExt.TCPLossProbes"]
    left, right = sent.values()
    assert left["fast"] > 10 and left["syn"] >= 4 and left["timeout"] >= 3 and left["tail-loss-probe"] and right["syn-ack"] >= 2
    one = read_report(lab, "one")
    # The SYN, and the SYN-ACKs that a server goes on with.
    assert one["accounting"]["filtered"] >= 1 and {row["group"]["cause"] for row in one["counts"]} <= {"tail-loss-probe", "timeout", "fast"}, one
    assert lab.read("modules-left").strip() == "0"
