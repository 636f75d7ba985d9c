#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_mcp.py STAPGEN SAMPLES: nobody gets out of the folder of stapgen mcp, blocks it or outlives it.

What its tools answer: check_client.py.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading

for folder in (".", "security"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
from sessions import left_of  # noqa: E402
from waiting import HANGS, wait_for  # noqa: E402


class Server:
    def __init__(self, stapgen, folder, **environment):
        self.process = subprocess.Popen([stapgen, "mcp", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment}, start_new_session=True)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=HANGS)
        assert not left_of(self.process.pid)

    def send(self, method, **parameters):
        self.number += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}) + "\n")
        self.process.stdin.flush()

    def receive(self):
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.number, answer
        return answer["result"]

    def ask(self, method, **parameters):
        self.send(method, **parameters)
        return self.receive()

    def call(self, tool, **arguments):
        """Return whether it failed, and its text."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        return result["isError"], result["content"][0]["text"]

    def json(self, tool, **arguments):
        failed, text = self.call(tool, **arguments)
        assert not failed, text
        return json.loads(text)


def check_the_folder(stapgen, samples):
    """Links and names that lead out of it, pipes and devices: an error at once, whatever tool is asked."""
    with tempfile.TemporaryDirectory() as room:
        room = pathlib.Path(room)
        folder, outside = room / "folder", room / "outside"
        (outside / "proc/net").mkdir(parents=True)
        (outside / "proc/net/snmp").write_text("Udp: InDatagrams RcvbufErrors\nUdp: 225645 1399\n")
        shutil.copy(samples / "perf-drops.txt", outside / "drops.txt")
        (folder / "links").mkdir(parents=True)
        (folder / "links/out").symlink_to(outside)
        (folder / "links/drops.txt").symlink_to(outside / "drops.txt")
        (folder / "links/snmp").symlink_to(outside / "proc/net/snmp")
        (folder / "inside.txt").write_bytes((samples / "perf-drops.txt").read_bytes())
        (folder / "same.txt").symlink_to("inside.txt")
        os.mkfifo(folder / "pipe")
        with Server(stapgen, folder) as server:
            for name in ("../outside/drops.txt", str(outside / "drops.txt"), "links/out/drops.txt", "links/drops.txt", "links/out",
                         "links/../../outside", "pipe", "/proc/self/fd/0", "/dev/zero"):
                for tool, arguments in (("report", {"files": [name]}), ("why", {"files": [name]}), ("findings", {"archives": [name]}),
                                        ("compare", {"before": name, "after": name}), ("fleet_report", {"folder": name}),
                                        ("resolve", {"map": name, "addresses": ["1"]})):
                    failed, text = server.call(tool, **arguments)
                    assert failed and "1399" not in text, (tool, name, text)
            for tool, arguments in (("findings", {"archives": ["links"]}), ("report", {"files": ["links"]})):
                failed, text = server.call(tool, **arguments)
                assert "1399" not in text and '"count":' not in text, (tool, text)
            # A link that stays below is none of that.
            assert server.json("report", files=["same.txt"])["drops"]


def check_races(stapgen, samples):
    """A file that is a link out of the folder every other moment is never read through it."""
    with tempfile.TemporaryDirectory() as room:
        room = pathlib.Path(room)
        folder, outside = room / "folder", room / "outside.txt"
        folder.mkdir()
        outside.write_text("stapgen\t4\toutside\tt\ta:stage\nt\t1\nend\t1\n")
        good = "stapgen\t4\tinside\tt\ta:stage\nt\t1\nend\t1\n"
        done = threading.Event()

        def swap():
            while not done.is_set():
                (folder / "next").write_text(good)
                os.replace(folder / "next", folder / "file")
                (folder / "next").symlink_to(outside)
                os.replace(folder / "next", folder / "file")

        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            with Server(stapgen, folder) as server:
                for _ in range(20):
                    assert '"outside"' not in server.call("report", files=["file"])[1]
        finally:
            done.set()
            swapper.join()


def check_the_end(stapgen, samples):
    """SIGTERM in a call ends the server, too, and nobody goes on."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "long.txt").write_bytes((samples / "perf-drops.txt").read_bytes() * 1000)
        server = Server(stapgen, folder)
        server.send("tools/call", name="report", arguments={"files": ["long.txt"]})
        wait_for(lambda: len(left_of(server.process.pid)) > 1)
        server.process.send_signal(signal.SIGTERM)
        server.process.communicate(timeout=HANGS)
        wait_for(lambda: not left_of(server.process.pid))


def check_the_network(stapgen, samples):
    """What an input says of its kernel asks no server, however the environment is."""
    recording = ('recording\t1\t{"run":"a","recipe":"dropwatch","release":"6.1.0","build_id":"' + "ab" * 20 + '"}\n'
                 "stapgen\t3\tdropwatch\tdrop\tlocation:address\treason:reason\tcount:count\ndrop\tffffffff81000010\t2\t1\n"
                 'end\t1\tseen=1\treported=1\nrecording-end\t1\t{"lines":3}\n')
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        folder = pathlib.Path(folder)
        (folder / "run.rec").write_text(recording)
        with tarfile.open(folder / "archive.tar", "w") as archive:
            archive.add(folder / "run.rec", "case/run.rec")
            (folder / "sysctl").write_text("net.core.rmem_max = 17\n")
            archive.add(folder / "sysctl", "case/sysctl_-a")
        urls = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.getsockname()[1]}"}
        for file in ("run.rec", "archive.tar"):
            done = subprocess.run([stapgen, "report", folder / file], env={**os.environ, **urls}, capture_output=True, check=False,
                                  timeout=HANGS)
            assert done.returncode == 0, done
        with Server(stapgen, folder, **urls) as asked:
            asked.json("report", files=["run.rec"])
        try:
            server.accept()
            raise AssertionError("it was asked")
        except BlockingIOError:
            pass


def check_one_that_cannot_be_read(stapgen, samples):
    """The same recording twice, and no room for copies: the findings are there, and a line says what is not."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with tarfile.open(folder / "archive.tar", "w") as archive:
            for name in ("a", "b"):
                archive.add(samples / "rx-latency.rec", f"case/{name}.rec")
            (folder / "nstat").write_text("#kernel\nTcpExtListenOverflows 21 0.0\n")
            archive.add(folder / "nstat", "case/nstat_-az")
        command = [stapgen, "report", folder / "archive.tar", "--json"]
        documents = []
        for limits in ([], ["prlimit", "--fsize=0"]):
            done = subprocess.run([*limits, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                                  timeout=HANGS)
            assert done.returncode == 0, done
            findings, end = json.JSONDecoder().raw_decode(done.stdout)
            documents.append((findings, [json.loads(done.stdout[end:])] if done.stdout[end:].strip() else []))
        for findings, _ in documents:
            assert [(row["name"], row["count"]) for row in findings["findings"]] == [("listen-overflow", 21)], findings
        (twice, reports), (full, none) = documents
        assert len(reports) == 1 and reports[0]["recipe"] == "rx-latency", reports
        assert len(twice["damaged"]) == 1 and "case/b.rec" in twice["damaged"][0], twice["damaged"]
        assert not none and len(full["damaged"]) == 2, full["damaged"]


CASES = {"folder": check_the_folder, "races": check_races, "end": check_the_end, "network": check_the_network,
         "unreadable": check_one_that_cannot_be_read}


def main():
    stapgen, samples = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    for name in sys.argv[3:] or CASES:
        CASES[name](stapgen, samples)
        print(name)


main()
