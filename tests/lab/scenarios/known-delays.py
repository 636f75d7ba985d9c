"""A server that sleeps where we told it to: the time shows in that stage and nowhere else."""

from lablib.events import read_report

DESCRIPTION = "a server sleeps 20 ms before reading and 30 ms before replying: wait, app and tcp-app show it"
IN_CI = ("bookworm", "forky")

BUILD = {"rx": ["rx-latency"], "sock": ["sock-latency"]}
REQUESTS = 103
BEFORE_READ, BEFORE_REPLY = 20_000_000, 30_000_000
# ns that a stage takes beside, in the median and where another thread's system call keeps the CPU.
LITTLE, ONCE = 200_000, 10_000_000

GUEST = r"""
start_ready serve --port 7007 --read-delay-ms 20 --delay-ms 30 || exit 1
for recipe in rx sock; do
    report $recipe json $recipe -p $READY_PID --format json || exit 1
    ask --port 7007 --requests 103 || exit 1
    end_trace $recipe
done
finish
"""


def check(lab):
    for recipe, expected in (("rx", {"tcp-app": BEFORE_READ}),
                             ("sock", {"wait": BEFORE_READ, "app": BEFORE_REPLY})):
        report = read_report(lab, recipe)
        print(f"{lab.suite} {recipe}: {report['accounting']}")
        for stage in report["stages"]:
            if stage["group"] or "udp" in stage["stage"]:
                continue
            name, median = stage["stage"], stage["percentiles_ns"]["50"]
            slept = sum(expected.values()) if name == "total" else expected.get(name, 0)
            print(f"  {name:9} n {stage['n']:4}  min {stage['min_ns']}  p50 {median}  max {stage['max_ns']}")
            assert stage["n"] == REQUESTS, f"{name}: {stage['n']}"
            assert slept <= stage["min_ns"] and median < slept + LITTLE and stage["max_ns"] < slept + ONCE, \
                f"{name} is not what the server slept in it, {slept} ns"
    assert lab.read("modules-left").strip() == "0"
