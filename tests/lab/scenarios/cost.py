"""What the latency recipes cost, counted in instructions, as ratios within one boot.

Each recipe, printing and aggregating, is divided by a module with the same probes that do nothing, and by the same recipe
of the commit before the last change of templates/ or tapsets/ (of HEAD, where there are changes not committed). What the
ratios are to be is in golden/cost.toml. Where one changes, the commit that changes it says why, and has the new golden:

    STAPGEN_UPDATE_COST=1 tests/lab/lab run --stapgen PREFIX trixie cost
"""

import os
import re
import statistics
import tomllib

from lablib import cost
from lablib.scenario import build_modules

DESCRIPTION = "instructions of the latency recipes, beside empty handlers and the commit before: golden/cost.toml"
IN_CI = ("trixie",)
SHARES_CPUS = True   # one CPU, which is never idle: its clock says what was executed
# What comes of a request and its reply, where both ends are in the guest; of all requests one is not answered by the client.
RECORDS = {"rx-latency": (2, 0), "tx-latency": (2, 0), "net-latency": (4, 0), "sock-latency": (2, -1)}
MODES = {"printing": [], "aggregating": ["--aggregate"]}
BUILD = {f"{recipe}.{mode}": [recipe, *options] for recipe in RECORDS for mode, options in MODES.items()}
TRAFFIC = ("tcp", "udp")
REQUESTS, ROUNDS = 1009, 3
TOLERANCE = 0.01
GOLDEN = cost.SOURCE / "golden/cost.toml"
UPDATE = "STAPGEN_UPDATE_COST"

GUEST = f"""
. /lab/work/counted.sh
start_ready serve --port 7001 || exit 1
start_ready serve --port 7002 --udp --write sendto || exit 1
count() {{
    for round in $(seq {ROUNDS}); do
        timed ask --port 7001 --requests {REQUESTS} && echo $1 tcp $US || exit 1
        timed ask --port 7002 --requests {REQUESTS} --udp && echo $1 udp $US || exit 1
    done >>/tmp/counted
}}
count first
count untraced
for module in $(cat order); do
    load $module $module && wait_for "grep -q ^ready /tmp/$module.out" || exit 1
    count $module
    sleep 1
    kill -INT $TRACER
    wait $TRACER
    grep -a ^end /tmp/$module.out >$module.end
    cp /tmp/$module.err .
    rm /tmp/$module.out
done
count untraced
cp /tmp/counted .
finish
"""


def prepare(lab):
    (lab.work / "counted.sh").write_text((cost.SOURCE / "lablib/counted.sh").read_text())
    build_modules(lab, {f"{recipe}.empty": [cost.add_empty(lab, recipe, f"{recipe}.printing")] for recipe in RECORDS})
    (lab.work / "before").write_text(cost.build_before(lab, BUILD))
    (lab.work / "order").write_text("".join(f"{path.stem}\n" for path in sorted(lab.work.glob("*.ko"))))


def check(lab):
    counted = read_counted(lab)
    for module, (recipe, *_) in BUILD.items():
        check_account(lab, module, recipe)
    found, before = ratios(counted), lab.read("before")
    golden = tomllib.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if before.startswith("none: "):
        assert isinstance(golden.get("to-before"), str), f'{before}. If so it is to be: to-before = "none: REASON" in {GOLDEN}'
        found["to-before"] = golden["to-before"]
    if os.environ.get(UPDATE):
        assert before != cost.NO_HISTORY, before
        cost.write_golden(GOLDEN, lab.release, found)
        golden = found
    compared = ["to-empty"]
    if before != cost.NO_HISTORY and not before.startswith("none: "):
        compared.append("to-before")
    wrong = [f"{table}: {line}" for table in compared
             for line in cost.differences(golden.get(table, {}), found[table], TOLERANCE)]
    assert not wrong, "\n".join(["what recipes cost is not what golden/cost.toml says:", *wrong, f"(before: {before})"])
    assert lab.read("modules-left").strip() == "0"
    if before == cost.NO_HISTORY:
        lab.skip(f"the empty handlers were compared, the commit before was not: {before}")


def read_counted(lab):
    """Return the instructions that a request takes, by module and traffic, each the median of the rounds."""
    counts = {}
    for line in lab.read("counted").splitlines():
        module, traffic, us = line.split()
        counts.setdefault((module, traffic), []).append(int(us) * 1000 / REQUESTS)
    for (module, traffic), each in counts.items():
        print(f"{lab.suite} {module} {traffic}: {' '.join(f'{count:.0f}' for count in each)}, "
              f"{(max(each) / min(each) - 1) * 100:.2f} % apart")
    return {of: statistics.median(each) for of, each in counts.items()}


def check_account(lab, module, recipe):
    """What costs less because it reports less is no gain."""
    per_request, beside = RECORDS[recipe]
    reported = int(re.search(r"\breported=(\d+)", lab.read(f"{module}.end"))[1])
    expected = ROUNDS * len(TRAFFIC) * (per_request * REQUESTS + beside)
    assert reported == expected, f"{module}: {reported} records of {expected}; {lab.read(f'{module}.err')}"


def ratios(counted):
    """Return the golden's tables: {table: {"MODULE.TRAFFIC": number}}."""
    free = {traffic: counted["untraced", traffic] for traffic in TRAFFIC}
    more = {of: count - free[of[1]] for of, count in counted.items()}
    found = {"instructions": {f"untraced.{traffic}": round(count) for traffic, count in free.items()},
             "to-empty": {}, "to-before": {}}
    for recipe in RECORDS:
        for mode in ("empty", *MODES):
            for traffic in TRAFFIC:
                module, now = f"{recipe}.{mode}", more[f"{recipe}.{mode}", traffic]
                found["instructions"][f"{module}.{traffic}"] = round(now)
                if mode == "empty":
                    continue
                found["to-empty"][f"{module}.{traffic}"] = round(now / more[f"{recipe}.empty", traffic], 3)
                # One that is the same as before was not built twice.
                found["to-before"][f"{module}.{traffic}"] = round(now / more.get((f"{module}.before", traffic), now), 3)
    return found
