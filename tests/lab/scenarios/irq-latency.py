"""irq-latency against a module that works for known times in an interrupt, a tasklet and a timer, and says when it did.

Each of its runs is in one record of the right row and CPU, and in no other. How many runs there were the kernel counts
itself: /proc/softirqs and /proc/interrupts are read before and after stapgen measures, and within that, so that what is
counted lies between both.
"""

import collections
import re
import shutil

from lablib.common import SOURCE
from lablib.events import Trace, stage

DESCRIPTION = "known work in an interrupt, a tasklet and a timer is in the right rows; the kernel's own counts of runs"
IN_CI = ("trixie",)
APPEND = "maxcpus=1"
BUILD = {"irq": ["irq-latency"], "slow": ["irq-latency", "--slower-than", "10ms"]}

ROUNDS, QUICK, NESTED = 13, 101, 5
# What kernel/known_work.c says: kind -> how often, how long at least (ms), and whose time it is in the records.
WORK = {"irq": (ROUNDS + NESTED, 11, "known-work"), "tasklet": (ROUNDS, 23, "TASKLET"), "timer": (ROUNDS, 37, "TIMER"),
        "interrupted": (NESTED, 23 + 11, "TASKLET"), "raised": (ROUNDS, 17, "TASKLET")}

GUEST = r"""
counts() { cat /proc/interrupts >$1.interrupts; cat /proc/softirqs >$1.softirqs; }
counts outer-before
trace all irq || exit 1
counts inner-before
insmod kernel/known_work.ko || exit 1
ping -q -c 101 -i 0.002 127.0.0.1 || exit 1
counts inner-after
end_trace all
counts outer-after
dmesg >all.dmesg

rmmod known_work && trace slow slow && insmod kernel/known_work.ko || exit 1
end_trace slow
finish
"""

# mdelay() counts with the rate of the TSC as the kernel has found it at boot: by the clock it may be a little short.
MS = 990_000
Work = collections.namedtuple("Work", "kind cpu begin end")


def prepare(lab):
    shutil.copytree(SOURCE / "kernel", lab.work / "kernel")
    lab.chroot(["make", "-s", "-C", f"/lib/modules/{lab.release}/build", "M=/lab/work/kernel", "modules"])


def known_work(log):
    """Return the module's last runs in the kernel's log."""
    found = [Work(kind, int(cpu), int(begin), int(end))
             for kind, cpu, begin, end in re.findall(r"known_work: (\w+) (\d+) (\d+) (\d+)", log)]
    return found[-sum(count for count, _, _ in WORK.values()):]


def clock(trace, works):
    """Return what to add to the module's clock for the records' one, and how much it may be off.

    The two clocks are read one after the other, with who knows how much between. The long runs of the module's
    interrupt are known by their order: one number has to bring them all into their records.
    """
    records = [event for event in trace.events if event["name"] == "known-work" and event["run_ns"] >= 11 * MS]
    runs = [work for work in works if work.kind == "irq"]
    assert len(records) == len(runs), f"{len(records)} long runs of the interrupt for {len(runs)}"
    least = max(event["time_ns"] - event["run_ns"] - work.begin for event, work in zip(records, runs))
    most = min(event["time_ns"] - work.end for event, work in zip(records, runs))
    assert least <= most, f"no offset fits: {least} to {most}"
    return (least + most) // 2, most - least


def check_work(trace, works):
    """Each run is in one record, which has its time."""
    offset, error = clock(trace, works)
    for kind, (count, least_ms, name) in WORK.items():
        mine = [work for work in works if work.kind == kind]
        assert len(mine) == count
        longest = 0
        for work in mine:
            holding = [event for event in trace.events if event["name"] == name and event["cpu"] == work.cpu
                       and spans(event, work.begin + offset, work.end + offset, error, kind == "raised")]
            assert len(holding) == 1, f"{trace.name}: {len(holding)} records hold {work}"
            time = holding[0]["raise-entry_ns" if kind == "raised" else "run_ns"]
            assert time >= least_ms * MS, f"{work} has {time} ns in {holding[0]}"
            longest = max(longest, time)
        print(f"  {kind}: {count} runs of {least_ms} ms or more are where they belong, the longest {longest / 1e6:.2f} ms")


def spans(event, begin, end, error, waits):
    """Whether the record goes on from BEGIN to END, give or take ERROR: its run, or its wait, which begins in between."""
    entered = event["time_ns"] - event["run_ns"]
    if not waits:
        return entered <= begin + error and end <= event["time_ns"] + error
    return event["raise-entry_ns"] is not None and end <= entered + error and \
        begin <= entered - event["raise-entry_ns"] + error <= end


def check_elsewhere(trace, works):
    """What else was long: the host may have stopped a guest's CPU, so it is shown and not judged."""
    long = [event for event in trace.events if event["run_ns"] >= 11 * MS]
    ours = {"known-work", "TASKLET", "TIMER"}
    print(f"  runs of 11 ms or more: {len(long)}, of these in other rows "
          f"{sum(event['name'] not in ours for event in long)}")
    assert sum(event["name"] in ours for event in long) >= len(works) - ROUNDS


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
    works = known_work(lab.read("all.dmesg"))
    check_work(trace, works)
    check_elsewhere(trace, works)
    check_counts(lab, trace)
    own = [event for event in trace.events if event["name"] == "known-work"]
    trace.expect(len(own), QUICK + ROUNDS + NESTED, "runs of the interrupt")
    assert stage(own, "raise-entry") == []

    slow = Trace(lab, "slow")
    check_work(slow, known_work(lab.read("dmesg")))
    times = [max(event["run_ns"], event["raise-entry_ns"] or 0) for event in slow.events]
    assert min(times) >= 10_000_000
    assert slow.accounting["filtered"] > QUICK
    print(f"  --slower-than 10ms: {len(times)} of {slow.accounting['seen']} runs")
    assert lab.read("modules-left").strip() == "0"
