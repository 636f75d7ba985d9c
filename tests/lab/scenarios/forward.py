# SPDX-License-Identifier: GPL-2.0-or-later
"""forward-latency: a router between two namespaces, and a bridge with two of them and the network card.

The router's queue holds each packet for 30 ms: that is in stage qdisc and in no other. What nftables drops in the forward
chain is in the account, with its reason; what is for the router itself, or comes from it, is no packet that is passed on.
"""

from lablib.events import Trace, read_report, stage

DESCRIPTION = "forwarded packets by how and where: 30 ms in the queue only, nft's drops by reason, a bridge's are one record each"
IN_CI = ("trixie",)
NET = True
BUILD = {"all": ["forward-latency"], "sums": ["forward-latency", "--aggregate", "-i", "3600"]}

DELAY = 30_000_000
LITTLE = 2_000_000
LATE = 20_000_000  # netem's softirq waits for its turn, and the card is a slow one
# port -> packets
ROUTED, ROUTED6, DROPPED, LOCAL, BRIDGED, TO_CARD = 7301, 7302, 7013, 7303, 7304, 7305
COUNTS = {ROUTED: 1009, ROUTED6: 53, BRIDGED: 307, TO_CARD: 211}
DROPS, LOCALS = 503, 101
IFB, IFB_DELAY = 123, 5_000_000
STAGES = ("drv-ip", "prerouting", "forward", "postrouting", "neighbour", "bridge", "qdisc")

# send.py ADDRESS PORT COUNT: so many datagrams.
SEND = """
import socket, sys, time
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sender = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(count):
    sender.sendto(b"x", (address, port))
    time.sleep(0.0005)
"""
# sink.py PORT...: takes what comes there.
SINK = """
import selectors, socket, sys
ready = selectors.DefaultSelector()
for port in sys.argv[1:]:
    sink = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sink.bind(("::", int(port)))
    ready.register(sink, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in ready.select():
        key.fileobj.recv(100)
"""

GUEST = f"""
make_router || exit 1
tc qdisc add dev r0 root netem delay 30ms limit 5000 || exit 1
nft -f - <<'END' || exit 1
table inet lab {{
    chain forward {{
        type filter hook forward priority 0
        udp dport {DROPPED} counter drop
    }}
}}
END
# The bridge; nobody there asks for an address, and it knows where they are.
ip link add br0 type bridge && ip link set br0 addrgenmode none && ip link set br0 up || exit 1
join one b1 10.0.2.101/24 && join two b2 10.0.2.102/24 || exit 1
for port in b1 b2 $LAB_NIC; do ip link set $port master br0 || exit 1; done
mac_of() {{ ip "$@" -o link | sed -n 's/.*link.ether \\([0-9a-f:]*\\).*/\\1/p' | head -n 1; }}
card=$(ip netns exec outside ip -o link show up | sed -n 's/.*link.ether \\([0-9a-f:]*\\).*/\\1/p' | head -n 1)
two=$(mac_of -n two)
ip -n one neighbour replace 10.0.2.102 lladdr $two dev net0 && ip -n one neighbour replace 10.0.2.2 lladdr $card dev net0 || exit 1
bridge fdb replace $two dev b2 master static && bridge fdb replace $card dev $LAB_NIC master static || exit 1
for name in right two outside; do
    NETNS=$name start_ready python3 sink.py {ROUTED} {ROUTED6} {BRIDGED} {TO_CARD} || exit 1
done
start_ready python3 sink.py {LOCAL} || exit 1
in_left() {{ ip netns exec left "$@"; }}
in_left ping -q -c 2 -i 0.2 10.9.2.2 && in_left ping -q -c 2 -i 0.2 fd02::2 || exit 1
sleep 1
record all all || exit 1
record ip6 all --filter ip6 || exit 1
record card all --dev $LAB_NIC || exit 1
record sums sums || exit 1
in_left python3 send.py 10.9.2.2 {ROUTED} {COUNTS[ROUTED]}
in_left python3 send.py fd02::2 {ROUTED6} {COUNTS[ROUTED6]}
in_left python3 send.py 10.9.2.2 {DROPPED} {DROPS}
in_left python3 send.py 10.9.1.1 {LOCAL} {LOCALS}
python3 send.py 10.9.2.2 {ROUTED} {LOCALS}
ip netns exec one python3 send.py 10.0.2.102 {BRIDGED} {COUNTS[BRIDGED]}
ip netns exec one python3 send.py 10.0.2.2 {TO_CARD} {COUNTS[TO_CARD]}
end_records all ip6 card sums
# An ifb holds what comes from the left for 5 ms: it goes on as before, once, or to the router itself.
ip link add ifb0 type ifb && ip link set ifb0 up && tc qdisc add dev ifb0 root netem delay 5ms limit 5000 &&
    tc qdisc add dev l0 clsact && tc filter add dev l0 ingress matchall action mirred egress redirect dev ifb0 || exit 1
record ifb all || exit 1
in_left python3 send.py 10.9.2.2 {ROUTED} {IFB}
in_left python3 send.py 10.9.1.1 {LOCAL} {LOCALS}
sleep 0.2
end_records ifb
nft list table inet lab >rules
finish
"""


