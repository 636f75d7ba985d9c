#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_store.py STAPGEN SOURCE: what is exported is what is reported, bin for bin and percentile for percentile.

"skipped: why" where DuckDB's library is not there.
"""

import collections
import csv
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

from stores import (PERCENTILES_OF, RUN_START, Stapgen, bin_of, bins_of, by_name, check_percentiles, fleet, is_there,
                    known_bins, percentiles_of, write_recording)

# All that have durations, and one of each other kind.
SAMPLES = ["rx-latency.rec", "rx-latency-killed.rec", "rx-latency-cost.rec", "packet-flow.rec", "own-sock-latency.txt",
           "own-rx-latency.txt", "earlier/own-call-trace.txt", "earlier/net-latency.txt", "earlier/tx-latency.txt", "stage-timing.txt",
           "stage-timing-zones.txt", "dropwatch.rec", "losses.rec", "dropwatch-2023.txt", "softnet.rec"]


def check_samples(stapgen, source, folder):
    compared = collections.Counter()
    for name in SAMPLES:
        store = folder / ("of " + name.replace("/", " "))
        stapgen.export(store, source / "samples" / name)
        reported = stapgen.report(source / "samples" / name)
        # In whatever spans of time, all of it is there.
        stored = stapgen.all_rows(
            store, runs="SELECT * FROM runs", percentiles=PERCENTILES_OF.format("all"),
            sums="SELECT s.stage, s.n, s.sum, h.n AS n_bins FROM (SELECT stage, sum(n) AS n, sum(sum) AS sum FROM sums "
                 "GROUP BY stage) s JOIN (SELECT stage, sum(n) AS n FROM hist GROUP BY stage) h ON s.stage = h.stage",
            account="SELECT kind, n FROM account",
            drops="SELECT symbol, reason, sum(n) AS n FROM drops GROUP BY symbol, reason",
            counts="SELECT what, sum(n) AS n FROM counts GROUP BY what",
            slow="SELECT DISTINCT direction, place, total_ns FROM slow WHERE place <= 5 ORDER BY direction, place")
        runs = stored["runs"]
        assert len(runs) == 1 and runs[0]["recipe"] == reported["recipe"], runs
        compared["percentiles"] += check_percentiles(reported, by_name(stored["percentiles"]))
        for row in stored["sums"]:
            assert row["n"] == row["n_bins"], row
            for stage in reported["stages"]:
                if stage["stage"] == row["stage"] and not stage["group"]:
                    assert (stage["n"], stage["sum_ns"]) == (row["n"], row["sum"]), (stage, row)
                    compared["sums"] += 1
        account = collections.Counter()
        for row in stored["account"]:
            account[row["kind"]] += row["n"]
        for kind in ("seen", "reported", "filtered", "incomplete", "lost"):
            assert account[kind] == reported["accounting"][kind], (name, kind, account)
        drops = stored["drops"]
        told = collections.Counter()
        for drop in reported["drops"]:
            told[drop["symbol"], drop["reason"]] += drop["count"]
        assert {(row["symbol"], row["reason"]): row["n"] for row in drops} == told, (name, drops)
        counts = stored["counts"]
        told = collections.Counter()
        for count in json.loads(stapgen.run("report", source / "samples" / name, "--json")[0])["counts"]:
            told[json.dumps(count["group"])] += count["count"]
        assert {json.dumps(json.loads(row["what"])): row["n"] for row in counts} == told, (name, counts)
        slow = stored["slow"]
        assert [row["total_ns"] for row in slow] == [one["total_ns"] for one in reported["slowest"]], (name, slow)
        compared["drops"], compared["counts"] = compared["drops"] + len(drops), compared["counts"] + len(counts)
    print(", ".join(f"{count} {what}" for what, count in compared.items()), "are those of the report")
    assert compared["percentiles"] > 200 and compared["sums"] > 30 and compared["drops"] > 5 and compared["counts"]


def check_rows_of_reports(stapgen, source, folder):
    """The other tables of a report are as it has them: groups, too."""
    golden, samples = source / "tests/golden", source / "samples"
    for file, table in ((samples / "ledger.rec", "ledger"), (golden / "who.txt", "who"), (golden / "why/nagle.txt", "causes"),
                        (golden / "why/requests-lock.txt", "who"),
                        (samples / "rx-latency.rec", "stages"), (samples / "rx-latency-cost.rec", "cost"),
                        (samples / "dropwatch.rec", "advice"), (golden / "stacks.txt", "stacks")):
        store = folder / f"rows of {file.name}"
        stapgen.export(store, file)
        reported = json.loads(stapgen.run("report", file, "--json")[0])[table]
        stored = stapgen.rows(store, f"SELECT * FROM {table}")
        reported = [reported] if isinstance(reported, dict) else reported
        assert len(reported) == len(stored) > 0, (table, stored)
        for told, row in zip(reported, stored):
            # An export knows more of the slowest records, which causes name.
            told["what"] = json.dumps(told["group"], separators=(",", ":")) if "group" in told else None
            same = {key for key in row if isinstance(told.get(key), (str, int))} - {"time"}
            assert len(same) >= 2 and all(row[key] == told[key] for key in same), (table, told, row)
            assert "p99_ns" not in row or row["p99_ns"] == told["percentiles_ns"]["99"], (told, row)
    assert any(json.loads(row["what"]) for row in stapgen.rows(folder / "rows of rx-latency.rec", "SELECT what FROM stages"))


def check_bins(stapgen, folder):
    """Values at borders of bins, above them, and between, in spans of a second."""
    values = [0, 1, 509, 511, 512, 513, 1021, 1023, 1024, 1031, 65535, 65536, 104729, (1 << 41) - 1, 1 << 41, 2 ** 43 + 7]
    records = [(at * 371_000_000, value, None if at % 3 else value + 1)
               for at, value in enumerate(value for value in values for _ in range(1 + value % 5))]
    file = write_recording(folder / "bins.txt", "web1", records, run="b1")
    stapgen.export(folder / "bins", file)
    known = collections.Counter()
    for at, *stages in records:
        for stage, value in zip(("drv-ip", "ip-tcp"), stages):
            if value is not None:
                known[stage, at // 10 ** 9, *bin_of(value)] += 1
    rows = stapgen.rows(folder / "bins", "SELECT stage, epoch_us(t) AS us, bin_low, bin_high, n FROM hist "
                                         "WHERE stage <> 'total'")
    found = {(row["stage"], (row["us"] - RUN_START // 1000) // 10 ** 6, row["bin_low"], row["bin_high"]): row["n"]
             for row in rows}
    assert found == known, sorted(found.items() ^ known.items())
    total = stapgen.rows(folder / "bins", "SELECT t, sum(n) AS n FROM hist WHERE stage = 'total' GROUP BY t")
    assert total == [{"t": None, "n": len(records)}], total
    assert check_percentiles(stapgen.report(file), percentiles_of(stapgen, folder / "bins")) == 2 * 7


def check_too_few(stapgen, folder):
    """A percentile is stated from so many values on, and of one fewer it is not. It is not outside of what was seen."""
    counts = [5, 6, 35, 36, 367, 368, 3687, 3688]
    files = [write_recording(folder / f"{n}.txt", f"host {n}",
                             [(at, 701 + at * 13, 1303 - n % 2 * 3) for at in range(n)], run=f"n{n}") for n in counts]
    stapgen.export(folder / "few", *files)
    reported = json.loads(stapgen.run("report", *files, "--json", "--by", "host")[0])
    rows = percentiles_of(stapgen, folder / "few", "host")
    for n in counts:
        assert check_percentiles(reported, rows, f"host {n}") == 2 * 7
    stated = {n: [rows[f"host {n}", "drv-ip"][column] is not None for column in ("p50", "p90", "p99", "p999")].count(True)
              for n in counts}
    assert stated == dict(zip(counts, [0, 1, 1, 2, 2, 3, 3, 4])), stated


def check_sums(stapgen, folder):
    """What is exported together, one by one, twice and in any order is the same; its sum is that of the report."""
    files = fleet(folder, 5, 787, 7)
    stapgen.export(folder / "together", *files)
    for part, each in enumerate((files[3:], files[:3])):
        for file in reversed(each):
            stapgen.export(folder / "one by one", file)
            stapgen.export(folder / f"part {part}", file)
    said, _ = stapgen.export(folder / "one by one", *files[4:])
    assert "6 runs exported, 6 of them replaced" in said, said
    together = bins_of(stapgen, folder / "together")
    assert together == known_bins(files)
    assert together == bins_of(stapgen, folder / "one by one")
    parts = collections.Counter()
    for part in (0, 1):
        parts.update(bins_of(stapgen, folder / f"part {part}"))
    assert together == parts
    for store in ("together", "one by one"):
        assert check_percentiles(stapgen.report(*files), percentiles_of(stapgen, folder / store)) == 2 * 7
    by_host = json.loads(stapgen.run("report", *files, "--json", "--by", "host")[0])
    rows = percentiles_of(stapgen, folder / "together", "host")
    assert sum(check_percentiles(by_host, rows, f"web{host}") for host in range(5)) == 5 * 2 * 7
    return files


def check_questions(stapgen, folder, files):
    store = folder / "together"
    by_host = stapgen.rows(store, "--ask", "p99-by-host")
    assert {row["host"] for row in by_host} == {f"web{host}" for host in range(5)} and len(by_host) == 5 * 3, by_host
    worst = stapgen.rows(store, "--ask", "worst-hosts")
    assert (worst[0]["host"], worst[0]["stage"]) == ("web4", "drv-ip"), worst
    labels = stapgen.rows(store, "--ask", "compare-labels")
    assert [(row["kind"], row["stage"], row["value"]) for row in labels] == [
        ("label dc", stage, dc) for stage in ("drv-ip", "ip-tcp", "total") for dc in ("dc0", "dc1")], labels
    assert [row["n"] for row in labels[:2]] == [6 * 787, 4 * 787], labels
    # The formats say the same.
    table = stapgen.run("query", store, "--ask", "worst-hosts")[0].splitlines()
    assert table[0].split() == list(worst[0]) and table[1].split()[:4] == ["rx-latency", "065ddae3324d", "drv-ip", "web4"]
    lines = list(csv.DictReader(io.StringIO(stapgen.run("query", store, "--ask", "worst-hosts", "--format", "csv")[0])))
    assert [{key: str(value) for key, value in row.items()} for row in worst] == lines, lines
    assert [json.loads(line) for line in
            stapgen.run("query", store, "--ask", "worst-hosts", "--format", "ndjson")[0].splitlines()] == worst
    # Numbers of another definition are not added to them.
    shutil.copytree(store, folder / "unlike")
    stapgen.export(folder / "unlike", write_recording(folder / "80.txt", "web1", [(1, 13, 17)] * 7, run="u1",
                                                      filters={"port": "80"}))
    assert stapgen.rows(folder / "unlike", "SELECT definition, count(*) AS n FROM percentiles WHERE name = 'web1' "
                                           "GROUP BY definition ORDER BY n, definition") == [
        {"definition": "065ddae3324d", "n": 3}, {"definition": "77", "n": 3}]


def check_a_recording_that_grew(stapgen, folder):
    records = [(at * 10 ** 9, 701, 1301) for at in range(11)]
    store = folder / "grown"
    for count in (5, 11, 11):
        stapgen.export(store, write_recording(folder / "growing.txt", "web1", records[:count], run="a/../b"))
        assert stapgen.rows(store, "SELECT count(*) AS runs FROM runs") == [{"runs": 1}]
        assert stapgen.rows(store, "SELECT DISTINCT stage, sum(n) AS n FROM sums GROUP BY stage ORDER BY stage") == [
            {"stage": stage, "n": count} for stage in ("drv-ip", "ip-tcp", "total")]
    names = {file.name for file in store.rglob("*") if file.is_file()}
    assert len(names) == 1 and len(names.pop()) == len(".parquet") + 32
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in store.rglob("*") if file.is_file())


def check_events(stapgen, source, folder):
    file = source / "samples/rx-latency.rec"
    store = folder / "events"
    stapgen.export(store, file)
    assert stapgen.rows(store, "SELECT count(*) AS n FROM events") == [{"n": 0}]
    stapgen.export(store, file, "--events")
    reported = stapgen.report(file)
    rows = stapgen.rows(store, 'SELECT event, sum("drv-ip_ns") AS drv, sum("tcp-app_ns") AS app, max("tcp-app_ns") AS '
                               "longest, count(DISTINCT comm) AS comms, min(time) >= min(started) AS timed, count(*) AS n "
                               "FROM events JOIN runs USING (run) GROUP BY event")
    stages = {stage["stage"]: stage for stage in reported["stages"]}
    assert rows == [{"event": "rx", "drv": stages["drv-ip"]["sum_ns"], "app": stages["tcp-app"]["sum_ns"],
                     "longest": stages["tcp-app"]["max_ns"], "comms": 1, "timed": True,
                     "n": reported["accounting"]["reported"]}], rows
    # Of two recipes, whose records have different fields.
    text = write_recording(folder / "text.txt", "web1", [(at, 13, 17) for at in range(7)], run="e1")
    stapgen.export(store, source / "samples/dropwatch.rec", text, "--events")
    # The store has control characters as a terminal gets them.
    rows = stapgen.rows(store, "SELECT recipe, count(*) FILTER (comm = 'a\\x09b') AS n FROM events "
                               "GROUP BY recipe ORDER BY recipe")
    assert rows == [{"recipe": "dropwatch", "n": 0}, {"recipe": "rx-latency", "n": 7}], rows
    # Asked for no more, they are gone.
    stapgen.export(store, file, text)
    assert stapgen.rows(store, "SELECT DISTINCT recipe FROM events") == [{"recipe": "dropwatch"}]


def check_the_docs(stapgen, source, folder):
    """What docs/guide/store.md shows, of the hosts of docs/guide/many-hosts.md."""
    hosts, rows = folder / "hosts", []
    hosts.mkdir()
    for number in range(1, 7):
        shutil.copy(source / "samples/slower-stage" / (f"before/{number}.rec" if number < 6 else "after/1.rec"),
                    hosts / f"web{number}.rec")
        rows.append({"host": f"web{number}", "state": "done", "recording": f"web{number}.rec"})
    (hosts / "fleet.json").write_text(json.dumps({"hosts": rows}))
    stapgen.export(folder / "docs", hosts)
    docs = (source / "docs/guide/store.md").read_text()
    shown = re.findall(r"^    stapgen query store ([^\n]*)\n\n```text\n(.*?)^```$", docs, re.M | re.S)
    for command, text in shown:
        table, _ = stapgen.run("query", folder / "docs", *shlex.split(command))
        assert table == text, f"{command}:\n{table}"
    assert len(shown) == 2
    # Without fleet.json they are what the recordings say.
    (hosts / "fleet.json").unlink()
    stapgen.export(folder / "docs", hosts)
    assert stapgen.rows(folder / "docs", "SELECT DISTINCT host FROM runs") == [{"host": "lab"}]
    for table, columns in re.findall(r"^\| (?!table)(\w+) \| .* \| (.*) \|$", docs, re.M):
        known = [row["column_name"] for row in stapgen.rows(folder / "docs", f"FROM (DESCRIBE {table})")]
        told = re.sub(r" \(.*?\)|,? and .*", "", columns).split(", ")
        assert ["run", *told] == known[:-2] and set(known[-2:]) == {"recipe", "day"}, (table, told, known)


def check_what_is_wrong_is_said(stapgen, source, folder, files):
    hosts = folder / "monday"
    hosts.mkdir()
    shutil.copy(files[0], hosts / "web1.rec")
    (hosts / "web2.rec").write_text("nothing known\n")
    rows = [{"host": "web1", "state": "done", "recording": "web1.rec"},
            {"host": "web2", "state": "done", "recording": "web2.rec"},
            {"host": "web3", "state": "unreachable", "why": "no route", "recording": ""}]
    (hosts / "fleet.json").write_text(json.dumps({"hosts": rows}))
    said, errors = stapgen.export(folder / "of monday", hosts, code=5)
    assert "1 run exported\n" in said and "no route" in errors and "no known format" in errors, said + errors
    both = folder / "both.rec"
    both.write_text(files[0].read_text() + files[1].read_text())
    _, errors = stapgen.export(folder / "of both", both, code=2)
    assert "it has 2 recordings" in errors, errors
    for words, code, error in ((["export", "/no/such.rec", "--parquet", folder / "x"], 2, "/no/such.rec"),
                               (["export", "-", "--parquet", folder / "x"], 2, "reads files"),
                               (["query", folder / "x", "SELECT 1"], 2, "is not a store"),
                               (["query", folder / "together"], 2, "p99-by-host"),
                               (["query", folder / "together", "--ask", "p99"], 2, "worst-hosts"),
                               (["query", folder / "together", "--ask"], 2, "worst-hosts"),
                               (["query", folder / "together", "SELECT 1", "--ask", "p99-by-host"], 2, "exclude each other")):
        _, errors = stapgen.run(*words, code=code)
        assert error in errors, errors
    # What could not be written whole is not there to those who ask.
    (folder / "half").mkdir()
    (folder / "half/sums").write_text("in the way")
    stapgen.export(folder / "half", files[0], code=1)
    assert list(folder.glob("half/hist/*/*/*.parquet")) and not (folder / "half/runs").exists()
    # A record may have a field of a name that is taken.
    (folder / "taken.txt").write_text(files[0].read_text().replace("cpu:int", "Event:int"))
    _, errors = stapgen.run("export", folder / "taken.txt", "--parquet", folder / "taken", "--events", code=5)
    assert "no events" in errors and len(stapgen.rows(folder / "taken", "SELECT * FROM runs")) == 1, errors
    # Its names are no paths, and its texts no commands to a terminal.
    strange = (source / "samples/own-rx-latency.txt").read_text().replace("rx-latency", "..%2f../x'\x9b1m", 1)
    (folder / "strange.txt").write_text(strange)
    stapgen.export(folder / "strange", folder / "strange.txt")
    assert len(list(folder.glob("strange/runs/recipe=*/day=*/*.parquet"))) == 1
    table, _ = stapgen.run("query", folder / "strange", "SELECT recipe FROM runs")
    assert "..%2f../x'" in table and "\x9b" not in table, table


def check_no_link_is_followed(stapgen, folder, files):
    """A store may be another user's: root writes and removes nothing through a link of a folder in it."""
    store, outside = folder / "linked", folder / "outside"
    stapgen.export(store, files[0])
    outside.mkdir()
    for table in list(store.iterdir()):
        table.rename(outside / table.name)
        table.symlink_to(outside / table.name)
    there = {file: file.read_bytes() for file in outside.rglob("*.parquet")}
    _, errors = stapgen.export(store, *files[:2], code=0 if os.geteuid() else 1)
    if os.geteuid() == 0:
        assert "a link or a file" in errors, errors
        assert {file: file.read_bytes() for file in outside.rglob("*.parquet")} == there


