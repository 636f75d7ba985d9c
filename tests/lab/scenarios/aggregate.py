# SPDX-License-Identifier: GPL-2.0-or-later
"""What is aggregated in the kernel is what the single records would have said, and parts add up to their stage."""

import json

from lablib.waits import check_aggregated

DESCRIPTION = "recipes that aggregate and print every record, too: the same percentiles, and exact counts"
IN_CI = ("trixie",)
# All are among the slowest, and so each record is printed, too.
EVERY = "--stap-option=-DSTAPGEN_SLOWEST=1000000"
BUILD = {"tx": ["tx-latency", "--aggregate", EVERY], "sock": ["sock-latency", "--aggregate", EVERY],
         "rx": ["rx-latency", "--aggregate", EVERY], "net": ["net-latency", "--aggregate", EVERY]}

DIVIDED = {"tx": ("app-tcp",), "sock": (), "rx": ("tcp-app", "udp-app"), "net": ("tcp-app", "udp-app", "app-tcp")}
REQUESTS, DATAGRAMS = 2003, 997
# Half a bin: docs/guide/reading-an-answer.md.
ERROR = 1 / 512

GUEST = f"""
traffic() {{
    start_ready serve --port 7001 || return
    ask --port 7001 --requests {REQUESTS} || return
    kill $READY_PID
    start_ready serve --port 7002 --udp || return
    ask --port 7002 --udp --requests {DATAGRAMS} || return
    kill $READY_PID
}}
for recipe in tx sock rx net; do
    module=$(modinfo -F name $recipe.ko)
    cp $recipe.ko /tmp/$module.ko
    staprun -o /tmp/$recipe.txt /tmp/$module.ko &
    tracer=$!
    wait_for "grep -q ^ready /tmp/$recipe.txt" || exit 1
    traffic >/dev/null || exit 1
    sleep 0.5
    kill -INT $tracer
    wait $tracer
    cp /tmp/$recipe.txt .
done
finish
"""


def records(text, names):
    """Return the values of each stage or value in the records of a script's output."""
    values = {name: [] for name in names}
    fields = next(line for line in text.splitlines() if line.startswith("stapgen\t")).split("\t")[4:]
    for line in text.splitlines():
        if not line.startswith("slow\t"):
            continue
        for field, value in zip(fields, line.split("\t")[2:], strict=True):
            name = field.split(":")[0]
            if name in values and value != "-":
                values[name].append(int(value))
    return values


def check_measure(what, row, values, suffix):
    """The row of a report against all its values."""
    values.sort()
    assert row["n"] == len(values), f"{what}: n is {row['n']}, there were {len(values)}"
    if not values:
        return
    assert row[f"min{suffix}"] == values[0] and row[f"max{suffix}"] == values[-1], f"{what}: {row}"
    mean = sum(values) / len(values)
    assert abs(row[f"mean{suffix}"] - mean) <= 1e-6 * mean + 1, f"{what}: mean {row[f'mean{suffix}']}, not {mean}"
    for percent, reported in row[f"percentiles{suffix}"].items():
        if reported is None:
            continue
        rank = -(-len(values) * float(percent) // 100)
        exact = values[int(rank) - 1]
        assert abs(reported - exact) <= ERROR * exact + 1, f"{what}: p{percent} {reported}, not {exact}"


def check(lab):
    for name in BUILD:
        report = json.loads(lab.analyse(["report", f"{name}.txt", "--format", "json"]).stdout)
        assert report["aggregated"] is True
        sums = check_aggregated(lab.read(f"{name}.txt"), DIVIDED[name])
        assert all(sums[stage] for stage in DIVIDED[name]), sums
        rows = [(row["stage"], row, "_ns") for row in report["stages"]]
        rows += [(row["value"], row, "") for row in report.get("values", [])]
        values = records(lab.read(f"{name}.txt"), [stage for stage, _, _ in rows])
        for stage, row, suffix in rows:
            check_measure(f"{name} {stage}", row, values[stage], suffix)
        print(f"{lab.suite} {name}: {', '.join(f'{stage} {len(values[stage])}' for stage, _, _ in rows)}")
    for name, expected in (("tx", 1), ("rx", 1), ("net", 2)):
        account = json.loads(lab.analyse(["report", f"{name}.txt", "--format", "json"]).stdout)["accounting"]
        print(f"{lab.suite} {name}: {account}")
        # A request and a reply each.
        assert account["reported"] == 2 * expected * (REQUESTS + DATAGRAMS) and account["skipped_probes"] == 0
        lost = account["lost"] if isinstance(account["lost"], int) else sum(account["lost"].values())
        assert lost == 0
    assert lab.read("modules-left").strip() == "0"
