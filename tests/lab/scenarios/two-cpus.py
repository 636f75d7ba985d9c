# SPDX-License-Identifier: GPL-2.0-or-later
"""Two CPUs that really run side by side, in all that the kernel side shares between them: nothing is lost or counted twice."""

import json

from lablib.events import check_account, check_ended

DESCRIPTION = "requests on both CPUs at once, TCP and UDP, printed and aggregated: each is in one record, each stage in one bin"
IN_CI = ("trixie",)
# On the counting clock the CPUs take turns, and a lock that is missing is not missed.
REAL_TIME = True
BUILD = {recipe: [f"{recipe}-latency", "--aggregate"] for recipe in ("rx", "tx", "sock")} | {"net": ["net-latency"]}

REQUESTS, CONNECTIONS = 1511, 32

GUEST = f"""
for cpu in 0 1; do
    start_ready taskset -c $cpu serve --port 700$cpu --threads per-connection || exit 1
    start_ready taskset -c $cpu serve --port 710$cpu --udp --write sendto || exit 1
done
# The server of each is on the other CPU.
requests() {{
    local cpu asking=
    for cpu in 0 1; do
        taskset -c $((1 - cpu)) ask --port 700$cpu --connections {CONNECTIONS} --requests {REQUESTS} &
        asking="$asking $!"
        taskset -c $((1 - cpu)) ask --port 710$cpu --udp --requests {REQUESTS} &
        asking="$asking $!"
    done
    for asker in $asking; do wait $asker || return; done
}}
# The kernel rewrites its code at the first connection (net_get_random_once). With the other CPU in that code, the emulated
# machine sometimes dies of the int3.
taskset -c 0 ask --port 7001 --requests 1 && taskset -c 0 ask --port 7101 --udp --requests 1 && sleep 1 || exit 1
for recipe in rx tx sock net; do
    record $recipe $recipe -s 64MiB || exit 1
    requests >$recipe.traffic || exit 1
    end_records $recipe
done
finish
"""


def check(lab):
    packets = 2 * 2 * REQUESTS   # two CPUs, TCP and UDP
    # Of each request and each reply there is a record of who receives and one of who sends. To sock-latency what a client
    # sends is the answer to the reply before.
    expected = {"rx": 2 * packets, "tx": 2 * packets, "net": 4 * packets, "sock": 2 * packets - 2 * (CONNECTIONS + 1)}
    for recipe, records in expected.items():
        check_ended(lab, recipe)
        report = json.loads(lab.report(recipe, "--format", "json"))
        account = report["accounting"]
        print(f"{lab.suite} {recipe}: {account}")
        check_account(account)
        stages = {stage["stage"]: stage["n"] for stage in report["stages"] if not stage["group"]}
        print(f"  {stages}")
        # An interrupt on the host's clock may come in a handler, and skips probes.
        skipped = account["skipped_probes"]
        assert account["lost"] == 0 and records - skipped <= account["reported"] <= records, (recipe, records, account)
        if recipe == "sock":
            assert stages["total"] == stages["app"] == account["reported"]
        if recipe in ("rx", "net"):
            assert stages["tcp-app"] + stages["udp-app"] == stages["drv-ip"] == stages["ip-tcp"] + stages["ip-udp"]
        if recipe in ("tx", "net"):
            assert stages["app-tcp"] + stages["app-udp"] == stages["qdisc"] == stages["tcp-ip"] + stages["udp-ip"]
    assert lab.read("modules-left").strip() == "0"
