# SPDX-License-Identifier: GPL-2.0-or-later
"""A spike on one of two hosts, and what both have kept of the seconds around it (part kept of fleet)."""

import json
import subprocess
import threading
import time

from .common import say

STEADY, SLEEP, SPIKE, BEFORE, AFTER = 1511, 20, 333, 7, 2
CONDITION = "udp-app max > 100ms over 1s"
FILTERS = ["--filter", "udp", "--keep", f"{BEFORE}s", "--after", f"{AFTER}s", "--when", "udp-app p50 > 1s", "--when", CONDITION]


def received(port, count, sleep_ms, first=""):
    """Return a command by which a host receives so many datagrams, and sleeps for each before it reads it."""
    sleepy = f"sleepy --udp --port {port} --count {count}"
    return f"{sleepy} --sleep-ms {sleep_ms} --before-data >/dev/null & sleep 2; {first} {sleepy} --send; wait"


def send(host, spikes):
    """Send steady datagrams, and on the host spiky one that waits, whose time by its clock is put into SPIKES."""
    steady = threading.Thread(target=host.ssh, args=(received(7301, STEADY, SLEEP),))
    steady.start()
    if host.name == "spiky":
        time.sleep(11)
        spikes.append(int(host.ssh(received(7302, 1, SPIKE, "date +%s%N;")).split()[0]))
    steady.join()


def ahead_of(host):
    """Return how far its clock is ahead of this one, in ns, within the time of an ssh."""
    before = time.time_ns()
    there = int(host.ssh("date +%s%N"))
    return there - (before + time.time_ns()) // 2


def check(run, hosts, spike, stapgen):
    shift = {name: ahead_of(host) for name, host in hosts.items()}
    spike -= shift["spiky"]
    (moment,) = run.folder.glob("kept-*")
    asked = {}
    for name, row in run.rows().items():
        (kept,) = row["kept"]
        assert kept["file"] == f"{moment.name}/{name}.rec" and kept["whole"], row
        assert kept["condition"] == (CONDITION if name == "spiky" else f"spiky: {CONDITION}"), row
        asked[name] = kept["at_epoch_ns"] - shift[name]
        lines = subprocess.run([f"{stapgen}/bin/stapgen", "report", moment / f"{name}.rec", "--events", "--format", "ndjson"],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        *records, report = map(json.loads, lines)
        account = report["accounting"]
        assert account["closed"] and account["seen"] == account["reported"] == len(records) and account["lost"] == 0, account
        assert kept["condition"] == report["kept"][0]["condition"], report["kept"]
        times = [(record["time_ns"] - shift[name] - spike) / 1e9 for record in records]
        slow = [record for record in records if record["udp-app_ns"] > 100_000_000]
        say(f"{name}: {len(records)} records, from {min(times):.3f} to {max(times):.3f} s of the spike, {len(slow)} slow; "
            f"its clock is {shift[name] / 1e9:.3f} s ahead\n{report['kept'][0]}")
        assert len(slow) == (name == "spiky"), slow
        # A condition is checked each second.
        assert -BEFORE - 0.1 < min(times) < -BEFORE + 2.5 and AFTER - 0.1 < max(times) < AFTER + 2.5, "these are other seconds"
        for second in range(int(min(times)) + 1, int(max(times))):
            assert sum(second <= each < second + 1 for each in times) > 60, (name, second)
        assert hosts[name].modules_left() == "0", name
    say(f"asked for {(asked['calm'] - asked['spiky']) / 1e9:.3f} s later on calm")
    assert abs(asked["spiky"] - asked["calm"]) < 1e9, asked
