# SPDX-License-Identifier: GPL-2.0-or-later
"""dropwatch and forward-latency with --netfilter: each drop with its hook, table and chain, and with no other.

A router with 1,511 rules of nftables (ip, inet, netdev, bridge) and iptables, whose rules are set as iptables-legacy does,
by setsockopt. Senders on all CPUs at once.
"""

import collections

from lablib.events import read_report

DESCRIPTION = "--netfilter: drops of 20 chains at seven hooks, of a rejecting one and of conntrack, 1,511 rules; none is misnamed"
IN_CI = ("trixie",)
BUILD = {"drops": ["dropwatch", "--netfilter"], "forwarded": ["forward-latency", "--netfilter"]}

RULES = 1511
# What is sent: by whom, to where, to which port, how many, what must be said of it. In a namespace, or "" for the router.
Sent = collections.namedtuple("Sent", "sender address port count text")
HERE, RIGHT, HERE6, RIGHT6 = "10.9.1.1", "10.9.2.2", "fd01::1", "fd02::2"
TRAFFIC = (
    Sent("left", HERE, 7101, 211, "input ip filter LAB-IN"),  # an earlier chain has accepted it
    Sent("left", HERE, 7102, 103, "input ip filter LAB-LATER"),
    Sent("left", HERE, 7103, 13, "input ip filter LAB-JUMP"),  # in a chain that it jumps to
    Sent("left", HERE, 7104, 17, "input ip filter LAB-POLICY"),
    Sent("left", HERE, 7105, 23, "input ip filter LAB-REJECT"),
    Sent("left", HERE, 7106, 307, "prerouting ip filter LAB-PRE"),
    Sent("left", RIGHT, 7107, 401, "forward ip filter LAB-FWD"),
    Sent("", RIGHT, 7108, 109, "output ip filter LAB-OUT"),
    Sent("left", RIGHT, 7109, 127, "postrouting ip filter LAB-POST"),
    Sent("left", RIGHT6, 7110, 131, "forward inet both lab-fwd"),
    Sent("right", "10.9.2.1", 7111, 137, "input inet both lab-in"),
    Sent("right", "fd02::1", 7112, 139, "input inet both lab-in"),
    Sent("left", HERE6, 7113, 149, "prerouting ip6 six lab-pre"),
    Sent("left", HERE, 7114, 151, "ingress netdev edge lab-in"),
    Sent("left", RIGHT, 7115, 157, "egress netdev edge lab-out"),
    Sent("one", "10.8.0.2", 7116, 163, "prerouting bridge br lab-pre"),
    Sent("one", "10.8.0.2", 7117, 167, "forward bridge br lab-fwd"),
    Sent("left", HERE, 7118, 61, ""),  # there is no socket
    Sent("left", "10.9.1.9", 7119, 173, "input iptables filter INPUT"),
    Sent("left", "10.9.2.77", 7119, 179, "forward iptables filter FORWARD"),
    Sent("", "10.9.2.78", 7119, 181, "output iptables filter OUTPUT"),
    Sent("left", "fd01::9", 7119, 191, "input ip6tables filter INPUT"),
)
FULL = 193  # conntrack's table, in the namespace right
FULL_TEXT = "prerouting ip conntrack table-full"
# Those that are known to be passed on when they are dropped.
FORWARDED = ("forward", "postrouting", "egress", "prerouting bridge")

