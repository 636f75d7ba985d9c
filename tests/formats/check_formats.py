#!/usr/bin/python3
"""Reads what write_formats writes with the readers people use, and compares: check_formats.py WRITE_FORMATS

JSON is taken for the truth; CSV (Python's csv) and OpenMetrics (the parser of the Prometheus client) must have the
same numbers.
"""

import csv
import io
import json
import subprocess
import sys

from prometheus_client.openmetrics import parser


def written(program, form):
    return subprocess.run([program, form], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", errors="strict")


def same(a, b):
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b))


def check_csv(reports, text):
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert all(None not in row and None not in row.values() for row in rows), "rows of one length"
    for row in rows:
        assert not any(cell.lstrip(" ").startswith(("=", "+", "@")) for cell in row.values()), row
        assert row["value"] == "" or float(row["value"]) is not None, row

    def number(report, kind, name, statistic):
        found = [row["value"] for row in rows if (row["report"], row["kind"], row["name"], row["statistic"]) ==
                 (str(report), kind, name, statistic)]
        assert len(found) == 1, (report, kind, name, statistic, found)
        return float(found[0]) if found[0] else None

    for place, report in enumerate(reports, 1):
        for stage in report["stages"]:
            if stage["group"]:
                continue
            name = stage["stage"]
            for key in ("n", "sum_ns", "min_ns", "max_ns"):
                assert number(place, "stage", name, key) == stage[key], (name, key)
            for percent, value in stage["percentiles_ns"].items():
                assert number(place, "stage", name, f"p{percent}_ns") == value, (name, percent)
                low, high = stage["percentiles_ci_ns"][percent] or (None, None)
                assert number(place, "stage", name, f"p{percent}_low_ns") == low, (name, percent)
                assert number(place, "stage", name, f"p{percent}_high_ns") == high, (name, percent)
        for key in ("seen", "reported", "filtered", "incomplete", "lost", "unaccounted", "closed"):
            assert number(place, "account", key, "count") == report["accounting"][key], key
        groups = {(row["pid"], row["comm"], row["other"]) for row in rows if row["kind"] == "group-stage"}
        assert len(groups) == len({json.dumps(stage["group"]) for stage in report["stages"] if stage["group"]})


def check_openmetrics(reports, text):
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    assert {name: family.type for name, family in families.items()}["stapgen_stage_seconds"] == "histogram"
    assert families["stapgen_stage_seconds"].unit == "seconds"

    def value(family, sample, **labels):
        found = [one.value for one in families[family].samples if one.name == sample and one.labels == labels]
        assert len(found) == 1, (sample, labels, found)
        return found[0]

    for report in reports:
        recipe = report["recipe"]
        for stage in report["stages"]:
            labels = {"recipe": recipe, "stage": stage["stage"]}
            family = "stapgen_stage_seconds"
            if stage["group"]:
                family = "stapgen_group_stage_seconds"
                # Bytes that do no good are shown otherwise in JSON, where one that is no UTF-8 (here 0xff) is U+FFFD.
                labels |= {key: str(text).lower() if text is True else str(text).replace("\n", "\\x0a").replace("\ufffd", "\\xff")
                           for key, text in stage["group"].items()}
            assert value(family, f"{family}_count", **labels) == stage["n"], labels
            assert same(value(family, f"{family}_sum", **labels), stage["sum_ns"] / 1e9), labels
            assert value(family, f"{family}_bucket", le="+Inf", **labels) == stage["n"], labels
            if stage["group"] or not stage["n"]:
                continue
            # The percentile is in the bucket where that many are reached.
            for percent in ("50", "90", "99"):
                buckets = sorted((float(one.labels["le"]), one.value) for one in families[family].samples
                                 if one.name == f"{family}_bucket" and one.labels | labels == one.labels)
                end = next(le for le, count in buckets if count >= stage["n"] * float(percent) / 100)
                assert 0.79 * end < stage["percentiles_ns"][percent] / 1e9 < 1.004 * end, (labels, percent, end)
        accounting = report["accounting"]
        assert value("stapgen_seen", "stapgen_seen_total", recipe=recipe) == accounting["seen"]
        fates = [one.value for one in families["stapgen_records"].samples if one.labels["recipe"] == recipe]
        assert sum(fates) == accounting["seen"], fates
        for kind in ("skipped_probes", "probe_errors", "transport_failures"):
            assert value("stapgen_losses", "stapgen_losses_total", recipe=recipe, kind=kind) == accounting[kind]
        drops = [one.value for one in families["stapgen_drops"].samples if one.labels["recipe"] == recipe]
        assert sum(drops) == sum(drop["count"] for drop in report["drops"])


def main():
    program = sys.argv[1]
    reports = [json.loads(line) for line in written(program, "json").splitlines()]
    assert len(reports) == 2
    check_csv(reports, written(program, "csv"))
    check_openmetrics(reports, written(program, "openmetrics"))


main()
