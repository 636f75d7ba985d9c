# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scenarios for a debug kernel share: stapgen with other tapsets, and what the kernel's log tells."""

import re
import shutil

# What begins a report of a debug kernel's, or of any kernel in trouble.
REPORT = re.compile(r"BUG: |WARNING: |UBSAN: |INFO: (?:possible|suspicious|task|rcu)|Oops|general protection|"
                    r"[Uu]nable to handle|scheduling while atomic|soft lockup|list_(?:add|del) corruption|"
                    r"inconsistent lock state|possible (?:recursive|circular|irq) lock|kernel BUG at")

# A plain read is one that KASAN and KCSAN see: (what, by what) in the tapsets, each somewhere.
PLAIN_READS = [(rf"__get_kernel_nofault\(&(\w+), from, {kind}, bad\)", rf"\1 = *(const volatile {kind} *)from")
               for kind in ("u8", "u16", "u32", "u64")]
# Tables that a short flood fills.
SMALL_TABLES = (r"(STAPGEN_(?:REQUESTS|SOCKETS|RX_QUEUED|TX_CALLS)) \d+\b", r"\1 100")
SMALL_SETS = (r"(#define STAPGEN_(?:WHO|WHO_THREAD|CLOCK|ASKING|THROTTLED)_BITS) \d+", r"\1 1")
# Rules of nftables that count all, and drop what comes to one port, or is passed on to it; connections to another one get
# no answer; and others that come and go. Each by itself.
RULES = """table inet lab {
    chain input { type filter hook input priority 0; tcp dport 11 drop; udp dport 9 counter drop; counter accept; }
    chain output { type filter hook output priority 0; counter accept; }
    chain forward { type filter hook forward priority 0; udp dport 9 drop; }
}"""
RULES_ANEW = """table inet anew {}
delete table inet anew
table inet anew {
    chain input { type filter hook input priority 1; udp dport 10 counter drop; tcp dport 7000-7399 accept; }
}"""
# Datagrams that nobody reads, to sockets that go with them; and to the rules' ports, where nobody listens.
FLOOD = """
import socket
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    receivers = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(16)]
    sender = socket.socket(family, socket.SOCK_DGRAM)
    for receiver in receivers:
        receiver.bind((address, 0))
    for _ in range(32):
        for receiver in receivers:
            sender.sendto(b'x' * 64, receiver.getsockname())
        sender.sendto(b'x' * 64, (address, 9))
        sender.sendto(b'x' * 64, (address, 10))
"""
# Through the machine as a router: dropped there, or to a port where nobody listens, so that an answer comes back.
PASSED_ON = """
import socket
for family, address in ((socket.AF_INET, '10.9.2.2'), (socket.AF_INET6, 'fd02::2')):
    sender = socket.socket(family, socket.SOCK_DGRAM)
    for _ in range(53):
        for port in (9, 11):
            sender.sendto(b'x' * 64, (address, port))
"""


def only_here(lab):
    """Skip the scenario in a kernel that tells nothing."""
    if not lab.suite.startswith("debug"):
        lab.skip("only a debug kernel tells: the suites debug, debug-races and debug-bookworm")


def changed_stapgen(lab, name, *changes):
    """Return the path in the root of a stapgen whose tapsets have CHANGES; each has to be somewhere in them.

    The first of a pair is a regular expression, and the second what is in its place.
    """
    folder = lab.run / f"stapgen-{name}"
    shutil.copytree(lab.installed, folder)
    made = dict.fromkeys(changes, 0)
    for path in (folder / "share/stapgen/tapsets").rglob("*"):
        if not path.is_file():
            continue
        text = path.read_text()
        for change in changes:
            text, count = re.subn(*change, text)
            made[change] += count
        path.write_text(text)
    missing = [change[0] for change, count in made.items() if not count]
    assert not missing, f"the tapsets have none of {missing}"
    return f"/lab/{folder.name}/bin/stapgen"


def reports(log):
    """Return the reports in the kernel's LOG, each from its first line up to the next one's."""
    found = []
    for line in log.splitlines():
        if REPORT.search(line):
            found.append(line)
        elif found and len(found[-1]) < 6000:
            found[-1] += "\n" + line
    return found
