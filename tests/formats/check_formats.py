#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each format of a report, read by its own standard reader, has JSON's numbers: check_formats.py STAPGEN WRITE_FORMATS SOURCE

CSV by Python's csv, OpenMetrics by the Prometheus client, a page's tables by html.parser, a text's tables by the columns
in which they stand; of samples/, of more recordings, and of WRITE_FORMATS' reports, whose names need care. Sentences and
pictures are not read.
"""

import collections
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command_line"))
import in_csv  # noqa: E402
import in_openmetrics  # noqa: E402
import in_tables  # noqa: E402
from results import Report  # noqa: E402
from terminals import on_terminal  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
# What a text and a page have to have where JSON has it; by the end each format has shown all of its kinds.
IN_TEXT = set("stage value group-stage group-value average drop interval-drop count interval-count ledger counter COST".split())
IN_PAGE = IN_TEXT - {"COST"} | set("TAIL TAIL-RX TAIL-TX series AVERAGES ADVICE stack DROPS".split()) | {"SLOWEST "}
KINDS = {
    "text": IN_TEXT | {"series"},
    "page": IN_PAGE | {"bins", "ACCOUNT"},
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


def on_wide_terminal(*command):
    code, text = on_terminal(320, command, {**ENVIRONMENT, "LC_ALL": "C", "NO_COLOR": "1"}, subprocess.DEVNULL)
    assert code == 0, command
    return text


def check(report, texts, counts, is_whole=True):
    """REPORT returns it in a form; TEXTS are one or more texts of it. IS_WHOLE: all that has a table has to be in it."""
    documents = [json.loads(line) for line in report("ndjson").splitlines()]
    document = json.loads(report("json"))
    assert documents == document.get("reports", [document]), "ndjson and json differ"
    reports = [Report(known) for known in documents]
    counts["csv"] += in_csv.compare(report("csv"), reports)
    found, buckets = in_openmetrics.compare(report("openmetrics"), reports)
    _, fine = in_openmetrics.compare(report("openmetrics", "--buckets", "105"), reports)
    assert all(ends.items() <= fine[of].items() for of, ends in buckets.items()), "of 12 and of 105 buckets"
    counts["openmetrics"] += found
    for of, tables in zip(reports, in_tables.Page(report("html")).reports, strict=True):
        counts["page"] += in_tables.compare("page", tables, of, IN_PAGE if is_whole else set(), fine)
    for text in texts:
        for of, tables in zip(reports, in_tables.in_text(text, [of.recipe for of in reports]), strict=True):
            counts["text"] += in_tables.compare("text", tables, of, IN_TEXT if is_whole else set())


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
    # No recipe has stages and drops: a table and a page choose.
    check(lambda form, *_: run(program, form), [run(program, "table")], counts, is_whole=False)
    for files in recordings(source):
        print(*files)
        texts = [run(stapgen, "report", *files), on_wide_terminal(stapgen, "report", "--series", *files)]
        check(lambda form, *options, files=files: run(stapgen, "report", "--format", form, *options, *files), texts, counts)
    for form, kinds in KINDS.items():
        print(f"{form}: {sum(counts[form].values())} are JSON's: {dict(counts[form])}")
        assert all(counts[form][kind] for kind in kinds), f"{form} has shown nothing of {kinds - counts[form].keys()}"


main()
