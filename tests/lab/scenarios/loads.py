# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules come and go under full traffic on four CPUs: the kernel's code is patched while other CPUs are in it.

On the counting clock, where one thread of the host is all CPUs in turn. On the host's clock the emulator itself has a race
with code that changes, and its guests die of that: docs/inside/kernel-quirks.md.
"""

import json
import os
import re

from lablib import recipes

DESCRIPTION = "each recipe's module STAPGEN_LAB_LOADS (10) times into the kernel and out of it, four CPUs busy: a clean kernel log"
IN_CI = ()  # a quarter of an hour
CPUS = 4
LOADS = int(os.environ.get("STAPGEN_LAB_LOADS", "10"))
TIMEOUT = 900 + LOADS * 300
BUILD = {recipe: [recipe] for recipe in recipes.with_script()}
# What this traffic has something for.
SEEING = ("rx-latency", "tx-latency", "net-latency", "sock-latency", "packet-flow", "irq-latency", "tcp-probe", "call-trace")

GUEST = f"""
echo RECIPES: {' '.join(BUILD)}
for cpu in 0 1 2 3; do
    start_ready taskset -c $cpu serve --port 700$cpu --threads per-connection || exit 1
    start_ready taskset -c $cpu serve --port 710$cpu --udp --write sendto || exit 1
done
# The server of each is on the next CPU. What the traffic leaves of a CPU is too little for stapgen.
asking() {{
    until [ -e stop ]; do
        nice -n 15 taskset -c $(($1 / 2)) ask "${{@:2}}" --requests 101 >asked.$1 || {{ touch broken; return; }}
        echo >>rounds.$1
    done
}}
for cpu in 0 1 2 3; do
    asking $((2 * cpu)) --port 700$(((cpu + 1) % 4)) --connections 4 &
    asking $((2 * cpu + 1)) --port 710$(((cpu + 1) % 4)) --udp &
done
mkdir loads
for recipe in {' '.join(BUILD)}; do
    begin=$(cut -d' ' -f1 /proc/uptime)
    for load in $(seq {LOADS}); do
        stapgen exec $recipe.ko -d 50ms --format json >loads/$recipe.$load 2>loads/$recipe.$load.err
        echo $recipe $load $? >>ended
    done
    echo "$recipe: {LOADS} loads, from $begin to $(cut -d' ' -f1 /proc/uptime) s"
done
touch stop
wait_for '! pgrep -x ask'
modules_left >modules-left
dmesg >kernel-log
"""

BAD = re.compile(r"\bBUG:|\bOops\b|\bWARNING:|\bint3\b|general protection|Call Trace|lockup|\bstall|corruption|double fault|"
                 r"[Uu]nable to handle")


def check(lab):
    log = [line for line in lab.read("kernel-log").splitlines() if BAD.search(line)]
    assert not log, "\n".join(log)
    ended = [line.split() for line in lab.read("ended").splitlines()]
    assert len(ended) == LOADS * len(BUILD)
    for recipe, load, code in ended:
        assert code == "0", f"{recipe} {load}: {lab.read(f'loads/{recipe}.{load}.err')}"
    for recipe in BUILD:
        accounts = [json.loads(lab.read(f"loads/{recipe}.{load + 1}"))["accounting"] for load in range(LOADS)]
        seen, skipped = (sum(account[key] for account in accounts) for key in ("seen", "skipped_probes"))
        print(f"{lab.suite} {recipe}: {LOADS} loads, {seen} seen, {skipped} probes skipped")
        assert all(account["closed"] and account["unaccounted"] == 0 for account in accounts), recipe
        assert seen or recipe not in SEEING, f"{recipe} saw no traffic"
        # Under full traffic interrupts wait for handlers' ends (docs/inside/kernel-quirks.md): the kernel names what it missed. The
        # last print of packet-flow wakes its reader, and a wake-up's probe in a probe is skipped.
        missed = sum(sum(account.get("skipped_by", {}).values()) for account in accounts)
        assert skipped - missed <= (LOADS if recipe == "packet-flow" else 0), accounts
    assert not (lab.work / "broken").exists(), "a client got a wrong answer"
    print(f"{lab.suite} rounds of 101 requests: {[len(lab.read(f'rounds.{client}').splitlines()) for client in range(8)]}")
    assert lab.read("modules-left").strip() == "0"
