"""A real Prometheus that scrapes one target."""

import json
import socket
import subprocess
import textwrap
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
        (folder / "prometheus.yml").write_text(textwrap.dedent(f"""
            global: {{scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}}
            rule_files: [{rules or ""}]
            scrape_configs: [{{job_name: stapgen, static_configs: [{{targets: ["127.0.0.1:{target}"]}}]}}]
            """))
        self.said = open(folder / "said", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", *options], stdout=self.said, stderr=self.said)

    def ask(self, text):
        """Return the rows of an answer."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is starting
                raise
            raise AssertionError(f"{text}: {error.read().decode()}") from error

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
