# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of stores share: recordings of known values, and stapgen."""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys

for folder in (".", "formats"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
from documents import checked  # noqa: E402
from waiting import HANGS  # noqa: E402

RUN_START = 1795180848_000_000_000  # 2026-11-20 13:20:48 UTC
ABOVE = 1 << 41
PERCENTILES = {"50": "p50", "90": "p90", "99": "p99", "99.9": "p999"}  # in a report and in the view


class Stapgen:
    def __init__(self, program, home):
        self.program, self.environment = program, {"PATH": "/usr/bin:/bin", "HOME": str(home), "TZ": "Asia/Kolkata"}

    def run(self, *words, code=0, **environment):
        """Return what it prints on stdout and on stderr; it has to end with CODE."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, timeout=HANGS, check=False,
                              env={**self.environment, **environment})
        assert done.returncode == code, f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout, done.stderr

    def export(self, store, *files, code=0):
        return self.run("export", *files, "--parquet", store, code=code)

    def rows(self, store, *asked):
        """Return the rows of the answer, each a dictionary."""
        return checked(json.loads(self.run("query", store, *asked, "--json")[0]))["rows"]

    def all_rows(self, store, **asked):
        """Return the rows of several answers, {name: [dictionary]}: most of a question is the loading of the engine."""
        sql = " UNION ALL ".join(f"SELECT '{name}' AS name, to_json(q)::VARCHAR AS answer FROM ({one}) q" for name, one in asked.items())
        found = {name: [] for name in asked}
        for row in self.rows(store, sql):
            found[row["name"]].append(json.loads(row["answer"]))
        return found

    def report(self, *files):
        return json.loads(self.run("report", *files, "--json", "--by", "none")[0])


def write_recording(path, host, records, *, run, start=RUN_START, labels=None, filters=None):
    """Write one of rx-latency. RECORDS: (ns since the start, drv-ip, ip-tcp), None where a stage was not seen."""
    header = {"run": run, "part": 0, "start_epoch_ns": start, "recipe": "rx-latency", "command": ["stapgen", "rx-latency"],
              "filters": filters or {}, "recipe_hash": "9d1f", "definition": "065ddae3324d" if not filters else "77",
              "host": host, "machine": f"machine of {host}", "labels": labels or {}, "release": "6.12.1", "build_id": "a1"}
    lines = [f"recording\t1\t{json.dumps(header)}",
             "stapgen\t2\trx-latency\trx\ttime:time\tcpu:int\tcomm:text\tdrv-ip:stage\tip-tcp:stage",
             f"ready\t{start}\t7000"]
    for at, *stages in records:
        lines.append("\t".join(["rx", str(7000 + at), "3", "a\\tb", *("-" if ns is None else str(ns) for ns in stages)]))
    end = start + max(record[0] for record in records) + 1
    seen = len(records) + 2
    lines += [f"end\t{end}\tseen={seen}\treported={len(records)}\tfiltered=2",
              f'recording-end\t{{"end_epoch_ns":{end},"continued":false,"lines":{len(lines)}}}']
    path.write_text("\n".join(lines) + "\n")
    return path


def bin_of(value):
    """Return the lowest and the highest number of a value's bin, by docs/reference/recording-format.md."""
    if value >= ABOVE:
        return ABOVE, (1 << 63) - 1
    shift = max(0, value.bit_length() - 9)
    low = value >> shift << shift
    return low, low + (1 << shift) - 1


def fleet(folder, hosts, records_each, seed):
    """Write recordings of HOSTS, two of each, and return them."""
    generator, files = random.Random(seed), []
    for number in range(2 * hosts):
        host, slower = number % hosts, 5 if number % hosts == hosts - 1 else 1
        records = [(generator.randrange(7 * 10 ** 9), int(slower * generator.lognormvariate(6.5, 0.7)),
                    int(generator.lognormvariate(8.1, 1.3))) for _ in range(records_each)]
        files.append(write_recording(folder / f"web{number}.txt", f"web{host}", sorted(records), run=f"{seed}x{number}",
                                     start=RUN_START + number * 61 * 10 ** 9, labels={"dc": f"dc{host % 2}"}))
    return files


def known_bins(files):
    """Return {(stage, bin_low, bin_high): n} of what fleet() has written."""
    bins = collections.Counter()
    for file in files:
        for line in file.read_text().splitlines():
            if line.startswith("rx\t"):
                bins.update((stage, *bin_of(int(ns))) for stage, ns in zip(("drv-ip", "ip-tcp"), line.split("\t")[4:]))
    return bins


def bins_of(stapgen, store):
    """Return {(stage, bin_low, bin_high): n}, as known_bins() has them."""
    rows = stapgen.rows(store, "SELECT stage, bin_low, bin_high, sum(n) AS n FROM hist WHERE stage <> 'total' "
                               "GROUP BY stage, bin_low, bin_high")
    return {(row["stage"], row["bin_low"], row["bin_high"]): row["n"] for row in rows}


PERCENTILES_OF = "SELECT * FROM percentiles WHERE kind = '{}'"


def percentiles_of(stapgen, store, kind="all"):
    """Return {(name, stage): its row}."""
    return by_name(stapgen.rows(store, PERCENTILES_OF.format(kind)))


def by_name(rows):
    return {(row["name"], row["stage"]): row for row in rows}


def check_percentiles(reported, rows, name=""):
    """Return how many of a report's percentiles were compared with those of the rows."""
    compared = 0
    for kind, unit in (("stage", "_ns"), ("value", "")):
        for measure in reported[kind + "s"]:
            if measure["group"] not in ({}, {"host": name}) or (name and not measure["group"]) or measure["n"] == 0:
                continue
            row = rows[name, measure[kind]]
            told = {**measure["percentiles" + unit], "n": measure["n"], "min": measure["min" + unit],
                    "max": measure["max" + unit]}
            found = {percent: row[column] for percent, column in PERCENTILES.items()}
            found |= {"n": row["n"], "min": row["min_value"], "max": row["max_value"]}
            assert told == found, f"{measure[kind]}: {told} and {found}"
            assert row["p99"] is None or row["p99_low"] <= row["p99"] <= row["p99_high"], row
            compared += len(told)
    return compared


def is_there(program):
    """Whether DuckDB's library is."""
    return os.path.exists(os.path.join(os.path.dirname(program), "../share/stapgen/libduckdb.so"))
