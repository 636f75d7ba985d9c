# SPDX-License-Identifier: GPL-2.0-or-later
"""What may trace: how it is built, how it is started in the guest, and what it says it has measured."""

import dataclasses
import json
import os
import pathlib
import re
import shutil

from lablib import captures
from lablib.common import LabError, locked, say
from lablib.scenario import build_modules

FOLDER = pathlib.Path(__file__).resolve().parent
# Of stap -t: a probe, its hits, and its handler's mean cycles, which are instructions where the guest's clock counts them.
PROBE = re.compile(r"^([^,\n]*), \(.*hits: (\d+), cycles: \d+min/(\d+)avg", re.M)
RECIPES = ("rx", "tx", "sock")
WITH_PARTS = ("rx", "tx")
BPFTRACE_PACKAGE = "bpftrace"


@dataclasses.dataclass(frozen=True)
class Tracer:
    name: str
    kind: str             # a KIND of guest.sh's start
    program: str          # the module's or the script's name
    recipe: str           # what of RECIPES it measures, or does in its own way
    arguments: tuple = ()
    build: tuple = ()     # the arguments of stapgen build, if that makes the program
    needs_target: bool = False
    is_detail: bool = False   # of another tracer: what its lines cost, or its part in the kernel
    counts_hits: bool = False   # what it costs is not that of the recipe


def all_tracers():
    """Return every tracer there is, by name, in the order of the table."""
    found = []
    for recipe in RECIPES:
        build = (f"{recipe}-latency",)
        found.append(Tracer(recipe, "exec", recipe, recipe, ("--format", "ndjson"), build))
        found.append(Tracer(f"{recipe}-events", "exec", recipe, recipe, ("--events", "--format", "ndjson"), build,
                            is_detail=True))
        found.append(Tracer(f"{recipe}-kernel", "staprun", recipe, recipe, (), build, is_detail=True))
        found.append(Tracer(f"{recipe}-hits", "staprun", f"{recipe}-hits", recipe, (), build, counts_hits=True))
        build = (*build, "--aggregate")
        found.append(Tracer(f"{recipe}-agg", "exec", f"{recipe}-agg", recipe, ("--format", "ndjson"), build))
        found.append(Tracer(f"{recipe}-agg-kernel", "staprun", f"{recipe}-agg", recipe, (), build, is_detail=True))
        found.append(Tracer(f"{recipe}-agg-hits", "staprun", f"{recipe}-agg-hits", recipe, (), build, counts_hits=True))
        if recipe in WITH_PARTS:
            found.append(Tracer(f"{recipe}-agg-no-parts", "exec", f"{recipe}-agg-no-parts", recipe, ("--format", "ndjson"),
                                (*build, "--no-parts")))
        found.append(Tracer(f"bpf-{recipe}", "bpftrace", recipe, recipe))
        found.append(Tracer(f"bpf-{recipe}-hits", "bpftrace", recipe, recipe, counts_hits=True))
    found.append(Tracer("netstacklat", "netstacklat", "netstacklat", "rx"))
    found.append(Tracer("seed-stages", "staprun", "seed-stages", "rx"))
    found.append(Tracer("seed-tracker", "staprun", "seed-tracker", "sock", needs_target=True))
    return {tracer.name: tracer for tracer in found}


def fetch_bpftrace(lab):
    """Put Debian's bpftrace, with the libraries that the root has not, where guests see it as /lab/cache/bpftrace."""
    target = lab.cache / "bpftrace"
    with locked(f"bpftrace-{lab.suite}"):
        if target.exists():
            return
        say("fetching bpftrace")
        captures.unpack_packages(lab, BPFTRACE_PACKAGE)
        unpacked = lab.work / "tools"
        shutil.rmtree(unpacked / "usr/share")
        shutil.move(unpacked, target.with_name("bpftrace.part"))
        target.with_name("bpftrace.part").rename(target)


def build(lab, tracers, netstacklat):
    """Build what TRACERS run, or take it from NETSTACKLAT; return those of them that can be: stapgen may refuse to aggregate."""
    ready, made = [], {}
    for tracer in tracers:
        if tracer.kind == "bpftrace":
            fetch_bpftrace(lab)
            shutil.copy(FOLDER / f"{tracer.program}.bt", lab.work)
        elif tracer.kind == "netstacklat":
            shutil.copy(netstacklat, lab.work / tracer.program)
        elif tracer.build:
            if tracer.program not in made:
                made[tracer.program] = (build_hits if tracer.counts_hits else try_build)(lab, tracer)
            if not made[tracer.program]:
                continue
        else:
            shutil.copy(FOLDER / f"{tracer.program}.stp", lab.work)
            compile_plain(lab, tracer.program)
        ready.append(tracer)
    return ready


