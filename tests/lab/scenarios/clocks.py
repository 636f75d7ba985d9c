"""A wall clock that is set, and a machine that sleeps, while it measures: times are those of one clock, and it is said."""

import json
import re

DESCRIPTION = "date -s forward and back, suspend to idle: no negative and no absurd time, and the report tells what happened"
IN_CI = ()
SHARES_CPUS = True
BUILD = {"rx": ["rx-latency"], "drops": ["dropwatch", "-i", "1"]}

GUEST = r"""
start_memcached || exit 1
ask() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=101 --test=set >/dev/null 2>&1; }
# watch NAME COMMAND: run COMMAND between two bursts of traffic, under dropwatch and rx-latency.
watch() {
    local name=$1
    report $name-rx json rx -x $MC_TID --format json -o $name-rx.rec || exit 1
    report $name-drops json drops --format json -o $name-drops.rec || exit 1
    ask
    drops refused 11 >/dev/null || exit 1
    cut -d' ' -f1 /proc/uptime >$name.begin
    ${@:2} >$name.command 2>&1
    echo $? >>$name.command
    ask
    drops refused 13 >/dev/null || exit 1
    sleep 2.5
    cut -d' ' -f1 /proc/uptime >$name.end
    end_trace $name-rx $name-drops
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
end_trace idle
cut -d' ' -f1 /proc/uptime >idle.end

cat /sys/power/state >states
echo mem >/sys/power/mem_sleep 2>/dev/null
cat /sys/power/mem_sleep >mem-sleep 2>/dev/null
sleeping() { echo devices >/sys/power/pm_test && echo freeze >/sys/power/state; }
watch test sleeping
echo none >/sys/power/pm_test
asleep() { rtcwake -m no -s 4 && echo freeze >/sys/power/state; }
[ -e /dev/rtc0 ] && watch freeze asleep
finish
"""

HOUR = 3600


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
    for name in ("same", "forward", "back", "test", "freeze"):
        if not (lab.work / f"{name}.command").exists():
            print(f"{lab.suite} {name}: not possible here")
            continue
        print(f"{name}: {lab.read(name + '.command').split()}, {lab.read(name + '.begin').strip()} to {lab.read(name + '.end').strip()}")
        rx, drops = load(lab, f"{name}-rx"), load(lab, f"{name}-drops")
    load(lab, "idle")
