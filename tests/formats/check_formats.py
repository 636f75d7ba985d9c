#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What other programs read of a report, read by their own readers, has JSON's numbers: check_formats.py STAPGEN WRITE_FORMATS SOURCE

CSV by Python's csv, OpenMetrics by the Prometheus client, ndjson; of samples/, of more recordings, and of WRITE_FORMATS'
reports, whose names need care. What people read, texts and pages, tests/golden/formats holds.
"""

import collections
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import in_csv  # noqa: E402
import in_openmetrics  # noqa: E402
from results import Report  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
# By the end each format has shown all of its kinds.
KINDS = {
    "csv": set("stage group-stage value group-value average tail-rx tail series value-series drop interval-drop count stack "
               "interval-count ledger counter account incomplete lost other skipped transport input".split()),
    "openmetrics": set("stage_seconds_sum part_seconds_sum group_stage_seconds_sum value_sum average_seconds_sum drops_total counted_total "
                       "seen_total records_total losses_total beside_total kernel_counter_total input_lines_total "
                       "not_closed_total bins".split()),
}


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout.decode("utf-8", errors="strict")


def check(report, counts):
    """REPORT returns it in a form."""
    documents = [json.loads(line) for line in report("ndjson").splitlines()]
    document = json.loads(report("json"))
    assert documents == document.get("reports", [document]), "ndjson and json differ"
    reports = [Report(known) for known in documents]
    counts["csv"] += in_csv.compare(report("csv"), reports)
    found, buckets = in_openmetrics.compare(report("openmetrics"), reports)
    _, fine = in_openmetrics.compare(report("openmetrics", "--buckets", "105"), reports)
    assert all(ends.items() <= fine[of].items() for of, ends in buckets.items()), "of 12 and of 105 buckets"
    counts["openmetrics"] += found


def recordings(source):
    """Yield the files of each report."""
    for path in sorted([*source.glob("samples/*.rec"), *source.glob("samples/*.txt"), source / "tests/golden/parts.txt"]):
        yield [path]
    yield sorted(source.glob("samples/slower-stage/before/*.rec"))
    yield [source / "tests/golden/aggregated.txt"]
    yield [source / "tests/unit/recording/data/aggregated-version-4.zst"]


def main():
    stapgen, program, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    counts = collections.defaultdict(collections.Counter)
    check(lambda form, *_: run(program, form), counts)
    for files in recordings(source):
        print(*files)
        check(lambda form, *options, files=files: run(stapgen, "report", "--format", form, *options, *files), counts)
    for form, kinds in KINDS.items():
        print(f"{form}: {sum(counts[form].values())} are JSON's: {dict(counts[form])}")
        assert all(counts[form][kind] for kind in kinds), f"{form} has shown nothing of {kinds - counts[form].keys()}"


main()
