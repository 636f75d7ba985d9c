# SPDX-License-Identifier: GPL-2.0-or-later
"""A wall clock that is set, and processes that are frozen, while it measures: times are those of one clock, and it is said."""

import datetime
import json

DESCRIPTION = "date -s forward and back, all processes frozen: no negative and no absurd time, and the report tells what happened"
LIVE = True
ALONE = "it sets the clock and freezes all processes"
IN_CI = ()
BUILD = {"rx": ["rx-latency"], "drops": ["dropwatch", "-i", "1"], "keep": ["rx-latency", "--keep-memory", "1MiB"]}

GUEST = r"""
start_memcached || exit 1
ask() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=101 --test=set >/dev/null 2>&1; }
# watch NAME COMMAND: run COMMAND between two bursts of traffic, under dropwatch and rx-latency.
watch() {
    local name=$1
    report $name-rx json rx -x $MC_TID --format json -o $name-rx.rec || exit 1
    report $name-drops json drops --format json -o $name-drops.rec || exit 1
    mkdir kept
    report $name-keep json keep -x $MC_TID --format json --keep 60s --after 1s --keep-in kept || exit 1
    ask
    drops refused 11 >/dev/null || exit 1
    cut -d' ' -f1 /proc/uptime >$name.begin
    "${@:2}" >$name.command 2>&1
    echo $? >>$name.command
    ask
    drops refused 13 >/dev/null || exit 1
    kill -USR1 ${TRACERS[$name-keep]}
    sleep 2.5
    cut -d' ' -f1 /proc/uptime >$name.end
    end_records $name-rx $name-drops $name-keep
    stapgen report kept/* --format json >$name-kept.json && rm -r kept || exit 1
    stapgen report $name-rx.rec >$name-rx.txt
    stapgen report $name-rx.rec --format json >$name-rx.again
}
watch same true
watch forward date -s '+1 hour'
watch back date -s '-3 hours'
# Ctrl-C while nothing happens: stapio's own timers are of the wall clock.
report idle json rx -x $MC_TID --format json || exit 1
date -s '-2 hours' >/dev/null
sleep 2
cut -d' ' -f1 /proc/uptime >idle.begin
end_records idle
cut -d' ' -f1 /proc/uptime >idle.end

# All processes stop for five seconds and go on. Devices do not take part: the emulated machine would not come back.
sleeping() { echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state; }
watch frozen sleeping
finish
"""

HOUR = 3600


def seconds(time):
    """Return a time of a report in seconds since 1970."""
    return datetime.datetime.fromisoformat(time[:26]).timestamp()


def load(lab, name):
    report = json.loads(lab.read(f"{name}.json"))
    account = report["accounting"]
    print(f"{lab.suite} {name}: exit {lab.read(name + '.exit').strip()}, {report['start']} to {report['end']}, set "
          f"{report.get('clock_set_ns', 0) / 1e9:.2f} s, suspended {report.get('suspended_ns', 0) / 1e9:.2f} s, {account['reported']} "
          f"reported, {account['lost']} lost\n{lab.read(name + '.err').rstrip()}")
    assert lab.read(f"{name}.exit").strip() == "0" and lab.read(f"{name}.modules").strip() == "0", name
    assert account["closed"] and account["unaccounted"] == 0
    return report


def check(lab):
    for name, set_s in (("same", 0), ("forward", HOUR), ("back", -3 * HOUR), ("frozen", 0)):
        assert lab.read(f"{name}.command").split()[-1] == "0", lab.read(f"{name}.command")
        passed = float(lab.read(f"{name}.end")) - float(lab.read(f"{name}.begin"))
        for report in (load(lab, f"{name}-rx"), load(lab, f"{name}-drops")):
            assert abs(report.get("clock_set_ns", 0) / 1e9 - set_s) < 1 and "suspended_ns" not in report
            length = seconds(report["end"]) - seconds(report["start"])
            print(f"  {name}: {passed:.1f} s and some, by the report {length:.1f} s")
            assert passed - 1 < length < passed + 60
        rx = json.loads(lab.read(f"{name}-rx.json"))
        kept = json.loads(lab.read(f"{name}-kept.json"))
        assert abs(kept.get("clock_set_ns", 0) / 1e9 - set_s) < 1 and "suspended_ns" not in kept
        assert kept["accounting"]["closed"] and kept["accounting"]["reported"] == rx["accounting"]["reported"], kept["accounting"]
        # Of a run whose clock was set before it was asked for, the recording has the clock of its own beginning.
        assert abs(seconds(kept["start"]) - seconds(rx["start"])) < 20 and 0 < seconds(kept["end"]) - seconds(kept["start"]) < 70
        for stage in rx["stages"]:
            assert stage["n"] == 0 or 0 <= stage["min_ns"] <= stage["max_ns"] < 60e9, stage
        assert rx["accounting"]["reported"] >= 202
        assert rx == json.loads(lab.read(f"{name}-rx.again"))
        assert ("the wall clock was set" in lab.read(f"{name}-rx.txt")) == (set_s != 0)
        times = [seconds(drop["time"]) for drop in json.loads(lab.read(f"{name}-drops.json"))["drops"]]
        assert times == sorted(times) and times[-1] - times[0] < passed + 60, times
    idle = load(lab, "idle")
    assert -2 * HOUR - 1 < idle["clock_set_ns"] / 1e9 < -2 * HOUR + 1
    assert float(lab.read("idle.end")) - float(lab.read("idle.begin")) < 20
    assert lab.read("modules-left").strip() == "0"
