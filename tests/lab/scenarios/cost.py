# SPDX-License-Identifier: GPL-2.0-or-later
"""What the latency recipes cost, counted in instructions, as ratios within one boot.

Each recipe, printing and aggregating, is divided by a module with the same probes that do nothing (to-empty), and by the
same recipe of an older commit (to-before). What has parts is measured with --no-parts, too, and divided by that
(to-no-parts); what keeps its records (--keep) by the same recipe that only aggregates (to-aggregating). The ratios have to be
those of golden/cost.toml, or of cost-arm64.toml; README.md says how to change them.
"""

import os
import re

from lablib import cost
from lablib.common import SOURCE
from lablib.cost import NO_PARTS, WITH_PARTS, WITHOUT_PARTS
from lablib.scenario import build_modules

DESCRIPTION = "instructions of the latency recipes, beside empty handlers and an older commit: golden/cost.toml"
ALONE = "it counts each instruction"
IN_CI = ("trixie",)
# One CPU; the same addresses in each boot; no thread that looks for huge pages now and then.
APPEND = "threadirqs maxcpus=1 nokaslr transparent_hugepage=never"
# Records of a request and its reply: both ends are in the guest. The last reply is a request that is not answered.
RECORDS = {"rx-latency": 2, "tx-latency": 2, "net-latency": 4, "sock-latency": 2}
MODES = {"printing": [], "aggregating": ["--aggregate"]}
# What has numbers -> the recipe, with its options.
MEASURED = {recipe: [recipe] for recipe in RECORDS} | {
    recipe + WITHOUT_PARTS: [recipe, NO_PARTS] for recipe in ("rx-latency", "tx-latency", "net-latency")} | {
    "sock-latency" + WITH_PARTS: ["sock-latency", "--parts"]}
# What is kept, too, and by how many instructions more a record at most.
KEPT = ("rx-latency", "tx-latency", "net-latency", "sock-latency" + WITH_PARTS)
KEEPING, KEPT_MOST = ["--aggregate", "--keep-memory", "8MiB"], 400
BUILD = {f"{name}.{mode}": [*recipe, *options] for name, recipe in MEASURED.items() for mode, options in MODES.items()} | {
    f"{name}.keeping": [*MEASURED[name], *KEEPING] for name in KEPT}
TRAFFIC = ("tcp", "udp")
FIRST, REQUESTS, ROUNDS = 53, 151, 3
# The reading of what is printed is part of it: built by GCC 14 stapgen makes that 1.4 % cheaper than by the golden's GCC 12.
TOLERANCE = {"printing": 0.02, "aggregating": 0.01, "keeping": 0.01}
TIMEOUT = 1800
UPDATE = os.environ.get("STAPGEN_UPDATE_COST")

GUEST = f"""
. /lab/work/counted.sh
# This shell and what it starts take turns only where one waits, and before all else.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
chrt -f -p 1 $$ || exit 1
# What has more digits costs more to print: all processes have ids of five.
echo 10000 >/proc/sys/kernel/ns_last_pid
start_ready serve --port 7001 || exit 1
start_ready serve --port 7002 --udp --write sendto || exit 1
tcp() {{ ask --port 7001 --requests $1; }}
udp() {{ ask --port 7002 --requests $1 --udp; }}
# What is done once, such as printing a few records of a recipe that aggregates, is not counted.
count() {{
    for traffic in {' '.join(TRAFFIC)}; do
        $traffic {FIRST} >/dev/null || exit 1
        for round in $(seq {ROUNDS}); do
            said=$($traffic {REQUESTS}) || exit 1
            echo $1 $traffic ${{said##*usual-ns }} >>/tmp/counted
        done
    done
}}
# TCP over the loopback costs 0.3 % more until the guest has been idle for a while; and from 1,000 seconds on the clock
# has as many digits for hours.
count first
sleep 1000
for module in $(cat order); do
    load $module $module && wait_for "grep -q ^ready /tmp/$module.out" || exit 1
    count $module
    sleep 1
    kill -INT $TRACER
    wait $TRACER
    grep -a ^end /tmp/$module.out >$module.end
    cp /tmp/$module.err .
    rm /tmp/$module.out
    case $module in *.empty) count untraced ;; esac
done
cp /tmp/counted .
finish
"""


