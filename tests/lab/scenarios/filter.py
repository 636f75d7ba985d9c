# SPDX-License-Identifier: GPL-2.0-or-later
"""--filter in dropwatch, by drops of known frames: each expression counts what tcpdump counts of the same.

nftables drops all that comes by right0, before IP has it. The frames are written to files for tcpdump, too: as they are on
the wire, for expressions that ask for VLAN tags, and without the tags, as a device that takes them off delivers them.
"""

from lablib.events import read_report

DESCRIPTION = "dropwatch --filter: 17 expressions, each counts what tcpdump counts of the same frames, TCP to LLDP, tags, fragments"
IN_CI = ("trixie",)
BUILD = {"drops": ["dropwatch"]}

# How many frames pass, where that is known by heart; None: tcpdump's count alone. What an expression says of a packet's bytes
# is compared with libpcap in user space (tests/kernel_side/filter_test.cpp); here is one for each way that skbs differ.
EXPRESSIONS = {
    "tcp port 443": 211 + 13 + 31 + 23,
    "udp port 53": 103 + 7,
    "not port 443": None,
    "arp": 17,
    "icmp6[icmp6type] == 128": 29,
    "net fd09::/64 and udp": 7,
    "ip6 proto 0": 5,
    "ip[6:2] & 0x1fff != 0": 41,
    "ip[0] & 0xf != 5": 13,
    "tcp[((tcp[12:1] & 0xf0) >> 2):4] = 0x47455420": 101,
    "len <= 60": None,
    "ether host 52:54:00:00:00:07": 101,
    "ether multicast": None,
    "ether proto 0x88cc": 11,
    "vlan": 61 + 59,
    "vlan 11 and udp port 123": 59,
    "tcp port 443 or (vlan 10 and tcp port 8080)": 211 + 13 + 31 + 23 + 61,
}

SCRIPT = r"""
import socket, struct, sys

LEFT, RIGHT = bytes.fromhex("525400000001"), bytes.fromhex("525400000002")

def ethernet(kind, payload, mac=RIGHT, tag=None):
    return mac + LEFT + (struct.pack("!HH", 0x8100, tag) if tag else b"") + struct.pack("!H", kind) + payload

def ip4(protocol, payload, to="10.9.0.2", options=b"", fragment=0, ttl=64, **ethernet_too):
    header = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(payload), 1, fragment, ttl,
                         protocol, 0, socket.inet_aton("10.9.0.1"), socket.inet_aton(to))
    return ethernet(0x800, header + options + payload, **ethernet_too)

def ip6(protocol, payload, extension=b"", **ethernet_too):
    ends = socket.inet_pton(socket.AF_INET6, "fd09::1") + socket.inet_pton(socket.AF_INET6, "fd09::2")
    first = 0 if extension else protocol
    header = struct.pack("!IHBB", 0x60000000, len(extension) + len(payload), first, 64)
    return ethernet(0x86dd, header + ends + extension + payload, **ethernet_too)

def tcp(port, flags=0x10, data=b""):
    return struct.pack("!HHIIBBHHH", 4001, port, 1, 1, 0x50, flags, 512, 0, 0) + data

def udp(port, data=b"x" * 30):
    return struct.pack("!HHHH", 4002, port, 8 + len(data), 0) + data

ECHO = struct.pack("!BBHHH", 8, 0, 0, 1, 1) + b"e" * 40
ECHO6 = struct.pack("!BBHHH", 128, 0, 0, 1, 1) + b"e" * 40
ARP = struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + LEFT + socket.inet_aton("10.9.0.1") + b"\0" * 6 + socket.inet_aton("10.9.0.2")
HOP_BY_HOP = struct.pack("!BB", 6, 0) + b"\1\4\0\0\0\0"
MORE = 0x2000

# Counts are primes.
FRAMES = [
    (211, ip4(6, tcp(443, data=b"y" * 77))),
    (13, ip4(6, tcp(443), options=b"\1" * 4)),
    (31, ip6(6, tcp(443, 0x18, b"z" * 9))),
    (23, ip4(6, tcp(443, 2), ttl=63)),
    (101, ip4(6, tcp(80, 0x18, b"GET / HTTP/1.0\r\n\r\n"), to="10.9.0.7", mac=bytes.fromhex("525400000007"))),
    (103, ip4(17, udp(53))),
    (7, ip6(17, udp(53))),
    (19, ip4(1, ECHO)),
    (29, ip6(58, ECHO6)),
    (37, ip4(132, struct.pack("!HHII", 5001, 5002, 0, 0) + b"s" * 16)),
    (5, ip6(6, tcp(443), HOP_BY_HOP)),
    (43, ip4(17, udp(9999), to="10.9.0.8", fragment=MORE)),
    (41, ip4(17, b"f" * 64, to="10.9.0.8", fragment=8)),
    (3, ip4(17, udp(5353), to="224.0.0.251")),
    (17, ethernet(0x806, ARP, mac=b"\xff" * 6)),
    (11, ethernet(0x88cc, b"\2\7\4" + LEFT + b"\0" * 40, mac=bytes.fromhex("0180c200000e"))),
    (61, ip4(6, tcp(8080), tag=10)),
    (59, ip4(17, udp(123), tag=11)),
]

def write(name, frames):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for count, frame in frames:
            file.write((struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame) * count)

def without_tag(frame):
    return frame[:12] + frame[16:] if frame[12:14] == b"\x81\0" else frame

if sys.argv[1] == "write":
    write("tagged.pcap", FRAMES)
    write("untagged.pcap", [(count, without_tag(frame)) for count, frame in FRAMES])
else:
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind(("left0", 0))
    for count, frame in FRAMES:
        for i in range(count):
            sender.send(frame)
print(sum(count for count, frame in FRAMES))
"""


