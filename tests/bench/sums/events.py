# SPDX-License-Identifier: GPL-2.0-or-later
import sys

from measures import show

names = [b"drv-ip", b"ip-tcp", b"tcp-app", b"ip-udp", b"udp-app"]
groups = {}
for line in sys.stdin.buffer:
    if not line.startswith(b"rx\t"):
        continue
    _, _, _, pid, tid, comm, _, _, _, a, b, c, d, e = line[:-1].split(b"\t")
    key = (pid, tid, comm)
    counts = groups.get(key)
    if counts is None:
        counts = groups[key] = [{} for _ in names]
    for value, seen in zip((a, b, c, d, e), counts):
        if value != b"-":
            seen[value] = seen.get(value, 0) + 1
show({" ".join(part.decode() for part in key): {name.decode(): seen for name, seen in zip(names, counts) if seen}
      for key, counts in groups.items()})
