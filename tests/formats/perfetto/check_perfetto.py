#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws recordings whose truth is known, real ones and one made up here, and reads the traces with read_trace.py:
check_perfetto.py STAPGEN SAMPLES

Of each record: its track, its stages in order and to the ns, the same slices on the tracks of CPUs and threads, and the
flow through them.
"""

import collections
import os
import pty
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import read_trace  # noqa: E402

RX = ["irq-raise:stage,cpu", "raise-softirq:stage,cpu", "softirq-poll:stage,cpu", "poll-drv:stage,cpu", "drv-ip:stage,cpu",
      "ip-tcp:stage,cpu", "ip-udp:stage,cpu", "tcp-queue:stage,cpu", "udp-queue:stage,cpu", "queue-wake:stage",
      "wake-run:stage", "run-copy:stage,thread", "copy-return:stage,thread"]
TX = ["app-tcp:stage,thread", "tcp-ip:stage,thread", "app-udp:stage,thread", "udp-ip:stage,thread", "ip-drv:stage,thread",
      "qdisc:stage", "drv-done:stage,cpu"]
FIELDS = ["time:time", "cpu:int", "pid:int", "tid:int", "comm:text", "way:text", "local:endpoint", "remote:endpoint",
          "dev:text", "bytes:int", *RX, *TX, "total:stage"]


def drawn(stapgen, path, *options):
    done = subprocess.run([stapgen, "report", path, "--format", "perfetto", *options], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return read_trace.Trace(done.stdout), done.stderr.decode()


def made_up(records):
    """Packets on three CPUs, several at a time on each; half of them TCP."""
    numbers = random.Random(1009)
    lines = ["\t".join(["stapgen", "3", "packet-flow", "packet", *FIELDS]), "ready\t1795180000000000000\t1000000000"]
    time = 1_000_000_000
    for i in range(records):
        time += numbers.randrange(1, 20_011)
        way, names = ("rx", RX) if numbers.random() < 0.5 else ("tx", TX)
        without = "udp" if i % 2 == 0 else "tcp"
        seen = {name for name in names if without not in name and numbers.random() < 0.97}
        stages = [numbers.choice([0, 1, numbers.randrange(50_021)]) if name in seen else None for name in RX + TX]
        total = sum(stage or 0 for stage in stages)
        values = [time, i % 3, 186, 187 + i % 5, "mc-worker", way, "0.ffff0a000001:11211", f"0.ffff0a0000{2 + i % 7:02x}:4001",
                  "eth0", 1 + i % 1448, *("-" if stage is None else stage for stage in stages), total]
        lines.append("packet\t" + "\t".join(map(str, values)))
    lines.append(f"end\t{1795180000000000000 + time - 1_000_000_000}\tseen={records}\treported={records}")
    return "\n".join(lines) + "\n"


def plain(path):
    done = subprocess.run(["zstd", "-dcf", path], capture_output=True, check=True)
    return done.stdout.decode()


def check_against_text(trace, text):
    """Everything in the trace against the lines, read here."""
    fields, number, wall, main = [], 0, None, None
    own = collections.defaultdict(list)
    other = collections.defaultdict(list)
    for one in trace.slices:
        name = trace.tracks[one["track"]].get("name", "")
        if name.startswith("#"):
            own[int(name[1:].split()[0])].append(one)
        else:
            other[one["name"], one["begin"], one["end"], one["flow"]].append(trace.name_of(one["track"]))
    sums = collections.Counter()
    for line in text.splitlines():
        tag, *values = line.split("\t")
        if tag == "stapgen":
            fields = [field.rsplit(":", 1) for field in values[3:]]
            main = values[2]
        elif tag == "ready":
            wall = int(values[0]) - int(values[1])
        elif tag == main:
            number += 1
            record = dict(zip((name for name, _ in fields), values))
            stages = [(name, int(record[name]), kind.split(",")[1:]) for name, kind in fields
                      if kind.startswith("stage") and name != "total" and record[name] != "-"]
            slices = own.pop(number)
            assert [one["name"] for one in slices] == [name for name, _, _ in stages], (number, slices)
            at = int(record["time"]) - sum(ns for _, ns, _ in stages)
            ends = 0
            for one, (name, ns, spent_by) in zip(slices, stages):
                assert (one["begin"], one["end"]) == (at, at + ns), (number, one)
                at += ns
                sums[name] += ns
                track = {"cpu": f"CPUs / CPU {record['cpu']}", "thread": f"{record.get('comm')} {record.get('tid')}"}
                ends += 1
                for kind in spent_by:
                    lanes = other.pop((name, one["begin"], one["end"], one["flow"]))
                    assert len(lanes) == 1 and lanes[0].startswith(track[kind]), (lanes, track[kind])
                    ends += 1
            assert at == int(record["time"])
            assert {one["flow"] for one in slices} == {number if ends > 1 else 0}
            assert number not in trace.flows or len(trace.flows[number]) == ends
            assert slices[0]["annotations"]["cpu"] == int(record["cpu"])
    assert not own and not other, (list(own)[:3], list(other)[:3])
    assert trace.wall == wall
    return number, sums


def check_sums(stapgen, path, sums):
    """The trace's sums against those of the JSON report."""
    import json
    done = subprocess.run([stapgen, "report", path, "--format", "json"], capture_output=True, check=True)
    whole = {stage["stage"]: stage["sum_ns"] for stage in json.loads(done.stdout)["stages"] if not stage["group"]}
    assert {name: whole[name] for name in sums} == dict(sums)


