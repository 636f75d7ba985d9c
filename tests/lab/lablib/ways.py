# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of traffic, the paths that they take, and what each recipe says of them: the rows of the scenarios ways and
ways-paths, and of the table in docs/trust/what-is-measured.md, which scripts/traffic-table makes.
"""

import collections
import copy

from .events import Trace

MESSAGES, READERS, SEGMENTS, FIRST_PORT = 101, 3, 3, 7100
# sock-latency's table of requests (tapsets/c/request.h): where more wait for a reply the oldest gives way.
WAITING = 4096
OVER_MTU, OVER_MTU_OF_ROUTER = 3001, 1401
# By the name of the module; forward-latency is for what a router passes on.
RECIPES = ("rx", "tx", "sock", "accept", "forward")


class Row:
    """A kind of traffic: what the program ways is to do, and under which names recipes count what they do not follow."""

    def __init__(self, name, kind, write, read, size="", to=None, served_by=None, **counted):  # pylint: disable=too-many-arguments,too-many-positional-arguments
        self.name, self.kind, self.write, self.read, self.size, self.to = name, kind, write, read, size, to
        self.served_by = served_by or kind
        self.counted = counted
        self.is_stream = kind in ("tcp", "mptcp", "ktls", "fastopen")
        self.is_answered = self.is_stream or kind in ("udp", "ike")

    def truth(self, recipe, messages=MESSAGES):
        """How many there are of what a recipe counts: packets, requests, connections; 0: it is not for this kind."""
        if recipe == "accept":
            return messages if self.kind == "fastopen" else int(self.is_stream)
        if recipe == "sock":
            # What is not followed is counted by segment: of the answers, too.
            return messages * (2 if self.counted.get(recipe) in ("ktls", "mptcp") else 1) if self.is_answered else 0
        if recipe == "forward":
            return 2 * messages if self.is_answered and not self.is_stream else 0
        if self.is_answered:
            return 2 * messages
        return messages * ({"gso": SEGMENTS, "gro": 1, "group": READERS}[self.kind] if recipe == "rx" else 1)

    def by_name(self, recipe, messages=MESSAGES):
        """How many of these it counts by name."""
        if recipe not in self.counted or not self.truth(recipe, messages):
            return 0
        # Of Fast Open only what comes with the SYN.
        return messages if self.kind == "fastopen" or recipe == "forward" else self.truth(recipe, messages)


ROWS = (
    Row("TCP: `write`, `read`", "tcp", "write", "read"),
    Row("TCP: `writev`, `readv`", "tcp", "writev", "readv"),
    Row("TCP: `send`, `recv` with and without `MSG_PEEK`", "tcp", "send", "peek"),
    Row("TCP: `sendmsg`, `recvmsg`", "tcp", "sendmsg", "recvmsg"),
    Row("TCP: `sendmmsg`, `recvmmsg`", "tcp", "sendmmsg", "recvmmsg"),
    Row("TCP: `MSG_MORE`, `recv`", "tcp", "more", "recv"),
    Row("TCP: `sendfile`, `recvfrom`", "tcp", "sendfile", "recvfrom"),
    Row("TCP: `vmsplice` and `splice`, `splice`", "tcp", "vmsplice", "splice"),
    Row("TCP: `MSG_ZEROCOPY`, `recv`", "tcp", "zerocopy", "recv"),
    Row("TCP: io_uring's send and receive", "tcp", "io_uring", "io_uring"),
    Row("TCP: io_uring's zero-copy send", "tcp", "send_zc", "io_uring"),
    Row("TCP Fast Open", "fastopen", "send", "recv", rx="fast-open", sock="fast-open", accept="fast-open"),
    Row("kTLS", "ktls", "write", "read", sock="ktls"),
    Row("MPTCP", "mptcp", "write", "read", rx="mptcp", tx="mptcp", sock="mptcp", accept="mptcp"),
    Row("MPTCP's listener with clients of plain TCP", "tcp", "write", "read", served_by="mptcp"),
    Row("UDP: `send`, `recv`", "udp", "send", "recv"),
    Row("UDP: `sendmmsg`, `recvmmsg`", "udp", "sendmmsg", "recvmmsg"),
    Row("UDP: `MSG_ZEROCOPY`, `recvmsg`", "udp", "zerocopy", "recvmsg"),
    Row("UDP: io_uring", "udp", "io_uring", "io_uring"),
    Row("UDP: datagrams longer than the MTU", "udp", "send", "recv", size=OVER_MTU),
    Row("UDP: datagrams that a router cuts", "udp", "send", "recv", size=OVER_MTU_OF_ROUTER, forward="fragmented"),
    Row("UDP: IKE to a socket of ESP (`UDP_ENCAP`)", "ike", "send", "recv"),
    Row("UDP GSO (QUIC)", "gso", "send", "recv"),
    Row("UDP GSO to a reader with `UDP_GRO`", "gro", "send", "recv"),
    Row("UDP: multicast to three readers", "group", "send", "recv", to="group"),
    Row("UDP: broadcast to three readers", "group", "send", "recv", to="broadcast"),
)


class Path:
    """What it is, both sides' network namespaces, the server's address over IPv4 and IPv6, and commands before and after
    it. A datagram's way to all: its broadcast address, or "" where groups and broadcasts do not get through."""

    version, group = 4, "239.9.9.9"

    def __init__(self, meaning, client, server, address, address6, broadcast="", begin="", end="", *, forwards=False, is_tunnel=False):  # pylint: disable=too-many-arguments,too-many-positional-arguments
        self.meaning, self.client, self.server, self.address, self.broadcast = meaning, client, server, address, broadcast
        self.begin, self.end, self.forwards, self.is_tunnel = begin, end, forwards, is_tunnel
        self.address6, self.has_groups = address6, bool(broadcast) and client != server

    def over_ipv6(self):
        path = copy.copy(self)
        path.version, path.address, path.broadcast, path.group = 6, self.address6, "", "ff15::9"
        return path

    def takes(self, row):
        if row.to:
            return self.has_groups if row.to == "group" else bool(self.broadcast)
        # A router would see fragments, and cut some of them; over IPv6 it does not cut, it refuses.
        is_router = self.forwards and not self.has_groups
        return not is_router or row.size != OVER_MTU and (self.version == 4 or row.size != OVER_MTU_OF_ROUTER)


