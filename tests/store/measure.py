#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How large a fleet's day is and how long questions take: measure.py STAPGEN SOURCE FOLDER HOSTS SPANS [OPTIONS]

The bins of the ten recordings of samples/slower-stage become a store in FOLDER with HOSTS runs of SPANS minutes each: of
each minute, host and stage a fifth of one recording's bins, some 60 rows. HOSTS 1000 and SPANS 1440 are 260 million rows,
HOSTS 1000 and SPANS 144 a tenth of that. `stapgen query` is asked, then ClickHouse's engine (check_chdb.py says what LIB
is), then one server and two as shards (check_shards.py: ROOT). Nothing is asserted of times.
"""

import argparse
import ctypes
import os
import pathlib
import resource
import time

from chdb import Clickhouse
from servers import Servers
from stores import RUN_START, Stapgen

DAY = "recipe=rx-latency/day=2026-11-20"
OF_ONE_HOST = ("SELECT stage, sum(n) FROM hist h JOIN runs r ON h.run = r.run WHERE r.host = 'web7' GROUP BY stage "
               "ORDER BY stage")
WEIGHTED = ("SELECT {}stage, sum(n), quantileExactWeighted(0.5)(bin_low, n), quantileExactWeighted(0.99)(bin_low, n) "
            "FROM {} ANY INNER JOIN (SELECT run, host FROM runs) AS r USING run GROUP BY {}stage ORDER BY {}stage")


class Duckdb:
    """Just enough of its library to write a store that is larger than any recording here."""

    class Result(ctypes.Structure):
        _fields_ = [("words", ctypes.c_uint64 * 6)]

    def __init__(self, library):
        self.library, database, self.connection = ctypes.CDLL(library), ctypes.c_void_p(), ctypes.c_void_p()
        self.library.duckdb_result_error.restype = ctypes.c_char_p
        assert self.library.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.library.duckdb_connect(database, ctypes.byref(self.connection)) == 0

    def run(self, sql):
        result = self.Result()
        if self.library.duckdb_query(self.connection, sql.encode(), ctypes.byref(result)) != 0:
            raise ValueError(f"{sql}\n{self.library.duckdb_result_error(ctypes.byref(result)).decode()}")
        self.library.duckdb_destroy_result(ctypes.byref(result))


def cpu_of(processes):
    """Return the CPU seconds of this process, of its children that have ended, and of these that have not."""
    of_servers = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        of_servers += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return of_servers + sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def timed(what, call, processes=()):
    """Print how long it took, and of the CPU, which does not depend on who else uses this machine."""
    begin, cpu = time.monotonic(), cpu_of(processes)
    answer = call()
    print(f"{what:58} {time.monotonic() - begin:8.1f} s, {cpu_of(processes) - cpu:8.1f} s of CPU", flush=True)
    return answer


def size_of(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def multiply(duckdb, real, store, hosts, spans):
    """Write the store: of each host a file for each table, as export does."""
    for table in ("hist", "sums", "runs", "labels"):
        (store / table / DAY).mkdir(parents=True)
    duckdb.run("CREATE TABLE bins AS SELECT dense_rank() OVER (ORDER BY run) AS recording, * FROM (SELECT run, stage, unit, "
               f"bin_low, bin_high, sum(n) AS n FROM read_parquet('{real}/hist/*/*/*.parquet') WHERE stage <> 'total' "
               "GROUP BY ALL)")
    start = f"make_timestamp({RUN_START // 1000})"
    for host in range(hosts):
        duckdb.run(f"CREATE OR REPLACE TABLE hist AS SELECT 'run{host}' AS run, stage, unit, "
                   f"({start} + to_minutes(m))::TIMESTAMPTZ AS t, bin_low, bin_high, "
                   f"CAST(n * (1 + hash(m, bin_low) % 97) AS UBIGINT) AS n FROM range({spans}) s(m) "
                   f"JOIN bins ON recording = 1 + hash({host}, m) % 10 "
                   f"WHERE hash({host}, m, stage, bin_low) % 5 = 0 ORDER BY stage, t, bin_low")
        duckdb.run("CREATE OR REPLACE TABLE sums AS SELECT run, stage, unit, t, CAST(sum(n) AS UBIGINT) AS n, "
                   "CAST(sum(n * bin_low) AS BIGINT) AS sum, min(bin_low) AS min, max(bin_high) AS max FROM hist "
                   "GROUP BY ALL ORDER BY stage, t")
        duckdb.run(f"CREATE OR REPLACE TABLE runs AS SELECT 'run{host}' AS run, 'web{host}' AS host, "
                   "'065ddae3324d' AS definition, 1::BIGINT AS resolution_ns")
        duckdb.run(f"CREATE OR REPLACE TABLE labels AS SELECT 'run{host}' AS run, 'dc' AS name, 'dc{host % 3}' AS value")
        for table in ("hist", "sums", "runs", "labels"):
            duckdb.run(f"COPY {table} TO '{store}/{table}/{DAY}/run{host}.parquet' (FORMAT parquet, COMPRESSION zstd)")


def ask_stapgen(stapgen, store, source):
    for name in ("p99-by-host", "compare-labels", "worst-hosts"):
        timed(f"stapgen query --ask {name}", lambda name=name: stapgen.rows(store, "--ask", name))
    timed("stapgen query, one host", lambda: stapgen.rows(store, OF_ONE_HOST))
    print(f"most memory of one: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6:.1f} GB")


def ask_chdb(library, store, source, folder):
    clickhouse = Clickhouse(library, f"--path={folder}")
    clickhouse.run("SET max_memory_usage = 6000000000")
    views = [statement for statement in (source / "sql/views.sql").read_text().split(";\n") if statement.strip()]
    for kind in ("files", "tables"):
        clickhouse.run(f"CREATE DATABASE {kind}")
        clickhouse.run(f"USE {kind}")
        for table in ("hist", "sums", "runs", "labels"):
            what = "VIEW {} AS" if kind == "files" else "TABLE {} ENGINE = MergeTree ORDER BY tuple() AS"
            sql = f"CREATE {what.format(table)} SELECT * FROM file('{store}/{table}/*/*/*.parquet')"
            timed(f"ClickHouse's engine, {table}: {kind}", lambda sql=sql: clickhouse.run(sql))
        for view in views:
            clickhouse.run(view)
        for name in ("p99-by-host", "compare-labels", "worst-hosts"):
            sql = (source / f"sql/{name}.sql").read_text()
            timed(f"ClickHouse's engine, {kind}, {name}", lambda sql=sql: clickhouse.rows(sql))
        timed(f"ClickHouse's engine, {kind}, one host", lambda: clickhouse.rows(OF_ONE_HOST))
        timed(f"ClickHouse's engine, {kind}, p99 by host, weighted",
              lambda: clickhouse.run(WEIGHTED.format("host, ", "hist", "host, ", "host, ")))
    print(f"tables of ClickHouse's engine: {size_of(folder) / 1e6:.0f} MB")


def ask_shards(root, duckdb, store, folder, count):
    folder.mkdir()
    with Servers(root, folder, count) as servers:
        for name, columns in (("runs", "run String, host String"),
                              ("hist", "run String, stage String, t DateTime, bin_low Int64, bin_high Int64, n UInt64")):
            for shard in range(count):
                servers.run(f"CREATE TABLE {name} ({columns}) ENGINE = MergeTree ORDER BY run", shard)
            servers.run(f"CREATE TABLE {name}_all AS {name} ENGINE = Distributed(all, default, {name}, cityHash64(run))")
            names = columns.replace("t DateTime", "CAST(epoch(t) AS BIGINT)").split(", ")
            names = ", ".join(name if "(" in name else name.split()[0] for name in names)
            text = folder / f"{name}.csv"
            duckdb.run(f"COPY (SELECT {names} FROM read_parquet('{store}/{name}/*/*/*.parquet')) TO '{text}' (HEADER)")
            with open(text, encoding="utf-8") as given:
                timed(f"{count} of 18.16: {name}, {text.stat().st_size / 1e6:.0f} MB of CSV",
                      lambda name=name, given=given: servers.run(f"INSERT INTO {name}_all FORMAT CSVWithNames", given=given),
                      servers.processes)
            text.unlink()
        for what, key in (("p99 by host", "host, "), ("p99 of all", "")):
            timed(f"{count} of 18.16: {what}", lambda key=key: servers.run(WEIGHTED.format(key, "hist_all", key, key)),
                  servers.processes)
        print(f"data of {count}: {sum(size_of(folder / f'server-{port}') for port in servers.ports) / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stapgen", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("hosts", type=int)
    parser.add_argument("spans", type=int)
    parser.add_argument("--chdb", type=pathlib.Path)
    parser.add_argument("--shards", type=pathlib.Path)
    given = parser.parse_args()
    program, source, folder = given.stapgen.resolve(), given.source.resolve(), given.folder.resolve()
    stapgen, store = Stapgen(program, folder), folder / "store"
    duckdb = Duckdb(str(program.parents[1] / "share/stapgen/libduckdb.so"))
    duckdb.run("SET memory_limit = '4GB'")
    duckdb.run("SET TimeZone = 'UTC'")
    if not store.exists():
        samples = source / "samples/slower-stage"
        stapgen.export(folder / "real", samples / "before", samples / "after")
        timed("written", lambda: multiply(duckdb, folder / "real", store, given.hosts, given.spans))
    rows = stapgen.rows(store, "SELECT count(*) AS n FROM hist")[0]["n"]
    size = size_of(store / "hist")
    print(f"{rows:,} rows of hist in {given.hosts} files: {size / 1e6:.0f} MB, {size / rows:.2f} bytes each")
    ask_stapgen(stapgen, store, source)
    if given.chdb:
        ask_chdb(given.chdb.resolve(), store, source, folder / "chdb")
    for count in (1, 2) if given.shards else ():
        ask_shards(given.shards.resolve(), duckdb, store, folder / f"shards-{count}", count)


main()