def check_terminal(stapgen, path):
    ours, theirs = pty.openpty()
    done = subprocess.run([stapgen, "report", path, "--format", "perfetto"], stdout=theirs, stderr=subprocess.PIPE,
                          check=False)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2 and b"> trace.pftrace" in done.stderr, done


def main():
    stapgen, samples = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "packets.txt"
        made.write_text(made_up(499), encoding="utf-8")
        for path, records in ((made, 499), (samples / "own-rx-latency.txt", 509), (samples / "own-sock-latency.txt", 403),
                              (samples / "rx-latency.rec", 308), (samples / "net-latency.txt", 208),
                              (samples / "tx-latency.txt", 167), (samples / "packet-flow.rec", 1215)):
            trace, said = drawn(stapgen, path)
            number, sums = check_against_text(trace, plain(path))
            assert number == records, (path, number)
            assert f"= {records} reported" in said and "not in the trace" not in said, said
            check_sums(stapgen, path, sums)
            if path.suffix == ".rec":
                assert trace.metadata["stapgen-host"] == "lab" and "stapgen" in trace.metadata["stapgen-command"], path
        check_terminal(stapgen, made)
        # No time in it, no picture of it.
        trace, said = drawn(stapgen, samples / "dropwatch.rec")
        assert not trace.slices and "1 of 1 records are not in the trace: they have no time" in said, said
        # What is beyond the limit of tracks is said, in the trace, too.
        many = Path(folder) / "many.txt"
        many.write_text("stapgen\t3\trx-latency\trx\ttime:time\tdrv-ip:stage\n" +
                        "".join(f"rx\t{1000 * record}\t101\n" for record in range(10_007)), encoding="utf-8")
        trace, said = drawn(stapgen, many)
        beyond = "11 of 10,007 records are not in the trace"
        assert len(trace.slices) == 9_996 and beyond in said and beyond in trace.instants[0]["name"], (len(trace.slices), said)
        refused = subprocess.run([stapgen, "report", "--format", "perfetto", made, samples / "own-rx-latency.txt"],
                                 capture_output=True, check=False)
        assert refused.returncode == 2 and b"one by one" in refused.stderr, refused
        # Text of others: their times, in whole microseconds.
        trace, _ = drawn(stapgen, samples / "perf-net.txt")
        assert trace.slices and trace.wall is None


if __name__ == "__main__":
    main()