PATHS = {
    "loopback": Path("loopback (without multicast)", "", "", "127.0.0.1", "::1", "127.255.255.255"),
    "veth": Path("a veth pair between two network namespaces", "left", "right", "10.9.0.2", "fd09::2", "10.9.0.255"),
    "xdp": Path("the same with a generic XDP program (skb mode)", "left", "right", "10.9.0.2", "fd09::2", "10.9.0.255",
                "pass_by_xdp || exit 1", "ip -n right link set dev right0 xdpgeneric off"),
    "vxlan": Path("VXLAN over it: outer packets are `encapsulated`; what tx-latency reports has the tunnel's addresses", "left", "right",
                  "10.8.0.2", "fd08::2", "10.8.0.255", "make_vxlan left 1 {version} && make_vxlan right 2 {version} || exit 1",
                  "for side in left right; do ip -n $side link del vx0; done", is_tunnel=True),
    "bridge": Path("a bridge between two network namespaces", "one", "two", "10.7.0.2", "fd07::2", "10.7.0.255", forwards=True),
    "router": Path("a router between two, whose other side has a smaller MTU (without multicast and broadcast)", "in", "out",
                   "10.6.2.2", "fd06:2::2", forwards=True),
    # What is sent to all comes back by the card's other end, too.
    "virtio": Path("a wire between two virtio cards (likewise)", "", "outside", "10.0.2.2", "fd02::2", begin="address_wire || exit 1"),
}
PATHS |= {f"{name}6": path.over_ipv6() for name, path in PATHS.items()}

