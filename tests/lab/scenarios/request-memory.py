# SPDX-License-Identifier: GPL-2.0-or-later
"""sock-latency --parts against a server whose cgroup limits it."""

from statistics import median

from lablib.events import Trace
from lablib.waits import parts_of_app

DESCRIPTION = "what a request waits for where its cgroup has too little: CPU, memory, and memory that is swapped out"
IN_CI = ("trixie",)
BUILD = {"parts": ["sock-latency", "--parts"]}

REQUESTS = 5
# The part that has most of the time: what is done, ms or MB, port, the limit's file, and what is in it.
LIMITED = {"throttled": ("runs", 17, 7441, "cpu.max", "10000 40000"), "memory": ("touches", 17, 7442, "memory.high", "16M"),
           "swap": ("touches", 19, 7443, "memory.max", "16M")}

GUEST = rf"""
mount -t cgroup2 none /sys/fs/cgroup && echo "+cpu +memory" >/sys/fs/cgroup/cgroup.subtree_control || exit 1
dd if=/dev/zero of=/swapped bs=1M count=64 status=none && chmod 600 /swapped && mkswap -q /swapped && swapon /swapped || exit 1
cat >/tmp/in_group <<'END'
#!/bin/sh
group=/sys/fs/cgroup/$1
mkdir -p $group && echo "$3" >$group/$2 && echo $$ >$group/cgroup.procs || exit 1
shift 3
exec "$@"
END
chmod +x /tmp/in_group
measure() {{
    local name=$1 port=$2
    shift 2
    start_ready /tmp/in_group $name "$@" --port $port || exit 1
    record $name parts --port $port --comm worker || exit 1
    ask --port $port --requests {REQUESTS} || exit 1
    end_records $name
}}
{chr(10).join(f"measure {name} {port} {limit} '{value}' works {thing} --ms {ms}"
              for name, (thing, ms, port, limit, value) in LIMITED.items())}
finish
"""


def check(lab):
    for name, (_, _, port, _, _) in LIMITED.items():
        trace = Trace(lab, name, skips=True)
        events = trace.of_port(port)
        trace.expect(len(events), REQUESTS, name)
        parts = [parts_of_app(event) for event in events]
        for event, of in zip(events, parts):
            assert sum(of.values()) == event["app_ns"], (name, event)
        usual = {part: median(of.get(part, 0) for of in parts) for part in sorted({part for of in parts for part in of})}
        print(f"  {name}: " + ", ".join(f"{part} {ns / 1e6:.3f}" for part, ns in usual.items()))
        # 17 ms on a CPU with 10 ms in each 40: the rest of a period is waited for. Of memory: some, as devices take their time.
        assert usual.get(name, 0) >= (27_000_000 if name == "throttled" else 1), (name, usual)
        assert not usual.get("undivided"), (name, usual)
    assert lab.read("modules-left").strip() == "0"
