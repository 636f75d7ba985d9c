# SPDX-License-Identifier: GPL-2.0-or-later
"""irq-latency against a module that works for known times in an interrupt, a tasklet and a timer, and says when it did.

Each of its runs is in one record of the right row and CPU, which is longer by what a handler takes to be called and no more.
How many runs there were the kernel counts itself: /proc/softirqs and /proc/interrupts are read before and after stapgen
measures, and within that, so that what is counted lies between both.
"""

import collections
import re

from lablib import kernel
from lablib.events import Trace, stage

DESCRIPTION = "known work in an interrupt, a tasklet and a timer is in the right rows, to 50 us; the kernel's own counts of runs"
IN_CI = ("trixie",)
# With PREEMPT_RT a thread does the work of an interrupt, and it does not see that: docs/inside/kernel-quirks.md.
ALSO_ON = ("trixie-cloud",)
NET = True
APPEND = "maxcpus=1"
BUILD = {"irq": ["irq-latency"], "slow": ["irq-latency", "--slower-than", "1ms"]}

ROUNDS, QUICK, NESTED = 13, 101, 5
# What kernel/known_work.c says: kind -> how often, how long (us), and whose time it is in the records.
WORK = {"irq": (ROUNDS + NESTED, 1103, "known-work"), "tasklet": (ROUNDS, 2309, "TASKLET"), "timer": (ROUNDS, 3701, "TIMER"),
        "interrupted": (NESTED, 2309 + 1103, "TASKLET"), "raised": (ROUNDS, 1709, "TASKLET")}
# ns from a softirq's entry to its first handler, and from that to its exit, beside which other timers may run.
NEAR = 50_000

GUEST = r"""
counts() { cat /proc/interrupts >$1.interrupts; cat /proc/softirqs >$1.softirqs; }
counts outer-before
record all irq || exit 1
counts inner-before
insmod kernel/known_work.ko || exit 1
ping -q -c 101 -i 0.002 127.0.0.1 || exit 1
counts inner-after
end_records all
counts outer-after
dmesg >all.dmesg

rmmod known_work && record slow slow && insmod kernel/known_work.ko || exit 1
end_records slow
finish
"""

Work = collections.namedtuple("Work", "kind cpu begin end")


def prepare(lab):
    kernel.build_modules(lab)


def known_work(log):
    """Return the module's last runs in the kernel's log."""
    found = [Work(kind, int(cpu), int(begin), int(end))
             for kind, cpu, begin, end in re.findall(r"known_work: (\w+) (\d+) (\d+) (\d+)", log)]
    return found[-sum(count for count, _, _ in WORK.values()):]


def holds(record, work):
    """Whether a record goes on from the work's beginning to its end, and for no longer than it takes to call the handler."""
    entered = record["time"] - record["run"]
    begin, end = (entered - (record["raise-entry"] or 0), entered) if work.kind == "raised" else (entered, record["time"])
    # A softirq is raised behind the beginning, and an interrupt's handler called.
    before = begin - work.begin if work.kind == "raised" else work.begin - begin
    return 0 <= before < NEAR and 0 <= end - work.end < NEAR


def check_work(lab, name, works):
    """Each run is in one record; returns the records that hold one."""
    records, _ = kernel.read_records(lab, name)
    holding = []
    for kind, (count, us, row) in WORK.items():
        mine = [work for work in works if work.kind == kind]
        assert len(mine) == count
        for work in mine:
            found = [record for record in records if (record["name"], record["cpu"]) == (row, work.cpu) and holds(record, work)]
            assert len(found) == 1, f"{name}: {len(found)} records hold {work}"
            holding += found
        times = [work.end - work.begin for work in mine]
        assert us * 1000 <= min(times) <= max(times) < us * 1000 + NEAR, times
        print(f"  {kind}: {count} runs of {us} us are where they belong")
    # What else these rows have is little.
    quick = [record for record in records if record["name"] in ("known-work", "TASKLET") and record not in holding]
    assert all(record["run"] < NEAR for record in quick), quick
    return len(quick)


def rows(text):
    """Return the name and the sum over the CPUs of each row of /proc/interrupts or /proc/softirqs: {row: (sum, name)}."""
    found = {}
    for line in text.splitlines()[1:]:
        label, *words = line.split()
        counts = [int(word) for word in words if word.isdecimal()]
        found[label.rstrip(":")] = (sum(counts), words[-1])
    return found


def rise(lab, which, table):
    before, after = (rows(lab.read(f"{which}-{when}.{table}")) for when in ("before", "after"))
    return {row: after[row][0] - before.get(row, (0, ""))[0] for row in after}


def check_counts(lab, trace):
    found = collections.Counter()
    for event in trace.events:
        found["softirqs" if event["kind"] == "softirq" else "interrupts",
              event["name"] if event["kind"] == "softirq" else str(event["number"])] += 1
    compared = 0
    for table in ("softirqs", "interrupts"):
        inner, outer = (rise(lab, which, table) for which in ("inner", "outer"))
        for row, most in outer.items():
            if table == "interrupts" and not row.isdecimal():
                continue
            count, least = found.pop((table, row), 0), inner[row]
            if most:
                print(f"  {table} {row}: {count} records, the kernel counts {least} within and {most} around")
            assert least <= count <= most, f"{table} {row}: {count} records, {least} to {most} runs"
            compared += count
    assert not found, f"rows that the kernel does not have: {found}"
    assert compared == trace.accounting["reported"]


def check(lab):
    trace = Trace(lab, "all")
    quick = check_work(lab, "all", known_work(lab.read("all.dmesg")))
    assert quick >= QUICK
    check_counts(lab, trace)
    own = [event for event in trace.events if event["name"] == "known-work"]
    trace.expect(len(own), QUICK + ROUNDS + NESTED, "runs of the interrupt")
    assert stage(own, "raise-entry") == []

    slow = Trace(lab, "slow")
    assert check_work(lab, "slow", known_work(lab.read("dmesg"))) == 0
    times = [max(event["run_ns"], event["raise-entry_ns"] or 0) for event in slow.events]
    assert min(times) >= 1_000_000
    assert slow.accounting["filtered"] > QUICK
    print(f"  --slower-than 1ms: {len(times)} of {slow.accounting['seen']} runs")
    assert lab.read("modules-left").strip() == "0"
