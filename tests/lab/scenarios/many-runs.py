# SPDX-License-Identifier: GPL-2.0-or-later
"""Two runs beside each other, of one recipe and of two, and fifty one after the other."""

import json

from lablib.events import check_account

DESCRIPTION = "two stapgens at once, fifty starts and stops in a row: each counts its own, and nothing is left"
LIVE = True
IN_CI = ()
BUILD = {"drops": ["dropwatch"], "rx": ["rx-latency"]}

RUNS = 50

GUEST = r"""
start_memcached || exit 1
report one json drops --format json || exit 1
report two json drops --format json || exit 1
report three json rx -x $MC_TID --format json || exit 1
modules_left >together
drops refused 107 >refused || exit 1
memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=53 --test=set >/dev/null 2>&1
end_records one three
drops refused 11 >>refused || exit 1
end_records two

free -k | awk '/^Mem:/ {print $7}' >memory
for i in $(seq 50); do
    stapgen exec drops.ko -d 0.2 --format json >run.json 2>run.err
    echo "$? $(modules_left) $(ls -d /tmp/stap* 2>/dev/null | wc -l) $(pgrep -c 'stap(gen|io|run)')" >>runs
    case $i in 1 | 50) free -k | awk '/^Mem:/ {print $7}' >>memory ;; esac
done
finish
"""


def load(lab, name, others):
    """Return NAME's report; so many OTHERS ran when it had ended."""
    assert lab.read(f"{name}.exit").strip() == "0" and int(lab.read(f"{name}.modules")) == others, name
    report = json.loads(lab.read(f"{name}.json"))
    check_account(report["accounting"])
    return report


def refused(report):
    drops = report["drops"]
    return sum(drop["count"] for drop in drops if drop["reason"] == "NO_SOCKET")


def check(lab):
    assert lab.read("together").strip() == "3"
    assert refused(load(lab, "one", 1)) == 107 and refused(load(lab, "two", 0)) == 118
    assert load(lab, "three", 1)["accounting"]["reported"] >= 53
    runs = lab.read("runs").splitlines()
    assert runs == ["0 0 0 0"] * RUNS, runs
    before, first, last = (int(kb) for kb in lab.read("memory").split())
    print(f"{lab.suite}: {len(runs)} runs; available memory {before}, {first}, {last} kB")
    assert lab.read("modules-left").strip() == "0"
