# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus that scrapes one target, or only tells what is in its folder."""

import json
import socket
import subprocess
import textwrap
import time
import urllib.error
import urllib.parse
import urllib.request


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus:
    def __init__(self, folder, target, *options, rules=None):
        self.port = free_port()
        targets = f'[{{job_name: stapgen, static_configs: [{{targets: ["127.0.0.1:{target}"]}}]}}]' if target else "[]"
        (folder / "prometheus.yml").write_text(textwrap.dedent(f"""
            global: {{scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}}
            rule_files: [{rules or ""}]
            scrape_configs: {targets}
            """))
        self.said = open(folder / "said", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", *options], stdout=self.said, stderr=self.said)

    def ask(self, text, at=None):
        """Return the rows of an answer, of now or another time."""
        words = {"query": text} if at is None else {"query": text, "time": f"{at:.3f}"}
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode(words)
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is starting
                raise
            raise AssertionError(f"{text}: {error.read().decode()}") from error

    def wait(self):
        """Until it can be asked."""
        until = time.monotonic() + 60
        while not self.query("vector(1)"):
            assert time.monotonic() < until, "it does not answer"
            time.sleep(0.1)

    def query(self, text):
        """Return [(labels, value)]; none while it cannot be asked."""
        try:
            found = self.ask(text)
        except (urllib.error.URLError, ConnectionError):
            return []
        return [(row["metric"], float(row["value"][1])) for row in found if "value" in row]

    def value(self, text):
        found = self.query(text)
        assert len(found) < 2, found
        return found[0][1] if found else None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.kill()
        self.process.wait()
        if kind:
            self.said.seek(0)
            print(self.said.read()[-3000:])
