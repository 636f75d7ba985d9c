# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes of functions that ftrace calls itself (workaround ftrace-hooks), beside what else uses ftrace: each packet is counted.

Another run, the function tracer and a live patch have the same functions; ftrace cannot be switched off while a run has it,
and where it was off before, a run says so and sees no function. Eight loads and unloads go on under traffic; then more of
two modules at once, while the function tracer, a live patch and ftrace itself come and go. The kernel has nothing to tell of
all that, in a debug kernel of 46 such loads. STAPGEN_LAB_REAL_TIME=1: on CPUs that run side by side.
"""

import os
import re

from lablib import debug, kernel
from lablib.events import read_report

DESCRIPTION = "probes that ftrace calls: with another run, the function tracer, a live patch, ftrace off, loads under traffic"
IN_CI = ("trixie", "forky")
ALONE = "it switches the machine's ftrace off"
REAL_TIME = os.environ.get("STAPGEN_LAB_REAL_TIME") == "1"
TIMEOUT = 3600
BUILD = {"tx": ["tx-latency"], "kprobes": ["tx-latency", "--no-workaround", "ftrace-hooks"], "sock": ["sock-latency"]}
REQUESTS, LOADS = 53, 8
# Loads of each of two modules.
STORM, STORM_DEBUG = 5, 23
# A request and its reply.
PACKETS = 2 * REQUESTS
# What goes on while each of these runs: see GUEST.
RUNS = ("hooked", "kept", "one", "two", "beside", "traced", "patched", "under")

GUEST = f"""
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
cd /lab/work
off=/proc/sys/kernel/ftrace_enabled
start_ready serve --port 7001 || exit 1
packets() {{ ask --port 7001 --requests {REQUESTS} >/dev/null || exit 1; }}

record hooked tx || exit 1
cp /sys/kernel/tracing/enabled_functions functions
packets
end_records hooked
record kprobes kprobes || exit 1
cp /sys/kernel/tracing/enabled_functions functions-kprobes
packets
end_records kprobes

record kept tx || exit 1
echo 0 2>/dev/null >$off && echo it can be switched off >switched
packets
end_records kept

record one tx || exit 1; record two tx || exit 1; record beside kprobes || exit 1
packets
end_records one two beside

echo 'inet_sendmsg ip_output' >/sys/kernel/tracing/set_ftrace_filter
record traced tx || exit 1
echo function >/sys/kernel/tracing/current_tracer
packets
echo nop >/sys/kernel/tracing/current_tracer
end_records traced
echo >/sys/kernel/tracing/set_ftrace_filter

settled() {{ [ $(cat /sys/kernel/livepatch/patched_send/transition) = 0 ]; }}
insmod kernel/patched_send.ko && wait_for settled || exit 1
record patched tx || exit 1
packets
end_records patched
echo 0 >/sys/kernel/livepatch/patched_send/enabled
wait_for '[ ! -e /sys/kernel/livepatch/patched_send ]' && rmmod patched_send || exit 1
record under tx || exit 1
insmod kernel/patched_send.ko && wait_for settled || exit 1
packets
end_records under
echo 0 >/sys/kernel/livepatch/patched_send/enabled
wait_for '[ ! -e /sys/kernel/livepatch/patched_send ]' && rmmod patched_send || exit 1

echo 0 >$off || exit 1
record off tx || exit 1; record off-sock sock || exit 1
packets
end_records off off-sock
echo 1 >$off

busy=
again() {{ until [ -e stop ]; do "$@" 2>/dev/null; sleep 0.1; done & busy="$busy $!"; }}
again packets
for i in $(seq {LOADS}); do
    stapgen exec tx.ko -d 0.1 --format json >run.json 2>run.err
    echo "$? $(modules_left)" >>loads
done
storms={STORM}
[[ $LAB_SUITE != debug* ]] || storms={STORM_DEBUG}
storm() {{
    local i
    for i in $(seq $storms); do
        stapgen exec $1.ko -d 0.1 --format json >storm.$1.json 2>storm.$1.err
        echo "$1 $? $(sed -n 's/.*"seen": \\([0-9]*\\).*/\\1/p' storm.$1.json)" >>storm
    done
}}
turn() {{ echo $2 >$1; sleep 0.1; echo $3 >$1; }}
patch() {{
    insmod kernel/patched_send.ko && wait_for settled && echo 0 >/sys/kernel/livepatch/patched_send/enabled &&
        wait_for '[ ! -e /sys/kernel/livepatch/patched_send ]' && rmmod patched_send && echo patched >>patches
}}
echo 'inet_* tcp_* ip_*' >/sys/kernel/tracing/set_ftrace_filter
again turn /sys/kernel/tracing/current_tracer function nop
again turn $off 0 1
again patch
storm tx & other=$!
storm sock
wait $other
grep -s debug_locks: /proc/lockdep_stats >lockdep
touch stop
wait $busy
cp /sys/kernel/tracing/enabled_functions functions-left
finish
"""


def prepare(lab):
    kernel.build_modules(lab)


def check(lab):
    for name in (*RUNS, "kprobes"):
        account = read_report(lab, name)["accounting"]
        assert account["seen"] == account["reported"] == PACKETS, f"{name}: {account}"
    hooked, by_kernel = lab.read("functions"), lab.read("functions-kprobes")
    assert re.search(r"^inet_sendmsg .*stapkp_hook", hooked, re.MULTILINE), hooked
    assert re.search(r"^inet_sendmsg .*kprobe_ftrace_handler", by_kernel, re.MULTILINE), by_kernel
    assert "stapkp_hook" not in by_kernel and "stapkp_hook" not in lab.read("functions-left")
    assert not (lab.work / "switched").exists(), "ftrace was switched off while a run had it"
    assert "sysctl kernel.ftrace_enabled=1" in lab.read("off.err"), lab.read("off.err")
    for name in ("off", "off-sock"):
        assert read_report(lab, name)["accounting"]["reported"] == 0, name
    assert lab.read("loads").splitlines() == ["0 0"] * LOADS, lab.read("loads")
    told = [text for text in debug.reports(lab.read("dmesg")) if "KCSAN" not in text or "[stap" in text or "[patched_send" in text]
    assert not told, "\n".join(told)
    storm = [line.split() for line in lab.read("storm").splitlines()]
    print(f"{lab.suite}: {len(storm)} loads saw {sum(int(seen) for _, _, seen in storm)}; {len(lab.read('patches').splitlines())} live patches")
    is_debug = lab.suite.startswith("debug")
    assert len(storm) == 2 * (STORM_DEBUG if is_debug else STORM) and {code for _, code, _ in storm} == {"0"}, storm
    assert not is_debug or lab.read("lockdep").split()[-1] == "1", lab.read("lockdep")
    assert lab.read("modules-left").strip() == "0"
