#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_prometheus.py SERVE_FAKE: a real Prometheus scrapes both ways, and its answers are the truth within the stated error.

promtool looks at each text. A restart of a recipe, and of serve itself, lies between two scrapes.
"""

import math
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from daemon import Recipe, serve_fake, wait_for  # noqa: E402
from prometheus import Prometheus, free_port  # noqa: E402

STAGES = ["time:time", "drv-ip:stage", "ip-tcp:stage"]
# docs/guide/always-on.md: by schema; and how wide a classic bucket is, two of which are a doubling.
NATIVE_ERRORS, CLASSIC_ERROR = {5: 0.0236, 8: 0.00465}, math.sqrt(2) - 1


def check_text(serve):
    """promtool, which reads text 0.0.4, finds nothing to complain of but a name that reports have had before."""
    done = subprocess.run(["promtool", "check", "metrics"], input=serve.get()[2], capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode().splitlines()
    assert set(said) <= {"stapgen_kernel_counter_total metric name should not include type 'counter'"}, said


def exact(numbers, percent):
    return sorted(numbers)[math.ceil(len(numbers) * percent / 100) - 1]


def check_quantiles(ask, numbers, error):
    for percent in (50, 90, 99):
        truth, told = exact(numbers, percent) / 1e9, ask(percent / 100)
        assert abs(told / truth - 1) <= error, f"p{percent}: {told}, not {truth} within {error}"


def check_quantiles_and_counts(program, folder, native):
    """NATIVE: the schema of its histograms, or none."""
    chosen = random.Random(7)
    numbers = [max(1, int(chosen.lognormvariate(math.log(20011), 1.2))) for _ in range(4001)]
    parts = [numbers[:1009], numbers[1009:2503], numbers[2503:]]
    rx = Recipe(folder, "rx", STAGES)
    options = ["--enable-feature=native-histograms"] if native else []
    with serve_fake(program, rx, native_schema=native or 5) as serve, Prometheus(folder, serve.port, *options) as prometheus:
        count = ("histogram_count(stapgen_stage_seconds{stage='drv-ip'})" if native else
                 "stapgen_stage_seconds_count{stage='drv-ip'}")
        sent, seen = [], 0
        for number, part in enumerate(parts):
            # A run of its own for each: the counts of the script begin anew.
            rx.begin()
            rx.send_values(**{"drv-ip": part, "ip-tcp": []})
            rx.tick(len(part) + 31, len(part), "filtered=31")
            sent, seen = sent + part, seen + len(part) + 31
            wait_for(lambda: prometheus.value(count) == len(sent))
            assert prometheus.value("stapgen_seen_total") == seen
            if number < 2:
                rx.die(1, "stapgen: it failed on purpose")
        check_text(serve)
        assert prometheus.value("up") == 1
        assert prometheus.query("stapgen_stage_seconds_bucket" if native else "histogram_count(stapgen_stage_seconds)") == []
        total = "histogram_sum(stapgen_stage_seconds)" if native else "stapgen_stage_seconds_sum"
        assert abs(prometheus.value(total) - sum(sent) / 1e9) < 1e-9
        buckets = "stapgen_stage_seconds" if native else "stapgen_stage_seconds_bucket"
        check_quantiles(lambda part: prometheus.value(f"histogram_quantile({part}, {buckets})"), sent,
                        NATIVE_ERRORS.get(native, CLASSIC_ERROR))
        # No counter has ever fallen.
        assert prometheus.value("resets(stapgen_seen_total[1h])") == 0
        state = prometheus.query("stapgen_recipe_state == 1")
        assert [labels["stapgen_recipe_state"] for labels, _ in state] == ["measuring"], state
        serve.stop()
        wait_for(lambda: prometheus.value("up") == 0)


def check_a_restart_of_serve(program, folder):
    """It begins at 0, which Prometheus knows for what it is."""
    rx = Recipe(folder, "rx", STAGES)
    listen = f"127.0.0.1:{free_port()}"
    with serve_fake(program, rx, listen=listen) as serve, Prometheus(folder, serve.port) as prometheus:
        rx.begin()
        rx.send_values(**{"drv-ip": [1009] * 101, "ip-tcp": []})
        rx.tick(101, 101)
        wait_for(lambda: prometheus.value("stapgen_seen_total") == 101)
        start = prometheus.value("stapgen_start_time_seconds")
        rx.run += 1
        serve.stop()
        with serve_fake(program, rx, listen=listen):
            rx.begin()
            rx.send_values(**{"drv-ip": [1009] * 7, "ip-tcp": []})
            rx.tick(7, 7)
            wait_for(lambda: prometheus.value("stapgen_seen_total") == 7)
            assert prometheus.value("resets(stapgen_seen_total[1h])") == 1
            assert prometheus.value("stapgen_start_time_seconds") > start


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for check, *more in ((check_quantiles_and_counts, 5), (check_quantiles_and_counts, 8), (check_quantiles_and_counts, None),
                         (check_a_restart_of_serve,)):
        with tempfile.TemporaryDirectory() as folder:
            check(program, pathlib.Path(folder), *more)
            print(check.__name__, *more)


main()
