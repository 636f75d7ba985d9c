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
# One CPU, the same addresses in each boot, and no thread that looks for huge pages now and then.
APPEND = "maxcpus=1 nokaslr transparent_hugepage=never"
TIMEOUT = 2400
# Records of a request and its reply: both ends are in the guest. The last reply is a request that is not answered.
RECORDS = {"rx-latency": 2, "tx-latency": 2, "net-latency": 4, "sock-latency": 2}
MODES = {"printing": [], "aggregating": ["--aggregate"]}
BUILD = {f"{recipe}.{mode}": [recipe, *options] for recipe in RECORDS for mode, options in MODES.items()}
TRAFFIC = ("tcp", "udp")
FIRST, REQUESTS, ROUNDS = 101, 1009, 3
TOLERANCE = 0.01
GOLDEN = cost.SOURCE / "golden/cost.toml"
UPDATE = "STAPGEN_UPDATE_COST"

GUEST = f"""
. /lab/work/counted.sh
count_exactly || exit 1
start_ready serve --port 7001 || exit 1
start_ready serve --port 7002 --udp --write sendto || exit 1
tcp() {{ ask --port 7001 --requests $1; }}
udp() {{ ask --port 7002 --requests $1 --udp; }}
count() {{
    for traffic in tcp udp; do
        # What is done once: a recipe that aggregates prints its first records.
        $traffic {FIRST} >/dev/null || exit 1
        for round in $(seq $2); do
            counted $traffic {REQUESTS} && echo $1 $traffic $COUNT >>/tmp/counted || exit 1
        done
    done
}}
count first 1
for module in $(cat order); do
    case $module in
    *.empty) rounds={2 * ROUNDS}; count untraced {ROUNDS} ;;
    *) rounds={ROUNDS} ;;
    esac
    load $module $module && wait_for "grep -q ^ready /tmp/$module.out" || exit 1
    count $module $rounds
    sleep 1
    kill -INT $TRACER
    wait $TRACER
    grep -a ^end /tmp/$module.out >$module.end
    cp /tmp/$module.err .
    rm /tmp/$module.out
done
count untraced {ROUNDS}
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
        module, traffic, count = line.split()
        counts.setdefault((module, traffic), []).append(int(count) / REQUESTS)
    for (module, traffic), each in counts.items():
        print(f"{lab.suite} {module} {traffic}: {' '.join(f'{count:.0f}' for count in each)}, "
              f"{(max(each) / min(each) - 1) * 100:.2f} % apart")
    return {of: statistics.median(each) for of, each in counts.items()}


def check_account(lab, module, recipe):
    """What costs less because it reports less is no gain."""
    end = dict(re.findall(r"\b(\S+)=(\d+)", lab.read(f"{module}.end")))
    expected = len(TRAFFIC) * (FIRST + ROUNDS * REQUESTS) * RECORDS[recipe]
    unanswered = int(end.get("incomplete.no-reply", 0))
    assert int(end["seen"]) == int(end["reported"]) + unanswered == expected and unanswered <= 2 * (1 + ROUNDS), \
        f"{module}: {expected} packets or requests, {end} {lab.read(f'{module}.err')}"


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
