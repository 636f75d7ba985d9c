#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of tests/bench/overhead, from runs whose cost and losses are known; docs/inside/benchmarks.md has them. Nothing is measured."""

import json
import pathlib
import subprocess
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "overhead.d"), str(HERE.parent / "lab")]

import cost_tables  # noqa: E402 pylint: disable=wrong-import-position
import figures  # noqa: E402 pylint: disable=wrong-import-position
import runs  # noqa: E402 pylint: disable=wrong-import-position
import tracers  # noqa: E402 pylint: disable=wrong-import-position


def result(tracer, us, turn=0, **more):
    return {"tracer": tracer, "traffic": "ask", "round": turn, "units": 1009, "us": us, **more}


def traced(us, turn, reported, missed=0):
    return result("rx", us, turn, recipe="rx", account={"reported": reported, "missed": missed})


# A machine that becomes slower: the neighbours of the first traced run take 1000 us on average, those of the second 3000.
PART = {"kind": "times", "cpus": 2, "link": "lo", "rounds": 2, "counts": {"ask": 1009},
        "runs": [result("untraced", 900), traced(1500, 0, 2018), result("untraced", 1100), result("untraced", 2900, 1),
                 traced(3300, 1, 2011, missed=3), result("untraced", 3100, 1)]}


def check_lines():
    found = figures.parse("run=rx.ask.0 traffic=ask units=1009 us=1500\n"
                          "run=rx.flood.0 traffic=flood units=53 us=7 received=47 before=0,0 after=48,5\n")
    assert found["rx.ask.0"] == {"traffic": "ask", "units": 1009, "us": 1500}
    flood = found["rx.flood.0"]
    assert figures.cost(flood) == 7000 / 47 and figures.flood(flood) == (53, 47, 5), flood
    assert figures.cost({"traffic": "bulk", "units": 101, "us": 7, "bytes": 3500}) == 2000


def check_ratios():
    assert round(figures.slowdown(PART["runs"], 1), 9) == 1.5
    assert round(figures.slowdown(PART["runs"], 4), 9) == 1.1
    assert figures.figures_of(PART, "ask", "rx", False) == {
        "more": [396.432, 297.324, 495.54], "times": [1.3, 1.1, 1.5], "skipped": 3, "lost": 7, "of": 4036}
    assert figures.spread([3, 1, 2]) == [2, 1, 3] and figures.spread([7]) == [7]
    assert figures.free(PART, "ask") == 2000 * 1000 / 1009


def check_records():
    run = {"traffic": "memcached", "units": 1006, "recipe": "rx", "tracer": "rx"}
    assert figures.made(run, {"link": "lo"}, False) == 2013
    assert figures.made(run, {"link": "lo"}, True) == 1007
    assert figures.made(run, {"link": "virtio"}, False) == 1007
    assert figures.made({**run, "recipe": "sock"}, {"link": "lo"}, False) == 2011
    assert figures.made({**run, "traffic": "bulk"}, {"link": "lo"}, False) is None
    assert figures.made({**run, "traffic": "flood", "received": 47}, {"link": "lo"}, False) == 48


def check_table():
    failed = {"tracer": "tx", "traffic": "ask", "round": 1, "failed": "no such file"}
    hits = {**traced(1, 0, 0, missed=2), "tracer": "rx-hits", "account": {"hits": 3027, "missed": 2}}
    part = {**PART, "runs": PART["runs"] + [failed, hits]}
    kept = figures.condensed({"kernel": "0.0.0", "stap": "5.6", "target": False, "parts": [part]})
    table = figures.table(json.loads(json.dumps(kept)))
    for line in ("Linux 0.0.0, SystemTap 5.6.", "| untraced | 1,982 ns |", "| rx | 1.30 (1.10..1.50) |", "| tx | failed |",
                 "| rx-hits | 3.0 hits |", "Records lost: ask rx 7 of 4,036.", "Probes skipped: ask rx 3, ask rx-hits 2."):
        assert f"\n{line}\n" in f"\n{table}", (line, table)


