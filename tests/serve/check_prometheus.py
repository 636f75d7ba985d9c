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
from prometheus import Prometheus  # noqa: E402

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


class Served:
    """A serve that is a target of its own, with one recipe."""

    def __init__(self, program, folder, name, native=None):
        """NATIVE: the schema of its histograms, or none."""
        self.name, self.native, self.only = name, native, f"instance='{name}'"
        self.rx = Recipe(folder, name, STAGES)
        self.serve = serve_fake(program, self.rx, native_schema=native or 5)

    def send(self, numbers, filtered):
        """As a run of its own."""
        self.rx.begin()
        self.rx.send_values(**{"drv-ip": numbers, "ip-tcp": []})
        self.rx.tick(len(numbers) + filtered, len(numbers), f"filtered={filtered}")

    def check_quantiles_and_counts(self, prometheus):
        chosen, only = random.Random(7), self.only
        numbers = [max(1, int(chosen.lognormvariate(math.log(20011), 1.2))) for _ in range(2503)]
        parts = [numbers[:1009], numbers[1009:]]
        stage = f"stapgen_stage_seconds{{stage='drv-ip',{only}}}"
        count = f"histogram_count({stage})" if self.native else f"stapgen_stage_seconds_count{{stage='drv-ip',{only}}}"
        total = f"histogram_sum({stage})" if self.native else f"stapgen_stage_seconds_sum{{stage='drv-ip',{only}}}"
        sent, seen = [], 0
        for part in parts:
            # The counts of the script begin anew with each run.
            self.send(part, 31)
            sent, seen = sent + part, seen + len(part) + 31
            wait_for(lambda: prometheus.value(count) == len(sent))
            assert prometheus.last_value(f"stapgen_seen_total{{{only}}}") == seen
            if part is parts[0]:
                self.rx.die(1, "stapgen: it failed on purpose")
        assert prometheus.last_value(f"up{{{only}}}") == 1
        other = "stapgen_stage_seconds_bucket" if self.native else "stapgen_stage_seconds"
        assert prometheus.query(f"count_over_time({other}{{{only}}}[1h])") == []
        assert abs(prometheus.last_value(total) - sum(sent) / 1e9) < 1e-9
        buckets = stage if self.native else f"stapgen_stage_seconds_bucket{{stage='drv-ip',{only}}}"
        check_quantiles(lambda part: prometheus.last_value(f"histogram_quantile({part}, {buckets})"), sent,
                        NATIVE_ERRORS.get(self.native, CLASSIC_ERROR))
        # No counter has ever fallen.
        assert prometheus.last_value(f"resets(stapgen_seen_total{{{only}}}[1h])") == 0
        state = wait_for(lambda: prometheus.query(f"stapgen_recipe_state{{{only}}} == 1"))
        assert [labels["stapgen_recipe_state"] for labels, _ in state] == ["measuring"], state


def check_native(program, folder):
    five, eight = Served(program, folder, "five", 5), Served(program, folder, "eight", 8)
    with five.serve, eight.serve, Prometheus(folder, {one.name: one.serve.port for one in (five, eight)},
                                             "--enable-feature=native-histograms") as prometheus:
        for one in (five, eight):
            one.check_quantiles_and_counts(prometheus)
            one.serve.stop()
        wait_for(lambda: prometheus.value("sum(up)") == 0)


def check_classic_and_a_restart_of_serve(program, folder):
    """It begins at 0, which Prometheus knows for what it is."""
    first = Served(program, folder, "first")
    with first.serve, Prometheus(folder, {"web1": first.serve.port}) as prometheus:
        first.only = "instance='web1'"
        first.check_quantiles_and_counts(prometheus)
        check_text(first.serve)
        start = prometheus.last_value("stapgen_start_time_seconds")
        first.serve.stop()
        first.rx.run += 1
        again = serve_fake(program, first.rx)
        with again:
            prometheus.scrape({"web1": again.port})
            first.send([1009] * 7, 0)
            wait_for(lambda: prometheus.value("stapgen_seen_total") == 7)
            assert prometheus.last_value("resets(stapgen_seen_total[1h])") == 1
            assert prometheus.last_value("stapgen_start_time_seconds") > start


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for check in (check_native, check_classic_and_a_restart_of_serve):
        with tempfile.TemporaryDirectory() as folder:
            check(program, pathlib.Path(folder))
            print(check.__name__)


main()
