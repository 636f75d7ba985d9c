#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_recipes.py SERVE_FAKE: what recipes send is what scrapers get, in each format, through every way in which one may end.

Values, counts and faults are known: tests/serve/recipe.py has them from here.
"""

import math
import pathlib
import random
import re
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from daemon import OPENMETRICS, PROTOBUF, Recipe, bin_of, lowest, serve_fake, wait_for  # noqa: E402
from protobuf import delimited, double, fields, packed, signed  # noqa: E402

STAGES = ["time:time", "drv-ip:stage", "ip-tcp:stage"]
DROPS = ["location:address", "reason:reason", "count:count"]


def values(seed, n):
    chosen = random.Random(seed)
    return [max(1, int(chosen.lognormvariate(math.log(20011), 1.7))) for _ in range(n)]


def middle_of(value):
    place = bin_of(value)
    width = lowest(place + 1) - lowest(place)
    return lowest(place) + (width - 1) // 2


def native_buckets(numbers, schema):
    """Return {index: count} as Prometheus numbers them: by their upper ends, in seconds."""
    counts = {}
    for number in numbers:
        index = math.ceil(math.log2(middle_of(number) / 1e9) * 2**schema)
        counts[index] = counts.get(index, 0) + 1
    return counts


def buckets_of(histogram):
    """Return the same of a message."""
    counts, deltas, at, count = {}, [], 0, 0
    for data in histogram[13]:
        deltas += [signed(delta) for delta in packed(data)]
    for data in histogram[12]:
        span = fields(data)
        at += signed(span.get(1, [0])[0])
        for _ in range(span[2][0]):
            count += deltas.pop(0)
            counts[at] = count
            at += 1
    assert not deltas
    return counts


def check_formats(serve, all_values):
    """One histogram, three times."""
    for accept, kind in ((OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
                         ("text/plain;version=0.0.4", "text/plain; version=0.0.4; charset=utf-8"),
                         ("", "text/plain; version=0.0.4; charset=utf-8")):
        status, headers, body = serve.get(accept=accept)
        assert (status, headers["Content-Type"]) == (200, kind), (accept, headers)
        ends = {}
        for line in body.decode().splitlines():
            if line.startswith('stapgen_stage_seconds_bucket{recipe="rx",stage="drv-ip"'):
                ends[float(line.split('le="')[1].split('"')[0])] = int(line.split()[-1])
        assert len(ends) == 54, len(ends)
        for end, count in ends.items():
            truth = sum(value <= round(end * 1e9) for value in all_values) if end < math.inf else len(all_values)
            assert count == truth, f"le={end}: {count}, not {truth}"
        assert (b"_created" in body) == (accept == OPENMETRICS) == body.endswith(b"# EOF\n")

    status, headers, body = serve.get(accept=PROTOBUF)
    assert headers["Content-Type"].startswith("application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily")
    families = {family[1][0].decode(): family for family in delimited(body)}
    metric = next(metric for metric in map(fields, families["stapgen_stage_seconds"][4])
                  if b"drv-ip" in [fields(label)[2][0] for label in metric[1]])
    histogram = fields(metric[7][0])
    assert histogram[1] == [len(all_values)] and signed(histogram[5][0]) == 5
    assert abs(double(histogram[2][0]) - sum(all_values) / 1e9) < 1e-9
    assert buckets_of(histogram) == native_buckets(all_values, 5)
    created = fields(histogram[15][0])
    assert abs(created[1][0] - time.time()) < 3600
    assert "stapgen_recipe_state" in families and "stapgen_records_total" in families


def check_numbers_and_restarts(program, folder):
    rx = Recipe(folder, "rx", STAGES, functions=['kprobe.function("ip_rcv_core")'], filters={"port": "443", "sample": "4"})
    first, second, third = values(1, 1009), values(2, 307), values(3, 211)
    with serve_fake(program, rx) as serve:
        assert serve.get("/-/ready")[0] == 503 and serve.get("/-/healthy")[0] == 200
        assert serve.state("rx") == "starting"
        rx.begin()
        wait_for(lambda: serve.state("rx") == "measuring")
        assert serve.get("/-/ready")[0] == 200
        # An empty stage is not there; one that comes later is, from 0 at the start.
        rx.send_values(**{"drv-ip": first, "ip-tcp": []})
        rx.tick(2018, 1009, "filtered=1000", "incomplete.unread=9")
        n = [("recipe", "rx"), ("stage", "drv-ip")]
        wait_for(lambda: serve.value("stapgen_stage_seconds_count", **dict(n)) == 1009)
        assert serve.value("stapgen_stage_seconds_count", stage="ip-tcp") is None
        rx.send_values(**{"drv-ip": second, "ip-tcp": second})
        rx.tick(2420, 1316, "filtered=1101", "incomplete.unread=3")
        wait_for(lambda: serve.value("stapgen_stage_seconds_count", **dict(n)) == 1316)
        check_formats(serve, first + second)
        assert serve.value("stapgen_stage_seconds_count", stage="ip-tcp") == 307
        samples = serve.samples()
        start = serve.value("stapgen_start_time_seconds")
        created = [value for (name, _), value in samples.items() if name.endswith("_created")]
        assert created and all(abs(value - start) < 0.001 for value in created)
        assert serve.value("stapgen_seen_total") == 2420 and serve.value("stapgen_records_total", fate="filtered") == 1101
        assert serve.value("stapgen_incomplete", cause="unread") == 3
        assert serve.value("stapgen_probe_active", probe='kprobe.function("ip_rcv_core")') == 1
        assert serve.value("stapgen_sample_one_in") == 4
        assert serve.value("stapgen_run_info", host="web1", filters="port,sample", sample="4") == 1

        # Its process is killed in the middle of an interval: what had come stays, what had no tick is not counted.
        rx.send_values(**{"drv-ip": third, "ip-tcp": []})
        rx.die(-signal.SIGKILL)
        wait_for(lambda: serve.value("stapgen_recipe_last_error", stapgen_recipe_last_error="killed") == 1)
        assert serve.value("stapgen_stage_seconds_count", **dict(n)) == 1316
        assert serve.value("stapgen_probe_active", probe='kprobe.function("ip_rcv_core")') == 0
        assert serve.value("stapgen_run_info", host="web1") == 1
        assert serve.get("/-/ready")[0] == 503 and "rx: ended by signal 9; restarting in 1 s\n" in serve.text()
        # The next run begins at 0, and the sums go on.
        rx.begin()
        rx.send_values(**{"drv-ip": third, "ip-tcp": []})
        rx.tick(300, 211, "filtered=89")
        wait_for(lambda: serve.value("stapgen_stage_seconds_count", **dict(n)) == 1527)
        check_formats(serve, first + second + third)
        assert serve.value("stapgen_seen_total") == 2720 and serve.value("stapgen_records_total", fate="reported") == 1527
        assert serve.value("stapgen_recipe_starts_total") == 2
        assert serve.value("stapgen_start_time_seconds") == start

        # Over the budget: a state and a reason. A failure at once after it waits twice as long.
        rx.die(6, "stapgen: the measurement failed: the probes took too much")
        wait_for(lambda: serve.value("stapgen_recipe_last_error", stapgen_recipe_last_error="over_budget") == 1)
        assert serve.value("stapgen_recipe_failures_total", reason="over_budget") == 1
        assert "rx: the measurement failed: the probes took too much; restarting in 2 s\n" in serve.text(), serve.text()
        (rx.folder / "end").write_text("")
        serve.stop()
        assert rx.shortest_wait() >= 1


def check_orderly_end(program, folder):
    """At the end each run is asked, its last numbers count, and what it says of losses."""
    rx, other = Recipe(folder, "rx", STAGES), Recipe(folder, "tx", STAGES)
    with serve_fake(program, rx, other) as serve:
        rx.begin()
        rx.send_values(**{"drv-ip": [1009] * 7, "ip-tcp": []})
        rx.tick(7, 7)
        wait_for(lambda: serve.value("stapgen_stage_seconds_count", recipe="rx") == 7)
        # This one ends by itself: what it lost is known then.
        rx.send(f"end\t{time.time_ns()}\tseen=7\treported=7")
        rx.die(0)
        wait_for(lambda: serve.value("stapgen_recipe_last_error", recipe="rx", stapgen_recipe_last_error="ended") == 1)
        # The other has not begun: it is not waited for.
        wait_for(lambda: other.runs() == 1)
        serve.stop(signal.SIGINT)


def own_symbol():
    """An address in a function of this kernel, and its name; where they are hidden, one of none."""
    for line in open("/proc/kallsyms", encoding="utf-8"):
        address, kind, name = line.split()[:3]
        if kind in "tT" and name == "vfs_read" and int(address, 16):
            return int(address, 16) + 7, name
    return 0xffffffff00000001, "unknown"


def check_drops_and_bounds(program, folder):
    drops = Recipe(folder, "drops", DROPS, tag="drop", drop_reasons={"3": "NO_SOCKET", "17": "TCP_CSUM"})
    address, place = own_symbol()
    with serve_fake(program, drops, max_series=3) as serve:
        drops.begin()
        memory = serve.resident_bytes()
        drops.send(f"drop\t{address:x}\t3\t17", f"drop\t{address + 4:x}\t3\t2", f"drop\t{address:x}\t17\t5")
        drops.tick(24, 24)
        wait_for(lambda: serve.value("stapgen_seen_total") == 24)
        # Two places of a function are one series: offsets differ from kernel to kernel.
        assert serve.value("stapgen_drops_total", place=place, reason="NO_SOCKET") == 19, serve.samples()
        assert serve.value("stapgen_drops_total", place=place, reason="TCP_CSUM") == 5
        assert serve.value("stapgen_series") == 2
        # Reasons that nobody knows: the first has room, 100 others have none and are counted.
        drops.send(*[f"drop\t{address:x}\t{1000 + i}\t{7 if i else 31}" for i in range(101)])
        drops.tick(755, 755)
        wait_for(lambda: serve.value("stapgen_seen_total") == 755)
        samples = serve.samples()
        shown = {dict(labels)["reason"]: value for (name, labels), value in samples.items() if name == "stapgen_drops_total"}
        assert len(shown) == 3 and shown["NO_SOCKET"] == 19 and shown["TCP_CSUM"] == 5, shown
        kept_out = serve.value("stapgen_kept_out_total")
        assert sum(shown.values()) + kept_out == 755 and kept_out >= 100 * 7, (shown, kept_out)
        # Those that are there go on, whoever is larger.
        drops.send(f"drop\t{address:x}\t17\t1", f"drop\t{address:x}\t1100\t1000003")
        drops.tick(1000759, 1000759)
        wait_for(lambda: serve.value("stapgen_seen_total") == 1000759)
        assert serve.value("stapgen_drops_total", reason="TCP_CSUM") == 6
        assert serve.value("stapgen_kept_out_total") >= kept_out
        assert serve.value("stapgen_max_series") == serve.value("stapgen_series") == 3
        # What has no name yet takes a look at the kernel's symbols, three times now. Their 20 MB do not stay.
        grown = serve.resident_bytes() - memory
        is_sanitized = b"__asan_init" in pathlib.Path(program).read_bytes()  # it keeps what was freed
        assert is_sanitized or grown < 5e6, f"{memory / 1e6:.1f} MB, and {grown / 1e6:.1f} MB more with names"
        serve.stop()


def check_faults_of_a_recipe(program, folder):
    """What it sends is no recording, or it cannot start: a state each, and serve goes on."""
    missing, rx = Recipe(folder, "missing", STAGES), Recipe(folder, "rx", STAGES)
    missing.argv = lambda: ["missing", "/no/such/program", "x"]
    with serve_fake(program, missing, rx) as serve:
        rx.begin()
        wait_for(lambda: serve.state("missing") == "waiting" and serve.state("rx") == "measuring")
        wait_for(lambda: re.search(rb"^missing: waiting, .*/no/such/program", serve.get("/")[2], re.M))
        assert serve.value("stapgen_recipe_last_error", recipe="missing", stapgen_recipe_last_error="cannot") == 1
        rx.send("nonsense", "drop\t1\t2\t3", "\x1b[2J")
        rx.send_values(**{"drv-ip": [7], "ip-tcp": []})
        rx.tick(1, 1)
        wait_for(lambda: serve.value("stapgen_seen_total", recipe="rx") == 1)
        assert serve.value("stapgen_input_lines_total", recipe="rx", understood="false") == 3
        for number, (code, reason) in enumerate(((4, "cannot"), (2, "refused"), (1, "failed"))):
            rx.die(code, "stapgen: there are no headers\n  hint: install them")
            wait_for(lambda: serve.value("stapgen_recipe_last_error", recipe="rx", stapgen_recipe_last_error=reason))
            assert f"rx: there are no headers; restarting in {2 ** number} s\n" in serve.text(), serve.text()
        serve.stop()
        assert rx.shortest_wait() >= 1


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for check in (check_numbers_and_restarts, check_orderly_end, check_drops_and_bounds, check_faults_of_a_recipe):
        with tempfile.TemporaryDirectory() as folder:
            check(program, pathlib.Path(folder))
            print(check.__name__)


main()
