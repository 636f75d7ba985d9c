# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that sleeps where we told it to: the time shows in that stage and nowhere else."""

from lablib.events import read_report

DESCRIPTION = "a server sleeps 20 ms before reading and 30 ms before replying: wait, app and tcp-app show it"
IN_CI = ("bookworm", "forky")

BUILD = {"rx": ["rx-latency"], "sock": ["sock-latency"]}
REQUESTS = 103
BEFORE_READ, BEFORE_REPLY = 20_000_000, 30_000_000
LITTLE = 200_000  # until a sleeper runs
ONCE = 10_000_000  # in one of them: another thread's system call may keep the CPU

GUEST = r"""
start_ready serve --port 7007 --read-delay-ms 20 --delay-ms 30 || exit 1
for recipe in rx sock; do
    record $recipe $recipe -p $READY_PID || exit 1
    ask --port 7007 --requests 103 || exit 1
    end_records $recipe
done
finish
"""


def check(lab):
    for recipe, expected in (("rx", {"tcp-app": BEFORE_READ}),
                             ("sock", {"wait": BEFORE_READ, "app": BEFORE_REPLY})):
        report = read_report(lab, recipe)
        accounting = report["accounting"]
        print(f"{lab.suite} {recipe}: {accounting}")
        for stage in report["stages"]:
            if stage["group"] or "udp" in stage["stage"] or "part_of" in stage:
                continue
            name, median = stage["stage"], stage["percentiles_ns"]["50"]
            print(f"  {name:9} n {stage['n']:4}  min {stage['min_ns']}  p50 {median}")
            if name == "drv-drv":
                assert stage["n"] == 0, stage  # one hand-over
                continue
            # epoll_wait may find the data before the kernel says that it is there: then it is no stage.
            missing = 3 if name == "epoll" else 0
            assert REQUESTS - missing <= stage["n"] <= REQUESTS, f"{name}: {stage['n']}"
            if name in expected:
                slept = expected[name]
                assert slept <= stage["min_ns"] <= median < slept + LITTLE, f"{name}: the server slept {slept}: {stage}"
                assert stage["max_ns"] < slept + ONCE, f"{name}: the server slept {slept}: {stage}"
            elif name != "total":
                assert median < LITTLE / 10, f"{name} shows a delay that is not its own"
    assert lab.read("modules-left").strip() == "0"
