# SPDX-License-Identifier: GPL-2.0-or-later
"""Who had the CPU, which cgroup was throttled, and where a thread slept: --who, against what the kernel sums up itself."""

import json
import re

from lablib.events import check_ended, read_report

DESCRIPTION = "--who: a spinning process, a flood of datagrams, a throttled cgroup and a held futex, each named with its time"
IN_CI = ()
TIMEOUT = 600
BUILD = {"who": ["rx-latency", "--who"], "both": ["net-latency", "--who", "--aggregate"],
         "bare": ["rx-latency", "--who", "--no-parts"]}
# What the reader does (late.c): port, messages; of the recipe that prints each record, and of the one that aggregates
READERS = {"shares": (7501, 53), "flood": (7502, 53), "futex": (7503, 53), "quota": (7504, 53), "other": (7505, 53),
           "stops": (7506, 53)}
ASLEEP = ("futex", "other", "stops")
FROZEN = 7507
AGAIN = {"shares": (7511, 31), "futex": (7513, 31), "quota": (7514, 31)}
CGROUP = "/lab.slice/slow"
QUOTA = "10000 40000"  # us: of each period

RUN = """
start_ready {where} late {reason} --receive --port {port} || exit 1
late {reason} --address 127.0.0.1 --port {port} --count {count} || exit 1
sleep 0.1
kill $READY_PID 2>/dev/null
cp $READY_OUTPUT {port}.late
"""


# Its cgroup is frozen for 20 ms, again and again.
FREEZES = f"""
start_ready in_cgroup /lab.slice/ice late call --receive --port {FROZEN} || exit 1
(for i in $(seq 17); do echo 1; sleep 0.02; echo 0; sleep 0.02; done) | while read state; do
    echo $state >/sys/fs/cgroup/lab.slice/ice/cgroup.freeze
done &
late call --address 127.0.0.1 --port {FROZEN} --count 201 || exit 1
wait $!
kill $READY_PID 2>/dev/null
cp $READY_OUTPUT {FROZEN}.late
"""


def runs(readers):
    return [RUN.format(reason=reason, port=port, count=count, where=f"in_cgroup {CGROUP}" if reason == "quota" else "")
            for reason, (port, count) in readers.items()]


def guest():
    script = [f"""
mount -t cgroup2 none /sys/fs/cgroup || exit 1
mkdir -p /sys/fs/cgroup{CGROUP} /sys/fs/cgroup/lab.slice/ice && echo +cpu >/sys/fs/cgroup/cgroup.subtree_control &&
    echo +cpu >/sys/fs/cgroup/lab.slice/cgroup.subtree_control && echo {QUOTA} >/sys/fs/cgroup{CGROUP}/cpu.max || exit 1
in_cgroup() {{ exec bash -c 'echo $$ >/sys/fs/cgroup$0/cgroup.procs && exec "$@"' "$@"; }}
record who who || exit 1"""]
    script += [*runs(READERS), FREEZES, f"cp /sys/fs/cgroup{CGROUP}/cpu.stat cpu.stat", "end_records who",
               "record both both || exit 1", *runs(AGAIN), "end_records both", "finish"]
    return "\n".join(script)


GUEST = guest()


class Reader:
    """What a reader said, and what --who says of its thread."""

    def __init__(self, lab, rows, reason, port):
        text = lab.read(f"{port}.late")
        self.reason, self.cgroup = reason, ""
        self.tid = int(re.search(r"ready (\d+)", text)[1])
        self.beside = int((re.search(r"beside (\d+)", text) or [0, 0])[1])
        self.locked = [int(ns) for ns in re.findall(r"locked (\d+)", text)]
        delayed = [int(ns) for ns in re.findall(r"delayed (\d+)", text)]
        # From the first message on, with which it is followed.
        self.delayed = delayed[-1] - delayed[0]
        self.rows = [row for row in rows if row["group"]["tid"] == self.tid]
        assert all(row["group"]["comm"] == "late" for row in self.rows)

    def named(self, waited, by):
        """Whether that is what this reader waits for."""
        if self.reason == "futex":
            return waited == "asleep" and "futex" in by
        if self.reason == "other":
            return waited == "asleep" and "wait_for_more_packets" in by
        if self.reason == "stops":
            return waited == "stopped"
        if self.reason == "quota":
            return waited == "throttled" and by in (CGROUP, f"cgroup:{self.cgroup}")
        return waited == "run-queue" and by in ([f"late[{self.beside}]", "softirq:NET_RX"] if self.reason == "flood"
                                                else [f"late[{self.beside}]"])

    def sum(self, **group):
        return sum(row["sum_ns"] for row in self.rows if group.items() <= row["group"].items())


