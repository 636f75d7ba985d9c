# SPDX-License-Identifier: GPL-2.0-or-later
import sys

from measures import show

groups = {}
for line in sys.stdin.buffer:
    parts = line.split(b"|")
    if len(parts) != 4:
        continue
    words = parts[2].split()
    key = (parts[3], words[0])
    counts = groups.get(key)
    if counts is None:
        counts = groups[key] = ({}, {}, {})
    for value, seen in zip((words[1], words[4], words[7]), counts):
        seen[value] = seen.get(value, 0) + 1
directions = {b"drv-ip:": ("drv-ip", "ip-tcp", "tcp-app"), b"app-tcp:": ("app-tcp", "tcp-ip", "ip-drv")}
shown = {}
for (process, direction), counts in groups.items():
    comm, _, pid = process.decode().strip()[len("Proc "):].rpartition(", PID ")
    for name, seen in zip(directions[direction], counts):
        shown.setdefault(f"{pid} {comm}", {})[name] = seen
show(shown)
