# SPDX-License-Identifier: GPL-2.0-or-later
"""What a debug kernel must tell: each control is one fault. Where the log lacks one, it says nothing of the recipes."""

import re
import shlex

from lablib import debug
from lablib.scenario import build_modules

DESCRIPTION = "suites debug...: memory, an index, sleep, locks and races that are wrong are reported, in our own C and SystemTap's too"
IN_CI = ()
# Races and preemption need CPUs that run side by side.
REAL_TIME = True
CPUS = 4
TIMEOUT = 1800
APPEND = "kasan_multi_shot"

# control -> what has to be in the log, and the C that a probe runs once.
FAULTS = {
    "use-after-free": ("use-after-free in",
                       "char *volatile p = kmalloc(64, GFP_ATOMIC); kfree(p); (void)*(volatile char *)p;"),
    "out-of-bounds": ("KASAN: slab-out-of-bounds",
                      "char *volatile p = kmalloc(64, GFP_ATOMIC); (void)*(volatile char *)(p + 64); kfree(p);"),
    "index": ("UBSAN: array-index-out-of-bounds", "static volatile int seven[7]; volatile int at = 7; seven[at] = 1;"),
    "sleep": ("sleeping function called from invalid context", "might_sleep();"),
}
# All CPUs write to it while they receive: KCSAN watches one access in 500.
RACE = ("KCSAN: data-race", "int i; for (i = 0; i < 2000; i++) { control_shared++; barrier(); }")

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
OWN["debug-bookworm"] = OWN["debug"]
# SystemTap's own faults that stapgen mends: workaround -> what is reported without it, of rx-latency --cost while another module
# comes and goes. The option has SystemTap itself look whether it may sleep, as a kernel with PREEMPT_RT does where it frees memory.
MAY_SLEEP = "--stap-option=-DDEBUG_MEMALLOC_MIGHT_SLEEP"
SYSTEMTAP = {"debug-bookworm": {
    "context-cpu": r"using smp_processor_id\(\) in preemptible.*(\n.*){1,12} _stp_runtime_context_trylock",
    "symbols-preempt": r"sleeping function called from invalid context at kernel/kallsyms",
    "timing-cpu": r"using smp_processor_id\(\) in preemptible.*(\n.*){1,12} systemtap_module_refresh",
    "timing-free": r"sleeping function called from invalid context at .*/alloc\.c.*(\n.*){1,30} _stp_stat_free",
}}
GUEST = r"""
for control in $(cat controls); do
    dmesg -C
    staprun -o $control.out control_${control//-/_}.ko 2>$control.err &
    tracer=$!
    wait_for "grep -q began $control.out" || exit 1
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
for workaround in $(cat workarounds); do
    dmesg -C
    report $workaround json $workaround --format json || exit 1
    stapgen exec $workaround.ko -d 1 >other.out 2>&1 || exit 1
    end_records $workaround
    dmesg >$workaround.log
done
dmesg -C
report own json own --format json || exit 1
for cpu in 0 1 2 3; do
    taskset -c $cpu python3 flood.py &
    floods="$floods $!"
done
wait $floods
end_records own
dmesg >own.log
exit 0
"""


def controls(lab):
    return {"locks": LOCKS} | ({"sleep": FAULTS["sleep"], "race": RACE} if lab.suite == "debug-races" else FAULTS)


def workarounds(lab):
    """Return what stap is told of the runtime and the compiler's flags here, with all workarounds."""
    commands = lab.stapgen(["build", "rx-latency", "-r", lab.release, "--symbols", lab.symbols, "-o", "/tmp/x.ko", "--dry-run"]).stdout
    words = shlex.split(next(line for line in commands.splitlines() if line.startswith("env ")))
    pairs = zip(words, words[1:])
    return [word for pair in pairs for word in pair if pair[0] == "-R" or pair[1].startswith("CFLAGS_MODULE=")]


def prepare(lab):
    debug.only_here(lab)
    build_modules(lab, {"own": ["rx-latency"]}, program=debug.changed_stapgen(lab, "own", *OWN[lab.suite][1]))
    known = SYSTEMTAP.get(lab.suite, {})
    build_modules(lab, {workaround: ["rx-latency", "--cost", MAY_SLEEP, "--no-workaround", workaround] for workaround in known})
    (lab.work / "workarounds").write_text(" ".join(known))
    options = workarounds(lab)
    lock = (lab.installed / "share/stapgen/tapsets/c/lock.h").read_text()
    for name, (_, code) in controls(lab).items():
        probe = 'kernel.trace("netif_receive_skb")' if name == "race" else "timer.ms(500)"
        (lab.work / f"{name}.stp").write_text(
            f"%{{\n#include <linux/slab.h>\n{lock}\nstatic struct stapgen_lock one, two;\nint control_shared;\n%}}\n"
            f'function control() %{{ {code} %}}\nprobe begin {{ println("began") }}\nprobe {probe} {{ control() }}\n')
        module = f"control_{name.replace('-', '_')}"
        lab.chroot(["stap", "-g", *options, "-r", lab.release, "-p4", "-m", module, f"{name}.stp"],
                   env={"SYSTEMTAP_DIR": "/lab/cache/systemtap"})
    (lab.work / "flood.py").write_text(debug.FLOOD)
    (lab.work / "controls").write_text(" ".join(controls(lab)))


def check(lab):
    expected = {name: re.escape(text) for name, (text, _) in controls(lab).items()} | {"own": OWN[lab.suite][0]} | SYSTEMTAP.get(lab.suite, {})
    silent = []
    for name, text in expected.items():
        log = lab.read(f"{name}.log")
        print(f"{lab.suite} {name}: {(debug.reports(log) or ['nothing'])[0].splitlines()[0]}")
        if not re.search(text, log):
            silent.append(f"{name}: no '{text}'")
    assert not silent, silent