def compile_plain(lab, program, *options):
    """Let plain stap make PROGRAM.ko of /lab/work/PROGRAM.stp."""
    module = program.replace("-", "_")
    boot = lab.work / "boot", "/boot"
    if not boot[0].exists():
        lab.symbols_for_stap()
    # With -t stap leaves the report of hits out where its output is no terminal.
    master, terminal = os.openpty()
    lab.chroot(["stap", "-p4", "-r", lab.release, "-m", module, *options, f"{program}.stp"], binds=[boot],
               env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"}, stdout=terminal)
    os.close(terminal)
    os.close(master)
    (lab.work / f"{module}.ko").rename(lab.work / f"{program}.ko")


def build_hits(lab, tracer):
    """Build a recipe's script so that SystemTap counts the hits of its probes."""
    rendered = lab.stapgen(["render", *tracer.build], check=False)
    if rendered.returncode:
        return False
    (lab.work / f"{tracer.program}.stp").write_text(rendered.stdout)
    tapsets = "/lab/stapgen/share/stapgen/tapsets"
    compile_plain(lab, tracer.program, "-t", "-I", tapsets, "-I", f"{tapsets}/debuginfo-auto", "-D", "INTERRUPTIBLE=0",
                  "-D", "MINSTACKSPACE=0", "-D", "MAXACTION=100000", "-D", "MAXTRYLOCK=1000")
    return True


def try_build(lab, tracer):
    try:
        build_modules(lab, {tracer.program: list(tracer.build)})
    except LabError as failure:
        if "--aggregate" not in tracer.build:
            raise
        say(f"left out {tracer.name}: stapgen build {' '.join(tracer.build)}: {str(failure).splitlines()[-1]}")
        return False
    return True


def account(tracer, lab, name):
    """Return what TRACER says of the run NAME: seen, reported, lost (by cause), missed (probes that did not run)."""
    text, errors = lab.read(f"{name}.account"), lab.read(f"{name}.err")
    missed = int(re.search(r"missed (\d+)", lab.read(f"{name}.end"))[1])
    exit_code = int(re.search(r"exit (\d+)", lab.read(f"{name}.end"))[1])
    result = {"exit": exit_code, "missed": missed}
    if tracer.counts_hits and tracer.kind == "bpftrace":
        return {**result, "hits": int(re.search(r"hits (\d+)", lab.read(f"{name}.end"))[1])}
    if tracer.counts_hits:
        probes = [(probe, int(hits), int(mean)) for probe, hits, mean in PROBE.findall(text)]
        return {**result, "hits": sum(hits for _, hits, _ in probes), "probes": probes}
    if tracer.kind == "bpftrace":
        # A count of 0 is not printed.
        result |= {"seen": 0, "reported": 0}
        result |= {key: int(value) for key, value in re.findall(r"^@(seen|reported): (\d+)", text, re.M)}
        return result
    if tracer.kind == "netstacklat":
        # It prints all since its start again and again; the last one counts.
        counts = {hook: int(count) for hook, count in re.findall(r"^(\S+):\ncount: (\d+)", text, re.M)}
        return {**result, "seen": counts.get("ip-start", 0),
                "reported": counts.get("tcp-socket-read", 0) + counts.get("udp-socket-read", 0)}
    skipped = re.search(r"skipped probes: (\d+)", errors)
    result["missed"] = int(skipped[1]) if skipped else 0
    if tracer.kind == "exec":
        said = json.loads(text)["accounting"] if text.startswith('{"') else {}
        result["missed"] = said.get("skipped_probes", result["missed"])
        result |= {key: said[key] for key in ("seen", "reported", "incomplete", "lost", "transport_failures") if key in said}
    elif tracer.name == "seed-stages":
        result["reported"] = int(text.split()[0])
    elif tracer.name == "seed-tracker":
        result["reported"] = int(re.findall(r"count=(\d+)", "count=0 " + text)[-1])
    else:
        last = re.findall(r"^end\t.*", text, re.M)
        result |= {key: int(value) for key, value in re.findall(r"\b(seen|reported)=(\d+)", last[-1] if last else "")}
    return result
