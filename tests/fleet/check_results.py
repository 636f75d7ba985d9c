#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_results.py STAPGEN SAMPLES: fleet report and fleet compare of folders with recordings of hosts."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

for name in (".", "formats"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / name))
from documents import checked  # noqa: E402
from waiting import HANGS  # noqa: E402

ROWS = [{"host": f"web{i}", "state": "done", "recording": f"web{i}.rec"} for i in range(1, 7)]


class Results:
    def __init__(self, stapgen, samples, folder):
        self.stapgen, self.samples, self.folder = stapgen, samples, folder

    def make(self, name, *recordings):
        """Make a folder with these recordings as those of web1, web2, ..."""
        folder = self.folder / name
        folder.mkdir()
        for number, recording in enumerate(recordings, 1):
            shutil.copy(self.samples / recording, folder / f"web{number}.rec")
        return folder

    def put(self, folder, host, recording, release, labels):
        """Put this recording there, as if it came from another kernel."""
        text = subprocess.run(["zstd", "-dc", self.samples / recording], check=True, capture_output=True, text=True).stdout
        header, lines = text.split("\n", 1)
        *begin, facts = header.split("\t", 2)
        facts = json.loads(facts) | {"release": release, "labels": labels}
        (folder / f"{host}.rec").write_text("\t".join([*begin, json.dumps(facts)]) + "\n" + lines)

    def run(self, *words, code=0):
        done = subprocess.run([self.stapgen, "fleet", *words], capture_output=True, text=True, timeout=HANGS, check=False)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout, done.stderr


def check_who_is_different(results):
    alike = [f"slower-stage/before/{i}.rec" for i in range(1, 6)]
    table, _ = results.run("compare", results.make("alike", *alike))
    assert table.startswith("none of 5 hosts is significantly different\n"), table

    slow = results.make("slow", *alike, "slower-stage/after/1.rec")
    said, error = results.run("compare", slow, "--json", code=3)
    found = checked(json.loads(said))
    assert found["schema"] == "stapgen.fleet-compare/1" and found["different"] == 1 and found["hosts"] == 6, found
    assert found["result"] == "different", found
    assert {(row["host"], row["stage"]) for row in found["rows"] if row["stands_out"]} == {("web6", "ip-tcp"), ("web6", "total")}, found
    assert "above the 5 % threshold: 1 of 6 hosts\n" in error, error
    # Three are too few to know what hosts differ by.
    few = results.make("few", *alike[:2], "slower-stage/after/1.rec")
    table, error = results.run("compare", few, code=7)
    assert table.startswith("no result: 3 of 4 hosts; measure on 1 more\n"), table
    assert "no result: 3 of 4 hosts" in error, error
    assert checked(json.loads(results.run("compare", few, "--json", code=7)[0]))["result"] == "none"
    rare, _ = results.run("compare", slow, "-P", "99.99", code=7)
    assert rare.startswith("no result: p99.99 needs "), rare
    results.run("compare", slow, "--threshold", "99000%")


def check_which_kernel_is_different(results):
    folder = results.make("kernels")
    for i in range(1, 6):
        results.put(folder, f"old{i}", f"slower-stage/before/{i}.rec", "6.1.0", {"dc": "fra1"})
        results.put(folder, f"new{i}", f"slower-stage/after/{i}.rec", "6.12.9", {"dc": "lon2"})
    table, error = results.run("compare", folder, code=3)
    hosts, kernels = table.splitlines()[:2]
    assert hosts == "none of 10 hosts is significantly different", table
    assert kernels.startswith("kernel 6.12.9 (the same hosts: dc=lon2) is different: ip-tcp p50 +"), table
    assert kernels.endswith(", 5 hosts against 5 of kernel 6.1.0; label dc coincides with kernel, so their effects cannot be separated"), table
    assert "above the 5 % threshold: kernel 6.12.9\n" in error, error
    found = checked(json.loads(results.run("compare", folder, "--json", code=3)[0]))
    rows = found["factors"]["rows"]
    assert found["factors"]["sentence"] == kernels and found["different"] == 0, found
    assert {(row["level"], row["base"], row["hosts"]) for row in rows} == {("kernel 6.12.9", "kernel 6.1.0", 5)}, rows
    assert rows[0]["stands_out"] and rows[0]["stage"] == "ip-tcp" and rows[0]["change"] > 3, rows
    results.run("compare", folder, "--threshold", "99000%")