SETUP = r"""
modprobe -a tls vxlan bridge || exit 1
make_pair || exit 1
# make_vxlan SIDE NUMBER VERSION: inside and outside are of the same
make_vxlan() {
    local outer=10.9.0. inner="10.8.0.$2/24 brd +"
    [ $3 = 4 ] || { outer=fd09:: inner="fd08::$2/64 nodad"; }
    ip -n $1 link add vx0 type vxlan id 9 local $outer$2 remote $outer$((3 - $2)) dstport 4789 dev ${1}0 &&
        ip -n $1 link set vx0 addrgenmode none && ip -n $1 address add $inner dev vx0 && ip -n $1 link set vx0 up
}
address_wire() {
    ip address replace fd02::15/64 dev eth0 nodad && ip -n outside address replace fd02::2/64 dev eth1 nodad
}
# ip mounts another /sys in a namespace.
pass_by_xdp() {
    mkdir -p /run/bpf && mount -t bpf bpf /run/bpf && ways xdp-pass /run/bpf/pass &&
        ip -n right link set dev right0 xdpgeneric pinned /run/bpf/pass
}
ip link add br7 type bridge && ip link set br7 addrgenmode none && ip link set br7 up || exit 1
join one p1 10.7.0.1/24 fd07::1/64 && join two p2 10.7.0.2/24 fd07::2/64 || exit 1
for port in p1 p2; do ip link set $port master br7 || exit 1; done
join in r1 10.6.1.2/24 fd06:1::2/64 && join out r2 10.6.2.2/24 fd06:2::2/64 || exit 1
ip address add 10.6.1.1/24 dev r1 && ip address add 10.6.2.1/24 dev r2 &&
    ip -n in route add default via 10.6.1.1 && ip -n out route add default via 10.6.2.1 || exit 1
ip address add fd06:1::1/64 dev r1 nodad && ip address add fd06:2::1/64 dev r2 nodad &&
    ip -n in route add default via fd06:1::1 && ip -n out route add default via fd06:2::1 || exit 1
# The router's other side takes less: it cuts what is longer.
ip link set r2 mtu 1280 && ip -n out link set net0 mtu 1280 || exit 1
sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.tcp_fastopen=519
for space in $(ip -o netns list | cut -d' ' -f1); do ip netns exec $space sysctl -qw net.ipv4.tcp_fastopen=519; done
for space in left one; do
    ip -n $space route add 239.0.0.0/8 dev $(ip -n $space -o link | sed -n 's/^[0-9]*: \(left0\|net0\)@.*/\1/p') || exit 1
done
ip route add 239.0.0.0/8 dev lo
# row CLIENT SERVER ADDRESS KIND WRITE READ PORT COUNT SIZE SERVED-BY
row() {
    local any=0.0.0.0
    [[ $3 != *:* ]] || any=::
    NETNS=$2 start_ready ways serve ${10:-$4} $6 $any $7 $8 ${9:+$9} || exit 1
    ${1:+ip netns exec $1} timeout 60 ways send $4 $5 $3 $7 $8 ${9:+$9} >/dev/null || echo "$4 $5: not sent"
    timeout 10 tail --pid=$READY_PID -f /dev/null || { echo "$4 $6: not served"; kill $READY_PID; }
}
# udp_in SPACE: datagrams that UDP has handed over there.
udp_in() { ip netns exec $1 awk '/^Udp: [0-9]|^Udp6InDatagrams/ {n += $2} END {print n}' /proc/net/snmp /proc/net/snmp6; }
"""


def rows_of(path, kinds=ROWS):
    """Yield (port, row) of what is sent over a path."""
    return ((FIRST_PORT + number, row) for number, row in enumerate(kinds) if PATHS[path].takes(row))


def recipes_of(path):
    return [recipe for recipe in RECIPES if recipe != "forward" or PATHS[path].forwards]


def guest(paths, kinds=ROWS, messages=MESSAGES):
    """Return the commands that send all rows over each path, under all recipes at once."""
    lines = [SETUP]
    for name in paths:
        path = PATHS[name]
        traces = [f"{name}-{recipe}" for recipe in recipes_of(name)]
        # Neighbours are known then.
        lines += [path.begin.format(version=path.version), f"row '{path.client}' '{path.server}' {path.address} udp send recv 7000 1", "sleep 1"]
        if path.is_tunnel:
            lines.append("BEFORE=$(($(udp_in left) + $(udp_in right)))")
        for trace, recipe in zip(traces, recipes_of(name)):
            lines.append(f"record {trace} {recipe}{' --comm ways-serve' if recipe == 'sock' else ''} || exit 1")
        for port, row in rows_of(name, kinds):
            to = {None: path.address, "broadcast": path.broadcast, "group": path.group}[row.to]
            lines.append(f"row '{path.client}' '{path.server}' {to} {row.kind} {row.write} {row.read} {port} {messages} '{row.size}' {row.served_by}")
        if path.is_tunnel:
            lines.append(f"echo $(($(udp_in left) + $(udp_in right) - BEFORE)) >{name}.udp")
        lines += [f"end_records {' '.join(traces)}", path.end]
    return "\n".join([*lines, "finish\n"])


def port_of(event):
    """Return the port of the row that a record is of."""
    for end in ("local", "remote", "source", "destination"):
        port = int(event.get(end, ":0").rsplit(":", 1)[1])
        if FIRST_PORT <= port < FIRST_PORT + len(ROWS):
            return port
    return None


