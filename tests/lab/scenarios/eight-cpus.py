# SPDX-License-Identifier: GPL-2.0-or-later
"""Eight CPUs, each flooded, thousands of short connections, and modules that come and go meanwhile: no packet goes missing.

On the counting clock, as in loads: one thread of the host is all CPUs in turn. On the host's clock the emulator itself has a
race with code that changes (docs/inside/kernel-quirks.md): with STAPGEN_LAB_REAL_TIME=1 the CPUs run side by side, and no module
comes or goes while there is traffic.
"""

import json
import os
import re

from lablib import debug
from lablib.events import check_account, check_ended

DESCRIPTION = "eight CPUs flooded, 4,096 short connections, modules come and go: each packet accounted for, a clean kernel log"
IN_CI = ()  # minutes
REAL_TIME = os.environ.get("STAPGEN_LAB_REAL_TIME") == "1"
CPUS = 8
TIMEOUT = 3600
MEASURING = {"net": ["net-latency"], "rx": ["rx-latency"], "tx": ["tx-latency"], "sock": ["sock-latency"],
             "net-sums": ["net-latency", "--aggregate"], "sock-sums": ["sock-latency", "--aggregate"]}
COMING = {recipe: [recipe] for recipe in ("packet-flow", "dropwatch", "tcp-probe", "call-trace", "irq-latency", "page-alloc")}
COMING |= {"rx-sums": ["rx-latency", "--aggregate"], "tx-sums": ["tx-latency", "--aggregate"]}
BUILD = MEASURING if REAL_TIME else MEASURING | COMING

# Of each CPU: requests over UDP, so many in flight; over TCP on lasting connections; rounds of short connections with one
# each, and of datagrams to a socket that takes only some.
DATAGRAMS, IN_FLIGHT, REQUESTS, LASTING, ROUNDS, SHORT, UNREAD = 2003, 16, 401, 4, 4, 128, 211

# What is measured and what comes has the CPU before the traffic.
GUEST = f"""
for cpu in 0 1 2 3 4 5 6 7; do
    start_ready nice -n 19 taskset -c $cpu serve --port 700$cpu --threads per-connection || exit 1
    start_ready nice -n 19 taskset -c $cpu serve --port 710$cpu --udp --write sendto || exit 1
    start_ready nice -n 19 taskset -c $cpu serve --family 6 --port 720$cpu || exit 1
done
# traffic CPU: the servers are those of the next one.
traffic() {{
    local next=$((($1 + 1) % 8)) round
    ask --port 710$next --udp --pipeline {IN_FLIGHT} --requests {DATAGRAMS} || return
    ask --port 700$next --connections {LASTING} --requests {REQUESTS} || return
    for round in $(seq {ROUNDS}); do
        ask --family 6 --port 720$next --connections {SHORT} --requests {SHORT} --one-thread || return
        drops full-buffer {UNREAD} || return
    done
}}
coming=({'' if REAL_TIME else ' '.join(COMING)})
come_and_go() {{
    local module
    until [ -e stop ] || [ ${{#coming[@]}} = 0 ]; do
        module=${{coming[$(($(wc -l <came) % ${{#coming[@]}}))]}}
        stapgen exec $module.ko -d 20ms --format json >coming.json 2>coming.err || cp coming.err failed.$module
        echo $module $(cat coming.json) >>came
    done
}}
export -f traffic
touch came
for recipe in {' '.join(MEASURING)}; do
    rm -f stop
    # The buffers are each CPU's own.
    record $recipe $recipe -s 24MiB || exit 1
    come_and_go &
    coming_pid=$!
    asking=
    for cpu in 0 1 2 3 4 5 6 7; do
        nice -n 19 taskset -c $cpu bash -c "traffic $cpu" >$recipe.traffic.$cpu 2>&1 &
        asking="$asking $!"
    done
    for asker in $asking; do wait $asker || touch broken; done
    touch stop
    wait $coming_pid
    end_records $recipe
done
finish
"""


def prepare(lab):
    if lab.release.startswith("6.1."):
        lab.skip("6.1 has one CPU on the counting clock")


def check(lab):
    log = debug.reports(lab.read("dmesg"))
    assert not log, "\n".join(log)
    assert not (lab.work / "broken").exists(), "a client got a wrong answer"
    connections = CPUS * (LASTING + ROUNDS * SHORT)
    sent = CPUS * (2 * DATAGRAMS + 2 * REQUESTS + ROUNDS * (2 * SHORT + UNREAD))
    for recipe in MEASURING:
        check_ended(lab, recipe)
        account = json.loads(lab.report(recipe, "--format", "json"))["accounting"]
        check_account(account)
        told = "".join(lab.read(f"{recipe}.traffic.{cpu}") for cpu in range(CPUS))
        dropped = sum(map(int, re.findall(r"dropped (\d+)", told)))
        missing = {cause: count for cause, count in account["incomplete_by"].items() if count}
        print(f"{lab.suite} {recipe}: {sent} sent, {dropped} of them dropped; {account['seen']} seen = "
              f"{account['reported']} reported + {account['filtered']} filtered + {account['incomplete']} incomplete {missing} + "
              f"{account['lost']} lost; {account['skipped_probes']} probes skipped")
        # Nobody answers the last replies, nor what the program drops reads.
        no_reply = connections + CPUS * (IN_FLIGHT + ROUNDS * UNREAD) - dropped
        expected = {"rx": {"not-queued": dropped}, "tx": {}, "net": {"not-queued": dropped},
                    "sock": {"unread": dropped, "no-reply": no_reply}}[recipe.split("-")[0]]
        # Of datagrams that wait together it is not known which of them an answer is for, nor which has none.
        if ambiguous := missing.pop("ambiguous", 0):
            assert 0 <= no_reply - missing["no-reply"] <= ambiguous, missing
            missing["no-reply"] = no_reply
        if not account["skipped_probes"]:
            assert account["seen"] == sent * (2 if recipe.startswith("net") else 1), sent
            assert missing == expected and account["filtered"] == account["lost"] == 0, expected
        assert account["closed"] and (REAL_TIME or not account["skipped_probes"])
    came = [line.split(" ", 1) for line in lab.read("came").splitlines()]
    print(f"{lab.suite} {len(came)} modules came and went: {' '.join(name for name, _ in came)}")
    failed = {path.name: path.read_text() for path in lab.work.glob("failed.*")}
    assert not failed, failed
    for name, report in came:
        account = json.loads(report)["accounting"]
        assert account["closed"] and not account["unaccounted"], (name, account)
    assert REAL_TIME or len(came) >= len(MEASURING)
    assert lab.read("modules-left").strip() == "0"
