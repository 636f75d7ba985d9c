"""What a debug kernel must tell: each control is one fault. Where the log lacks one, it says nothing of the recipes."""

from lablib import debug
from lablib.scenario import build_modules

DESCRIPTION = "suite debug: a use after free, reads and an index out of bounds, sleep and locks in the wrong place are reported"
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
    "index": ("UBSAN: array-index-out-of-bounds", "static int seven[7]; volatile int at = 7; WRITE_ONCE(seven[at], 1);"),
    "sleep": ("sleeping function called from invalid context", "might_sleep();"),
}
# All CPUs write to it while they receive: KCSAN watches one access in 500.
RACE = ("KCSAN: data-race", "int i; for (i = 0; i < 2000; i++) control_shared++;")

WORKAROUNDS = ["-B", "CFLAGS_MODULE=-Wno-error -DSTAPCONF_UPROBE_UNREGISTER_EXPORTED"]

# In place of rx-latency's: a table of which the last row is missing, and a lock that is taken twice.
SHORT_TABLE = (r"(static struct stapgen_row name##_rows)\[\((\w+)\) \+ 1\]", r"\1[\2]")
TWICE = (debug.SEEN_LOCKS[1][0], "lock_map_acquire(&debug_FILE_map); " + debug.SEEN_LOCKS[1][1])
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
# Lockdep is silent from its first report on, so that its own control is the last.
for control in table twice; do
    [ -e $control.ko ] || continue
    dmesg -C
    report $control json $control --format json || exit 1
    python3 flood.py
    end_trace $control
    dmesg >$control.log
done
exit 0
"""


def controls(lab):
    return FAULTS if lab.suite == "debug" else {"sleep": FAULTS["sleep"], "race": RACE}


def prepare(lab):
    debug.only_here(lab)
    for name, (_, code) in controls(lab).items():
        probe = 'kernel.trace("netif_receive_skb")' if name == "race" else "timer.ms(500)"
        (lab.work / f"{name}.stp").write_text(
            "%{\n#include <linux/slab.h>\nint control_shared;\n%}\n"
            f"function control() %{{ {code} %}}\nprobe {probe} {{ control() }}\n")
        module = f"control_{name.replace('-', '_')}"
        lab.chroot(["stap", "-g", *WORKAROUNDS, "-r", lab.release, "-p4", "-m", module, f"{name}.stp"],
                   env={"SYSTEMTAP_DIR": "/lab/cache/systemtap"})
    (lab.work / "flood.py").write_text(debug.FLOOD)
    twice = debug.changed_stapgen(lab, "twice", debug.SMALL_TABLES, debug.SEEN_LOCKS[0], TWICE, debug.SEEN_LOCKS[2])
    build_modules(lab, {"twice": ["rx-latency"]}, program=twice)
    if lab.suite == "debug":
        short = debug.changed_stapgen(lab, "short", debug.SMALL_TABLES, SHORT_TABLE)
        build_modules(lab, {"table": ["rx-latency"]}, program=short)
    (lab.work / "controls").write_text(" ".join(controls(lab)))


def check(lab):
    expected = {name: text for name, (text, _) in controls(lab).items()} | {"twice": "possible recursive locking"}
    if lab.suite == "debug":
        expected["table"] = "KASAN: global-out-of-bounds"
    silent = []
    for name, text in expected.items():
        log = lab.read(f"{name}.log")
        print(f"{lab.suite} {name}: {(debug.reports(log) or ['nothing'])[0].splitlines()[0]}")
        if text not in log:
            silent.append(f"{name}: no '{text}'")
    assert not silent, silent
