# SPDX-License-Identifier: GPL-2.0-or-later
"""The CSV report: each row is one number of JSON, and each number has its row."""

import csv
import io
import shlex

from known import name_of, ns_of, place_of, printable, reason_of, unit_of

OURS, OTHERS = ["report", "recipe", "kind", "name", "module", "reason", "time_ns"], ["statistic", "value", "benign"]


def cell(text):
    """Return a text as it stands in a cell: no formula to any spreadsheet."""
    text = printable(text)
    return "'" + text if text.lstrip(" ")[:1] in ("=", "+", "-", "@") and text.strip(" ") else text


class Expected:
    """Rows of one report: what they are of, their statistic, and the number with what JSON has rounded away."""

    def __init__(self, number, recipe):
        self.rows, self.begin = [], {"report": str(number), "recipe": cell(recipe)}

    def add(self, kind, name, statistic, number, slack=0.0, group=None, **others):
        keys = {}
        for key, value in (group or {}).items():
            column = f"group_{key}" if key in OURS + OTHERS else key
            keys[column] = "true" if value is True else cell(value) if isinstance(value, str) else str(value)
        self.rows.append(({**self.begin, "kind": kind, "name": cell(name), **others, **keys, "statistic": statistic},
                          number, slack))

    def measure(self, measure):
        unit = unit_of(measure)
        kind = ("group-" if measure["group"] else "") + ("stage" if unit else "value")

        def add(statistic, number, slack=0.0):
            self.add(kind, name_of(measure), statistic, number, slack, measure["group"])

        add("n", measure["n"])
        add("sum" + unit, measure["sum" + unit])
        if measure.get("share") is not None:
            add("share", measure["share"], 6e-7)
        add("mean" + unit, measure["mean" + unit], 6e-4)
        add("stddev" + unit, measure["stddev" + unit], 6e-4)
        add("min" + unit, measure["min" + unit])
        for percent, value in measure["percentiles" + unit].items():
            low, high = measure["percentiles_ci" + unit][percent] or (None, None)
            add(f"p{percent}{unit}", value)
            add(f"p{percent}_low{unit}", low)
            add(f"p{percent}_high{unit}", high)
        add("max" + unit, measure["max" + unit])

    def tail(self, tail):
        kind = "tail" + ("-" + cell(tail["way"]) if tail["way"] else "")
        for stage in tail["stages"]:
            for key in ("slow_mean_ns", "rest_mean_ns"):
                self.add(kind, stage["stage"], key, stage[key], 6e-4)
            for key in ("slow_share", "rest_share", "excess_share"):
                self.add(kind, stage["stage"], key, stage[key], 6e-7)

    def series(self, series, kind, there):
        for column in series[kind]:
            if name_of(column) not in there:
                continue
            for place, start in enumerate(series["start_ns"]):
                for key, values in column.items():
                    if isinstance(values, list):
                        self.add("series" if kind == "stages" else "value-series", name_of(column), key, values[place],
                                 time_ns=str(start))

    def drop(self, kind, drop):
        reason = reason_of(drop)
        self.add(kind, place_of(drop, with_module=False), "count", drop["count"],
                 module=cell(drop["module"] or ""), reason="" if reason == "-" else cell(reason),
                 time_ns=str(ns_of(drop["time"])) if drop.get("time") else "",
                 benign="true" if drop["benign"] else "false")

    def counts(self, kind, counts):
        for name, count in counts.items():
            self.add(kind, name, "count", count)


def origin_texts(origin):
    """Yield what is known of where a report is from, and how it stands in a cell."""
    for key in ("host", "machine", "kernel", "build_id", "definition"):
        yield key, origin[key]
    for kind, texts in (("label", origin["labels"]), ("filter", origin["filters"])):
        for name, value in texts.items():
            yield f"{kind}:{name}", value
    yield "command", " ".join(origin["command"])
    yield "sample", str(origin["sample"]) if origin["definition"] else None


def expected(number, report):
    known, rows = report.known, Expected(number, report.recipe)
    for place, origin in enumerate(known["origins"], 1):
        for key, text in origin_texts(origin):
            if text:
                rows.add("origin", str(place), key, text)
    for kind in ("stages", "values"):
        for measure in known[kind]:
            rows.measure(measure)
        rows.series(known["series"], kind, {name_of(m) for m in known[kind] if m["n"] and not m["group"]})
    for average in known["averages"]:
        for key, value in average.items():
            if key != "name":
                rows.add("average", average["name"], key, value, 6e-4)
    for tail in known["tail"]:
        rows.tail(tail)
    for drop in report.total_drops():
        rows.drop("drop", drop)
    for reason, path, count in report.total_stacks():
        rows.add("stack", path, "count", count, reason="" if reason == "-" else cell(reason))
    for tally in report.total_counts():
        rows.add("count", known["counted"], "count", tally["count"], group=tally["group"])
    if report.has_intervals():
        for drop in known["drops"]:
            rows.drop("interval-drop", drop)
        for tally in known["counts"]:
            rows.add("interval-count", known["counted"], "count", tally["count"], group=tally["group"],
                     time_ns=str(ns_of(tally["time"])) if tally["time"] else "")
    account = ("seen", "reported", "filtered", "incomplete", "lost", "unaccounted", "closed")
    rows.counts("account", {key: int(report.accounting[key]) for key in account})
    for kind, key in (("incomplete", "incomplete_by"), ("lost", "lost_by"), ("other", "other")):
        rows.counts(kind, report.accounting[key])
    losses = ("skipped_probes", "probe_errors", "transport_failures")
    rows.counts("transport", {key: report.accounting[key] for key in losses})
    rows.counts("skipped", report.accounting.get("skipped_by", {}))
    rows.counts("counter", {counter["name"]: counter["count"] for counter in known["counters"]})
    rows.counts("input", {key: known["input"][key] for key in ("lines", "recognised", "unrecognised")})
    return rows.rows


def compare(compared, text, reports):
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    compared.same("head columns", reader.fieldnames[:len(OURS)] + reader.fieldnames[-len(OTHERS):], OURS + OTHERS)
    compared.same("head twice", len(reader.fieldnames), len(set(reader.fieldnames)))
    numbers = {}
    for row in reader:
        assert None not in row and None not in row.values(), f"a row of another length: {row}"
        value = row.pop("value")
        assert not any(cell.lstrip(" ").startswith(("=", "+", "-", "@")) for cell in row.values()), f"a formula: {row}"
        numbers.setdefault(tuple(row.items()), []).append(value)
    for number, report in enumerate(reports, 1):
        for of, known, slack in expected(number, report):
            key = tuple((column, of.get(column, "")) for column in reader.fieldnames if column != "value")
            shown = numbers.get(key)
            if not shown:
                compared.fail(" ".join(filter(None, of.values())), None, known)
            if of["kind"] == "origin":
                # A command is quoted for a shell.
                text = " ".join(shlex.split(shown.pop(0))) if of["statistic"] == "command" else shown.pop(0)
                compared.same("origin", text, cell(known))
                continue
            # Rows of one name stand in one order.
            compared.exact(f"{of['kind']} {of['name']} {of['statistic']}", shown.pop(0), known, slack)
    left = {key: values for key, values in numbers.items() if values}
    compared.same("rows left", left, {})
