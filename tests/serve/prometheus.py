# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus that scrapes, or only tells what is in its folder."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS, wait_for  # noqa: E402

LISTENS = "0A"  # proc(5), /proc/net/tcp


def port_of(pid):
    """Return the port that a process listens at; nothing where it does not yet."""
    links = []
    for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(os.readlink(file))
        except OSError:
            continue  # it is closed again
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *words = line.split()
        if state == LISTENS and f"socket:[{words[5]}]" in links:
            return int(local.rpartition(":")[2], 16)
    return None


class Prometheus:
    """TARGETS: {instance: port}. A scrape that comes too late fails, and its series are gone until the next one."""

    def __init__(self, folder, targets, *options, rules=None):
        self.targets = folder / "targets.json"
        self.scrape(targets or {})
        (folder / "prometheus.yml").write_text(textwrap.dedent(f"""
            global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
            rule_files: [{rules or ""}]
            scrape_configs: [{{job_name: stapgen, file_sd_configs: [{{files: ["{self.targets}"]}}]}}]
            """))
        self.said = open(folder / "said", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             "--web.listen-address=127.0.0.1:0", *options], stdout=self.said, stderr=self.said)
        try:
            self.port = wait_for(lambda: port_of(self.process.pid) or self.process.poll() is not None)
            assert self.process.poll() is None, "it ended at once"
        except BaseException as error:
            self.__exit__(error)
            raise

    def scrape(self, targets):
        """Scrape these from now on. One of a name that was there is the same instance."""
        new = self.targets.with_suffix(".new")
        new.write_text(json.dumps([{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": name}}
                                   for name, port in targets.items()]))
        new.rename(self.targets)

    def ask(self, text, at=None):
        """Return the rows of an answer, of now or another time."""
        words = {"query": text} if at is None else {"query": text, "time": f"{at:.3f}"}
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode(words)
        try:
            with urllib.request.urlopen(url, timeout=HANGS) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is starting
                raise
            raise AssertionError(f"{text}: {error.read().decode()}") from error

    def wait(self):
        """Until it can be asked."""
        wait_for(lambda: self.query("vector(1)"))

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

    def last_value(self, text):
        """Return the one value, as soon as there is one."""
        return wait_for(lambda: self.query(text) and (self.value(text),))[0]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.kill()
        self.process.wait()
        if kind:
            self.said.seek(0)
            print(self.said.read()[-3000:])
