# SPDX-License-Identifier: GPL-2.0-or-later
"""More packets under way than the tables hold: the oldest go, and each is counted."""

from lablib.events import Trace

DESCRIPTION = "datagrams that nobody reads, and a queue that lets nothing out: what is evicted is counted to the packet"
IN_CI = ("trixie",)
BUILD = {"rx": ["rx-latency"], "sock": ["sock-latency"], "tx": ["tx-latency"]}

# What is sent, and how much of that is held at least and at most. Received packets and requests
# are in one list: as many go as are too many. Sent ones are in small sets, which fill up one by one: see head_set.h.
FLOODS = {
    "rx": (17011, 16384, 16384),
    "sock": (4111, 4096, 4096),
    "tx-fits": (6007, 6007, 6007),
    "tx": (20011, 12000, 16384),
}

FLOOD = """
import socket, sys
FORCE_SEND, FORCE_RECEIVE = 32, 33
server, client = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
server.setsockopt(socket.SOL_SOCKET, FORCE_RECEIVE, 1 << 27)
client.setsockopt(socket.SOL_SOCKET, FORCE_SEND, 1 << 27)
server.bind(("127.0.0.1", 7007))
for i in range(int(sys.argv[1])):
    client.sendto(b"x" * 11, ("127.0.0.1", 7007))
input()
"""

GUEST = r"""
# flood NAME MODULE COUNT: the sockets stay open until it has been recorded.
flood() {
    local sent=$(sent)
    mkfifo /tmp/$1
    record $1 $2 --port 7007 || exit 1
    python3 flood.py $3 </tmp/$1 &
    exec 9>/tmp/$1
    wait_for "[ \$(awk '\$1 == \"Udp:\" {n = \$5} END {print n}' /proc/net/snmp) -ge $((sent + $3)) ]" || exit 1
    end_records $1
    exec 9>&-
    wait $!
}
sent() { awk '$1 == "Udp:" {n = $5} END {print n}' /proc/net/snmp; }

flood rx rx 17011
flood sock sock 4111
tc qdisc add dev lo root netem delay 100s limit 30000 || exit 1
flood tx-fits tx 6007
tc qdisc del dev lo root
tc qdisc add dev lo root netem delay 100s limit 30000 || exit 1
flood tx tx 20011
finish
"""


def prepare(lab):
    (lab.work / "flood.py").write_text(FLOOD)


def check(lab):
    for name, (sent, at_least, at_most) in FLOODS.items():
        trace = Trace(lab, name)
        account = trace.accounting
        assert account["seen"] == sent, account
        assert not trace.events and account["incomplete"] + account["lost_by"]["evicted"] == account["seen"], account
        assert at_least <= account["incomplete"] <= at_most, account
    assert lab.read("modules-left").strip() == "0"
