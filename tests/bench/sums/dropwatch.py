# SPDX-License-Identifier: GPL-2.0-or-later
import sys

counts = {}
for line in sys.stdin.buffer:
    count, found, place = line.partition(b" packets dropped at ")
    if found:
        counts[place] = counts.get(place, 0) + int(count)
for place, count in counts.items():
    print(place.decode().strip(), count, sep="\t")
