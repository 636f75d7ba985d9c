# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run costs: sockets are sampled by their hash, hits are as predicted, and the guard ends what is over its budget.

512 connections on loopback are asked 3 times each. Of those that are sampled, rx-latency and tx-latency have each record,
and of the others none. Then three loads under --cost, whose hits recipe.toml tells
from the kernel's counters. Last a budget that no run can keep to.
"""

import json
import re
import shutil

from lablib.events import Trace, read_report

DESCRIPTION = "sampling by hash, hits as predicted for three loads, and SystemTap's guard, which ends a run over its budget"
LIVE = True
IN_CI = ()
BUILD = {"rx": ["rx-latency", "--cost"], "tx": ["tx-latency", "--cost"]}
# The kernel's hash of a socket is keyed anew at each boot: of 512, 64 are expected, and less than half of that once in 10^6 boots.
CONNECTIONS, EACH, ONE_IN = 512, 3, 8
REQUESTS = 503
LOADS = ("requests", "transfer", "datagrams")
# recipe.toml's hits of a packet, and the function that each is in once.
PER_PACKET = {"rx": 6, "tx": 9}
IP_FUNCTION = {"rx": 'kprobe.function("ip_rcv_core")', "tx": 'kprobe.function("ip_output")'}

GUEST = r"""
start_ready serve --port 7001 || exit 1
start_ready serve --udp --write sendto --port 7002 || exit 1
requests() { ask --port 7001 --requests REQUESTS --connections 4 --one-thread; }
datagrams() { ask --udp --port 7002 --requests REQUESTS; }
transfer() {
    start_ready bulk --receive --port 7003 || return
    bulk --send --port 7003 --bytes 8000009
    wait $READY_PID
}

record all rx --port 7001 || exit 1
record received rx --port 7001 --sample ONE_IN || exit 1
record sent tx --port 7001 --sample ONE_IN || exit 1
ask --port 7001 --requests TOTAL --connections CONNECTIONS --one-thread || exit 1
end_records all received sent

# timed NAME COMMAND: NAME.said gets what it prints.
timed() { $2 >$1.said; }
for load in requests transfer datagrams; do
    $load >/dev/null && timed plain-$load $load || exit 1
    for recipe in rx tx; do
        record $recipe-$load $recipe || exit 1
        timed $recipe-$load $load || exit 1
        end_records $recipe-$load
    done
done

# At a rate: what is predicted from the counters of now, and what it was then.
ask --udp --port 7002 --requests 100000 --gap-ms 2 >/dev/null &
ASKER=$!
sleep 1
stapgen show rx-latency --json >show.json || exit 1
stapgen exec rx.ko -d 2 --format json >rate.json 2>rate.err || { cat rate.err; exit 1; }
stapgen rx-latency --budget 0.01% --dry-run >dry-run
kill $ASKER

stapgen exec guarded.ko -d 60 >guarded.txt 2>guarded.err &
GUARDED=$!
wait_traced guarded.err || exit 1
for round in $(seq 200); do
    kill -0 $GUARDED 2>/dev/null || break
    datagrams >/dev/null
done
wait $GUARDED
echo $? >guarded.exit
finish
""".replace("ONE_IN", str(ONE_IN)).replace("TOTAL", str(CONNECTIONS * EACH)).replace("CONNECTIONS", str(CONNECTIONS)).replace(
    "REQUESTS", str(REQUESTS))


def prepare(lab):
    # The lab's own cache has a file that switches SystemTap's guard off.
    shutil.copytree(lab.cache / "stapgen", lab.work / "cache/stapgen", symlinks=True)
    (lab.work / "cache/stapgen/systemtap/rc").unlink()
    lab.chroot(["env", "XDG_CACHE_HOME=/lab/work/cache", "stapgen", "build", "rx-latency", "--budget", "1%", "-r",
                lab.release, "--symbols", lab.symbols, "-o", "/lab/work/guarded.ko"])
    shutil.rmtree(lab.work / "cache")


def sockets(trace):
    """The pairs of ports of a trace's records, and how many there are of each."""
    found = {}
    for event in trace.events:
        ports = tuple(sorted(int(event[end].rsplit(":", 1)[1]) for end in ("local", "remote")))
        found[ports] = found.get(ports, 0) + 1
    return found


