# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipes, built for the suite's kernel, against traffic whose truth is known."""

import re

from lablib.events import check_ended, read_report

DESCRIPTION = "the latency recipes of memcached under memcslap, dropwatch of counted drops"
ALSO_ON = ("trixie-cloud", "trixie-rt", "trixie-arm64", "trixie-arm64-16k", "forky-arm64")

BUILD = {name: [name] for name in ("rx-latency", "tx-latency", "net-latency", "sock-latency")}
BUILD["dropwatch"] = ["dropwatch", "-i", "1"]

REQUESTS = 1009
REFUSED, UNREACHABLE = 17, 23

GUEST = r"""
start_memcached || exit 1

# measure RECIPE COMMAND...: run the command while the recipe's module measures.
measure() {
    local recipe=$1
    shift
    local target=(-x $MC_TID)
    [ "$recipe" = dropwatch ] && target=()
    record $recipe $recipe "${target[@]}" || return
    "$@" >"$recipe.traffic" 2>&1
    end_records $recipe
}

sets() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=1009 --test=set; }
refused() {
    for i in $(seq 17); do nc -z -w1 127.0.0.1 9; done
    for i in $(seq 23); do echo x >/dev/udp/127.0.0.1/9; done
    sleep 2.1
}
for recipe in rx-latency tx-latency sock-latency; do measure $recipe sets || exit 1; done
measure dropwatch refused || exit 1

# A line for each packet, for people.
report net-latency out net-latency -x $MC_TID --events || exit 1
sets >net-latency.traffic 2>&1
end_records net-latency
printf 'stats\r\nquit\r\n' | nc 127.0.0.1 11211 | tr -d '\r' >stats
finish
"""


def check_latency(lab, recipe, names):
    """Every request is reported or accounted for; stages are whole."""
    report = read_report(lab, recipe)
    accounting = report["accounting"]
    whole = {stage["stage"]: stage for stage in report["stages"] if not stage["group"] and "part_of" not in stage}
    assert names == [name for name in whole if whole[name]["n"] or name in names], list(whole)
    print(f"{lab.suite} {recipe}: {accounting}")
    for name in names:
        stage = whole[name]
        if stage["n"]:
            print(f"  {name:9} n {stage['n']:5}  p50 {stage['percentiles_ns']['50']}  "
                  f"p99 {stage['percentiles_ns']['99']}  max {stage['max_ns']}")
            assert 0 <= stage["min_ns"] <= stage["percentiles_ns"]["50"] <= stage["max_ns"]
    groups = {stage["group"].get("comm") for stage in report["stages"] if stage["group"]}
    assert groups == {"mc-worker"}, groups
    return accounting, whole


def check_lines(lab):
    """Both directions of a packet's way, a line for each, and the report behind them."""
    check_ended(lab, "net-latency")
    output = lab.read("net-latency.out")
    heading = output.splitlines()[0].split()
    assert heading[:10] == ["TIME", "CPU", "PID", "TID", "COMM", "WAY", "LOCAL", "REMOTE", "DEV", "BYTES"], heading
    row = r"^\d\d:\d\d:\d\d\.\d{6} .* mc-worker +(rx|tx) +127\.0\.0\.1:11211 +127\.0\.0\.1:\d+ +lo +\d+ .*$"
    directions = [match[1] for match in re.finditer(row, output, re.M)]
    reported = int(re.search(r"^\d+ seen = (\d+) reported", output, re.M)[1])
    assert "skipped" not in output
    print(f"{lab.suite} net-latency --events: {directions.count('rx')} received, {directions.count('tx')} sent\n"
          + "\n".join(output.splitlines()[:3]))
    assert len(directions) == reported
    assert directions.count("rx") == REQUESTS + 1 and directions.count("tx") == REQUESTS


def check(lab):
    # Beside the sets, memcslap says "quit", which is read and not answered.
    rx, stages = check_latency(lab, "rx-latency", ["drv-ip", "ip-tcp", "tcp-app"])
    # Each is one small segment. Those that TCP sends twice are told apart.
    assert rx["reported"] == REQUESTS + 1, rx
    assert rx["incomplete"] == rx["incomplete_by"]["retransmitted"], rx
    assert all(stages[name]["n"] == rx["reported"] for name in ("drv-ip", "ip-tcp", "tcp-app"))
    assert rx["filtered"] >= REQUESTS, "memcslap's own receiving is filtered out"

    tx, stages = check_latency(lab, "tx-latency", ["app-tcp", "tcp-ip", "ip-drv", "qdisc"])
    assert tx["reported"] == REQUESTS, tx
    assert all(stages[name]["n"] == tx["reported"] for name in ("app-tcp", "tcp-ip", "ip-drv", "qdisc"))

    names = ["rx", "tcpip_rx", "epoll", "wait", "read", "app", "tx", "total"]
    sock, stages = check_latency(lab, "sock-latency", names)
    assert sock["reported"] == REQUESTS, sock
    assert {cause: n for cause, n in sock["incomplete_by"].items() if n} == {"no-reply": 1}, sock
    total = stages["total"]["mean_ns"] * stages["total"]["n"]
    parts = sum(stages[name]["mean_ns"] * stages[name]["n"] for name in names[:-1]
                if stages[name]["n"])
    assert abs(total - parts) < 0.001 * total, "the stages do not add up to the total"

    check_lines(lab)

    drops = read_report(lab, "dropwatch")
    accounting = drops["accounting"]
    tcp = sum(drop["count"] for drop in drops["drops"]
              if drop["reason"] == "NO_SOCKET" and (drop["symbol"] or "").startswith("tcp_"))
    udp = sum(drop["count"] for drop in drops["drops"]
              if drop["reason"] == "NO_SOCKET" and "udp" in (drop["symbol"] or ""))
    print(f"{lab.suite} dropwatch: {accounting}")
    for drop in drops["drops"]:
        print(f"  {drop['time']} {drop['count']:5} {drop['symbol']}+{drop['offset']} {drop['reason']}")
    assert tcp == REFUSED, f"{REFUSED} connections were refused, {tcp} counted"
    assert udp == UNREACHABLE, f"{UNREACHABLE} datagrams to a closed port, {udp} counted"
    assert "STAT cmd_set 4036" in lab.read("stats"), lab.read("stats")
    assert lab.read("modules-left").strip() == "0"
