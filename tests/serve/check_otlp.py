#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_otlp.py SERVE_FAKE: what is pushed is whole and lossless, and a push that fails loses nothing."""

import http.server
import math
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from daemon import Recipe, bin_of, lowest, serve_fake, wait_for  # noqa: E402
from protobuf import double, fields, fixed64, packed, signed  # noqa: E402

STAGES = ["time:time", "drv-ip:stage"]
# partial_success { rejected_data_points: 3, error_message: "no" }
REJECTION = b"\x0a\x06\x08\x03\x12\x02no"


class Collector(http.server.ThreadingHTTPServer):
    """Answers with ANSWER, and keeps the requests."""

    def __init__(self, *answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.requests = answer, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path=""):
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers["Content-Type"], body))
        status, answer = self.server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def attributes(pairs):
    return {fields(pair)[1][0].decode(): fields(fields(pair)[2][0])[1][0].decode() for pair in pairs}


class Request:
    """A request: {name: fields of the metric}, and points by their labels."""

    def __init__(self, body):
        resource = fields(fields(body)[1][0])
        self.resource = attributes(fields(resource[1][0])[1])
        metrics = map(fields, fields(resource[2][0])[2])
        self.metrics = {metric[1][0].decode(): metric for metric in metrics}

    def point(self, name, data_at, labels_at, /, **labels):
        """The one data point that has these labels, and the message it is in."""
        data = fields(self.metrics[name][data_at][0])
        found = [point for point in map(fields, data[1])
                 if labels.items() <= attributes(point.get(labels_at, [])).items()]
        assert len(found) == 1, (name, labels, len(found))
        return found[0], data

    def count(self, name, /, **labels):
        """Of a counter."""
        point, data = self.point(name, 7, 7, **labels)
        assert data[2] == [2] and data[3] == [1], "not cumulative, or not monotonic"
        return fixed64(point[6][0])


def check_histogram(request, numbers, begun):
    point, data = request.point("stapgen_stage_seconds", 10, 1, recipe="rx", stage="drv-ip")
    assert data[2] == [2] and request.metrics["stapgen_stage_seconds"][3] == [b"s"]
    assert begun <= fixed64(point[2][0]) <= fixed64(point[3][0]) <= time.time_ns()
    assert fixed64(point[4][0]) == len(numbers) and abs(double(point[5][0]) - sum(numbers) / 1e9) < 1e-9
    assert double(point[12][0]) == min(numbers) / 1e9 and double(point[13][0]) == max(numbers) / 1e9
    assert signed(point[6][0]) == 9
    buckets = fields(point[8][0])
    counts = list(packed(buckets[2][0]))
    told = {signed(buckets[1][0]) + i: count for i, count in enumerate(counts) if count}
    # Each bucket is one bin, which it can be turned back into.
    bin_at = {math.ceil(math.log2((lowest(place) + (lowest(place + 1) - lowest(place) - 1) // 2) / 1e9) * 512) - 1: place
              for place in range(1, 8704)}
    truth = {}
    for number in numbers:
        truth[bin_of(number)] = truth.get(bin_of(number), 0) + 1
    assert {bin_at[index]: count for index, count in told.items()} == truth


def check_pushes(program, folder):
    chosen = random.Random(5)
    numbers = [max(1, int(chosen.lognormvariate(math.log(20011), 1.7))) for _ in range(2003)]
    rx = Recipe(folder, "rx", STAGES)
    collector, begun = Collector(503, b"later"), time.time_ns()
    with serve_fake(program, rx, otlp=collector.url()) as serve:
        rx.begin()
        rx.send_values(**{"drv-ip": numbers[:1009]})
        rx.tick(1009, 1009)
        wait_for(lambda: serve.value("stapgen_seen_total") == 1009)
        begun_before = len(collector.requests)  # of these the last may be without the tick
        wait_for(lambda: len(collector.requests) > begun_before + 1)
        assert {request[:2] for request in collector.requests} == {("/v1/metrics", "application/x-protobuf")}
        check_histogram(Request(collector.requests[begun_before + 1][2]), numbers[:1009], begun)
        wait_for(lambda: serve.value("stapgen_otlp_pushes_total", outcome="failed") > begun_before)
        # It is said once, and not again and again.
        assert serve.text().count("--otlp: HTTP 503; the next push includes everything") == 1, serve.text()
        collector.answer = 200, REJECTION
        rx.send_values(**{"drv-ip": numbers[1009:]})
        rx.tick(2003, 2003)
        wait_for(lambda: serve.value("stapgen_seen_total") == 2003)
        # The last push is made when all recipes have ended.
        serve.stop()
        assert "3 points were rejected: no" in serve.text(), serve.text()
    last = Request(collector.requests[-1][2])
    check_histogram(last, numbers, begun)
    assert last.count("stapgen_seen_total", recipe="rx") == 2003
    pushes = [last.count("stapgen_otlp_pushes_total", outcome=outcome) for outcome in ("failed", "done")]
    assert pushes[0] > 0 and sum(pushes) == len(collector.requests) - 1, (pushes, len(collector.requests))
    assert last.count("stapgen_losses_total", kind="skipped_probes") == 3, "what is known at a run's end is in the last push"
    assert last.resource["service.name"] == "stapgen" and last.resource["host.name"], last.resource
    state, _ = last.point("stapgen_recipe_state", 5, 7, recipe="rx", stapgen_recipe_state="ended")
    assert fixed64(state[6][0]) == 1


def check_nobody_there(program, folder):
    """Serve measures, answers and ends all the same."""
    rx = Recipe(folder, "rx", STAGES)
    nobody = socket.socket()
    nobody.bind(("127.0.0.1", 0))  # its port is taken, and it does not listen
    with nobody, serve_fake(program, rx, otlp=f"http://127.0.0.1:{nobody.getsockname()[1]}/x") as serve:
        rx.begin()
        rx.send_values(**{"drv-ip": [7]})
        rx.tick(1, 1)
        wait_for(lambda: serve.value("stapgen_otlp_pushes_total", outcome="failed") and serve.value("stapgen_seen_total") == 1)
        assert serve.value("stapgen_otlp_pushes_total", outcome="done") == 0
        serve.stop()
        assert serve.text().count("--otlp: Connection refused") == 1, serve.text()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for check in (check_pushes, check_nobody_there):
        with tempfile.TemporaryDirectory() as folder:
            check(program, pathlib.Path(folder))
            print(check.__name__)


main()
