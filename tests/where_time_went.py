#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of ./run-tests went: where_time_went.py PHASES TESTS.xml...

PHASES is what scripts/tasks.sh's phase wrote, each TESTS.xml of ctest --output-junit.
"""

import collections
import itertools
import pathlib
import re
import sys
import xml.etree.ElementTree

GROUPS, LONGEST = 10, 5


def seconds(text):
    """Return the seconds of '1m2.5s'."""
    minutes, rest = re.fullmatch(r"(\d+)m([\d.]+)s", text).groups()
    return int(minutes) * 60 + float(rest)


def phases(path):
    """Yield (name, seconds of the clock, seconds of processors)."""
    marks = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    for (name, begin, *before), (_, end, *after) in itertools.pairwise(marks):
        yield name, int(end) - int(begin), sum(map(seconds, after)) - sum(map(seconds, before))


def tests_of(path):
    """Return (seconds, name) of each test; none where ctest did not come to it."""
    if not path.exists():
        return []
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return [(float(case.get("time", "0")), case.get("name")) for case in cases]


def main():
    rows = list(phases(pathlib.Path(sys.argv[1])))
    print("\nWhere the time went, in seconds by the clock, and of processors:")
    for name, clock, processor in rows:
        print(f"  {name.replace('-', ' '):16} {clock:5} {processor:6.0f}")
    print(f"  {'in all':16} {sum(row[1] for row in rows):5} {sum(row[2] for row in rows):6.0f}")
    tests = [test for path in sys.argv[2:] for test in tests_of(pathlib.Path(path))]
    groups = collections.Counter()
    for time, name in tests:
        groups[re.split(r"[.:]", name)[0]] += time
    print("Tests, which run side by side:", ", ".join(f"{name} {time:.0f}" for name, time in groups.most_common(GROUPS)))
    print("The slowest:", ", ".join(f"{name} {time:.0f}" for time, name in sorted(tests, reverse=True)[:LONGEST]))


main()