def check_records(lab, readers):
    """What each record says that its reader waited for longest is in what the scheduler's own sums say of that packet."""
    by_tid = {reader.tid: reader for reader in readers.values()}
    lines = lab.report("who", "--events", "--format", "ndjson").splitlines()
    # Each CPU hands its records over by itself.
    lines.sort(key=lambda line: json.loads(line).get("time_ns") or 0)
    records = [record for record in map(json.loads, lines) if record.get("event") == "rx" and record["tid"] in by_tid]
    groups = json.loads(lab.report("who", "--slowest", "200", "--format", "json"))["slowest"]
    cgroups = {record["of"]["by"] for record in groups if record["of"]["waited"] == "throttled"}
    assert cgroups == {CGROUP}, cgroups
    for reader in readers.values():
        own = [record for record in records if record["tid"] == reader.tid]
        reader.cgroup = next((record["by"].split(":")[1] for record in own if record["waited"] == "throttled"), "")
        silent = sum(record["waited"] == "-" for record in own)
        print(f"{reader.reason}: {len(own)} records, {silent} of them say nothing")
        # The first one: its thread was not followed before. A softirq for each datagram of a flood: more pieces than are kept.
        is_flood = reader.reason == "flood"
        assert own[0]["waited"] == "-" and own[0]["waited_ns"] == 0 and (is_flood or silent <= 0.2 * len(own)), own
        slow = [record for record in own if record["waited_ns"] > 1_000_000]
        assert all(record["waited_ns"] <= record["tcp-app_ns"] for record in own), own
        assert is_flood or len(slow) > 10, own
        near_by = 0
        for record in slow:
            # stapgen itself may have the CPU, on the host's clock.
            assert reader.named(record["waited"], record["by"]) or record["by"].startswith("stapgen["), record
            part = record.get("tcp-app.asleep_ns" if reader.reason in ASLEEP else "tcp-app.run-queue_ns", 0)
            near_by += abs(record["waited_ns"] - part) < 100_000 + (0.1 if reader.reason == "quota" else 0.05) * part
        print(f"  {near_by} of {len(slow)} above 1 ms near the part of tcp-app")
        assert is_flood or near_by >= 0.9 * len(slow)
        for record in sorted(own, key=lambda record: -record["tcp-app_ns"])[:5]:
            print(f"  {record['tcp-app_ns'] / 1e6:.3f} ms: {record['waited']} {record['by']} {record['waited_ns'] / 1e6:.3f} ms")
            assert is_flood or reader.named(record["waited"], record["by"]) or record["by"].startswith("stapgen["), record


def check_aggregated(lab):
    """The slowest of packets that were aggregated say it, too, and why's answer names them."""
    # As the run hands over rows it may wake their reader, within a handler.
    report = read_report(lab, "both", skips=True)
    readers = {reader.tid: reader for reader in (Reader(lab, report["who"], reason, port) for reason, (port, _) in AGAIN.items())}
    own = [record["of"] for record in report["slowest"] if record["way"] == "rx" and record["of"]["tid"] in readers]
    print("\n".join(f"{readers[of['tid']].reason}: {of['waited']} {of['by']} {of['waited_ns'] / 1e6:.3f} ms" for of in own))
    assert own and all(readers[of["tid"]].named(of["waited"], of["by"]) for of in own), own
    sent = [record["of"] for record in report["slowest"] if record["way"] == "tx"]
    assert sent and all((of["waited"], of["by"], of["waited_ns"]) == ("-", "-", 0) for of in sent), sent
    answer = lab.analyse(["why", "both.rec"]).stdout
    print(answer)
    answer = " ".join(answer.split())
    said = re.search(r"tcp-app\.run-queue: .*? not scheduled; ([\d.]+) % of the readers' wait was (.*?); .*? remedy: (.*)",
                     answer)
    assert said and said[2] == f"throttled in {CGROUP}" and float(said[1]) > 50, answer
    assert f"cpu.max of {CGROUP}" in said[3], answer