def check_instructions():
    """A flood that lost some, and the ratio to bpftrace."""
    def flood(tracer, us, received):
        return {"tracer": tracer, "recipe": "rx", "traffic": "flood", "round": 0, "units": 53, "us": us, "received": received,
                "before": "0,0", "after": f"{received},{53 - received}", "account": {"reported": received + 1, "missed": 0}}
    part = {**PART, "kind": "instructions", "rounds": 1, "cpus": 1,
            "runs": [flood("untraced", 53, 53), flood("rx-agg", 47 * 3, 47), flood("bpf-rx", 53 * 2, 53)]}
    table = figures.table(figures.condensed({"kernel": "0.0.0", "stap": "5.6", "target": False, "parts": [part]}))
    for line in ("| untraced | 1,000 |", "| rx-agg | +2,000, 3.00 |", "| bpf-rx | +1,000, 2.00 |", "| rx-agg : bpf-rx | 2.00 |",
                 "Of 159 datagrams 153 were received and 6 dropped by the kernel's count (RcvbufErrors): 0 unaccounted "
                 "for."):
        assert f"\n{line}\n" in table, (line, table)
    part["runs"].append({"tracer": "netstacklat", "traffic": "flood", "round": 0, "failed": "it did not start"})
    table = figures.table(figures.condensed({"kernel": "0.0.0", "stap": "5.6", "target": False, "parts": [part]}))
    assert "| netstacklat | failed |" in table and "rx-agg : netstacklat" not in table, table


def check_netstacklat():
    """It prints again and again what it has counted since its start."""
    said = "".join(f"ip-start:\ncount: {n + 4}\ntcp-socket-read:\ncount: {n}\nudp-socket-read:\ncount: 2\n" for n in (53, 101))
    files = {"run.account": said, "run.err": "", "run.end": "exit 0 missed 7 hits 0"}
    found = tracers.account(tracers.all_tracers()["netstacklat"], types.SimpleNamespace(read=files.__getitem__), "run")
    assert found == {"exit": 0, "missed": 7, "seen": 105, "reported": 103}, found


def check_document():
    assert cost_tables.made() == cost_tables.DOCUMENT.read_text(), "docs/inside/benchmarks.md: run tests/bench/cost_tables.py"


def check_turns():
    """Each traced run has an untraced one before and behind it, and a tracer of one thread is not run without one."""
    part = runs.Part("times", 2, "lo", {"ask": 53, "bulk": 101}, 2)
    known = tracers.all_tracers()
    script, found = runs.guest_script(part, [known["rx"], known["seed-tracker"]], False)
    subprocess.run(["bash", "-n"], input=f"{script}\n{(HERE / 'overhead.d/guest.sh').read_text()}", text=True, check=True)
    assert [label for *_, label in found] == ["rx.ask.0", "seed-tracker.ask.0", "rx.bulk.0", "rx.ask.1",
                                              "seed-tracker.ask.1", "rx.bulk.1"]
    made = [line.split()[-1] if "start " not in line else line.split("; ")[1].split()[-1]
            for line in script.splitlines() if "traffic " in line and "warm." not in line]
    for before, here, behind in zip(made, made[1:], made[2:]):
        assert here.startswith("untraced") or before.startswith("untraced") and behind.startswith("untraced"), here


def check_refusals():
    for names, message in {"rx,bpf-xx": "no tracer bpf-xx; there are rx,", "netstacklat": "--netstacklat PROGRAM"}.items():
        done = subprocess.run([HERE / "overhead", "--only", names], text=True, capture_output=True, check=False)
        assert done.returncode == 1 and message in done.stderr, done


for check in (check_lines, check_ratios, check_records, check_table, check_instructions, check_netstacklat, check_document,
              check_turns, check_refusals):
    check()
print("the figures are as they should be")
