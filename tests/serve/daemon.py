# SPDX-License-Identifier: GPL-2.0-or-later
"""serve under test: a real one, or one whose recipes are recipe.py; its metrics by the parser of the Prometheus client."""

import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from prometheus_client.openmetrics.parser import text_string_to_metric_families

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from waiting import HANGS, wait_for  # noqa: E402

PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"


class Daemon:
    """Its stderr is in a file, so that it never waits for us."""

    def __init__(self, argv, environment=None):
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(argv, stdout=self.said, stderr=self.said, env=environment)
        found = wait_for(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/metrics", self.text()) or self.process.poll())
        assert isinstance(found, re.Match), self.text()
        self.port = int(found[1])

    def text(self):
        self.said.seek(0)
        return self.said.read()

    def get_once(self, path="/metrics", accept="*/*", method="GET"):
        """Return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS)
        connection.request(method, path, headers={"Accept": accept})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def get(self, *words, **more):
        """Return the same; who was too slow to ask or to read comes again."""
        def answer():
            try:
                status, headers, body = self.get_once(*words, **more)
            except (ConnectionError, http.client.HTTPException):
                assert self.process.poll() is None, self.text()
                return None
            return None if status == 408 or "Retry-After" in headers else (status, headers, body)

        return wait_for(answer)

    def samples(self):
        """Return {(name, labels): value} of the OpenMetrics text."""
        status, headers, body = self.get(accept=OPENMETRICS)
        assert status == 200 and headers["Content-Type"].startswith("application/openmetrics-text"), headers
        return {(sample.name, frozenset(sample.labels.items())): sample.value
                for family in text_string_to_metric_families(body.decode()) for sample in family.samples}

    def value(self, name, /, **labels):
        """Return the one sample that has these labels among its own; nothing where there is none."""
        found = [value for (other, of), value in self.samples().items() if other == name and labels.items() <= set(of)]
        assert len(found) < 2, f"{name} {labels}: {found}"
        return found[0] if found else None

    def state(self, recipe):
        return next(dict(labels)["stapgen_recipe_state"] for (name, labels), value in self.samples().items()
                    if name == "stapgen_recipe_state" and value and ("recipe", recipe) in labels)

    def resident_bytes(self):
        return self.value("stapgen_memory_bytes")

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(timeout=HANGS)
        assert code == 0, f"{code}: {self.text()}"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if kind:
            print(self.text())


def bin_of(value):
    """The bin of a number: docs/reference/recording-format.md."""
    shift = max(0, value.bit_length() - 9)
    return 256 * shift + (value >> shift)


def lowest(place):
    shift = max(0, place // 256 - 1)
    return (place - shift * 256) << shift


class Recipe:
    """What the test has instead of a kernel."""

    def __init__(self, folder, name, fields, tag="r", **setup):
        self.folder, self.name, self.tag = folder / name, name, tag
        self.folder.mkdir()
        self.run, self.header = 1, f"stapgen\t4\t{name},aggregated\t{tag}\t" + "\t".join(fields)
        if any(field.endswith(":count") for field in fields):
            self.header = self.header.replace(",aggregated", "")
        self.setup(host="web1", **setup)

    def setup(self, **keys):
        (self.folder / "setup").write_text(json.dumps({"recipe": self.name, "run": "7" * 32, **keys}))

    def argv(self):
        return [self.name, str(HERE / "recipe.py"), str(self.folder)]

    def send(self, *lines):
        with open(self.folder / f"lines-{self.run}", "a", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))

    def begin(self):
        self.send(self.header, f"ready\t{time.time_ns()}\t1000")

    def tick(self, seen, reported, *others):
        self.send("\t".join([f"tick\t{time.time_ns()}", f"seen={seen}", f"reported={reported}", *others]))

    def send_values(self, **stages):
        """Send stages' values as a kernel does that aggregates; no tick."""
        for stage, values in stages.items():
            counts = {}
            for value in values:
                counts[bin_of(value)] = counts.get(bin_of(value), 0) + 1
            pairs = [f"{place}:{count}" for place, count in sorted(counts.items())]
            for at in range(0, len(pairs), 24):
                self.send("\t".join(["bin", self.tag, stage, *pairs[at:at + 24]]))
            if values:
                self.send("\t".join(map(str, ["sum", self.tag, stage, len(values), sum(values), min(values), max(values)])))
        first = next(iter(stages.values()))
        sums = [sum(values) for values in stages.values()]
        self.send("\t".join(map(str, ["split", self.tag, "-", 300, len(first), *sums])))

    def put(self, name, text):
        whole = self.folder / "partial"  # the recipe looks for the other name
        whole.write_text(text)
        whole.rename(self.folder / name)

    def keep(self, file):
        """Say that the seconds before now were kept."""
        self.put("kept", f"@stapgen kept {time.time_ns()} {file}")

    def die(self, code, said=""):
        """End this run; what is sent from now on is of the next."""
        self.put(f"die-{self.run}", f"{code} {said}")
        self.run += 1

    def times(self, name):
        file = self.folder / name
        return [float(line) for line in file.read_text().splitlines()] if file.exists() else []

    def runs(self):
        return len(self.times("runs"))

    def shortest_wait(self):
        """Return how many seconds there were at least from the end of a run to the next one."""
        return min(begin - end for end, begin in zip(self.times("ends"), self.times("runs")[1:]))


def serve_fake(program, *recipes, max_series=2000, native_schema=5, otlp="-", listen="127.0.0.1:0"):
    argv = [program, listen, str(max_series), str(native_schema), otlp]
    for recipe in recipes:
        argv += recipe.argv()
    return Daemon(argv)
