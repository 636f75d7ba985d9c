# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's counters of /proc/net/snmp and netstat, as a scenario has kept them."""

import collections


def read_pairs(text):
    """Return {"Udp.NoPorts": n} of lines of names, each with a line of their values behind it."""
    counters, lines = {}, [line.split() for line in text.splitlines()]
    for names, values in zip(lines[::2], lines[1::2]):
        assert names[0] == values[0], (names, values)
        counters |= {names[0][:-1] + "." + name: int(value) for name, value in zip(names[1:], values[1:])}
    return counters


def rises(lab, before, after):
    """Return by how much each rose between two of a scenario's files."""
    first = read_pairs(lab.read(before))
    return collections.Counter({name: value - first.get(name, 0) for name, value in read_pairs(lab.read(after)).items()})
