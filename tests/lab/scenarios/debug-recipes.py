# SPDX-License-Identifier: GPL-2.0-or-later
"""Each recipe in a debug kernel, which has nothing to tell of it.

On two CPUs at once, as many as the host had; STAPGEN_LAB_RECIPES chooses among the modules (rx-latency, rx-latency-sums,
rx-latency-full ...), each of which measures for STAPGEN_LAB_SECONDS (6): requests over TCP and UDP, IPv4 and IPv6, and floods
that nobody reads; packets that are passed on; printing and aggregating; with and without parts; with --who, of readers beside a
process that spins, behind a lock, and in a cgroup that is throttled; with --cost; with tables that are full, filters and --by; while rules of
nftables accept and drop; ended and unloaded under all of it; with --parts, of programs that wait for locks, pipes and memory.
ftrace calls the probes of functions (workaround ftrace-hooks). The tapsets read memory plainly, so that KASAN and KCSAN see it, and lockdep knows of their locks.
debug-controls shows that faults would be told.
"""

import json
import os
import re

from lablib import debug, recipes
from lablib.scenario import build_modules

DESCRIPTION = "suites debug...: each recipe printing, aggregating, with --cost, floods, full tables: the kernel reports nothing"
IN_CI = ()
# What CPUs do to each other shows where they run side by side. But on the host's clock the emulator's guests die of code that
# changes now and then; STAPGEN_LAB_CLOCK=counting is for what KASAN and lockdep tell.
REAL_TIME = os.environ.get("STAPGEN_LAB_CLOCK") != "counting"
CPUS = 2
TIMEOUT = 7200
APPEND = "kasan_multi_shot"

LATENCY = ("rx-latency", "tx-latency", "net-latency", "sock-latency")
WITH_PARTS = LATENCY[:3]
OTHERS = recipes.with_script(*LATENCY)
CHOICE = "udp or tcp portrange 7000-7299"
BUILDS = {recipe: [recipe] for recipe in LATENCY + OTHERS}
BUILDS |= {f"{recipe}-sums": [recipe, "--aggregate"] for recipe in (*LATENCY, "forward-latency", "connect-latency")}
BUILDS |= {f"{recipe}-bare": [recipe, "--no-parts"] for recipe in WITH_PARTS}
WHO = {"rx-latency-who": ["rx-latency", "--who"], "rx-latency-who-sums": ["rx-latency", "--who", "--aggregate"],
       "rx-latency-who-bare": ["rx-latency", "--who", "--no-parts"], "net-latency-who": ["net-latency", "--who"]}
BUILDS |= WHO
PARTS = {"sock-latency-parts": ["sock-latency", "--parts"], "sock-latency-parts-sums": ["sock-latency", "--parts", "--aggregate"],
         "sock-latency-parts-calls": ["sock-latency", "--parts", "--syscalls"]}
BUILDS |= PARTS
BUILDS |= {"dropwatch-stacks": ["dropwatch", "--stacks"]}
# With -t, and SystemTap itself looks whether it may sleep. call-trace's 427 probes are slow enough without it.
COST = ["--cost", "--stap-option=-DDEBUG_MEMALLOC_MIGHT_SLEEP"]
BUILDS |= {f"{recipe}-cost": [recipe, *COST] for recipe in LATENCY + OTHERS if recipe != "call-trace"}
BUILDS |= {f"{name}-cost": [*arguments, *COST] for name, arguments in (WHO | PARTS).items() if name in ("rx-latency-who", "sock-latency-parts")}
BUILDS |= {f"{recipe}-chosen": [recipe, "--by", "container"] for recipe in ("dropwatch", "rx-latency", "tx-latency")}
FULL = {f"{recipe}-full": [recipe] for recipe in LATENCY}
FULL |= {f"{recipe}-full-sums": [recipe, "--aggregate"] for recipe in LATENCY}
FULL |= {f"{name}-full": arguments for name, arguments in (WHO | PARTS).items()}
CHOSEN = os.environ.get("STAPGEN_LAB_RECIPES", " ".join(BUILDS | FULL)).split()

