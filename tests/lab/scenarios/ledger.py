# SPDX-License-Identifier: GPL-2.0-or-later
"""losses: a ledger of received packets closes over losses that are planted at once, and shows one that no probe sees as unexplained."""

import collections
import shutil

from lablib.common import SOURCE
from lablib.counters import read_pairs
from lablib.events import read_report

DESCRIPTION = "losses: IPv4 and IPv6, fragments and own broadcasts: delivered, passed on, lost at ten places and unexplained, to the last one"
IN_CI = ("trixie",)
BUILD = {"ledger": ["losses", "--netfilter"]}

# What is lost for which cause: the datagrams' port and number.
PLANTED = {
    "tc": (7001, 101),
    "prerouting": (7002, 103),
    "input": (7004, 107),
    "no-socket": (7005, 109),
    "no-room": (7006, 211),
    "generic-xdp": (7007, 127),
    "ttl": (7008, 131),
    "qdisc": (7009, 137),
    "nfqueue": (7013, 149),
}
# The same of IPv6.
PLANTED6 = {"input6": (7024, 113), "no-socket6": (7025, 139), "ttl6": (7028, 61)}
# By reason and step, and netfilter's hook, table and chain: functions have other names from kernel to kernel.
REASONS = {
    ("TC_INGRESS", "way in"): "tc",
    ("NETFILTER_DROP", "way in", "prerouting ip one before"): "prerouting",
    ("NETFILTER_DROP", "way in", "input ip one here"): "input",
    ("NO_SOCKET", "udp"): "no-socket",
    ("SOCKET_RCVBUFF", "udp"): "no-room",
    ("NOT_SPECIFIED", "way in"): "generic-xdp",
    ("IP_INHDR", "way in"): "ttl",
    ("QDISC_DROP", "way out"): "qdisc",
    ("NOT_SPECIFIED", "way in", "input ip one here"): "nfqueue",
    ("NETFILTER_DROP", "way in", "input ip6 six here6"): "input6",
}
ALSO = {("NO_SOCKET", "udp"): "no-socket6", ("IP_INHDR", "way in"): "ttl6"}
DELIVERED, PASSED_ON, UNSEEN = (7010, 1009), (7011, 503), (7003, 211)
DELIVERED6, PASSED_ON6 = (7020, 1013), (7021, 307)
# Datagrams of three fragments, of each IP; those that right cuts into two for behind; and what is sent to all of the network.
WHOLE, CUT, BROADCAST = (7026, 13), (7027, 17), (7029, 7)
# SYNs to a socket whose accept queue has its one connection.
QUEUE_FULL = (7012, 53)