def near(found, expected, part, what):
    print(f"{what}: {found / 1e6:.3f} of {expected / 1e6:.3f} ms ({found / expected - 1:+.1%})")
    assert abs(found - expected) <= part * expected, f"{what}: {found} of {expected}"


def check(lab):
    check_ended(lab, "who")
    report = json.loads(lab.report("who", "--format", "json"))
    # As SystemTap hands over what was printed it may wake its own reader, inside a handler: that wake-up is skipped.
    assert report["accounting"]["skipped_probes"] <= 3, report["accounting"]
    print(lab.report("who", "--top", "40"))
    rows = report["who"]
    readers = {reason: Reader(lab, rows, reason, port) for reason, (port, _) in READERS.items()}
    assert report["accounting"]["other"]["waits-evicted"] == 0 == report["accounting"]["other"]["threads-evicted"]

    shares = readers["shares"]
    near(shares.sum(waited="run-queue"), shares.delayed, 0.05, "beside a spinning process")
    beside = shares.sum(waited="run-queue", by=f"late[{shares.beside}]")
    assert beside > 0.95 * shares.sum(waited="run-queue"), shares.rows

    flood = readers["flood"]
    near(flood.sum(waited="run-queue"), flood.delayed, 0.05, "beside a flood")
    softirq, beside = (flood.sum(waited="run-queue", by=by) for by in ("softirq:NET_RX", f"late[{flood.beside}]"))
    print(f"softirq {softirq / 1e6:.3f}, sender {beside / 1e6:.3f} ms")
    assert softirq > 0.2 * flood.delayed < beside and softirq + beside > 0.9 * flood.delayed, flood.rows

    quota = readers["quota"]
    stat = dict(line.split() for line in lab.read("cpu.stat").splitlines())
    throttled = [row for row in quota.rows if row["group"]["waited"] == "throttled"]
    assert {row["group"]["cgroup"] for row in throttled} == {CGROUP}, throttled
    near(quota.sum(waited="throttled"), int(stat["throttled_usec"]) * 1000, 0.05, "throttled")
    near(quota.sum(waited="throttled") + quota.sum(waited="run-queue"), quota.delayed, 0.05, "throttled, and waiting")
    # Since 6.18 a thread runs on in the kernel until it returns from there, and may lose its CPU more than once until then.
    most = 2 * int(stat["nr_throttled"]) if lab.suite == "forky" else int(stat["nr_throttled"])
    assert int(stat["nr_throttled"]) - 2 <= throttled[0]["n"] <= most, (throttled, stat)

    futex = readers["futex"]
    held = [row for row in futex.rows if any("futex_wait" in (frame["symbol"] or "") for frame in row["frames"])]
    assert len(held) == 1 and held[0]["n"] == len(futex.locked) == READERS["futex"][1], (held, len(futex.locked))
    near(held[0]["sum_ns"], sum(futex.locked), 0.02, "behind a lock")
    assert abs(held[0]["max_ns"] - max(futex.locked)) < 200_000, (held, max(futex.locked))
    assert held[0]["with_packet_ns"] > 0.5 * held[0]["sum_ns"], held
    frozen = [row for row in Reader(lab, rows, "call", FROZEN).rows if row["group"]["waited"] == "frozen"]
    print(f"frozen: {frozen}")
    assert frozen and sum(row["with_packet_ns"] for row in frozen) > 50_000_000, frozen
    for reason in ("other", "stops"):
        slept = [row for row in readers[reason].rows if row["group"]["waited"] == ("asleep" if reason == "other" else "stopped")]
        print(f"{reason}: {[(row['n'], row['sum_ns'], row['with_packet_ns']) for row in slept]}")
        # A timeout of 7 ms is one of up to four ticks (HZ=250).
        assert 0.9 * 52 * 7_000_000 < sum(row["sum_ns"] for row in slept if row["max_ns"] > 5_000_000) < 52 * 16_000_000, slept
    # What it does while nothing is there to be read holds nothing up.
    assert all(0 <= row["with_packet_ns"] <= row["sum_ns"] for row in rows), json.dumps(rows)
    check_records(lab, readers)
    check_aggregated(lab)
    assert lab.read("modules-left").strip() == "0"