def prepare(lab):
    (lab.work / "counted.sh").write_text((SOURCE / "lablib/counted.sh").read_text())
    build_modules(lab, {f"{name}.empty": [cost.add_empty(lab, recipe, f"{name}.printing"), *options]
                        for name, (recipe, *options) in MEASURED.items()})
    wanted = UPDATE or cost.read_golden(cost.GOLDEN_OF[lab.root.architecture])["before"]
    commit = cost.known_commit(wanted)
    assert commit or not UPDATE or UPDATE == "none", f"no commit {UPDATE} here"
    (lab.work / "before").write_text(commit or "none")
    if commit:
        cost.build_before(lab, commit, BUILD)
    elif wanted != "none":
        print(f"skipped: the recipes of {wanted}, which git does not have here")
    (lab.work / "order").write_text("".join(f"{path.stem}\n" for path in sorted(lab.work.glob("*.ko"))))


def check(lab):
    found = numbers(read_counted(lab), lab.read("before") != "none")
    for module, (recipe, *_) in BUILD.items():
        check_account(lab, module, recipe)
    file = cost.GOLDEN_OF[lab.root.architecture]
    if UPDATE:
        cost.write_golden(file, {"kernel": lab.release, "before": lab.read("before")}, found)
    golden = cost.read_golden(file)
    wrong = list(cost.differences(golden["cost"], found, TOLERANCE))
    assert not wrong, "\n".join([f"a recipe's cost is not that of {file.name}, over {TOLERANCE}:", *wrong,
                                 f"(Linux {lab.release}, the golden {golden['kernel']}; before: {golden['before'][:12]})"])
    assert lab.read("modules-left").strip() == "0"


def read_counted(lab):
    """Return the instructions that a request and its reply take, by module and traffic, in the round with the fewest: what
    else a guest does now and then comes on top."""
    counts = {}
    for line in lab.read("counted").splitlines():
        module, traffic, count = line.split()
        counts.setdefault((module, traffic), []).append(int(count))
    for (module, traffic), each in counts.items():
        print(f"{lab.suite} {module} {traffic}: {' '.join(map(str, each))}")
    return {of: min(each) for of, each in counts.items()}


def check_account(lab, module, recipe):
    """What costs less because it reports less is no gain."""
    end = dict(re.findall(r"\b(\S+)=(\d+)", lab.read(f"{module}.end")))
    expected = len(TRAFFIC) * (FIRST + ROUNDS * REQUESTS) * records_of(module, recipe)
    unanswered = int(end.get("incomplete.no-reply", 0))
    assert int(end["seen"]) == int(end["reported"]) + unanswered == expected and unanswered <= 2 * (1 + ROUNDS), \
        f"{module}: {expected} packets or requests, {end} {lab.read(f'{module}.err')}"


def records_of(module, recipe):
    """Return those of a request and its reply: with parts a server's requests alone are measured."""
    return RECORDS[recipe] // (2 if module.startswith(recipe + WITH_PARTS) else 1)


def numbers(counted, with_before):
    """Return what the golden has: {what is measured: {traffic: {mode: {what: number}}}}."""
    more = {(module, traffic): count - counted["untraced", traffic] for (module, traffic), count in counted.items()}
    found = {}
    for name in MEASURED:
        for traffic in TRAFFIC:
            empty = more[f"{name}.empty", traffic]
            modes = found.setdefault(name, {})[traffic] = {"empty": {"instructions": empty}}
            for mode in MODES:
                now = more[f"{name}.{mode}", traffic]
                modes[mode] = {"instructions": now, "to-empty": round(now / empty, 3)}
                without = name.removesuffix(WITH_PARTS) if name.endswith(WITH_PARTS) else name + WITHOUT_PARTS
                if without in MEASURED and without != name:
                    modes[mode]["to-no-parts"] = round(now / more[f"{without}.{mode}", traffic], 3)
                if with_before:
                    # One that is as it was is not built twice.
                    modes[mode]["to-before"] = round(now / more.get((f"{name}.{mode}.before", traffic), now), 3)
            if name in KEPT:
                now, aggregated = more[f"{name}.keeping", traffic], more[f"{name}.aggregating", traffic]
                modes["keeping"] = {"instructions": now, "to-aggregating": round(now / aggregated, 3)}
                each = (now - aggregated) / records_of(name, MEASURED[name][0])
                print(f"{name} {traffic}: a kept record is {each:.0f} instructions more than an aggregated one")
                assert 0 < each <= KEPT_MOST, f"{name} {traffic}: {each:.0f}"
    return found