def check_sample(lab):
    everything, received, sent = (Trace(lab, name) for name in ("all", "received", "sent"))
    known, sampled = sockets(everything), sockets(received)
    assert len(known) == CONNECTIONS and set(known.values()) == {2 * EACH}, known
    expected = {ports: count for ports, count in known.items() if ports in sampled}
    print(f"{lab.suite}: 1 in {ONE_IN} of {CONNECTIONS} sockets are {len(expected)}")
    assert CONNECTIONS / ONE_IN / 2 <= len(expected) <= CONNECTIONS / ONE_IN * 2
    assert sampled == expected, (sampled, expected)
    assert sockets(sent) == expected, (sockets(sent), expected)
    for report in (received.report, sent.report):
        assert report["sample"] == {"one_in": ONE_IN, "estimated_records": len(expected) * 2 * EACH * ONE_IN}, report
        account = report["accounting"]
        assert account["reported"] == len(expected) * 2 * EACH, account
        assert account["filtered"] >= (CONNECTIONS - len(expected)) * 2 * EACH, account
    assert "sample" not in everything.report


def check_cycles(lab, recipe, load, cost):
    """The handlers' time is near to what requests take longer under them; some runs between two of them."""
    usual, plain = (int(re.search(r"usual-ns (\d+)", lab.read(f"{name}-{load}.said"))[1]) for name in (recipe, "plain"))
    longer = (usual - plain) * REQUESTS / 1000
    mine = cost["cycles"] / cost["cycles_per_s"] * 1e6
    print(f"    {load} takes {longer:.0f} us longer, {mine:.0f} of these in handlers")
    assert 0.5 * longer <= mine <= 2 * longer, f"{recipe}, {load}: {mine} us of {longer}"


def check_hits(lab):
    for load in LOADS:
        for recipe in ("rx", "tx"):
            cost = read_report(lab, f"{recipe}-{load}")["cost"]
            ratio = cost["expected_hits"] / cost["hits"]
            print(f"{lab.suite} {recipe} {load}: {cost['hits']} hits, {cost['expected_hits']} expected ({ratio:.2f}), "
                  f"{cost['cycles'] / cost['hits']:.0f} cycles each, {cost['one_cpu_percent']:.1f} % of a CPU")
            for probe in sorted(cost["probes"], key=lambda probe: -probe["hits"]):
                print(f"    {probe['hits']:7} {probe['cycles'] / probe['hits']:7.0f} {probe['point']}")
            # Of a transfer a segment may be a part of a write call, or of several: that is not in the counters.
            if load == "transfer":
                hits = {probe["point"]: probe["hits"] for probe in cost["probes"]}
                ratio = cost["expected_hits"] / PER_PACKET[recipe] / hits[IP_FUNCTION[recipe]]
            assert 0.98 <= ratio <= 1.02, f"{recipe}, {load}: {cost}"
            percent = 100 * cost["cycles"] / cost["cycles_per_s"] / cost["measured_ns"] * 1e9
            assert abs(cost["one_cpu_percent"] - percent) < 0.001 * percent, f"{percent}: {cost}"
            if load != "transfer":
                check_cycles(lab, recipe, load, cost)
    expected, measured = json.loads(lab.read("show.json"))["expected"], json.loads(lab.read("rate.json"))["cost"]
    print(f"{lab.suite} at a rate: {expected['hits_per_s']:.0f} hits/s, {expected['all_cpus_percent']:.2f} % were predicted; "
          f"{measured['hits'] / measured['measured_ns'] * 1e9:.0f} hits/s, {measured['all_cpus_percent']:.2f} % it was")


def check(lab):
    check_sample(lab)
    check_hits(lab)
    assert "stapgen_sample=16" in lab.read("dry-run"), lab.read("dry-run")
    assert "exceeds the budget of 0.010 %" in lab.read("dry-run"), lab.read("dry-run")
    assert lab.read("guarded.exit").strip() == "6", lab.read("guarded.err")
    assert "cycles of a CPU, more than the limit of 30000000" in lab.read("guarded.err"), lab.read("guarded.err")
    assert "seen = " in lab.read("guarded.txt"), lab.read("guarded.txt")
    assert lab.read("modules-left").strip() == "0"