GUEST = f"""
make_card_pair || exit 1
in_left() {{ ip netns exec left "$@"; }}
in_right() {{ ip netns exec right "$@"; }}
# right is a router to behind.
ip netns add behind
ip link add out0 netns right type veth peer name in0 netns behind
for device in "right out0 10.7.0.1" "behind in0 10.7.0.2"; do
    set -- $device
    ip -n $1 address add $3/24 dev $2; ip -n $1 link set $2 up
done
ip -n behind link set lo up
ip -n behind route add default via 10.7.0.1
ip -n left route add 10.7.0.0/24 via 10.8.0.2
in_right sysctl -qw net.ipv4.ip_forward=1
in_right sysctl -qw net.ipv6.conf.all.forwarding=1
for device in "left eth0 fd08::1" "right eth1 fd08::2" "right out0 fd07::1" "behind in0 fd07::2"; do
    set -- $device
    ip -n $1 address add $3/64 dev $2 nodad
done
ip -n behind route add default via fd07::1
ip -n left route add fd07::/64 via fd08::2
ip -n right link set out0 mtu 1280
in_left ping -qc 1 10.7.0.2 >/dev/null || exit 1
in_left ping -qc 1 fd07::2 >/dev/null || exit 1
in_right tc qdisc add dev eth1 clsact
in_right tc filter add dev eth1 ingress protocol ip flower ip_proto udp dst_port 7001 action drop || exit 1
in_right nft 'table ip one {{ chain before {{ type filter hook prerouting priority 0; udp dport 7002 counter drop; }};
                             chain here {{ type filter hook input priority 0; udp dport 7004 counter drop; udp dport 7013 queue num 7; }}; }}' || exit 1
in_right nft 'table ip6 six {{ chain here6 {{ type filter hook input priority 0; udp dport 7024 counter drop; }}; }}' || exit 1
in_right tc qdisc replace dev out0 root handle 1: prio
in_right tc qdisc add dev out0 parent 1:3 handle 30: netem loss 100%
in_right tc filter add dev out0 parent 1: protocol ip flower ip_proto udp dst_port 7009 classid 1:3 || exit 1
NETNS=right start_ready python3 receive.py 7010 4194304 {DELIVERED[1]} || exit 1
delivered=$READY_OUTPUT
NETNS=right start_ready python3 receive.py {DELIVERED6[0]} 4194304 {DELIVERED6[1]} 6 || exit 1
delivered6=$READY_OUTPUT
NETNS=right start_ready python3 receive.py {WHOLE[0]} 4194304 {WHOLE[1]} || exit 1
whole=$READY_OUTPUT
NETNS=right start_ready python3 receive.py {WHOLE[0]} 4194304 {WHOLE[1]} 6 || exit 1
whole6=$READY_OUTPUT
NETNS=behind start_ready python3 receive.py {CUT[0]} 4194304 {CUT[1]} || exit 1
cut=$READY_OUTPUT
NETNS=behind start_ready python3 receive.py {PASSED_ON6[0]} 4194304 {PASSED_ON6[1]} 6 || exit 1
passed_on6=$READY_OUTPUT
NETNS=right start_ready python3 receive.py 7006 2304 0 || exit 1
NETNS=right start_ready python3 listen.py {QUEUE_FULL[0]} || exit 1
NETNS=behind start_ready python3 receive.py 7011 4194304 {PASSED_ON[1]} || exit 1
passed_on=$READY_OUTPUT
NETNS=right start_ready python3 xdp_drop.py eth1 7007 generic || exit 1
generic=$READY_PID
# A card is read where a process is.
in_left sleep 10000 &
in_right cat /proc/net/snmp | grep ^Udp: >before.snmp
record ledger ledger || exit 1
in_left python3 send.py
sleep 2
kill $generic
NETNS=right start_ready python3 xdp_drop.py eth1 7003 || exit 1
in_left python3 send.py 10.8.0.2 {UNSEEN[0]} {UNSEEN[1]}
sleep 1
end_records ledger
in_right cat /proc/net/snmp | grep ^Udp: >after.snmp
in_right nft list ruleset >rules
cp $delivered delivered; cp $passed_on passed-on
cp $delivered6 delivered6; cp $passed_on6 passed-on6; cp $whole whole; cp $whole6 whole6; cp $cut cut
finish
"""

RECEIVE = """
import socket, sys, time
port, room, expected = map(int, sys.argv[1:4])
receiver = socket.socket(socket.AF_INET6 if sys.argv[4:] else socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[4:]:
    receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
receiver.setsockopt(socket.SOL_SOCKET, 33, room)
receiver.bind(("", port))
print("ready", flush=True)
if not expected:
    time.sleep(3600)
for i in range(expected):
    receiver.recv(4096)
print(expected, flush=True)
"""
SEND = f"""
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender6 = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
def send(address, port, n, size=101):
    for _ in range(n):
        (sender6 if ":" in address else sender).sendto(b"x" * size, (address, port))
if len(sys.argv) > 1:
    send(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    sys.exit()
send("10.8.0.2", *{DELIVERED})
for name, (port, n) in {PLANTED}.items():
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1 if name == "ttl" else 64)
    send("10.7.0.2" if name in ("ttl", "qdisc") else "10.8.0.2", port, n)
send("10.7.0.2", *{PASSED_ON})
send("fd08::2", *{DELIVERED6})
for name, (port, n) in {PLANTED6}.items():
    sender6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 1 if name == "ttl6" else 64)
    send("fd07::2" if name == "ttl6" else "fd08::2", port, n)
sender6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 64)
send("fd07::2", *{PASSED_ON6})
# Without DF, so that a router may cut them.
sender.setsockopt(socket.IPPROTO_IP, 10, 0)
send("10.8.0.2", *{WHOLE}, 3500)
send("fd08::2", *{WHOLE}, 3500)
send("10.7.0.2", *{CUT}, 1400)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
send("10.8.0.255", *{BROADCAST})
sender6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex("eth0"))
send("ff02::1", *{BROADCAST})
first = socket.create_connection(("10.8.0.2", {QUEUE_FULL[0]}))
others = []
for _ in range({QUEUE_FULL[1]}):
    others.append(socket.socket())
    others[-1].setblocking(False)
    others[-1].connect_ex(("10.8.0.2", {QUEUE_FULL[0]}))
"""
LISTEN = """
import socket, sys, time
listener = socket.create_server(("", int(sys.argv[1])), backlog=0)
print("ready", flush=True)
time.sleep(3600)
"""


