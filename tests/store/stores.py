"""What the tests of stores share: recordings of known values, and stapgen."""

import json
import os
import subprocess

RUN_START = 1795180848_000_000_000  # 2026-11-20 13:20:48 UTC
ABOVE = 1 << 41


class Stapgen:
    def __init__(self, program, home):
        self.program, self.environment = program, {"PATH": "/usr/bin:/bin", "HOME": str(home), "TZ": "Asia/Kolkata"}

    def run(self, *words, code=0, **environment):
        """Return what it prints on stdout and on stderr; it has to end with CODE."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, timeout=300, check=False,
                              env={**self.environment, **environment})
        assert done.returncode == code, f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout, done.stderr

    def export(self, store, *files, code=0):
        return self.run("export", *files, "--parquet", store, code=code)

    def rows(self, store, *asked):
        """Return the rows of the answer, each a dictionary."""
        return json.loads(self.run("query", store, *asked, "--json")[0])["rows"]

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
    """Return the lowest and the highest number of a value's bin, by docs/recording-format.md."""
    if value >= ABOVE:
        return ABOVE, (1 << 63) - 1
    shift = max(0, value.bit_length() - 9)
    low = value >> shift << shift
    return low, low + (1 << shift) - 1


def is_there(program):
    """Whether DuckDB's library is."""
    return os.path.exists(os.path.join(os.path.dirname(program), "../share/stapgen/libduckdb.so"))