def names():
    return {f"f{i}": expression for i, expression in enumerate(EXPRESSIONS)}


def guest():
    script = [r"""
make_pair || exit 1
# They would send reports of their own.
for side in left right; do ip netns exec $side sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
ip netns exec right nft -f - <<'END' || exit 1
table netdev lab {
    chain arrived { type filter hook ingress device "right0" priority 0; policy drop; }
}
END
"""]
    script += [f"begin_record {name} drops --filter '{expression}' -s 1MiB" for name, expression in names().items()]
    script += [f"for name in {' '.join(names())}; do wait_traced $name.err || exit 1; done",
               "ip netns exec left python3 frames.py send >sent || exit 1", f"end_records {' '.join(names())}"]
    return "\n".join([*script, "finish"])


GUEST = guest()


def prepare(lab):
    (lab.work / "frames.py").write_text(SCRIPT)


def count_by_tcpdump(lab):
    """Return how many of the frames tcpdump takes, by name."""
    lab.chroot(["python3", "frames.py", "write"])
    def count(expression):
        file = "tagged" if "vlan" in expression else "untagged"
        return len(lab.chroot(["tcpdump", "-nn", "-r", f"{file}.pcap", expression]).stdout.splitlines())

    return {name: count(expression) for name, expression in names().items()}


def check(lab):
    total, counted = int(lab.read("sent")), count_by_tcpdump(lab)
    for name, expression in names().items():
        report = read_report(lab, name)
        drops = sum(drop["count"] for drop in report["drops"] if drop["reason"] == "NETFILTER_DROP")
        by_tcpdump = counted[name]
        assert drops == by_tcpdump, f"{expression}: {drops} drops, tcpdump counts {by_tcpdump} of {total}"
        known = EXPRESSIONS[expression]
        assert known is None or drops == known, f"{expression}: {drops} drops of {known}"
        account = report["accounting"]
        assert account["lost"] == 0 and account["seen"] == account["reported"] + account["filtered"], account
        assert account["filtered"] >= total - drops, account
    assert lab.read("modules-left").strip() == "0"