# send.py CPU ADDRESS PORT COUNT [FROM]: so many datagrams.
SEND = """
import os, socket, sys
cpu, address, port, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.sched_setaffinity(0, {cpu % os.cpu_count()})
sender = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
if len(sys.argv) > 5:
    sender.bind(("", int(sys.argv[5])))
for _ in range(count):
    try:
        sender.sendto(b"x", (address, port))
    except PermissionError:
        pass  # dropped in output
"""
# legacy.py RULES HOOK=ADDRESS...: a table filter of iptables, or of ip6tables, that drops what goes there, and has so many
# other rules in INPUT. Prints "none" where the kernel has no iptables.
LEGACY = """
import ctypes, socket, struct, sys
others, drops = int(sys.argv[1]), dict(text.split("=") for text in sys.argv[2:])
is_six = any(":" in address for address in drops.values())
family, level = (socket.AF_INET6, 41) if is_six else (socket.AF_INET, 0)
SO = 64

def entry(address, target):
    any_address = bytes(16 if is_six else 4)
    to = socket.inet_pton(family, address) if address else any_address
    mask = b"\\xff" * len(to) if address else any_address
    ends = any_address + to + any_address + mask + bytes(64)
    head = ends + (struct.pack("<HBBB3x", 0, 0, 0, 0) if is_six else struct.pack("<HBB", 0, 0, 0))
    counters = struct.pack("<4xQQ" if is_six else "<QQ", 0, 0)
    size = len(head) + 12 + len(counters)
    return head + struct.pack("<IHHI", 0, size, size + len(target), 0) + counters + target

def verdict(number):
    return struct.pack("<H29sBi4x", 40, b"", 0, number)

ACCEPT, DROP = verdict(-2), verdict(-1)
error = struct.pack("<H29sB30s2x", 64, b"ERROR", 0, b"ERROR")
raw = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)
libc = ctypes.CDLL(None, use_errno=True)
info = ctypes.create_string_buffer(b"filter", 84)
size = ctypes.c_uint(len(info))
if libc.getsockopt(raw.fileno(), level, SO, info, ctypes.byref(size)):
    print("none")
    sys.exit()
had = struct.unpack_from("<I", info.raw, 76)[0]
blob, begins, ends, entries = b"", [0] * 5, [0] * 5, 0
for hook, name in ((1, "INPUT"), (2, "FORWARD"), (3, "OUTPUT")):
    begins[hook] = len(blob)
    rules = [entry("fd99::1" if is_six else "10.99.0.1", DROP)] * (others if name == "INPUT" else 0)
    if name in drops:
        rules.append(entry(drops[name], DROP))
    blob += b"".join(rules)
    ends[hook] = len(blob)
    blob += entry("", ACCEPT)
    entries += len(rules) + 1
blob += entry("", error)
counters = ctypes.create_string_buffer(16 * had)
head = struct.pack("<32sIII5I5IIQ", b"filter", 0b1110, entries + 1, len(blob), *begins, *ends, had, ctypes.addressof(counters))
replace = ctypes.create_string_buffer(head + blob, len(head) + len(blob))
if libc.setsockopt(raw.fileno(), level, SO, replace, len(replace)):
    sys.exit(f"setsockopt: errno {ctypes.get_errno()}")
print("set")
"""

NAMED_RULES = 25
OTHERS = RULES - NAMED_RULES
OF_IP, OF_INET = OTHERS // 3, OTHERS // 3
OF_IPTABLES = OTHERS - OF_IP - OF_INET


def others(count):
    return "\n".join(f"        udp dport {20000 + i} drop" for i in range(count))


RULESET = f"""
table ip filter {{
    chain ACCEPTING {{ type filter hook input priority -10
        udp dport 7101 accept
    }}
    chain LAB-IN {{ type filter hook input priority 0
{others(OF_IP)}
        udp dport 7101 drop
    }}
    chain inner {{
        udp dport 7103 drop
    }}
    chain LAB-JUMP {{ type filter hook input priority 3
        udp dport 7103 jump inner
    }}
    chain LAB-LATER {{ type filter hook input priority 5
        udp dport 7102 drop
    }}
    chain LAB-REJECT {{ type filter hook input priority 7
        udp dport 7105 reject
    }}
    chain LAB-POLICY {{ type filter hook input priority 20; policy drop
        meta l4proto != udp accept
        udp dport != 7104 accept
    }}
    chain LAB-PRE {{ type filter hook prerouting priority -300
        udp dport 7106 drop
    }}
    chain LAB-FWD {{ type filter hook forward priority 0
        udp dport 7107 drop
    }}
    chain LAB-OUT {{ type filter hook output priority 0
        udp dport 7108 drop
    }}
    chain LAB-POST {{ type filter hook postrouting priority 0
        udp dport 7109 drop
    }}
}}
table inet both {{
    chain lab-fwd {{ type filter hook forward priority 10
{others(OF_INET)}
        udp dport 7110 drop
    }}
    chain lab-in {{ type filter hook input priority -5
        udp dport 7111 drop
        udp dport 7112 drop
    }}
}}
table ip6 six {{
    chain lab-first {{ type filter hook prerouting priority -400
        udp dport 7113 accept
    }}
    chain lab-pre {{ type filter hook prerouting priority -300
        udp dport 7113 drop
    }}
}}
table netdev edge {{
    chain lab-in {{ type filter hook ingress device "l0" priority 0
        udp dport 7114 drop
    }}
    chain lab-out {{ type filter hook egress device "r0" priority 0
        udp dport 7115 drop
    }}
}}
table bridge br {{
    chain lab-pre {{ type filter hook prerouting priority 0
        udp dport 7116 drop
    }}
    chain lab-fwd {{ type filter hook forward priority 0
        udp dport 7117 drop
    }}
}}
"""


def send(sent, cpu):
    inside = f"ip netns exec {sent.sender} " if sent.sender else ""
    return f"{inside}python3 send.py {cpu} {sent.address} {sent.port} {sent.count} &"


