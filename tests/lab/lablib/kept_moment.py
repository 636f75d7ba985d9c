# SPDX-License-Identifier: GPL-2.0-or-later
"""A spike on one of two hosts, and what both have kept of the seconds around it (part kept of fleet)."""

import json
import subprocess
import threading
import time

from .common import say

# On a busy machine a guest's programs wait for half a second; its clock falls behind, and goes on from there.
STEADY, SLEEP, SPIKE, BEFORE, AFTER = 1511, 20, 3001, 7, 2
CONDITION = "udp-app max > 2s over 1s"
FILTERS = ["--filter", "udp", "--keep", f"{BEFORE}s", "--after", f"{AFTER}s", "--when", "udp-app p50 > 10s", "--when", CONDITION]


def received(port, count, sleep_ms, first=""):
    """Return a command by which a host receives so many datagrams, and sleeps for each before it reads it."""
    sleepy = f"sleepy --udp --port {port} --count {count}"
    return f"{sleepy} --sleep-ms {sleep_ms} --before-data >/dev/null & sleep 2; {first} {sleepy} --send; wait"


def send(host, spikes, ahead):
    """Send steady datagrams, and on the host spiky one that waits, whose time by its clock is put into SPIKES. Meanwhile it is put
    into AHEAD how far the host's clock is ahead of this one, again and again."""
    steady = threading.Thread(target=host.ssh, args=(received(7301, STEADY, SLEEP),))
    steady.start()
    time.sleep(11)
    if host.name == "spiky":
        spike = threading.Thread(target=lambda: spikes.append(int(host.ssh(received(7302, 1, SPIKE, "date +%s%N;")).split()[0])))
        spike.start()
    while steady.is_alive():
        ahead.setdefault(host.name, []).append(ahead_of(host))
        time.sleep(0.5)
    if host.name == "spiky":
        spike.join()


def ahead_of(host):
    """Return its time, and how far that is ahead of this machine's, in ns, within the time of an ssh."""
    before = time.time_ns()
    there = int(host.ssh("date +%s%N"))
    return there, there - (before + time.time_ns()) // 2


def here(ahead, there):
    """Return a time of a host's as this machine's, by the look at both clocks that was nearest to it."""
    return there - min(ahead, key=lambda look: abs(look[0] - there))[1]


def check(run, hosts, spike, ahead, stapgen):
    (moment,) = run.folder.glob("kept-*")
    asked = {}
    for name, row in run.rows().items():
        (kept,) = row["kept"]
        assert kept["file"] == f"{moment.name}/{name}.rec" and kept["whole"], row
        assert kept["condition"] == (CONDITION if name == "spiky" else f"spiky: {CONDITION}"), row
        asked[name] = here(ahead[name], kept["at_epoch_ns"])
        lines = subprocess.run([f"{stapgen}/bin/stapgen", "report", moment / f"{name}.rec", "--events", "--format", "ndjson"],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        *records, report = map(json.loads, lines)
        account = report["accounting"]
        assert account["closed"] and account["seen"] == account["reported"] == len(records) and account["lost"] == 0, account
        assert kept["condition"] == report["kept"][0]["condition"], report["kept"]
        times = [(record["time_ns"] - kept["at_epoch_ns"]) / 1e9 for record in records]
        slow = [record for record in records if record["udp-app_ns"] > 2_000_000_000]
        say(f"{name}: {len(records)} records, from {min(times):.3f} to {max(times):.3f} s, {len(slow)} slow\n{report['kept'][0]}")
        assert len(slow) == (name == "spiky") and all(record["local"].endswith(":7302") for record in slow), slow
        assert -BEFORE - 0.1 < min(times) < 1 - BEFORE and AFTER - 1 < max(times) < AFTER + 2.5, "these are other seconds"
        assert name == "calm" or spike / 1e9 < slow[0]["time_ns"] / 1e9 < kept["at_epoch_ns"] / 1e9, (spike, slow, kept)
        assert len(records) > 60, len(records)
        assert hosts[name].modules_left() == "0", name
    say(f"asked for {(asked['calm'] - asked['spiky']) / 1e9:.3f} s later on calm")
    assert abs(asked["spiky"] - asked["calm"]) < 1e9, asked