def check_a_question_reads_the_store_only(stapgen, folder):
    store, secret = folder / "together", folder / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    before = sorted(store.rglob("*"))
    for sql in (f"SELECT * FROM read_csv('{secret}')", f"SELECT * FROM '{secret}'", f"COPY runs TO '{store}/x.parquet'",
                f"COPY runs TO '{folder}/x.parquet'", f"ATTACH '{store}/x.db'", "SET enable_external_access = true",
                "CREATE TABLE x AS SELECT 1", "DROP VIEW hist", "INSTALL httpfs", "LOAD httpfs", "PRAGMA version",
                f"SELECT 1; COPY runs TO '{store}/x.parquet'", f"EXPORT DATABASE '{store}/x'", "SELECT nothing", "", "(",
                f"SELECT * FROM read_text('{store}/../secret.csv')", f"SELECT * FROM glob('{folder}/*')"):
        out, errors = stapgen.run("query", store, sql, code=2)
        assert not out and errors.startswith("stapgen: "), (sql, out, errors)
    assert sorted(store.rglob("*")) == before and not (folder / "x.parquet").exists()
    # Comments and what is behind them are SQL, too.
    assert stapgen.rows(store, "SELECT 7 AS n; -- seven") == [{"n": 7}]


def check_without_the_library(stapgen, folder, files):
    nowhere = {"STAPGEN_DUCKDB": "/no/libduckdb.so"}
    for words in (["export", files[0], "--parquet", folder / "x"], ["query", folder / "together", "SELECT 1"]):
        _, errors = stapgen.run(*words, code=4, **nowhere)
        assert "/no/libduckdb.so" in errors and "fetch-duckdb" in errors, errors
    assert not (folder / "x").exists()
    stapgen.run("report", files[0], **nowhere)


def main():
    program, source = map(pathlib.Path.resolve, map(pathlib.Path, sys.argv[1:]))
    if not is_there(program):
        print("skipped: DuckDB's library is not here")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stapgen = Stapgen(program, folder)
        check_samples(stapgen, source, folder)
        check_rows_of_reports(stapgen, source, folder)
        check_bins(stapgen, folder)
        check_too_few(stapgen, folder)
        files = check_sums(stapgen, folder)
        check_questions(stapgen, folder, files)
        check_a_recording_that_grew(stapgen, folder)
        check_events(stapgen, source, folder)
        check_the_docs(stapgen, source, folder)
        check_what_is_wrong_is_said(stapgen, source, folder, files)
        check_no_link_is_followed(stapgen, folder, files)
        check_a_question_reads_the_store_only(stapgen, folder)
        check_without_the_library(stapgen, folder, files)


main()