def prepare(lab):
    (lab.work / "send.py").write_text(SEND)
    (lab.work / "sink.py").write_text(SINK)


def check(lab):
    assert f"counter packets {DROPS} " in lab.read("rules"), "nft's own count"
    trace = Trace(lab, "all")
    for port, count in COUNTS.items():
        events = trace.of_port(port, "destination")
        trace.expect(len(events), count, f"packets to {port}")
        is_routed = port in (ROUTED, ROUTED6)
        devices = ("l0", "r0") if is_routed else ("b1", "b2" if port == BRIDGED else "eth0")
        assert {(event["in"], event["out"]) for event in events} == {devices}, (port, events[0])
        assert {event["how"] for event in events} == {"routed" if is_routed else "bridged"}, events[0]
        seen = {name for name in STAGES for event in events if event[f"{name}_ns"] is not None}
        assert seen == (set(STAGES) - {"bridge"} if is_routed else {"bridge", "qdisc"}), (port, seen)
        for name in seen:
            values = stage(events, name)
            assert len(values) == count, (port, name)
            low = DELAY if name == "qdisc" and is_routed else 0
            high = low + (LATE if name == "qdisc" else LITTLE)
            print(f"{lab.suite} {port} {name}: {min(values) / 1000:.1f} to {max(values) / 1000:.1f} us")
            assert low <= min(values) and max(values) < high, (port, name)
    account = trace.accounting
    total = sum(COUNTS.values())
    assert account["seen"] == total + DROPS and account["reported"] == total, account
    assert {cause: n for cause, n in account["incomplete_by"].items() if n} == {"dropped": DROPS}, account
    drops = {}
    for drop in trace.report["drops"]:
        assert drop["symbol"] in ("nf_hook_slow", "nft_do_chain"), drop
        drops[drop["reason"]] = drops.get(drop["reason"], 0) + drop["count"]
    assert drops == {"NETFILTER_DROP": DROPS}, drops
    groups = {(stage["group"]["in"], stage["group"]["out"]): stage["n"] for stage in trace.report["stages"]
              if stage["group"] and stage["stage"] == "qdisc"}
    assert groups == {("l0", "r0"): COUNTS[ROUTED] + COUNTS[ROUTED6], ("b1", "b2"): COUNTS[BRIDGED],
                      ("b1", "eth0"): COUNTS[TO_CARD]}, groups

    ifb = Trace(lab, "ifb")
    ifb.expect(len(ifb.events), IFB)
    assert {(event["in"], event["out"], event["how"]) for event in ifb.events} == {("l0", "r0", "routed")}, ifb.events[0]
    assert min(stage(ifb.events, "drv-ip")) > 0.9 * IFB_DELAY, ifb.events[0]

    ip6 = Trace(lab, "ip6")
    ip6.expect(len(ip6.of_port(ROUTED6, "destination")), COUNTS[ROUTED6])
    assert ip6.accounting["reported"] == COUNTS[ROUTED6] and ip6.accounting["seen"] == account["seen"], ip6.accounting
    card = Trace(lab, "card")
    card.expect(len(card.of_port(TO_CARD, "destination")), COUNTS[TO_CARD])
    assert card.accounting["reported"] == COUNTS[TO_CARD], card.accounting
    sums = read_report(lab, "sums")
    found = {stage["stage"]: stage["n"] for stage in sums["stages"] if not stage["group"]}
    assert found["qdisc"] == total and found["bridge"] == COUNTS[BRIDGED] + COUNTS[TO_CARD], found
    qdisc = next(stage for stage in sums["stages"] if stage["stage"] == "qdisc")
    assert 0.99 * DELAY <= qdisc["percentiles_ns"]["90"] < DELAY + LITTLE, qdisc  # of bins
    assert lab.read("modules-left").strip() == "0"
