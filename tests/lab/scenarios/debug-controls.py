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
    "index": ("UBSAN: array-index-out-of-bounds", "static volatile int seven[7]; volatile int at = 7; seven[at] = 1;"),
    "sleep": ("sleeping function called from invalid context", "might_sleep();"),
}
# All CPUs write to it while they receive: KCSAN watches one access in 500.
RACE = ("KCSAN: data-race", "int i; for (i = 0; i < 2000; i++) control_shared++;")

WORKAROUNDS = ["-B", "CFLAGS_MODULE=-Wno-error -DSTAPCONF_UPROBE_UNREGISTER_EXPORTED"]

# Two locks of stapgen's, as they are, one within the other. It comes first: lockdep is silent from
# the first report on, its own or another's.
LOCKS = ("possible recursive locking", "stapgen_lock(&one); stapgen_lock(&two); stapgen_unlock(&two); stapgen_unlock(&one);")
# In place of rx-latency's: a table of which the last row is missing.
SHORT_TABLE = (r"(static struct stapgen_row name##_rows)\[\((\w+)\) \+ 1\]", r"\1[\2]")
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
if [ -e table.ko ]; then
    dmesg -C
    report table json table --format json || exit 1
    python3 flood.py
    end_trace table
    dmesg >table.log
fi
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
    if lab.suite == "debug":
        (lab.work / "flood.py").write_text(debug.FLOOD)
        short = debug.changed_stapgen(lab, "short", debug.SMALL_TABLES, SHORT_TABLE)
        build_modules(lab, {"table": ["rx-latency"]}, program=short)
    (lab.work / "controls").write_text(" ".join(controls(lab)))


def check(lab):
    expected = {name: text for name, (text, _) in controls(lab).items()}
    if lab.suite == "debug":
        expected["table"] = "KASAN: global-out-of-bounds"
    silent = []
    for name, text in expected.items():
        log = lab.read(f"{name}.log")
        print(f"{lab.suite} {name}: {(debug.reports(log) or ['nothing'])[0].splitlines()[0]}")
        if text not in log:
            silent.append(f"{name}: no '{text}'")
    assert not silent, silent