GUEST = r"""
make_router || exit 1
tc qdisc add dev r0 root netem delay 30ms limit 5000 || exit 1
nft -f rules || exit 1
mount -t cgroup2 none /sys/fs/cgroup && mkdir /sys/fs/cgroup/slow && echo +cpu >/sys/fs/cgroup/cgroup.subtree_control &&
    echo 5000 20000 >/sys/fs/cgroup/slow/cpu.max || exit 1
throttled() { exec bash -c 'echo $$ >/sys/fs/cgroup/slow/cgroup.procs && exec "$@"' throttled "$@"; }
# read_late REASON PORT [COMMAND]: a reader that waits beside a process that spins, for a lock, or in a cgroup.
read_late() {
    READY_COUNT=$2
    start_ready $3 late $1 --receive --port $2 && late $1 --address 127.0.0.1 --port $2 --count 53
    kill $READY_PID
}
# worked THING PORT: requests to a program that waits for it.
worked() {
    READY_COUNT=$2
    start_ready works $1 --ms 3 --port $2 && ask --port $2 --requests 13
    kill $READY_PID
}
for cpu in 0 1; do
    start_ready nice -n 15 taskset -c $cpu serve --port 700$cpu --threads per-connection || exit 1
    start_ready nice -n 15 taskset -c $cpu serve --port 710$cpu --udp --write sendto || exit 1
    start_ready nice -n 15 taskset -c $cpu serve --family 6 --port 720$cpu --threads per-connection || exit 1
    start_ready nice -n 15 taskset -c $cpu serve --family 6 --port 730$cpu --udp --write sendto || exit 1
done
# again COMMAND...: until there is a file "stop".
again() { until [ -e stop ]; do "$@" >>traffic.out 2>&1; sleep PAUSE; done; }
for cpu in 0 1; do
    other=$((1 - cpu))
    again nice -n 15 taskset -c $cpu ask --port 700$other --connections 4 --requests 101 &
    again nice -n 15 taskset -c $cpu ask --port 710$other --udp --requests 101 &
    again nice -n 15 taskset -c $cpu ask --family 6 --port 720$other --connections 4 --requests 101 &
    again nice -n 15 taskset -c $cpu ask --family 6 --port 730$other --udp --requests 101 &
    again nice -n 15 taskset -c $cpu python3 flood.py &
done
again nice -n 15 ip netns exec left python3 passed-on.py &
again nc -z -w 4 127.0.0.1 11 &
again nft -f rules-anew &
again read_late shares 7401 &
again read_late futex 7402 &
again read_late quota 7403 throttled &
again worked lock 7501 &
again worked condition 7502 &
again worked pipe 7503 &
again worked maps 7504 &
dmesg >before
mkdir runs
for module in MODULES; do
    dmesg -C
    case $module in *-chosen) set -- --filter "CHOICE" ;; *) set -- ;; esac
    # -d: it ends, and is unloaded, while all goes on.
    stapgen exec $module.ko "$@" -d SECONDSs --format json >runs/$module.json 2>runs/$module.err &
    tracer=$!
    wait_for "grep -q '^stapgen: measuring' runs/$module.err || ! kill -0 $tracer"
    sleep 3
    grep -c stapgen_lock /proc/lockdep >runs/$module.locks
    grep stapkp_hook /sys/kernel/tracing/enabled_functions >runs/$module.hooks
    # With -t SystemTap measures what each module that comes costs it.
    case $module in *-cost) stapgen exec other.ko -d 1 >other.out 2>&1 || exit 1 ;; esac
    wait $tracer
    echo $? >runs/$module.exit
    grep debug_locks: /proc/lockdep_stats >>runs/$module.locks
    dmesg >runs/$module.log
    grep nr_throttled /sys/fs/cgroup/slow/cpu.stat >runs/$module.throttled
    nft list table inet lab >runs/$module.rules
    echo "$module: ended with $(cat runs/$module.exit), $(wc -l <runs/$module.log) lines in the kernel's log; $(grep -m 1 '^stapgen: [^m]' runs/$module.err)"
done
touch stop
modules_left >modules-left
dmesg >after
exit 0
""".replace("MODULES", " ".join(CHOSEN)).replace("CHOICE", CHOICE).replace("SECONDS", os.environ.get("STAPGEN_LAB_SECONDS", "6")).replace(
    "PAUSE", os.environ.get("STAPGEN_LAB_PAUSE", "0.1"))


def prepare(lab):
    debug.only_here(lab)
    seen = debug.changed_stapgen(lab, "seen", *debug.PLAIN_READS)
    full = debug.changed_stapgen(lab, "full", *debug.PLAIN_READS, debug.SMALL_TABLES, debug.SMALL_SETS)
    build_modules(lab, {"other": ["retransmits"]})
    for name in CHOSEN:
        build_modules(lab, {name: (BUILDS | FULL)[name]}, program=full if name in FULL else seen)
    for name, text in {"flood.py": debug.FLOOD, "passed-on.py": debug.PASSED_ON, "rules": debug.RULES, "rules-anew": debug.RULES_ANEW}.items():
        (lab.work / name).write_text(text)


def check(lab):
    bad = []
    for name in CHOSEN:
        # KCSAN tells of the kernel's own races, too; ours have a function of the module in them.
        found = [text for text in debug.reports(lab.read(f"runs/{name}.log")) if "KCSAN" not in text or "[stap" in text]
        code = lab.read(f"runs/{name}.exit").strip()
        report = json.loads(lab.read(f"runs/{name}.json") or "{}")
        account = report.get("accounting", {})
        if name.startswith(tuple(WHO)):
            # Threads beside others, softirqs, a throttled cgroup, sleep: each is there.
            waited = {row["group"]["waited"] for row in report.get("who", [])}
            if not waited >= {"run-queue", "throttled", "asleep"}:
                bad.append(f"{name}: it only knows of {waited}; {lab.read(f'runs/{name}.throttled')}")
        hooks = len(lab.read(f"runs/{name}.hooks").splitlines())
        print(f"{lab.suite} {name}: ended with {code}, {account.get('seen')} seen, {account.get('other')}; {hooks} hooks; {len(found)} reports; "
              f"nftables: {re.findall('packets ([0-9]+)', lab.read(f'runs/{name}.rules'))} dropped, let in, let out so far")
        bad += [f"{name}: {text}" for text in found]
        locks, is_on = lab.read(f"runs/{name}.locks").split()[0], lab.read(f"runs/{name}.locks").split()[-1]
        if is_on != "1" or (name.startswith(LATENCY) and locks == "0"):
            bad.append(f"{name}: lockdep is off, or knows no lock of it")
        if name.startswith(LATENCY) and not hooks:
            bad.append(f"{name}: ftrace calls none of its probes")
        # softirqs and allocations are counted, not seen.
        if account.get("seen", 1) == 0:
            bad.append(f"{name}: it saw nothing")
        if code != "0":
            bad.append(f"{name} ended with {code}: {lab.read(f'runs/{name}.err')}")
        elif abs(account.get("unaccounted", 0)) > account.get("skipped_probes", 0):
            bad.append(f"{name}: {account}")
    (lab.work / "reports").write_text("\n\n".join(bad))
    assert not bad, f"{len(bad)} in {lab.work}/reports, first:\n{bad[0]}"
    assert lab.read("modules-left").strip() == "0"
