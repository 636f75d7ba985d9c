# SPDX-License-Identifier: GPL-2.0-or-later
"""What a debug kernel must tell: each control is one fault. Where the log lacks one, it says nothing of the recipes."""

import re

from lablib import debug
from lablib.scenario import build_modules

DESCRIPTION = "suites debug, debug-races: memory, an index, sleep, locks and races that are wrong are reported, in our own C too"
IN_CI = ()
# Races and preemption need CPUs that run side by side.
REAL_TIME = True
CPUS = 4
TIMEOUT = 1800
APPEND = "kasan_multi_shot"

# control -> what has to be in the log, and the C that a probe runs once.
FAULTS = {
    "use-after-free": ("KASAN: slab-use-after-free",
                       "char *volatile p = kmalloc(64, GFP_ATOMIC); kfree(p); (void)*(volatile char *)p;"),
    "out-of-bounds": ("KASAN: slab-out-of-bounds",
                      "char *volatile p = kmalloc(64, GFP_ATOMIC); (void)*(volatile char *)(p + 64); kfree(p);"),
    "index": ("UBSAN: array-index-out-of-bounds", "static volatile int seven[7]; volatile int at = 7; seven[at] = 1;"),
    "sleep": ("sleeping function called from invalid context", "might_sleep();"),
}
# All CPUs write to it while they receive: KCSAN watches one access in 500.
RACE = ("KCSAN: data-race", "int i; for (i = 0; i < 2000; i++) { control_shared++; barrier(); }")

WORKAROUNDS = ["-B", "CFLAGS_MODULE=-Wno-error -DSTAPCONF_UPROBE_UNREGISTER_EXPORTED"]

# Two locks of stapgen's, as they are, one within the other. It comes first: lockdep is silent from
# the first report on, its own or another's.
LOCKS = ("possible recursive locking", "stapgen_lock(&one); stapgen_lock(&two); stapgen_unlock(&two); stapgen_unlock(&one);")
# In rx-latency's own C, by suite. A table of which the last row is missing:
SHORT_TABLE = (r"(____cacheline_aligned name##_rows)\[\((\w+)\) \+ 1\]", r"\1[\2]")
# and a number that all CPUs write to, before they take a lock.
SHARED = (r"(static inline void stapgen_lock_queue\([^{]*\{)",
          r"static int stapgen_control;\n\1\n    int i;\n    for (i = 0; i < 500; i++) { stapgen_control++; barrier(); }")
OWN = {"debug": (r"KASAN: global-out-of-bounds in .*\[stap", (debug.SMALL_TABLES, SHORT_TABLE)),
       "debug-races": (r"KCSAN: data-race in .*\[stap", (SHARED,))}
GUEST = r"""
for control in $(cat controls); do
    dmesg -C
    staprun -o $control.out control_${control//-/_}.ko 2>$control.err &
    tracer=$!
    sleep 4
    # Something to receive, on all CPUs.
    pings=
    for cpu in 0 1 2 3; do
        taskset -c $cpu ping -q -c 500 -i 0.002 127.0.0.1 >/dev/null &
        pings="$pings $!"
    done
    wait $pings
    kill -INT $tracer
    wait $tracer
    dmesg >$control.log
done
dmesg -C
report own json own --format json || exit 1
for cpu in 0 1 2 3; do
    taskset -c $cpu python3 flood.py &
    floods="$floods $!"
done
wait $floods
end_trace own
dmesg >own.log
exit 0
"""


def controls(lab):
    return {"locks": LOCKS} | (FAULTS if lab.suite == "debug" else {"sleep": FAULTS["sleep"], "race": RACE})


def prepare(lab):
    debug.only_here(lab)
    lock = (lab.run / "stapgen/share/stapgen/tapsets/c/lock.h").read_text()
    for name, (_, code) in controls(lab).items():
        probe = 'kernel.trace("netif_receive_skb")' if name == "race" else "timer.ms(500)"
        (lab.work / f"{name}.stp").write_text(
            f"%{{\n#include <linux/slab.h>\n{lock}\nstatic struct stapgen_lock one, two;\nint control_shared;\n%}}\n"
            f"function control() %{{ {code} %}}\nprobe {probe} {{ control() }}\n")
        module = f"control_{name.replace('-', '_')}"
        lab.chroot(["stap", "-g", *WORKAROUNDS, "-r", lab.release, "-p4", "-m", module, f"{name}.stp"],
                   env={"SYSTEMTAP_DIR": "/lab/cache/systemtap"})
    (lab.work / "flood.py").write_text(debug.FLOOD)
    build_modules(lab, {"own": ["rx-latency"]}, program=debug.changed_stapgen(lab, "own", *OWN[lab.suite][1]))
    (lab.work / "controls").write_text(" ".join(controls(lab)))


def check(lab):
    expected = {name: re.escape(text) for name, (text, _) in controls(lab).items()} | {"own": OWN[lab.suite][0]}
    silent = []
    for name, text in expected.items():
        log = lab.read(f"{name}.log")
        print(f"{lab.suite} {name}: {(debug.reports(log) or ['nothing'])[0].splitlines()[0]}")
        if not re.search(text, log):
            silent.append(f"{name}: no '{text}'")
    assert not silent, silent
