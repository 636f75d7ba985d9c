# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus in a guest, through restarts of stapgen and of the guest: increases to the request, quantiles within their error.

A recording of the same requests is made beside it.
"""

import json

from lablib import scraped

DESCRIPTION = "Prometheus, native and classic, 30 minutes through restarts of stapgen and of the guest: increases, p99"
# By hand: half an hour.
IN_CI = ()
BUILD = scraped.BUILD

# How many requests of each phase ask for each delay. After a restart no bucket may come to where it was before:
# Prometheus knows a restart by what has fallen.
PHASES = {"a": (503, 307, 211, 101, 29, 7), "b": (307, 211, 101, 53, 13, 3),  # serve is killed between a and b,
          "c": (101, 67, 31, 17, 5, 2), "d": (53, 31, 17, 7, 3, 1)}  # the guest ends between b and c, serve between c and d
REFUSED = {"a": 109, "b": 53, "c": 31, "d": 17}

GUEST_FUNCTIONS = r"""
# phase NAME REFUSED COUNT...: 450 s.
phase() {
    local end=$((SECONDS + 410)) name=$1
    shift
    sleep 100
    traffic "$@" || exit 1
    sleep $((end - SECONDS))
    mark $name
}
"""


def phase(name):
    return f"phase {name} {REFUSED[name]} {' '.join(map(str, PHASES[name]))}\n"


# The first requests make the series; an increase begins with a value that was scraped.
BEGIN = "scrape_all && serve_all && traffic 3 1 1 1 1 1 1 && mark begin || exit 1\n"
BESIDE = "record beside-{0} sock --port 7001 || exit 1\n"
BOOTS = {
    "ab": BEGIN + BESIDE.format("ab") + phase("a") + "end_serve KILL 1\nserve_all || exit 1\n" + phase("b")
          + "end_records beside-ab\nend_serve TERM 0\nkeep\nfinish\n",
    "cd": "scrape_all && serve_all || exit 1\n" + BESIDE.format("cd") + phase("c") + "end_serve TERM 1\nserve_all || exit 1\n" + phase("d")
          + "end_records beside-cd\nend_serve TERM 0\nkeep\nfinish\n",
}

prepare = scraped.prepare


def check_counts(stored):
    """To the request, and to the refused connection: each phase, and all, through a kill, a new guest and a restart."""
    names = ["begin", *PHASES]
    wanted = {(begin, end): (scraped.measured(PHASES[end]), REFUSED[end]) for begin, end in zip(names, names[1:])}
    wanted["begin", "d"] = sum(map(scraped.measured, PHASES.values())), sum(REFUSED.values())
    for (begin, end), (requests, refused) in wanted.items():
        told = {stage: stored.requests(stage, begin, end) for stage in ("app", "total")}
        told["reported"] = stored.increase("stapgen_records_total{recipe='sock-latency',fate='reported'}", begin, end)
        drops = stored.increase("stapgen_drops_total{place='tcp_v4_rcv',reason='NO_SOCKET'}", begin, end)
        print(f"  {begin} to {end}: {told}, refused {drops}")
        assert set(told.values()) == {requests} and drops == refused, f"{begin} to {end}: not {requests} and {refused}"


def check_quantiles(stored, report, error):
    for row in report["stages"]:
        for percent in (50, 90, 99):
            truth, told = row["percentiles_ns"][str(percent)] / 1e9, stored.quantile(percent, row["stage"], "begin", "d")
            print(f"  {row['stage']:8} p{percent}: {truth * 1e6:10.3f} us, Prometheus {told * 1e6:10.3f}, {told / truth - 1:+.2%}")
            # What the others take, the probes of a second module change.
            assert row["stage"] not in ("app", "total") or abs(told / truth - 1) <= error, f"not within {error}"


def check(lab):
    for script in BOOTS.values():
        scraped.boot(lab, GUEST_FUNCTIONS + script)
    marks = scraped.read_marks(lab)
    marks["start"] = marks["begin"] - 120
    print(f"{lab.suite}: from begin to d {marks['d'] - marks['begin']:.0f} s")
    assert marks["d"] - marks["begin"] >= 1800
    beside = lab.stapgen(["report", "--format", "json", "-P", "50,90,99", "beside-ab.rec", "beside-cd.rec"])
    report = json.loads(beside.stdout)
    assert report["accounting"]["reported"] == sum(map(scraped.measured, PHASES.values())), report["accounting"]
    for kind, error in scraped.ERRORS.items():
        print(f"{lab.suite} {kind}:")
        with scraped.stored_by(lab, kind, marks) as stored:
            check_counts(stored)
            check_quantiles(stored, report, error)
