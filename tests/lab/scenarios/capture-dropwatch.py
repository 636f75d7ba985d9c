# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes samples/dropwatch-*: the five generations of dropwatch.stp see the same known drops."""

import re
from collections import Counter

from lablib.captures import compile_script, keep

DESCRIPTION = "makes samples/dropwatch-*.txt: five generations of dropwatch.stp, one traffic"
GENERATIONS = (2009, 2010, 2020, 2023, 2025)
DATAGRAMS, BY_RULE, BAD_CHECKSUMS, REFUSED, NO_REMOTE = 211, 103, 107, 109, 61

GUEST = r"""
drop_by_rule 7013 || exit 1
ip link add vx0 type vxlan id 42 dstport 4789 nolearning || exit 1
ip link set vx0 addrgenmode none
ip address add 10.77.0.1/24 dev vx0 && ip link set vx0 up || exit 1
ip neighbour add 10.77.0.2 lladdr 02:00:00:00:00:02 dev vx0 || exit 1

tracers=
for module in dropwatch_*.ko; do
    name=$(echo ${module%.ko} | tr _ -)
    staprun -R $module >/tmp/$name.txt 2>$name.err &
    tracers+=" $!"
done
# In the folder shared with the host one began with NULs instead of its first line; so it is copied at the end.
for module in dropwatch_*.ko; do wait_for "grep -q ^Monitoring /tmp/$(echo ${module%.ko} | tr _ -).txt" || exit 1; done

sleep 6
drops full-buffer 211 >traffic && for i in $(seq 103); do echo x >/dev/udp/127.0.0.1/7013; done
sleep 6
drops bad-checksum 107 >>traffic && for i in $(seq 61); do echo x >/dev/udp/10.77.0.2/9; done
sleep 11
drops refused 109 >>traffic
sleep 6
kill -INT $tracers
wait
nft list table ip lab >>traffic
ip -s link show vx0 >>traffic
finish /tmp/dropwatch-*.txt
"""


def prepare(lab):
    named = [lab.debuginfo()]
    for year in GENERATIONS:
        compile_script(lab, "dropwatch", f"dropwatch_{year}", [year], ["-d", "kernel", "--all-modules"], named)
    compile_script(lab, "dropwatch", "dropwatch_2020_bare", [2020])


def totals(text):
    """Return {place: count} over all intervals and reasons."""
    counts = Counter()
    for count, place in re.findall(r"^(\d+) packets dropped at (?:location )?(\S+)", text, re.M):
        counts[place] += int(count)
    return counts


def check(lab):
    print(lab.read("traffic"))
    keep(lab, [f"dropwatch-{year}.txt" for year in (*GENERATIONS, "2020-bare")])
    seen = {year: totals(lab.read(f"dropwatch-{year}.txt")) for year in (*GENERATIONS, "2020-bare")}
    for year, counts in seen.items():
        print(year, dict(counts))
    full = int(re.search(r"dropped (\d+)", lab.read("traffic"))[1])
    for year, counts in seen.items():
        for known in (full, BY_RULE, BAD_CHECKSUMS, REFUSED, NO_REMOTE):
            assert known in counts.values(), f"{year}: no place with {known} drops"
