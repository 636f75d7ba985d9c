#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether why has the same causes in each format, and those that were planted: check_why.py STAPGEN

The recording is made here, of 43 packets of each of 41 connections by IPv4 and by IPv6. All wait to be woken up; those of
one connection wait for a CPU; what is sent waits for Nagle. Filters and groups are of the same records.
"""

import csv
import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import documents  # noqa: E402

HEADER = ("stapgen\t5\tnet-latency\tnet\ttime:time\tpid:int\ttid:int\tcomm:text\tway:text\tlocal:endpoint\tremote:endpoint\t"
          "tcp-app:stage\ttcp-app.wake-up:stage\ttcp-app.run-queue:stage\tapp-tcp:stage\tapp-tcp.nagle:stage\n"
          "ready\t1795180000000000000\t5000000000000\n")
PLANTED = ["tcp-app.run-queue", "app-tcp.nagle", "tcp-app.wake-up"]
PACKETS, CONNECTIONS, BAD = 43, 41, 17


def recording(address):
    lines = []
    for packet in range(PACKETS):
        for connection in range(CONNECTIONS):
            at = 5_000_000_000_000 + (packet * CONNECTIONS + connection) * 10_000_000
            ends = f"233\t{241 + connection % 3}\tserve\t%s\t0.ffff0a090002:7001\t{address}:{50021 + connection}"
            wake_up = 53_000 + at // 10_000_000 * 7919 % 3119
            run_queue = 4_001_000 + packet * 101_000 if connection == BAD else 401
            nagle = 61_000 + at // 10_000_000 * 7919 % 30_011
            lines += [f"net\t{at}\t{ends % 'rx'}\t{wake_up + run_queue}\t{wake_up}\t{run_queue}\t-\t-\n",
                      f"net\t{at}\t{ends % 'tx'}\t-\t-\t-\t{nagle}\t{nagle}\n"]
    count = len(lines)
    return HEADER + "".join(lines) + f"end\t1795180001000000000\tseen={count}\treported={count}\n"


class Items(html.parser.HTMLParser):
    """The texts of a page's answer, and of the items of its list of causes."""

    def __init__(self):
        super().__init__()
        self.items, self.answer, self.into = [], "", None

    def handle_starttag(self, tag, attrs):
        kind = (tag, dict(attrs).get("class"))
        if kind in (("ol", "answers"), ("p", "answer")):
            self.into = tag
        if tag == "li" and self.into:
            self.items.append("")

    def handle_endtag(self, tag):
        if tag == self.into:
            self.into = None

    def handle_data(self, data):
        if self.into == "p":
            self.answer += data
        elif self.into and self.items:
            self.items[-1] += data


def run(stapgen, *words, code=0):
    done = subprocess.run([stapgen, *words], capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout


def check_formats(stapgen, path, remote):
    answer = documents.checked(json.loads(run(stapgen, "why", path, "--json")))
    assert [cause["part"] for cause in answer["causes"]] == PLANTED, answer["causes"]
    bad = answer["causes"][0]
    assert bad["who_group"]["remote"] == remote and bad["who_group"]["local"] == "10.9.0.2:7001", bad
    assert abs(bad["who_packets_share"] - 1 / CONNECTIONS) < 1e-5 and bad["who_share"] > 0.99, bad
    assert all("who_group" not in cause for cause in answer["causes"][1:]), answer["causes"]
    assert json.loads(run(stapgen, "why", path, "--format", "ndjson")) == answer

    text = run(stapgen, "why", path)
    sentences = [cause["part"] for cause in answer["causes"] if f"\n{cause['part']}: " in text]
    assert sentences == PLANTED and text.splitlines()[1].startswith(answer["answer"][:40]), text

    rows = list(csv.DictReader(run(stapgen, "why", path, "--format", "csv").splitlines()))
    causes = [row for row in rows if row["kind"] == "cause" and row["statistic"] == "what"]
    assert [row["name"] for row in causes] == PLANTED and causes[0]["remote"] == remote, causes

    page = Items()
    page.feed(run(stapgen, "why", path, "--format", "html"))
    assert page.answer == answer["answer"] and len(page.items) == len(PLANTED), (page.answer, page.items)
    for item, cause in zip(page.items, answer["causes"]):
        assert item.startswith(f"{cause['part']}: {cause['what']}.") and cause["remedy"] in item, (item, cause)

    report = json.loads(run(stapgen, "report", path, "--json"))
    shares = {stage["stage"]: stage["excess_share"] for tail in report["tail"] for stage in tail["stages"]
              if stage["slow_mean_ns"] + stage["rest_mean_ns"] > 0}
    for part in answer["parts"]:
        assert abs(part["excess_share"] - shares[part["part"]]) < 1e-5, (part, shares)


def check_parquet(stapgen, path, folder):
    """Return whether DuckDB is there."""
    store = folder / "store"
    done = subprocess.run([stapgen, "export", path, "--parquet", store], capture_output=True, text=True, check=False)
    if done.returncode == 4:
        return False
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in run(stapgen, "query", store, "SELECT part FROM causes", "--format", "ndjson").splitlines()]
    assert [row["part"] for row in rows] == PLANTED, rows
    return True


def check_filters_and_groups(stapgen, path, shown):
    port = str(50021 + BAD)
    answer = json.loads(run(stapgen, "why", path, "--port", port, "--json"))
    assert [way["n"] for way in answer["ways"]] == [PACKETS, PACKETS], answer["ways"]
    # The only connection does not stand out.
    assert all("who_group" not in cause for cause in answer["causes"]), answer["causes"]
    later = json.loads(run(stapgen, "why", path, "--since", "10s", "--json"))
    reported = json.loads(run(stapgen, "report", path, "--since", "10s", "--json"))
    assert sum(way["n"] for way in later["ways"]) == reported["accounting"]["reported"] > 0
    run(stapgen, "why", path, "--since", "soon", code=2)

    groups = json.loads(run(stapgen, "why", path, "--by", "tid", "--json"))["groups"]
    # Of 41 connections in turns the first two threads have one more.
    assert sorted(row["n"] for row in groups) == [2 * PACKETS * count for count in (13, 14, 14)], groups
    for row in groups:
        own = json.loads(run(stapgen, "why", path, "-x", str(row["group"]["tid"]), "--json"))
        assert sum(way["n"] for way in own["ways"]) == row["n"], (row, own["ways"])
    worst = groups[0]
    assert worst["group"] == {"tid": 241 + BAD % 3} and worst["cause"] == worst["slow_cause"] == "tcp-app.run-queue", groups
    assert abs(sum(row["share"] for row in groups) - 1) < 1e-5, groups
    ends = json.loads(run(stapgen, "why", path, "--by", "addr", "--json"))["groups"]
    assert [row["group"] for row in ends] == [{"addr": shown.strip("[]")}], ends
    rows = list(csv.DictReader(run(stapgen, "why", path, "--by", "tid", "--format", "csv").splitlines()))
    assert {row["tid"] for row in rows if row["kind"] == "group"} == {"241", "242", "243"}, rows


def main():
    stapgen = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for address, shown in (("0.ffff0a090001", "10.9.0.1"), ("20010db800000000.7", "[2001:db8::7]")):
            path = folder / "planted.txt"
            path.write_text(recording(address))
            check_formats(stapgen, path, f"{shown}:{50021 + BAD}")
            check_filters_and_groups(stapgen, path, shown)
        parquet = " and Parquet" if check_parquet(stapgen, path, folder) else "; Parquet is skipped: no DuckDB"
    print(f"the planted causes are those of text, JSON, ndjson, CSV, the page{parquet}")


main()
