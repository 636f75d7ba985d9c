# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest's runs: the traced ones in turn, with an untraced one before and behind each."""

import dataclasses

import figures
import tracers
from guests import BenchGuest
from lablib import scenario
from lablib.common import LabError, say

TIMEOUT = 7200


@dataclasses.dataclass(frozen=True)
class Part:
    """One boot: COUNTS is how much of which traffic makes one run."""

    kind: str    # instructions or times
    cpus: int
    link: str    # lo, or virtio: the client is at the wire's other end
    counts: dict
    rounds: int


def traced(tracer, what, count, label, target):
    """Return the guest's lines of one traced run; none where TRACER needs a target and the traffic has none."""
    arguments = list(tracer.arguments)
    if target or tracer.needs_target:
        if what not in ("ask", "memcached"):
            return []
        arguments += {"bpftrace": [], "netstacklat": ["-p"]}.get(tracer.kind, ["-x"]) + ["$TARGET"]
    start = " ".join(["start", tracer.kind, label, tracer.program, *arguments])
    return [f"TARGET=${what.upper()}_TID", f"if {start}; then traffic {what} {count} {label}; stop; fi"]


def guest_script(part, wanted, target):
    """Return the guest's script, and (tracer, traffic, round, label) of each of its traced runs."""
    lines = [f"LINK={part.link}", ". /lab/work/guest.sh"]
    if "ask" in part.counts:
        lines += ["start_ready serve --port 7001 --read read --write sendmsg || exit 1", "ASK_TID=$READY_PID"]
    if "memcached" in part.counts:
        lines += ["start_memcached || exit 1", "MEMCACHED_TID=$MC_TID"]
    lines += [f"traffic {what} {count} warm.{what}" for what, count in part.counts.items()]
    found = []
    for turn in range(part.rounds):
        for what, count in part.counts.items():
            lines.append(f"sleep 1; traffic {what} {count} untraced.{what}.{turn}.first")
            for tracer in wanted:
                label = f"{tracer.name}.{what}.{turn}"
                commands = traced(tracer, what, count, label, target)
                if commands:
                    lines += [*commands, f"sleep 1; traffic {what} {count} untraced.{what}.{turn}.{tracer.name}"]
                    found.append((tracer, what, turn, label))
    return "\n".join([*lines, "finish"]), found


def measure(lab, part, wanted, target):
    """Boot a guest for PART, and return its runs in their order."""
    for old in ("*.account", "*.end", "*.err"):
        for path in lab.work.glob(old):
            path.unlink()
    (lab.work / "results").write_text("")
    script, expected = guest_script(part, wanted, target)
    guest = BenchGuest(lab, part.cpus, part.kind == "instructions", part.link == "virtio")
    say(f"{part.kind}, {part.cpus} CPU, {part.link}: {', '.join(part.counts)}")
    code = scenario.run_script(guest, script, TIMEOUT)
    if code:
        raise LabError(f"the guest's script ended with {code}; see {guest.boot / 'output'}")
    results = figures.parse(lab.read("results"))
    about = {label: (tracer, turn) for tracer, _, turn, label in expected}
    found = []
    for label, result in results.items():
        if label.startswith("untraced."):
            found.append({"tracer": "untraced", "round": int(label.split(".")[2]), **result})
        elif label in about:
            tracer, turn = about[label]
            found.append({"tracer": tracer.name, "recipe": tracer.recipe, "round": turn, **result,
                          "account": tracers.account(tracer, lab, label)})
    for tracer, what, turn, label in expected:
        if label not in results:
            found.append({"tracer": tracer.name, "traffic": what, "round": turn, "failed": lab.read(f"{label}.err")
                          if (lab.work / f"{label}.err").exists() else "it did not start, or its traffic failed"})
    return found
