"""Each recipe in a debug kernel, which has nothing to tell of it.

On four CPUs at once: requests over TCP and UDP, IPv4 and IPv6, and floods that nobody reads; printing and aggregating; with
tables that are full; ended and unloaded under all of it. The tapsets read memory plainly, so that KASAN and KCSAN see it, and
lockdep knows of their locks. debug-controls shows that faults would be told.
"""

import json

from lablib import debug
from lablib.scenario import build_modules

DESCRIPTION = "suites debug, debug-races: each recipe printing and aggregating, floods, full tables: the kernel reports nothing"
IN_CI = ()
# What CPUs do to each other shows where they run side by side.
REAL_TIME = True
CPUS = 4
TIMEOUT = 7200
APPEND = "kasan_multi_shot"

LATENCY = ("rx-latency", "tx-latency", "net-latency", "sock-latency")
OTHERS = ("packet-flow", "irq-latency", "dropwatch", "page-alloc", "tcp-probe", "call-trace")
BUILDS = {recipe: [recipe] for recipe in LATENCY + OTHERS}
BUILDS |= {f"{recipe}-sums": [recipe, "--aggregate"] for recipe in LATENCY}
FULL = {f"{recipe}-full": [recipe] for recipe in LATENCY}

GUEST = r"""
for cpu in 0 1 2 3; do
    start_ready taskset -c $cpu serve --port 700$cpu --threads per-connection || exit 1
    start_ready taskset -c $cpu serve --port 710$cpu --udp --write sendto || exit 1
    start_ready taskset -c $cpu serve --family 6 --port 720$cpu --threads per-connection || exit 1
    start_ready taskset -c $cpu serve --family 6 --port 730$cpu --udp --write sendto || exit 1
done
# again COMMAND...: until there is a file "stop".
again() { until [ -e stop ]; do "$@" >>traffic.out 2>&1; done; }
for cpu in 0 1 2 3; do
    other=$(((cpu + 1) % 4))
    again nice -n 15 taskset -c $cpu ask --port 700$other --connections 4 --requests 101 &
    again nice -n 15 taskset -c $cpu ask --port 710$other --udp --requests 101 &
    again nice -n 15 taskset -c $cpu ask --family 6 --port 720$other --connections 4 --requests 101 &
    again nice -n 15 taskset -c $cpu ask --family 6 --port 730$other --udp --requests 101 &
    again nice -n 15 taskset -c $cpu python3 flood.py &
done
dmesg >before
mkdir runs
for module in MODULES; do
    dmesg -C
    # -d: it ends, and is unloaded, while all goes on.
    stapgen exec $module.ko -d SECONDSs --format json >runs/$module.json 2>runs/$module.err
    echo $? >runs/$module.exit
    dmesg >runs/$module.log
done
touch stop
modules_left >modules-left
dmesg >after
exit 0
""".replace("MODULES", " ".join(BUILDS | FULL)).replace("SECONDS", "10")


def prepare(lab):
    debug.only_here(lab)
    seen = (*debug.PLAIN_READS, *debug.SEEN_LOCKS)
    build_modules(lab, BUILDS, program=debug.changed_stapgen(lab, "seen", *seen))
    build_modules(lab, FULL, program=debug.changed_stapgen(lab, "full", *seen, debug.SMALL_TABLES))
    (lab.work / "flood.py").write_text(debug.FLOOD)


def check(lab):
    bad = []
    for name in BUILDS | FULL:
        # KCSAN tells of the kernel's own races, too; ours have a function of the module in them.
        found = [text for text in debug.reports(lab.read(f"runs/{name}.log")) if "KCSAN" not in text or "[stap" in text]
        code = lab.read(f"runs/{name}.exit").strip()
        account = json.loads(lab.read(f"runs/{name}.json") or "{}").get("accounting", {})
        print(f"{lab.suite} {name}: ended with {code}, {account.get('seen')} seen, {account.get('other')}; {len(found)} reports")
        bad += [f"{name}: {text}" for text in found]
        if code != "0":
            bad.append(f"{name} ended with {code}: {lab.read(f'runs/{name}.err')}")
        elif account.get("unaccounted"):
            bad.append(f"{name}: {account}")
    (lab.work / "reports").write_text("\n\n".join(bad))
    assert not bad, f"{len(bad)} in {lab.work}/reports, first:\n{bad[0]}"
    assert lab.read("modules-left").strip() == "0"
