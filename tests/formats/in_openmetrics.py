# SPDX-License-Identifier: GPL-2.0-or-later
"""The OpenMetrics report, by the parser of the Prometheus client: each sample is one number of JSON, and each is there."""

import collections

from prometheus_client.openmetrics import parser

from results import check_reached, is_close, printable

# The family of each kind of row.
FAMILIES = {"stage": "stage_seconds", "group-stage": "group_stage_seconds", "value": "value", "who": "thread_waits_seconds", "drop": "drops", "count": "counted",
            "incomplete": "records", "lost": "records", "other": "beside", "transport": "losses", "counter": "kernel_counter"}
# The family of single rows, and the texts of their labels.
SINGLE = {"seen": ("seen", ()), "recognised": ("input_lines", ("true",)), "unrecognised": ("input_lines", ("false",)),
          **{fate: ("records", (fate,)) for fate in ("reported", "filtered", "unaccounted")}}


def expected(report):
    """Yield (name, what is in labels, number) of each sample; those that are equal but for the number add up."""
    yield "not_closed_total", (), int(not report.known["accounting"]["closed"])
    for row in report.rows():
        numbers, texts = row.numbers, [row.name, *row.keys.values()]
        if row.kind in ("account", "input") and row.name in SINGLE:
            family, texts = SINGLE[row.name]
            yield f"{family}_total", texts, max(numbers["count"], 0)
        elif row.kind == "average":
            for unit, family, scale in (("_ns", "average_seconds", 1e9), ("", "value", 1)):
                if "mean" + unit in numbers:
                    yield f"{family}_count", texts, numbers["n"]
                    yield f"{family}_sum", texts, numbers["mean" + unit] * numbers["n"] / scale
        elif row.kind == "ledger":
            yield "ledger", texts, max(numbers["packets"], 0)
        elif row.kind in FAMILIES and "n" in numbers:
            family, (stage, _, cause) = FAMILIES[row.kind], row.name.partition(".")
            if cause and row.kind == "group-stage":
                continue
            if cause and row.kind == "stage":
                family, texts = "part_seconds", [stage, cause]
            yield f"{family}_count", texts, numbers["n"]
            yield f"{family}_sum", texts, numbers["sum_ns"] / 1e9 if "sum_ns" in numbers else numbers["sum"]
        elif row.kind in FAMILIES and numbers["count"] is not None:
            yield f"{FAMILIES[row.kind]}_total", texts + [row.kind] * (row.kind in ("incomplete", "lost")), numbers["count"]


def key_of(recipe, texts):
    return tuple(sorted(filter(None, map(printable, [recipe, *texts]))))


def compare(text, reports):
    """Return how many numbers are JSON's, by name, and of each histogram how many ns are below each end."""
    samples, buckets, counts = {}, collections.defaultdict(dict), collections.Counter()
    for family in parser.text_string_to_metric_families(text):
        assert family.unit == next((unit for unit in ("seconds", "bytes") if family.name.endswith(f"_{unit}")), ""), family
        for sample in family.samples:
            name, labels = sample.name.removeprefix("stapgen_"), dict(sample.labels)
            end = labels.pop("le", None)
            assert labels.pop("loss", "true") in ("true", "by-name"), sample
            name = name.replace("counted_bytes", "counted")
            of = name.removesuffix("_bucket"), tuple(sorted(filter(None, labels.values())))
            assert end is not None or of not in samples, f"twice: {sample}"
            if end is None and name != "run_info" and labels.get("other") != "true":
                samples[of] = sample.value
            elif end is not None and labels.get("other") != "true":
                buckets[of][float("inf") if end == "+Inf" else round(float(end) * 1e9) + 1] = sample.value
    known, stages = collections.Counter(), {}
    for report in reports:
        for name, texts, number in expected(report):
            known[name, key_of(report.recipe, texts)] += number
        stages |= {("stage_seconds", key_of(report.recipe, [stage["stage"]])): stage
                   for stage in report.stages if "cause" not in stage}
    missing = {of for of in set(known) - set(samples) if not of[0].startswith("group_")}  # those that are rare, or one alone
    assert not missing and set(samples) <= set(known), f"openmetrics lacks {missing}, and JSON {set(samples) - set(known)}"
    for of, number in samples.items():
        rounded = 1e-12 * known[of[0].replace("_sum", "_count"), of[1]] if "average" in of[0] else 0
        assert is_close(number, known[of], off=rounded), f"openmetrics: {of} is {number}, and in JSON {known[of]}"
        counts[of[0]] += 1
    for (name, labels), ends in buckets.items():
        n, stage = known[name + "_count", labels], stages.get((name, labels), {})
        # Labels may be the same for stages of two reports: then their sum is there.
        check_reached(f"openmetrics: {name} {labels}", sorted(ends.items()), stage if stage.get("n") == n else {"n": n})
        counts["bins"] += len(ends)
    return counts, buckets
