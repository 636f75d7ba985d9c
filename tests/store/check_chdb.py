#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_chdb.py STAPGEN SOURCE LIBCHDB: ClickHouse reads what 'stapgen export' has written, and answers as stapgen does.

Run by hand, for LIBCHDB is 566 MB: npm pack @chdb/lib-linux-x64-gnu@26.7.3-stable.1, libchdb.so is in it. The shipped SQL
is run as it is, over the Parquet files, and over tables that are made of them.
"""

import pathlib
import sys
import tempfile

from chdb import Clickhouse
from stores import Stapgen, check_percentiles, fleet, known_bins

TABLES = ["hist", "sums", "account", "drops", "counts", "slow", "labels", "runs"]
QUESTIONS = ["p99-by-host", "compare-labels", "worst-hosts", "drops-over-time"]


def plain(rows):
    """Return them with times as seconds: engines print them in ways of their own."""
    return [{key: str(value).split(".")[0].split("+")[0] if key == "at_minute" else value for key, value in row.items()}
            for row in rows]


def check(stapgen, clickhouse, source, store, files):
    for statement in (source / "sql/views.sql").read_text().split(";\n"):
        if statement.strip():
            clickhouse.run(statement)
    rows = clickhouse.rows("SELECT stage, bin_low, bin_high, sum(n) AS bin_n FROM hist h JOIN runs r ON h.run = r.run "
                           "WHERE stage <> 'total' AND r.host LIKE 'web%' GROUP BY stage, bin_low, bin_high")
    assert {(row["stage"], row["bin_low"], row["bin_high"]): row["bin_n"] for row in rows} == known_bins(files)
    rows = {(row["name"], row["stage"]): row for row in clickhouse.rows(
        "SELECT * FROM percentiles WHERE kind = 'all' AND definition = '065ddae3324d'")}
    compared = check_percentiles(stapgen.report(*files), rows)
    answers = 0
    for name in QUESTIONS:
        asked = plain(stapgen.rows(store, "--ask", name))
        answered = plain(clickhouse.rows((source / f"sql/{name}.sql").read_text()))
        assert asked == answered, f"{name}:\n{asked}\n{answered}"
        assert asked, name
        answers += len(asked)
    print(f"{len(known_bins(files))} bins, {compared} figures of the report and {answers} rows of {len(QUESTIONS)} "
          "questions are the same")


def main():
    program, source, library = map(pathlib.Path.resolve, map(pathlib.Path, sys.argv[1:]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stapgen, store = Stapgen(program, folder), folder / "store"
        files = fleet(folder, 7, 1013, 11)
        stapgen.export(store, *files, *(source / "samples" / sample for sample in
                                        ("rx-latency.rec", "packet-flow.rec", "stage-timing.txt", "dropwatch.rec")))
        clickhouse = Clickhouse(library)
        print("ClickHouse", clickhouse.run("SELECT version()", "TSV").strip())
        of_files = "SELECT * FROM file('{}/{}/*/*/*.parquet')"
        for kind in ("VIEW {} AS " + of_files, "TABLE {} ENGINE = MergeTree ORDER BY tuple() AS " + of_files):
            clickhouse.run("CREATE DATABASE made")
            clickhouse.run("USE made")
            for table in TABLES:
                if (store / table).exists():
                    clickhouse.run("CREATE " + kind.format(table, store, table))
            check(stapgen, clickhouse, source, store, files)
            clickhouse.run("USE default")
            clickhouse.run("DROP DATABASE made")


main()
