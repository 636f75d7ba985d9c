# SPDX-License-Identifier: GPL-2.0-or-later
"""The OpenMetrics report, by the parser of the Prometheus client: each sample is one number of JSON, and each is there."""

import collections
import math
import re

from prometheus_client.openmetrics import parser

from known import TOP, name_of, place_of, printable, reason_of

OURS = {"recipe", "stage", "value", "le", "counted", "quantile", "definition"}


def label(key):
    key = re.sub("[^a-zA-Z0-9_]", "_", key)
    return f"group_{key}" if key in OURS or not key or key[0].isdigit() or key.startswith("__") else key


def labels_of(report, group=None, **others):
    """Return labels of a sample as a set."""
    texts = {"recipe": report.recipe, **others}
    texts |= {label(key): "true" if value is True else str(value) for key, value in (group or {}).items()}
    return frozenset((key, printable(text)) for key, text in texts.items())


class Expected(collections.Counter):
    """Numbers by name and labels. Those of equal labels add up."""

    def add(self, name, labels, number):
        self[name, labels] += number

    def summary(self, name, labels, n, total):
        self.add(f"{name}_count", labels, n)
        self.add(f"{name}_sum", labels, total)

    def counter(self, name, number, report, /, **labels):
        self.add(f"stapgen_{name}_total", labels_of(report, **labels), max(number, 0))

    def account(self, report):
        known = report.accounting
        self.counter("seen", known["seen"], report)
        for fate in ("reported", "filtered", "unaccounted"):
            self.counter("records", known[fate], report, fate=fate, cause="")
        for fate in ("incomplete", "lost"):
            for cause, count in known[f"{fate}_by"].items():
                self.counter("records", count, report, fate=fate, cause=cause)
        for name, count in known["other"].items():
            self.counter("beside", count, report, name=name)
        for kind in ("skipped_probes", "probe_errors", "transport_failures"):
            self.counter("losses", known[kind], report, kind=kind)
        self.counter("not_closed", not known["closed"], report)
        for counter in report.known["counters"]:
            if counter["count"] is not None:
                self.counter("kernel_counter", counter["count"], report, counter=counter["name"])
        lines = report.known["input"]
        self.counter("input_lines", lines["recognised"], report, understood="true")
        self.counter("input_lines", lines["unrecognised"], report, understood="false")

    def origin(self, origin, report):
        texts = {key: origin[key] or "" for key in ("host", "machine", "kernel", "build_id", "definition")}
        labels = labels_of(report, {f"label_{name}": value for name, value in origin["labels"].items()}, **texts,
                           filters=",".join(origin["filters"]), sample=str(origin["sample"]))
        self["stapgen_run_info", labels] = 1

    def report(self, report):
        known = report.known
        for origin in known["origins"]:
            self.origin(origin, report)
        for average in known["averages"]:
            name, what, key, unit = (("average_seconds", "stage", "mean_ns", 1e9) if "mean_ns" in average else
                                     ("value", "value", "mean", 1))
            self.summary(f"stapgen_{name}", labels_of(report, **{what: average["name"]}), average["n"],
                         average[key] * average["n"] / unit)
        for value in known["values"]:
            if not value["group"]:
                self.summary("stapgen_value", labels_of(report, value=value["value"]), value["n"], value["sum"])
        for drop in report.total_drops():
            reason = reason_of(drop)
            self.counter("drops", drop["count"], report, place=place_of(drop, with_module=False),
                         module=drop["module"] or "", reason="" if reason == "-" else reason,
                         benign=str(drop["benign"]).lower())
        for tally in report.total_counts():
            self.add("stapgen_counted_total", labels_of(report, tally["group"], counted=known["counted"]), tally["count"])
        self.account(report)


def stages_of(report):
    """Yield (name of the family, labels, stage) of each histogram."""
    for stage in report.known["stages"]:
        if not stage["group"]:
            yield "stapgen_stage_seconds", labels_of(report, stage=stage["stage"]), stage
    groups = report.groups("stages")
    if len(groups) > 1:
        for stage in [stage for group in groups[:TOP] for stage in group] + report.rest("stages"):
            if stage["n"]:
                yield "stapgen_group_stage_seconds", labels_of(report, stage["group"], stage=name_of(stage)), stage


def compare_histogram(compared, kind, buckets, stages):
    """The counts at the ends of the buckets rise to n, and each percentile is in the bucket where that many are reached."""
    ends = sorted(buckets)
    counts = [buckets[end] for end in ends]
    compared.same(f"{kind} buckets", counts, sorted(counts))
    compared.same(f"{kind} n", counts[-1], sum(stage["n"] for stage in stages))
    for percent, ns in stages[0]["percentiles_ns"].items():
        if len(stages) > 1 or ns is None:
            continue
        rank = math.ceil(stages[0]["n"] * float(percent) / 100 - 1e-6)
        place = next(place for place, count in enumerate(counts) if count >= rank)
        low, high = ns if isinstance(ns, tuple) else (ns, ns)
        begin = round(ends[place - 1] * 1e9) if place else -1
        if high <= begin or low > ends[place] * 1e9 + 0.5:
            compared.fail(f"{kind} p{percent}", f"above {begin} ns and up to {ends[place]} s", ns)
        compared.counts[kind] += 1


def compare(compared, text, reports):
    samples, buckets, units = {}, collections.defaultdict(dict), {}
    for family in parser.text_string_to_metric_families(text):
        units[family.name] = family.unit
        for sample in family.samples:
            ending = dict(sample.labels).pop("le", None)
            labels = frozenset((key, value) for key, value in sample.labels.items() if key != "le")
            if ending is None:
                assert (sample.name, labels) not in samples, f"twice: {sample}"
                samples[sample.name, labels] = sample.value
            else:
                buckets[sample.name.removesuffix("_bucket"), labels][float(ending)] = sample.value
    known, histograms = Expected(), collections.defaultdict(list)
    for report in reports:
        known.report(report)
        for name, labels, stage in stages_of(report):
            histograms[name, labels].append(stage)
            known.summary(name, labels, stage["n"], stage["sum_ns"] / 1e9)
    compared.same("samples names", set(samples), set(known))
    for (name, labels), number in known.items():
        # JSON's means are rounded.
        slack = 1e-12 * known[name.removesuffix("_sum") + "_count", labels] if "average" in name else 1e-9 * abs(number)
        compared.exact(name.removeprefix("stapgen_"), repr(samples[name, labels]), number, slack)
    compared.same("samples histograms", set(buckets), set(histograms))
    for key, stages in histograms.items():
        compare_histogram(compared, key[0].removeprefix("stapgen_"), buckets[key], stages)
    compared.same("unit", {name: unit for name, unit in units.items() if unit},
                  {name: "seconds" for name in units if name.endswith("_seconds")})
    return buckets
