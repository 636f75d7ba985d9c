# SPDX-License-Identifier: GPL-2.0-or-later
"""Drops of many kinds in a guest, and what its recordings and logs have of their places."""

import re
import shutil

from .common import SOURCE

# Defines, for a guest, prepare_drops and then drop: N packets of each KIND at least.
GUEST = r"""
prepare_drops() {
    nft -f - <<'END' || return
table ip lab {
    chain input {
        type filter hook input priority 0
        udp dport 7013 counter drop
    }
}
END
    ip link add vx0 type vxlan id 42 dstport 4789 nolearning || return
    ip link set vx0 addrgenmode none
    ip address add 10.77.0.1/24 dev vx0 && ip link set vx0 up || return
    ip neighbour add 10.77.0.2 lladdr 02:00:00:00:00:02 dev vx0
}
# drop N KIND...
drop() {
    local count=$1 kind odd=
    shift
    for kind; do
        case $kind in
            nft) for i in $(seq $count); do echo x >/dev/udp/127.0.0.1/7013; done ;;
            vxlan) for i in $(seq $count); do echo x >/dev/udp/10.77.0.2/9; done ;;
            ping) ping -q -c $count -i 0.2 127.0.0.1 ;;
            ping6) ping -q -c $count -i 0.2 ::1 ;;
            bad-checksum) drops bad-checksum $count ;;
            *) odd+=" $kind" ;;
        esac || return
    done
    [ -z "$odd" ] || python3 odd_packets.py $count $odd
}
"""

IN_MODULES = ("nft", "vxlan")


def kinds():
    """Return the names that `drop` takes."""
    program = (SOURCE / "traffic/odd_packets.py").read_text()
    return [*re.findall(r'^    "([\w-]+)": ', program, re.M), "ping", "ping6", "bad-checksum", *IN_MODULES]


def prepare(lab):
    shutil.copy(SOURCE / "traffic/odd_packets.py", lab.work)


def recorded(lab, name):
    """Return {address: count} of the drops in the recording NAME."""
    counts = {}
    for words in (line.split("\t") for line in lab.read_recording(name).splitlines()):
        if words[0] == "drop":
            address = int(words[1], 16)
            counts[address] = counts.get(address, 0) + int(words[3])
    return counts


def as_2009(counts):
    """Return COUNTS as SystemTap's dropwatch.stp of 2009 wrote them."""
    lines = [f"{count} packets dropped at location 0x{address:016x}\n" for address, count in counts.items()]
    return "Monitoring for dropped packets\n\n" + "".join(lines) + "Stopping dropped packet monitor\n"


def read_2009(text):
    """Return {address: count} of such a log."""
    counts = {}
    for count, address in re.findall(r"^(\d+) packets dropped at location 0x([0-9a-f]+)$", text, re.M):
        counts[int(address, 16)] = counts.get(int(address, 16), 0) + int(count)
    return counts
