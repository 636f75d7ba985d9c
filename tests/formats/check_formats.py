#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether all formats of a report say the same: check_formats.py STAPGEN WRITE_FORMATS SOURCE

Each number that table, CSV, OpenMetrics and page show of each recording in SOURCE/samples is compared with JSON's, as far
as it has digits. What one of them shows and no reader here understands is an error, and so is what one does not show.
WRITE_FORMATS has reports with names that need care; CSV and OpenMetrics are read with the readers people use.
"""

import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command_line"))
import in_csv  # noqa: E402
import in_openmetrics  # noqa: E402
import in_page  # noqa: E402
import in_table  # noqa: E402
from known import Compared, Report, name_of, unit_of, values_needed  # noqa: E402
from terminals import on_terminal  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
# Of what each format has to have shown something by the end.
KINDS = {
    "table": "stages group-stages values group-values averages tail slowest series drops interval counts counters call "
             "account loss input note title time",
    "page": "stages group-stages values group-values averages tail slowest series direction distribution drops interval "
            "interval-drops counts interval-counts counters call account loss input note title time "
            "curve heatmap column icicle",
    "csv": "stage group-stage value group-value average tail-rx tail series value-series drop interval-drop count "
           "interval-count counter account incomplete lost other transport input",
    "openmetrics": "stage_seconds group_stage_seconds value_sum average_seconds_sum drops_total counted_total seen_total "
                   "records_total losses_total beside_total kernel_counter_total input_lines_total not_closed_total",
}


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout.decode("utf-8", errors="strict")


def terminal_table(columns, *command):
    """Return what it prints on a terminal that is so wide, as numbers only."""
    code, text = on_terminal(columns, command, {**ENVIRONMENT, "LC_ALL": "C", "NO_COLOR": "1"}, subprocess.DEVNULL)
    assert code == 0, command
    return text


def check_shares(stages, time, has_directions):
    """Shares are of the time of all stages of a group; where there are several directions, of those of the same one."""
    parts = [stage for stage in stages if stage["stage"] != "total"]
    if not has_directions:
        for stage in stages:
            assert (stage["share"] is None) == (time == 0), stage
            assert time == 0 or abs(stage["share"] - stage["sum_ns"] / time) <= 6e-7, (time, stage)
        return
    together = sum(stage["share"] or 0 for stage in parts)
    assert abs(together - round(together)) <= 1e-5 and together <= 2.1, (together, stages)
    for stage in parts:
        assert stage["share"] is None or stage["share"] >= stage["sum_ns"] / time - 6e-7, stage


def check_json(known):
    """What follows from other numbers is what follows from them."""
    for kind in ("stages", "values"):
        times = {}
        for measure in known[kind]:
            unit, n = unit_of(measure), measure["n"]
            assert (measure["mean" + unit] is None) == (n == 0), measure
            assert n == 0 or abs(measure["mean" + unit] - measure["sum" + unit] / n) <= 6e-4, measure
            for percent, value in measure["percentiles" + unit].items():
                assert (value is None) == (n < values_needed(percent)), (percent, measure)
            if name_of(measure) != "total":
                group = tuple(measure["group"].items())
                times[group] = times.get(group, 0) + measure["sum" + unit]
        for group, time in times.items() if kind == "stages" else []:
            stages = [stage for stage in known[kind] if tuple(stage["group"].items()) == group]
            check_shares(stages, time, len(known["tail"]) > 1)
    for tail in known["tail"]:
        for who in ("slow", "rest"):
            for stage in tail["stages"]:
                mean = tail[f"{who}_mean_ns"]
                assert abs(stage[f"{who}_share"] * mean - stage[f"{who}_mean_ns"]) <= 2e-6 * mean + 1e-3, tail
    account = known["accounting"]
    for fate in ("incomplete", "lost"):
        assert account[fate] == sum(account[f"{fate}_by"].values()), account
    parts = ("reported", "filtered", "incomplete", "lost", "unaccounted")
    assert account["seen"] == sum(account[key] for key in parts), account


def check_bins(distributions, buckets, reports):
    """The page's bins against OpenMetrics' buckets, where they end alike. Returns how many did."""
    found = 0
    for distribution, report in zip(distributions, reports):
        for stage, reached in distribution.items():
            theirs = buckets["stapgen_stage_seconds", in_openmetrics.labels_of(report, stage=stage)]
            for end, count in theirs.items():
                below = round(end * 1e9) + 1 if end != float("inf") else end
                if below in reached:
                    assert reached[below] == count, f"page and openmetrics: {stage}: {reached[below]}, {count} below {below}"
                    found += 1
    return found


def check_made_up(program, compared):
    reports = [json.loads(line) for line in run(program, "ndjson").splitlines()]
    assert len(reports) == 2
    known = [Report(report) for report in reports]
    for form, reader in (("csv", in_csv), ("openmetrics", in_openmetrics)):
        compared[form].where = "made up"
        reader.compare(compared[form], run(program, form), known)


def check_recording(stapgen, files, compared):
    """All formats of one report. Returns how many bins agree."""
    def report(form, *options):
        return run(stapgen, "report", "--format", form, *options, *files)

    documents = [json.loads(line) for line in report("ndjson").splitlines()]
    document = json.loads(report("json"))
    assert documents == document.get("reports", [document]), f"{files[0]}: ndjson and json differ"
    for known in documents:
        check_json(known)
    for one in compared.values():
        one.where = str(files[0])
    reports = [Report(known) for known in documents]
    in_table.compare(compared["table"], report("table"), reports)
    in_table.compare(compared["table"], terminal_table(320, stapgen, "report", "--series", *files), reports)
    in_csv.compare(compared["csv"], report("csv"), reports)
    distributions = in_page.compare(compared["page"], report("html"), reports)
    buckets = in_openmetrics.compare(compared["openmetrics"], report("openmetrics"), reports)
    fine = in_openmetrics.compare(compared["openmetrics"], report("openmetrics", "--buckets", "105"), reports)
    for stage, coarse in buckets.items():
        assert coarse.items() <= fine[stage].items(), f"{stage}: of 12 and of 105 buckets"
    return check_bins(distributions, fine, reports)


def recordings(source):
    """Yield the files of each report."""
    for path in sorted([*source.glob("samples/*.rec"), *source.glob("samples/*.txt")]):
        yield [path]
    yield sorted(source.glob("samples/slower-stage/before/*.rec"))
    yield [source / "tests/golden/aggregated.txt"]
    yield [source / "tests/unit/recording/data/aggregated-version-4.zst"]


def main():
    stapgen, program, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    compared = {form: Compared(form) for form in KINDS}
    check_made_up(program, compared)
    bins = sum(check_recording(stapgen, files, compared) for files in recordings(source))
    for form, one in compared.items():
        print(f"{form}: {sum(one.counts.values())} numbers and names are JSON's")
        missing = [kind for kind in KINDS[form].split() if not one.counts[kind]]
        assert not missing, f"{form} has shown nothing of {missing}"
    print(f"page and openmetrics: {bins} bins agree")
    assert bins


main()