GUEST = f"""
make_router || exit 1
ip address add 10.9.1.9/32 dev l0 && ip address add fd01::9/128 dev l0 nodad || exit 1
ip link add br0 type bridge && ip link set br0 addrgenmode none && ip link set br0 up || exit 1
join one b1 10.8.0.1/24 && join two b2 10.8.0.2/24 || exit 1
for port in b1 b2; do ip link set $port master br0 || exit 1; done
nft -f rules.nft || exit 1
modprobe iptable_filter
python3 legacy.py {OF_IPTABLES} INPUT=10.9.1.9 FORWARD=10.9.2.77 OUTPUT=10.9.2.78 >legacy || exit 1
for address in 10.9.2.2 fd02::2 fd01::9; do ip netns exec left ping -q -c 2 -i 0.2 $address || exit 1; done
ip netns exec one ping -q -c 2 -i 0.2 10.8.0.2 || exit 1
nft -a list ruleset | grep -c ' # handle .*' >listed
sleep 1
record drops drops || exit 1
record forwarded forwarded || exit 1
# Its module is loaded while it is measured.
modprobe ip6table_filter
python3 legacy.py 0 INPUT=fd01::9 >legacy6 || exit 1
senders=
{chr(10).join(send(sent, cpu) + ' senders="$senders $!"' for cpu, sent in enumerate(TRAFFIC))}
for sender in $senders; do wait $sender || exit 1; done
# One connection, and no room for a second.
ip netns exec right nft 'add table ip track; add chain ip track pre {{ type filter hook prerouting priority 0; }}; add rule ip track pre ct state new counter' || exit 1
limit=$(of_machine sysctl -n net.netfilter.nf_conntrack_max)
ip netns exec left python3 send.py 0 {RIGHT} 7120 1 7001
of_machine sysctl -qw net.netfilter.nf_conntrack_max=1 || exit 1
ip netns exec left python3 send.py 1 {RIGHT} 7120 {FULL} 7002
ip netns exec right cat /proc/net/stat/nf_conntrack >conntrack
of_machine sysctl -qw net.netfilter.nf_conntrack_max=$limit
end_records drops forwarded
lsmod >modules
finish
"""


def prepare(lab):
    assert sum(" drop" in line or " accept" in line or " reject" in line or " jump" in line
               for line in RULESET.splitlines() if "chain" not in line) + OF_IPTABLES + 3 + 1 == RULES, "rules"
    for name, text in (("send.py", SEND), ("legacy.py", LEGACY), ("rules.nft", RULESET)):
        (lab.work / name).write_text(text)


def by_text(report):
    counts = collections.Counter()
    for drop in report["drops"]:
        counts[drop["group"]["netfilter"]] += drop["count"]
    return counts


def check(lab):
    expected, forwarded = collections.Counter(), collections.Counter()
    has_iptables = {family: lab.read(name).strip() == "set" for family, name in (("iptables", "legacy"), ("ip6tables", "legacy6"))}
    for sent in TRAFFIC:
        words = sent.text.split()
        if not sent.text or not has_iptables.get(words[1], True):
            continue
        expected[sent.text] += sent.count
        if sent.text.startswith(FORWARDED) and words[1:2] != ["ip6"] and sent.text != "prerouting ip filter LAB-PRE":
            forwarded[sent.text] += sent.count
    report = read_report(lab, "drops")
    found = by_text(report)
    print(f"{lab.suite}: {found}")
    by_kernel = sum(int(line.split()[10], 16) for line in lab.read("conntrack").splitlines()[1:])
    assert by_kernel == FULL, f"nf_conntrack's own count is {by_kernel}"
    expected[FULL_TEXT] = FULL
    others_drop = found.pop("")
    assert found == expected, (found - expected, expected - found)
    for drop in report["drops"]:
        is_netfilter = bool(drop["group"]["netfilter"])
        assert is_netfilter == (drop["reason"] == "NETFILTER_DROP"), drop
    no_socket = sum(drop["count"] for drop in report["drops"] if drop["reason"] == "NO_SOCKET")
    # Of conntrack's one connection nobody took the datagram, either.
    assert no_socket == 62 <= others_drop or not all(has_iptables.values()), (others_drop, no_socket)
    account = report["accounting"]
    assert account["lost"] == 0 and not account["skipped_probes"], account

    passed_on = by_text(read_report(lab, "forwarded"))
    print(f"{lab.suite}, forwarded: {passed_on}")
    assert {text: n for text, n in passed_on.items() if text} == forwarded, (passed_on, forwarded)

    csv = lab.report("drops", "--format", "csv")
    assert len([line for line in csv.splitlines() if line.startswith("1,dropwatch,drop,") and line.endswith(" LAB-IN")]) == 1
    assert lab.read("modules-left").strip() == "0"
