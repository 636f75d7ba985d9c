# SPDX-License-Identifier: GPL-2.0-or-later
"""An hour of stapgen serve in a guest under two Prometheus: each request is counted, and memory does not grow."""

from lablib import scraped

DESCRIPTION = "Prometheus, native and classic, for an hour: increases, memory and CPU of serve and its recipes"
# By hand: an hour.
IN_CI = ()
BUILD = scraped.BUILD
EVERY_MINUTE, MINUTES, REFUSED = 101, 60, 7

HOUR = rf"""
scrape_all && serve_all && traffic 1 1 1 1 1 1 1 && mark hour || exit 1
for i in $(seq {MINUTES}); do
    ask --port 7001 --requests {EVERY_MINUTE} --delay-us $((i * 101)) || exit 1
    drops refused {REFUSED} || exit 1
    sleep 60
done
mark end
end_serve TERM 0
keep
finish
"""

prepare = scraped.prepare


def quarters_of(samples):
    begin = samples[0][0]
    return [[value for time, value in samples if quarter * 900 <= time - begin < (quarter + 1) * 900] for quarter in range(4)]


def check_hour(stored):
    """The memory of serve and of its recipes' processes does not grow; their CPU time, of an emulation, is printed only."""
    for process in ("", "recipe='sock-latency'", "recipe='dropwatch'"):
        name, of = ("stapgen_recipe", f"{{{process}}}") if process else ("stapgen", "")
        bytes_of, seconds_of = (quarters_of(stored.samples(series + of, "hour", "end"))
                                for series in (f"{name}_memory_bytes", f"{name}_cpu_seconds_total"))
        memory = [max(quarter) / 1e6 for quarter in bytes_of]
        cpu = [quarter[-1] - quarter[0] for quarter in seconds_of]
        print(f"  {process or 'serve itself'}: MB {[round(each, 2) for each in memory]}, CPU s {[round(each, 3) for each in cpu]}")
        assert memory[3] <= memory[0] + 1, "it grows"


def check(lab):
    scraped.boot(lab, HOUR)
    marks = scraped.read_marks(lab)
    marks["start"] = marks["hour"] - 120
    print(f"{lab.suite}: {marks['end'] - marks['hour']:.0f} s")
    assert marks["end"] - marks["hour"] >= 3600
    for kind in scraped.ERRORS:
        print(f"{lab.suite} {kind}:")
        with scraped.stored_by(lab, kind, marks) as stored:
            for stage in ("app", "total"):
                assert stored.requests(stage, "hour", "end") == scraped.measured([EVERY_MINUTE] * MINUTES)
            drops = stored.increase("stapgen_drops_total{place='tcp_v4_rcv',reason='NO_SOCKET'}", "hour", "end")
            assert drops == REFUSED * MINUTES, drops
            check_hour(stored)