def check_path(lab, path, kinds=ROWS, messages=MESSAGES):
    wrong = []
    traces = {recipe: Trace(lab, f"{path}-{recipe}") for recipe in recipes_of(path)}
    # A record of kTLS that lies in two pages of its sender leaves as two segments, once in thousands.
    more = collections.Counter(port_of(event) for event in traces["tx"].events)
    more = {port: more[port] - 2 * messages for port, row in rows_of(path, kinds) if row.kind == "ktls"}
    more = {port: count for port, count in more.items() if 0 < count <= messages // 1000}
    for recipe, trace in traces.items():
        records, named, largest = collections.Counter(), collections.Counter(), collections.defaultdict(int)
        for event in trace.events:
            records[port_of(event)] += 1
            stages = [value for key, value in event.items() if key.endswith("_ns") and key not in ("time_ns", "total_ns")]
            largest[port_of(event)] = max(value or 0 for value in [largest[port_of(event)], *stages])
        for port, row in rows_of(path, kinds):
            by_name = 0 if recipe == "forward" and PATHS[path].has_groups else row.by_name(recipe, messages)
            expected = row.truth(recipe, messages) - by_name
            if recipe == "tx" and PATHS[path].is_tunnel:
                records[port] = expected  # a record has the tunnel's addresses
            if recipe in ("rx", "tx"):
                expected += more.get(port, 0)
            if recipe == "sock" and by_name:
                expected = 0
                by_name += more.get(port, 0)
            named[row.counted.get(recipe)] += by_name
            if not row.truth(recipe, messages):
                continue
            print(f"{lab.suite} {path:9} {row.name:48} {recipe:7} {records[port]:4} of {expected:3} records, {by_name:3} by name, "
                  f"no stage over {largest[port] / 1000:.0f} us")
            if records[port] != expected:
                wrong.append(f"{path}, {row.name}, {recipe}: {records[port]} of {expected}")
        expected = sum(more.values()) + sum(row.truth(recipe, messages) - row.by_name(recipe, messages) for _, row in rows_of(path, kinds))
        if recipe == "tx" and trace.accounting["reported"] != expected:
            wrong.append(f"{path}, tx: {trace.accounting['reported']} of {expected} records")
        if recipe == "rx":
            # A timer may fire: TCP probes for a lost tail.
            named["retransmitted"] = traces["tx"].accounting["other"]["retransmits"]
        check_names(lab, path, trace, recipe, named, wrong, kinds, messages)
    assert not wrong, "\n" + "\n".join(wrong)


def check_names(lab, path, trace, recipe, named, wrong, kinds, messages):  # pylint: disable=too-many-arguments,too-many-positional-arguments
    """What is incomplete is what is not followed, by its name."""
    causes = collections.Counter(trace.accounting["incomplete_by"])
    if PATHS[path].is_tunnel and recipe in ("rx", "sock"):
        # Neighbours and groups are asked for at any time.
        outer = int(lab.read(f"{path}.udp")) - sum(row.truth("rx", messages) for _, row in rows_of(path, kinds) if not row.is_stream)
        named["encapsulated"] = causes["encapsulated"] if abs(causes["encapsulated"] - outer) < 9 else outer
    if recipe == "rx" and PATHS[path].has_groups:
        # A broadcast is the sender's own, too, which has no reader.
        named["not-queued"] += messages * any(row.to == "broadcast" for _, row in rows_of(path, kinds))
    lost = collections.Counter(trace.accounting["lost_by"])
    if recipe == "sock":
        unanswered = sum(row.truth("rx", messages) for _, row in rows_of(path, kinds) if not row.is_answered)
        named["no-reply"] += min(unanswered, WAITING)
        lost["evicted"] -= max(unanswered - WAITING, 0)
        # What comes before the server has set kTLS up is a request, and is read as something else.
        named["ktls"] -= causes["unread"]
        named["unread"] += causes["unread"]
        if causes["unread"] > 1:
            wrong.append(f"{path}, sock: {causes['unread']} unread")
    if any(lost.values()):
        wrong.append(f"{path}, {recipe}: lost {lost}")
    for cause in set(causes) | set(named):
        if cause is not None and causes[cause] != named[cause]:
            wrong.append(f"{path}, {recipe}: {causes[cause]} of {named[cause]} {cause}")