def check_a_host_without_packets_is_no_example(results):
    folder = results.make("idle", *[f"slower-stage/before/{i}.rec" for i in range(1, 6)])
    text = subprocess.run(["zstd", "-dc", folder / "web5.rec"], check=True, capture_output=True, text=True).stdout
    idle = [line for line in text.splitlines(keepends=True) if not line.startswith("rx\t")]
    (folder / "web5.rec").write_text("".join(idle).replace("reported=504", "reported=0"))
    table, _ = results.run("compare", folder)
    assert table.startswith("none of 4 hosts is significantly different; no result for 1\n"), table
    table, _ = results.run("report", folder)
    assert table.splitlines()[5].split()[:4] == ["web5", "6.12.118+deb13-amd64", "0", "-"], table
    page, _ = results.run("report", folder, "--format", "html")
    assert page.count("<figure>") == 4, "a chart of nothing"


def check_a_host_that_failed_is_said(results):
    folder = results.make("failed", *[f"slower-stage/before/{i}.rec" for i in range(1, 5)], "dropwatch.rec")
    rows = ROWS[:4] + [{"host": "web5", "state": "unreachable", "why": "no route", "recording": ""}]
    (folder / "fleet.json").write_text(json.dumps({"hosts": rows}))
    table, said = results.run("report", folder)
    assert "1 of 5 hosts did not complete: web5 (unreachable)" in said, said
    hosts = [line.split() for line in table.splitlines()[1:5]]
    assert sorted(row[0] for row in hosts) == ["web1", "web2", "web3", "web4"], table
    p99 = [float(row[4]) for row in hosts]
    assert p99 == sorted(p99, reverse=True), table
    assert "2016 seen" in table or "of 2016" in table or " 2016 " in table, table

    (folder / "fleet.json").write_text("{")
    _, said = results.run("report", folder, code=2)
    assert "fleet.json" in said, said
    (folder / "fleet.json").unlink()
    _, said = results.run("report", folder, code=2)
    assert "dropwatch" in said and "rx-latency" in said, said
    _, said = results.run("compare", results.folder / "nowhere", code=2)
    assert "is not a folder" in said, said


def check_a_recording_of_another_recipe_is_its_hosts_fault(results):
    folder = results.make("lied", *[f"slower-stage/before/{i}.rec" for i in range(1, 6)], "dropwatch.rec")
    (folder / "fleet.json").write_text(json.dumps({"recipe": "rx-latency", "hosts": ROWS}))
    for command in ("report", "compare"):
        said = "".join(results.run(command, folder))
        assert "1 of 6 hosts did not complete: web6 (a recording of dropwatch, and not of rx-latency)" in said, said


def check_other_commands_leave_out_what_became_of_the_hosts(results):
    folder = results.make("read", "slower-stage/before/1.rec", "slower-stage/before/2.rec")
    (folder / "fleet.json").write_text(json.dumps({"recipe": "rx-latency", "hosts": ROWS[:2]}))
    for command in ("report", "why"):
        for words in ([folder], sorted(folder.iterdir())):
            done = subprocess.run([results.stapgen, command, *words], capture_output=True, text=True, timeout=HANGS, check=False)
            assert done.returncode == 0 and "fleet.json" not in done.stdout + done.stderr, done


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = Results(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(folder))
        check_who_is_different(results)
        check_which_kernel_is_different(results)
        check_a_host_without_packets_is_no_example(results)
        check_a_host_that_failed_is_said(results)
        check_a_recording_of_another_recipe_is_its_hosts_fault(results)
        check_other_commands_leave_out_what_became_of_the_hosts(results)


main()
