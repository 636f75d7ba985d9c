#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_shards.py STAPGEN ROOT: two servers of ClickHouse 18.16 hold a store in two halves, and answer as stapgen does.

Run by hand. ROOT has Debian 12's packages, unpacked; nothing is installed and no service started:

    apt-get install --download-only -o Dir::Cache::archives=$PWD/debs clickhouse-server clickhouse-client
    for package in debs/*.deb; do dpkg -x $package ROOT; done

That ClickHouse is too old for Parquet, for WITH and for window functions. It gets CSV, and quantileExactWeighted stands in
place of the views: its rank is the nearest, too.
"""

import json
import pathlib
import sys
import tempfile

from servers import Servers
from stores import PERCENTILES, Stapgen, check_percentiles, fleet, known_bins, percentiles_of

TABLES = {"runs": "run String, host String, definition String, resolution_ns Int64",
          "hist": "run String, stage String, bin_low Int64, bin_high Int64, n UInt64",
          "sums": "run String, stage String, n UInt64, sum Int64, min Int64, max Int64"}
BY_HOST = ("SELECT host, stage, sum(n), " +
           ", ".join(f"quantileExactWeighted({float(percent) / 100:g})({end}, n)" for percent in PERCENTILES
                     for end in ("bin_low", "bin_high")) +
           " FROM hist_all ANY INNER JOIN (SELECT run, host FROM runs) AS r USING run GROUP BY host, stage")


def load(servers, stapgen, store, folder):
    """Put each run on one of the shards, with all it has."""
    for name, columns in TABLES.items():
        for shard in range(len(servers.ports)):
            servers.run(f"CREATE TABLE {name} ({columns}) ENGINE = MergeTree ORDER BY run", shard)
        servers.run(f"CREATE TABLE {name}_all AS {name} ENGINE = Distributed(all, default, {name}, cityHash64(run))")
        names = ", ".join(column.split()[0] for column in columns.split(", "))
        text = folder / f"{name}.csv"
        text.write_text(stapgen.run("query", store, f"SELECT {names} FROM {name}", "--format", "csv")[0])
        with open(text, encoding="utf-8") as given:
            servers.run(f"INSERT INTO {name}_all FORMAT CSVWithNames", given=given)


def main():
    program, root = map(pathlib.Path.resolve, map(pathlib.Path, sys.argv[1:]))
    with tempfile.TemporaryDirectory() as name, Servers(root, pathlib.Path(name), 2) as servers:
        folder = pathlib.Path(name)
        stapgen, store = Stapgen(program, folder), folder / "store"
        files = fleet(folder, 7, 4001, 13)
        stapgen.export(store, *files)
        load(servers, stapgen, store, folder)
        print("ClickHouse", servers.run("SELECT version()").strip())
        parts = [int(servers.run("SELECT count() FROM hist", shard)) for shard in (0, 1)]
        assert min(parts) > 0, parts
        bins = servers.rows("SELECT stage, bin_low, bin_high, sum(n) FROM hist_all WHERE stage != 'total' "
                            "GROUP BY stage, bin_low, bin_high")
        assert {(stage, *map(int, bin_[:2])): int(bin_[2]) for stage, *bin_ in bins} == known_bins(files)
        rows_of_view = percentiles_of(stapgen, store, "host")
        rows = dict(rows_of_view)
        compared = 0
        for host, stage, n, *ends in servers.rows(BY_HOST):
            row = rows.pop((host, stage))
            assert int(n) == row["n"], (n, row)
            for column, low, high in zip(PERCENTILES.values(), map(int, ends[0::2]), map(int, ends[1::2])):
                middle = low + (high - low) // 2
                assert row[column] == min(max(middle, row["min_value"]), row["max_value"]), (host, stage, column, row)
                compared += 1
        assert not rows and compared == 7 * 3 * 4, (rows, compared)
        by_host = json.loads(stapgen.run("report", *files, "--json", "--by", "host")[0])
        assert sum(check_percentiles(by_host, rows_of_view, f"web{host}") for host in range(7)) == 7 * 2 * 7
        print(f"{parts[0]} and {parts[1]} rows of hist; {len(known_bins(files))} bins and {compared} percentiles are the "
              "same")


main()
