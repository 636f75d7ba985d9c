"""The whole path in the guest: its own stap, passes 1 to 5, the commands typed literally."""

import re

DESCRIPTION = "a machine with its own stap: rx-latency --target-tid, dropwatch --interval 5, Ctrl-C"
IN_CI = ("trixie",)

GUEST = r"""
start_memcached || exit 1
requests() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=509 --test=get; }

stapgen rx-latency --target-tid $MC_TID >rx.out 2>rx.err &
tracer=$!
wait_traced rx.err || { cat rx.err; exit 1; }
requests >rx.traffic 2>&1
sleep 0.5
kill -INT $tracer
wait $tracer
echo $? >rx.exit
modules_left >rx.modules

stapgen dropwatch --interval 5 >drops.out 2>drops.err &
tracer=$!
wait_traced drops.err || { cat drops.err; exit 1; }
for i in $(seq 13); do nc -z -w1 127.0.0.1 9; done
sleep 11
for i in $(seq 7); do nc -z -w1 127.0.0.1 9; done
kill -INT $tracer
wait $tracer
echo $? >drops.exit
finish
"""


def prepare(lab):
    # Emulated compiling takes minutes: what the guest's stap will ask for is put into its cache here.
    for recipe in (["rx-latency"], ["dropwatch", "--interval", "5"]):
        lab.stapgen(["build", *recipe, "-r", lab.release, "--symbols", lab.symbols, "-o", "/lab/work/warm.ko"])


def check(lab):
    for run in ("rx", "drops"):
        print(f"--- {lab.suite} {run}\n{lab.read(run + '.err')}{lab.read(run + '.out')}")
        assert lab.read(f"{run}.exit").strip() == "0"
    assert lab.read("rx.modules").strip() == "0"
    assert lab.read("modules-left").strip() == "0"
    n = [int(n) for n in re.findall(r"^(?:drv-ip|ip-tcp|tcp-app) +(\d+)", lab.read("rx.out"), re.M)]
    assert len(n) >= 3 and all(1018 <= each <= 1030 for each in n[:3]), n
    assert "reported" in lab.read("rx.out")
    drops = lab.read("drops.out")
    intervals, total = drops.split("total:")
    counts = [int(n) for n in re.findall(r"^ *(\d+) tcp_v4_rcv\S* +NO_SOCKET", intervals, re.M)]
    assert sum(counts) == 20 and len(counts) >= 2, counts
    assert re.search(r"^ *20 tcp_v4_rcv\S* +NO_SOCKET", total, re.M), total
