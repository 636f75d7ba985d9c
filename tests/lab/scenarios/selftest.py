# SPDX-License-Identifier: GPL-2.0-or-later
import re

DESCRIPTION = "the lab itself: plain stap compiles in the root, the guest loads it and counts pings"
IN_CI = ()  # what it shows of the lab all others need, too

SCRIPT = """
global received, begun
// SystemTap runs "begin" before it sets the other probes, and timers come last.
probe timer.ms(10) { if (!begun++) printf("begin\\n") }
probe kprobe.function("ip_rcv_core") { received++ }
probe end { printf("received %d\\n", received) }
"""

GUEST = r"""
staprun -o trace lab_selftest.ko 2>staprun.err &
tracer=$!
wait_for "grep -q begin trace" || { cat staprun.err; exit 1; }
ping -q -c 5 -i 0.2 127.0.0.1
kill -INT $tracer
wait $tracer
start_memcached || exit 1
printf 'set key 0 0 5\r\nvalue\r\nget key\r\nquit\r\n' | nc 127.0.0.1 11211 >memcached
echo "$MC_PID $MC_TID" >threads
kill $MC_PID
finish
"""


def workarounds(lab):
    """Return stap's options that make the suite's SystemTap work with its kernel."""
    if lab.suite == "bookworm":
        runtime = lab.work / "runtime"
        lab.chroot(["cp", "-r", "/usr/share/systemtap/runtime", "/lab/work/runtime"])
        source = runtime / "stp_task_work.c"
        source.write_text(re.sub(r"\btask_work_cancel\b", "task_work_cancel_func",
                                 source.read_text()))
        return ["-R", "/lab/work/runtime"]
    if lab.suite == "trixie":
        return ["-B", "CFLAGS_MODULE=-Wno-error -DSTAPCONF_UPROBE_UNREGISTER_EXPORTED"]
    return []


def prepare(lab):
    (lab.work / "selftest.stp").write_text(SCRIPT)
    lab.chroot(["stap", *workarounds(lab), "-r", lab.release, "-p4", "-m", "lab_selftest",
                "selftest.stp"], binds=[lab.symbols_for_stap()], env={"SYSTEMTAP_DIR": "/lab/cache/systemtap"})


def check(lab):
    trace = lab.read("trace").splitlines()
    assert trace[0] == "begin", trace
    # Five pings to oneself are five requests and five replies.
    received = int(trace[-1].removeprefix("received "))
    assert received == 10, f"10 packets were received, {received} were counted"
    assert "value" in lab.read("memcached"), lab.read("memcached")
    process, thread = map(int, lab.read("threads").split())
    assert thread > process, "memcached's worker was not found"
    assert lab.read("modules-left").strip() == "0"
