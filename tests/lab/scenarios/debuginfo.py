# SPDX-License-Identifier: GPL-2.0-or-later
"""The same truths by DWARF as without it; and DWARF as the way out where a function has no symbol."""

import bisect
import collections
import gzip
import re

from lablib.events import Trace, check_sums, median, stage
from lablib.scenario import build_modules

DESCRIPTION = "rx-, tx- and sock-latency built with --debuginfo require: the counts and the 20 ms that there are (trixie only)"
IN_CI = ("trixie",)

# Without DWARF the others are what every other scenario measures.
MODULES = {"rx-require": "require", "rx-never": "never", "tx-require": "require", "sock-require": "require"}
REQUESTS, SLOW_REQUESTS = 1009, 53
DELAY = 20_000_000
TCP, UDP, SLOW = 7021, 7022, 7023
# What every measurement is about: the traffic's port, its transport and the requests.
TRAFFIC = ((TCP, "tcp", REQUESTS), (UDP, "udp", REQUESTS), (SLOW, "tcp", SLOW_REQUESTS))

GUEST = r"""
start_ready serve --port 7021 || exit 1
start_ready serve --port 7022 --udp --write sendto || exit 1
start_ready serve --port 7023 --delay-ms 20 || exit 1
# Those of a recipe measure the same packets.
for modules in "rx-require rx-never rx-older rx-auto" tx-require sock-require; do
    for module in $modules; do record $module $module --comm serve || exit 1; done
    ask --port 7021 --requests 1009 && ask --port 7022 --udp --requests 1009 && ask --port 7023 --requests 53 || exit 1
    end_records $modules
done
finish
"""


def without_symbols(lab, *names):
    """Return the path of a symbol table without NAMES."""
    lines = gzip.decompress(lab.root.symbols.read_bytes()).decode().splitlines(True)
    kept = [line for line in lines if line.split()[2] not in names]
    assert len(lines) - len(kept) == len(names)
    (lab.work / f"without-{len(names)}.gz").write_bytes(gzip.compress("".join(kept).encode(), mtime=0))
    return f"/lab/work/without-{len(names)}.gz"


def check_once(lab, bind):
    """No alias puts two probes into one function, as DWARF's inlined functions may: each place would count twice."""
    lines = (line.split() for line in gzip.decompress(lab.root.symbols.read_bytes()).decode().splitlines())
    functions = sorted((int(words[0], 16), words[2]) for words in lines if words[1] in "tTwW" and len(words) == 3)
    start = next(address for address, name in functions if name == "_stext")
    tapsets = "/lab/stapgen/share/stapgen/tapsets"
    text = (lab.installed / "share/stapgen/tapsets/stapgen_dwarf.stp").read_text()
    # Only the out-of-line copy has a return.
    aliases = re.findall(r'^probe (stapgen\.dwarf\.[\w.]+) =(?! [^{]*\.return\b)', text, re.M)
    script = "".join(f"probe {alias} {{ println(1) }}\n" for alias in aliases)
    found = lab.chroot(["stap", "-p2", "-r", lab.release, "-I", tapsets, "-I", f"{tapsets}/debuginfo-require", "-e", script],
                       binds=[bind]).stdout
    places = collections.defaultdict(list)
    for offset, alias in re.findall(r"pc=_stext\+0x(\w+).*?<- (stapgen\.dwarf\.[\w.]+) =", found):
        _, function = functions[bisect.bisect(functions, (start + int(offset, 16), "~")) - 1]
        places[alias].append(function)
    print(f"{lab.suite} places of {len(places)} aliases: {sum(map(len, places.values()))}; more than one: "
          + "; ".join(f"{alias} in {', '.join(names)}" for alias, names in places.items() if len(names) > 1))
    assert set(places) == set(aliases), set(aliases) - set(places)
    for alias, names in places.items():
        assert len(names) == len(set(names)), f"{alias} is two probes in one of {names}"


def check_entry(lab, module, probe):
    """MODULE notes a packet's way into IP by PROBE: its probe points are texts in it."""
    probes = re.findall(rb'k\w+\.function\("ip_rcv[^"]*"\)', (lab.work / f"{module}.ko").read_bytes())
    print(f"{lab.suite} {module}: {probes}")
    assert probes and all(found.startswith(probe.encode()) for found in probes), f"not by {probe}"


def prepare(lab):
    if lab.suite != "trixie":
        lab.skip("the kernel's DWARF is fetched for one suite only")
    binds = [lab.debuginfo()]
    check_once(lab, *binds)
    build_modules(lab, {module: [f"{module.partition('-')[0]}-latency", "--debuginfo", mode] for module, mode in MODULES.items()}, binds)
    one_less, two_less = without_symbols(lab, "ip_rcv_core"), without_symbols(lab, "ip_rcv_core", "ip_rcv")
    build_modules(lab, {"rx-older": ["rx-latency", "--debuginfo", "never"]}, binds, one_less)
    build_modules(lab, {"rx-auto": ["rx-latency", "--debuginfo", "auto"]}, binds, two_less)
    check_entry(lab, "rx-require", 'kernel.function("ip_rcv_core@')
    check_entry(lab, "rx-never", 'kprobe.function("ip_rcv_core")')
    check_entry(lab, "rx-older", 'kprobe.function("ip_rcv")')
    check_entry(lab, "rx-auto", 'kernel.function("ip_rcv_core@')
    failed = lab.stapgen(["build", "rx-latency", "--debuginfo", "never", "-r", lab.release, "--symbols", two_less,
                          "-q", "-o", "/lab/work/fails.ko"], check=False, binds=binds)
    print(f"{lab.suite} never, without ip_rcv_core and ip_rcv: exit {failed.returncode}: {failed.stderr.strip()}")
    assert failed.returncode == 1 and "no such function" in failed.stderr and not (lab.work / "fails.ko").exists()


def check_packets(trace, names):
    """Every request is one packet received, or sent, by the server, with each stage of its transport."""
    for port, transport, requests in TRAFFIC:
        events = trace.of_port(port)
        trace.expect(len(events), requests, "packets")
        for name in names[transport]:
            assert len(stage(events, name)) == len(events), f"{trace.name}: {name} is missing"
        print(f"  {transport} {len(events)} packets; medians "
              + ", ".join(f"{name} {median(stage(events, name)) / 1e6:.3f}" for name in names[transport]) + " ms")


def check(lab):
    received = {"tcp": ("drv-ip", "ip-tcp", "tcp-app"), "udp": ("drv-ip", "ip-udp", "udp-app")}
    sent = {"tcp": ("app-tcp", "tcp-ip", "ip-drv", "qdisc"), "udp": ("app-udp", "udp-ip", "ip-drv", "qdisc")}
    for mode in ("require", "never", "older", "auto"):
        check_packets(Trace(lab, f"rx-{mode}"), received)
    check_packets(Trace(lab, "tx-require"), sent)
    trace = Trace(lab, "sock-require")
    check_sums(trace.events)
    for port, transport, requests in TRAFFIC:
        if transport == "tcp":
            trace.expect(len(trace.of_port(port)), requests)
    app = stage(trace.of_port(SLOW), "app")
    print(f"  app of the slow server: min {min(app) / 1e6:.2f} median {median(app) / 1e6:.2f} ms")
    assert min(app) >= DELAY
    assert lab.read("modules-left").strip() == "0"
