# SPDX-License-Identifier: GPL-2.0-or-later
"""An hour of steady traffic with spikes at known seconds. The guest's clock leaps while nothing happens, so that it takes minutes."""

import json

DESCRIPTION = "--keep for an hour: each of seven spikes is kept once, with its seconds; nothing else is"
ALONE = "it takes an hour of the guest's"
IN_CI = ()  # eight minutes
TIMEOUT = 3600
BUILD = {"rx": ["rx-latency", "--keep-memory", "1MiB"]}

# Datagrams each 197 ms; spikes so many seconds after one another. The fourth and the sixth are within a minute of another one.
HOUR = 18_307, 197   # and their ms
PAUSES = 307, 401, 509, 31, 613, 43, 701, 199, 211
KEPT = [i for i, pause in enumerate(PAUSES) if pause > 60]
SPIKE = 3331   # ms
BEFORE, AFTER = 10, 2

GUEST = f"""
mkdir kept
spike() {{
    start_ready sleepy --udp --port 7302 --count 1 --sleep-ms {SPIKE} --before-data || exit 1
    date +%s%N >>spikes
    sleepy --udp --port 7302 --count 1 --send
    wait $READY_PID
}}
steady() {{
    READY_COUNT=100   # it runs beside the spikes
    start_ready sleepy --udp --port 7301 --count $1 --sleep-ms $2 --before-data || exit 1
    sleepy --udp --port 7301 --count $1 --send
    wait $READY_PID
}}
begin_report rx json rx --keep {BEFORE}s --after {AFTER}s --when 'udp-app max > 2s' --keep-in kept --format json
wait_traced rx.err || exit 1
steady {HOUR[0]} {HOUR[1]} &
hour=$!
for pause in {" ".join(map(str, PAUSES))}; do sleep $pause; spike; done
wait $hour
end_records rx
for file in kept/*; do cp "$file" . && echo "${{file#*/}}"; done >files
finish
"""


def check(lab):
    files = lab.read("files").split()
    spikes = [int(line) / 1e9 for line in lab.read("spikes").split()]
    assert len(files) == len(KEPT) == lab.read("rx.err").count("stapgen: kept "), files
    unkept = 0
    for file, i in zip(files, KEPT):
        lines = [json.loads(line) for line in lab.analyse(["report", "--events", "--format", "ndjson", str(lab.work / file)])
                 .stdout.splitlines()]
        records, report = lines[:-1], lines[-1]
        times = [record["time_ns"] / 1e9 - spikes[i] - SPIKE / 1000 for record in records]
        slow = [record for record in records if record["udp-app_ns"] > 2_000_000_000]
        print(f"{lab.suite} {file}: {len(records)} records from {min(times):.3f} to {max(times):.3f} s")
        assert -BEFORE - 0.2 < min(times) < -BEFORE + 2.4 and AFTER - 0.2 < max(times) < AFTER + 2.4
        assert len(slow) == 1 and slow[0]["local"].endswith(":7302") and report["accounting"]["closed"], slow
        unkept += report["kept"][0]["unkept"]
    assert unkept == len(PAUSES) - len(KEPT)
    account = json.loads(lab.read("rx.json"))["accounting"]
    assert account["reported"] == account["seen"] == 2 * (HOUR[0] + len(PAUSES)), account
    assert lab.read("modules-left").strip() == "0"
