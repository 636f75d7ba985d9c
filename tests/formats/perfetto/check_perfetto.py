#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws recordings whose truth is known, real ones and one made up here, and reads the traces with read_trace.py:
check_perfetto.py STAPGEN SAMPLES

Of each record: its track, its stages in order and to the ns, the same slices on the tracks of CPUs and threads, and the
flow through them. Of requests at both ends: both hosts' slices on one clock.
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


END_FIELDS = ["time:time", "way:text", "local:endpoint", "remote:endpoint", "seq:int", "reply_seq:int", "ask:stage", "away:stage",
              "read:stage", "total:stage", "arriving:value"]
SECOND = 1_000_000_000
# How far each host's clock is from the truth.
CLOCKS = {"app": 0, "proxy": 100 * SECOND, "db": -50 * SECOND}


def chain(folder, requests):
    """Write recordings of app, which asks proxy, which asks db. Of two requests one is sent before the reply to the other has
    come. Return for each host and sequence number when a client began and a server had it, in true time."""
    numbers = random.Random(1013)
    lines, truth = collections.defaultdict(list), {}

    def asked(client, server, seq, begin, port):
        ask, forth, served, back, arriving, read = (numbers.randrange(1000, 100_003) for _ in range(6))
        came = begin + ask + forth
        if server == "proxy":
            served += asked("proxy", "db", seq + (1 << 30), came + 1009, port) + 2003
        replied = came + served
        end = replied + back + arriving + read
        ends = {client: (end, "client", f"10.0.0.1:{port}", "10.0.0.2:80", seq, seq + 7, ask, forth + served + back,
                         arriving + read, end - begin, arriving),
                server: (replied, "server", "10.0.0.2:80", f"10.0.0.1:{port}", seq, seq + 7, "-", "-", "-", served, 0)}
        for host, (time, way, local, remote, *values) in ends.items():
            endpoints = [f"0.ffff0a0000{end[7:8]:0>2}{end[8:]}" for end in (local, remote)]
            lines[host].append((time, "\t".join(map(str, ["ends", time + 1000 * SECOND, way, *endpoints, *values]))))
        truth[client, seq], truth[server, seq] = begin, came
        return end - begin

    time = 0
    for i in range(requests):
        took = asked("app", "proxy", i * 101, time, 4001 + i // 2 % 3)
        time += numbers.randrange(1, took) if i % 2 == 0 else 2 * took
    for host, found in lines.items():
        wall = 1_795_180_000 * SECOND + CLOCKS[host]
        (folder / f"{host}.txt").write_text("\n".join(
            ["\t".join(["stapgen", "4", "both-ends", "ends", *END_FIELDS]), f"ready\t{wall}\t{1000 * SECOND}",
             *(line for _, line in sorted(found)), f"end\t{wall + time}\tseen={len(found)}\treported={len(found)}", ""]),
                                            encoding="utf-8")
    return truth


def both_ends(stapgen, *files):
    done = subprocess.run([stapgen, "between", *files, "--format", "perfetto"], capture_output=True, check=True)
    trace = read_trace.Trace(done.stdout)
    assert all(one["depth"] == 0 for one in trace.slices), "slices overlap"
    assert trace.wall == 0
    return trace, done.stderr.decode()


def check_sample_of_both_ends(stapgen, samples):
    """The trace has what JSON says, by the client's clock."""
    import calendar
    import json
    import time
    trace, said = both_ends(stapgen, samples / "pair")
    done = subprocess.run([stapgen, "between", samples / "pair", "--format", "json"], capture_output=True, check=True)
    result, = json.loads(done.stdout)["results"]
    assert len(trace.flows) == result["requests"] and len(trace.slices) == 4 * result["requests"], len(trace.slices)
    named = {trace.name_of(track) for track in trace.tracks}
    connection = f"{result['slowest'][0]['client']} to 10.9.0.2:7301"
    assert {"app1", "db1", f"app1 / {connection}", f"db1 / {connection}"} <= named, named
    sums = collections.Counter()
    for one in trace.slices:
        sums[one["name"]] += one["end"] - one["begin"]
    means = {part["where"]: part["mean_ns"] * result["requests"] for part in result["parts"]}
    for ns, wanted in ((sums["ask"] + sums["read"], means["client"]), (sums["server"], means["server"]),
                       (sums["wait"] - sums["server"], means["between"])):
        assert abs(ns - wanted) < 1e-4 * wanted, (ns, wanted)
    waits = {one["annotations"]["seq"]: one for one in trace.slices if one["name"] == "wait"}
    for request in result["slowest"]:
        wait = waits[request["seq"]]
        whole, part = request["start"].split(".")
        start = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * SECOND + int(part.rstrip("Z"))
        ends = trace.flows[wait["flow"]]
        assert [one["name"] for one in ends] == ["wait", "server", "read"], ends
        assert [wait["begin"] - start, ends[1]["begin"] - wait["begin"], wait["end"] - ends[1]["end"]] == [
            request["ask_ns"], request["forth_ns"], request["back_ns"]], (request, ends)
        for name in ("reply_seq", "match", "total_ns", "between_ns", "forth_ns", "back_ns"):
            assert wait["annotations"][name] == request[name], (name, wait)
        assert wait["annotations"]["offset_error_ns"] == result["offset_error_ns"]
        assert ends[1]["annotations"] == {"earlier_ns": min(request["forth_ns"], result["offset_error_ns"]),
                                          "later_ns": min(request["back_ns"], result["offset_error_ns"])}
    assert f"{result['offset_ns'] / 1e9:.6f} s ahead" in trace.metadata["stapgen-clocks of app1 and db1"], trace.metadata
    assert "not measured" not in said and not trace.instants, said


def check_chain(stapgen, folder):
    """A proxy is at one place on the first client's clock, requests on one connection at once are on tracks of one name, and
    all that was is in what the trace leaves open."""
    requests = 499
    truth = chain(folder, requests)
    for names in (("app", "proxy", "db"), ("db", "proxy", "app")):
        trace, _ = both_ends(stapgen, *(folder / f"{name}.txt" for name in names))
        ahead = 1_795_180_000 * SECOND + CLOCKS["app" if names[0] == "app" else "proxy"]
        tracks = collections.Counter(trace.name_of(track) for track in trace.tracks)
        assert {name: tracks[name] for name in CLOCKS} == dict.fromkeys(CLOCKS, 1), tracks
        assert tracks["app / 10.0.0.1:4001 to 10.0.0.2:80"] == 2, tracks
        assert len(trace.flows) == 2 * requests and all(len(ends) == 3 for ends in trace.flows.values())
        asks = {(one["track"], one["end"]): one["begin"] for one in trace.slices if one["name"] == "ask"}
        # A proxy's offset from app is known within this.
        error = max(one["annotations"].get("offset_error_ns", 0) for one in trace.slices)
        for wait, server, reply in trace.flows.values():
            assert (wait["name"], server["name"], reply["name"]) == ("wait", "server", "reply")
            client, there = (trace.name_of(one["track"]).split(" / ")[0] for one in (wait, server))
            seq = wait["annotations"]["seq"]
            began = asks[wait["track"], wait["begin"]] - ahead - truth[client, seq]
            assert began == 0 if client == ("app" if names[0] == "app" else "proxy") else abs(began) <= error, (client, began)
            had = truth[there, seq] - truth[client, seq] - (server["begin"] - asks[wait["track"], wait["begin"]])
            assert -server["annotations"]["earlier_ns"] <= had <= server["annotations"]["later_ns"], (server, had)
            assert wait["begin"] <= server["begin"] and server["end"] <= wait["end"]


def check_terminal(stapgen, path, command="report"):
    ours, theirs = pty.openpty()
    done = subprocess.run([stapgen, command, path, "--format", "perfetto"], stdout=theirs, stderr=subprocess.PIPE,
                          check=False)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2 and b"> trace.pftrace" in done.stderr, done


def main():
    stapgen, samples = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "packets.txt"
        made.write_text(made_up(499), encoding="utf-8")
        for path, records in ((made, 499), (samples / "earlier/own-rx-latency.txt", 509), (samples / "earlier/own-sock-latency.txt", 403),
                              (samples / "earlier/rx-latency.rec", 308), (samples / "earlier/net-latency.txt", 208),
                              (samples / "earlier/tx-latency.txt", 167), (samples / "earlier/packet-flow.rec", 1215)):
            trace, said = drawn(stapgen, path)
            number, sums = check_against_text(trace, plain(path))
            assert number == records, (path, number)
            assert f"= {records} reported" in said and "not in the trace" not in said, said
            check_sums(stapgen, path, sums)
            if path.suffix == ".rec":
                assert trace.metadata["stapgen-host"] == "lab" and "stapgen" in trace.metadata["stapgen-command"], path
        check_terminal(stapgen, made)
        check_terminal(stapgen, samples / "pair", "between")
        check_sample_of_both_ends(stapgen, samples)
        check_chain(stapgen, Path(folder))
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
