# SPDX-License-Identifier: GPL-2.0-or-later
"""Spikes planted at known moments among steady traffic: each is kept with the seconds before it, and nothing else is.

A reader sleeps 20 ms for each of its datagrams, for more than three minutes. Another one sleeps 333 ms, at four moments: the
second is within a minute of the first, and only counted. Then somebody asks by SIGUSR1."""

import json

DESCRIPTION = "--keep: planted spikes are kept once, with the seconds before them; nothing is without one; SIGUSR1"
IN_CI = ("trixie",)
BUILD = {"rx": ["rx-latency", "--keep-memory", "1MiB"], "plain": ["rx-latency", "--aggregate"]}

BEFORE, AFTER = 10, 2
STEADY, SLEEP = 10_007, 20
SPIKE = 333

GUEST = f"""
mkdir kept quiet
spike() {{
    start_ready sleepy --udp --port 7302 --count 1 --sleep-ms {SPIKE} --before-data || exit 1
    date +%s%N >>spikes
    sleepy --udp --port 7302 --count 1 --send
    wait $READY_PID
}}
# A module that keeps nothing says so, and ends.
stapgen exec plain.ko --keep 1s -d 5 >refused.out 2>&1
echo $? >refused.exit
begin_report quiet json rx --keep {BEFORE}s --when 'udp-app max > 100ms' --keep-in quiet --format json || exit 1
wait_traced quiet.err || exit 1
start_ready sleepy --udp --port 7301 --count 1009 --sleep-ms {SLEEP} --before-data || exit 1
sleepy --udp --port 7301 --count 1009 --send
wait $READY_PID
end_records quiet
begin_report rx json rx --keep {BEFORE}s --after {AFTER}s --when 'udp-app max > 100ms' --when 'udp-app p50 > 1s' --keep-in kept --format json
wait_traced rx.err || exit 1
start_ready sleepy --udp --port 7301 --count {STEADY} --sleep-ms {SLEEP} --before-data || exit 1
steady=$READY_PID
sleepy --udp --port 7301 --count {STEADY} --send &
sleep 17; spike
sleep 23; spike
sleep 43; spike
sleep 67
date +%s%N >asked
kill -USR1 ${{TRACERS[rx]}}
wait $steady
end_records rx
for file in kept/* quiet/*; do [ -e "$file" ] && cp "$file" . && echo "${{file#*/}}"; done >files
finish
"""


def check_kept(lab, file, moment, spike):
    """Return the report of a kept recording that was asked for at this moment, in s, within the last interval."""
    lines = [json.loads(line) for line in lab.analyse(["report", "--events", "--format", "ndjson", str(lab.work / file)])
             .stdout.splitlines()]
    records, report = lines[:-1], lines[-1]
    account = report["accounting"]
    assert account["closed"] and account["seen"] == account["reported"] == len(records) and account["lost"] == 0, account
    times = [record["time_ns"] / 1e9 for record in records]
    print(f"{lab.suite} {file}: {len(records)} records from {min(times) - moment:.3f} to {max(times) - moment:.3f} s")
    # A condition is checked each second.
    assert moment - BEFORE - 0.1 < min(times) < moment - BEFORE + 2.2, "the seconds before are not all there"
    assert moment + AFTER - 0.1 < max(times) < moment + AFTER + 2.2, "the seconds after are not all there"
    steady = [record for record in records if record["local"].endswith(":7301")]
    # One each 20 ms, in every second.
    for second in range(int(min(times)) + 1, int(max(times))):
        assert 43 <= sum(second <= record["time_ns"] / 1e9 < second + 1 for record in steady) <= 53, second
    slow = [record for record in records if record["udp-app_ns"] > 100_000_000]
    assert len(slow) == spike, slow
    if spike:
        assert slow[0]["local"].endswith(":7302") and 0 < slow[0]["udp-app_ns"] - SPIKE * 1_000_000 < 3_000_000
    return report


def check(lab):
    assert lab.read("refused.exit").strip() == "2" and "keeps no records" in lab.read("refused.out"), lab.read("refused.out")
    files, said = lab.read("files").split(), lab.read("rx.err")
    # Of twenty seconds without a spike nothing.
    assert "stapgen: kept" not in lab.read("quiet.err") and json.loads(lab.read("quiet.json"))["accounting"]["reported"] > 2000
    spikes = [int(line) / 1e9 for line in lab.read("spikes").split()]
    asked = int(lab.read("asked")) / 1e9
    assert len(files) == 3 == said.count("stapgen: kept "), said
    first, later = (check_kept(lab, file, moment, 1) for file, moment in zip(files, (spikes[0], spikes[2])))
    by_signal = check_kept(lab, files[2], asked, 0)
    kept = [report["kept"][0] for report in (first, later, by_signal)]
    assert [(one["condition"], one["value"], one["unkept"]) for one in kept[:2]] == [
        ("udp-app max > 100ms over 1s", "333 ms", 0), ("udp-app max > 100ms over 1s", "333 ms", 1)], kept
    assert kept[2]["condition"] == "SIGUSR1" and kept[2]["value"] is None, kept
    assert all((one["before_ns"], one["after_ns"], one["missing_ns"]) == (BEFORE * 10**9, AFTER * 10**9, 0) for one in kept), kept
    # When it would have held: at the spike, and at none of the others.
    held = json.loads(lab.analyse(["report", "--format", "json", "--when", "udp-app max > 300ms", "--when", "udp-app max > 400ms",
                                   str(lab.work / files[0])]).stdout)["notes"][-2:]
    assert "udp-app max > 300ms over 1s held once" in held[0] and held[1] == "udp-app max > 400ms over 1s did not hold", held
    account = json.loads(lab.read("rx.json"))["accounting"]
    assert account["seen"] == account["reported"] and account["skipped_probes"] == 0 == account["transport_failures"], account
    # Nothing that was kept is counted twice.
    assert account["reported"] == 2 * (STEADY + 3), account
    assert lab.read("modules-left").strip() == "0"