def prepare(lab):
    shutil.copy(SOURCE / "traffic/xdp_drop.py", lab.work)
    (lab.work / "receive.py").write_text(RECEIVE)
    (lab.work / "send.py").write_text(SEND)
    (lab.work / "listen.py").write_text(LISTEN)


def check(lab):
    report = read_report(lab, "ledger")
    ledger = {(row["entry"], row["group"].get("of", "")): row["packets"] for row in report["ledger"]}
    drops = collections.Counter()
    for row in report["drops"]:
        group = row["group"]
        chain = [group["netfilter"]] if group["netfilter"] else []
        drops[row["reason"], group["step"], *chain] += row["count"]
        assert row["reason"] != "NOT_SPECIFIED" or row["symbol"] in ("do_xdp_generic", "nf_queue")
    print(f"{lab.suite} ledger: {ledger}\n{lab.suite} dropped: {dict(drops)}")
    before, after = (read_pairs(lab.read(f"{when}.snmp")) for when in ("before", "after"))
    no_room = after["Udp.RcvbufErrors"] - before["Udp.RcvbufErrors"]
    assert 0 < no_room < PLANTED["no-room"][1]
    expected = {name: n for name, (_, n) in (PLANTED | PLANTED6).items()} | {"no-room": no_room}
    lost = collections.Counter({reason: expected[name] for reason, name in REASONS.items()})
    lost.update({reason: expected[name] for reason, name in ALSO.items()})
    assert drops == lost, lost
    assert ledger["listen-queue", "accept"] == QUEUE_FULL[1]
    sent = sum(n for _, n in (PLANTED | PLANTED6).values()) + CUT[1] + QUEUE_FULL[1]
    sent += sum(n for _, n in (DELIVERED, DELIVERED6, PASSED_ON, PASSED_ON6))
    # And those that behind received, the one connection, and what ICMP says of the others to left, and neighbours to each other.
    received = sum(ledger["received", device] for device in ("eth0", "eth1", "veth"))
    assert received == sent + PASSED_ON[1] + PASSED_ON6[1] + ledger["delivered", "tcp"] + ledger["delivered", "icmp"]
    for name, (_, n) in {"delivered": DELIVERED, "passed-on": PASSED_ON, "delivered6": DELIVERED6, "passed-on6": PASSED_ON6, "whole": WHOLE,
                         "whole6": WHOLE, "cut": CUT}.items():
        assert lab.read(name).split()[-1] == str(n), name
    # And those that reached behind's socket, and that without room.
    passed_on = PASSED_ON[1] + PASSED_ON6[1]
    assert ledger["delivered", "udp"] == DELIVERED[1] + DELIVERED6[1] + passed_on + PLANTED["no-room"][1] - no_room
    # And what right tells behind of its neighbour: ICMPv6.
    assert ledger["passed-on", "veth"] == passed_on + CUT[1] and ledger["received", "veth"] >= passed_on
    # What is cut arrives as two fragments.
    assert ledger["not-followed", "fragments"] == 2 * 3 * WHOLE[1] + 2 * CUT[1]
    assert ledger["not-followed", "several hosts"] >= 2 * BROADCAST[1]
    assert ("delivered", "other protocol") not in ledger
    assert ledger["unexplained", ""] == 0 and ("miscounted", "") not in ledger, "the ledger does not close"
    # XDP's program takes them before there is an skb.
    assert ledger["unexplained-before", "eth1"] == UNSEEN[1]
    assert ledger["unexplained-before", "eth0"] == 0
    assert ledger["card", "eth1"] >= sent + UNSEEN[1]
