# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report's JSON says, as rows of numbers: each other format is compared with these."""

import collections
import datetime
import math
from typing import NamedTuple

FATES = ("seen", "reported", "filtered", "incomplete", "lost", "unaccounted", "closed")
LOSSES = ("skipped_probes", "probe_errors", "transport_failures")


class Row(NamedTuple):
    """What it is of, and its numbers."""
    kind: str
    name: str
    numbers: dict
    keys: dict = {}


def printable(text):
    """Control characters, and bytes that are no UTF-8, which are U+FFFD in JSON, are seen."""
    return "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or ord(c) == 127 else "\\xff" if c == "\ufffd" else c
                   for c in text)


def is_close(number, known, statistic="", off=0.0):
    """NUMBER may be OFF by so much; what JSON has rounded of a statistic comes on top."""
    rounded = 0 if isinstance(known, int) or not statistic else 6e-7 if "share" in statistic else 6e-4
    return abs(number - known) <= off + rounded + 1e-9 * abs(known)


def ns_of(time):
    """Return the ns since 1970 of JSON's time, or None."""
    if time is None:
        return None
    seconds, fraction = time.removesuffix("Z").split(".")
    return int(datetime.datetime.fromisoformat(f"{seconds}+00:00").timestamp()) * 10**9 + int(fraction)


def texts_of(group):
    return {key: "true" if value is True else printable(str(value)) for key, value in group.items()}


def numbers_of(row):
    """Return the numbers of a row of JSON; percentiles and their bounds by a name for each."""
    numbers = {}
    for key, value in row.items():
        unit = "_ns" if key.endswith("_ns") else ""
        if key.startswith("percentiles_ci"):
            for percent, bounds in value.items():
                numbers |= zip((f"p{percent}_low{unit}", f"p{percent}_high{unit}"), bounds or (None, None))
        elif key.startswith("percentiles"):
            numbers |= {f"p{percent}{unit}": number for percent, number in value.items()}
        elif not isinstance(value, (str, dict, list)) and (key, value) != ("share", None):
            numbers[key] = value
    return numbers


def measure_row(measure):
    kind = "stage" if "stage" in measure else "value"
    return Row(("group-" if measure["group"] else "") + kind, measure[kind], numbers_of(measure), texts_of(measure["group"]))


def average_row(average):
    return Row("average", average["name"], numbers_of(average), {})


def reason_of(drop):
    return drop["reason"] or ("" if drop["reason_number"] is None else str(drop["reason_number"]))


def of_interval(row):
    """Return the time of a row of an interval as a key; {}: it is of the whole."""
    return {"time_ns": str(ns_of(row["time"]) or "")} if "time" in row else {}


def drop_row(kind, drop):
    place = printable(drop["symbol"]) if drop["symbol"] is not None else drop["address"] or "0x0"
    if drop["symbol"] is not None and drop["offset"] is not None:
        place += f"+0x{drop['offset']:x}"
    keys = {**texts_of(drop["group"]), "module": drop["module"] or "", "reason": printable(reason_of(drop)),
            "benign": str(drop["benign"]).lower(), **of_interval(drop)}
    return Row(kind, place, {"count": drop["count"]}, keys)


def count_row(kind, counted, tally):
    return Row(kind, counted, {"count": tally["count"]}, {**texts_of(tally["group"]), **of_interval(tally)})


def totals(rows, keys):
    """Return the rows of one key as one, without their times."""
    found = {}
    for row in rows:
        total = found.setdefault(repr([row[key] for key in keys]), {**row, "count": 0})
        total.pop("time", None)
        total["count"] += row["count"]
    return list(found.values())


class Report:
    def __init__(self, known):
        self.known, self.recipe = known, known["recipe"]
        self.stages = [stage for stage in known["stages"] if not stage["group"]]

    def rows(self):
        for make in (self.measures, self.means, self.drops, self.stacks, self.counts, self.ledger, self.who, self.account):
            yield from make()

    def measures(self):
        series = self.known["series"]
        for kind in ("stages", "values"):
            rows = [measure_row(measure) for measure in self.known[kind]]
            yield from rows
            for column in series[kind]:
                name = column.get("stage", column.get("value"))
                for place, start in enumerate(series["start_ns"]):
                    if any(row.name == name and row.numbers["n"] and not row.keys for row in rows):
                        yield Row("series" if kind == "stages" else "value-series", name, {
                            key: values[place] for key, values in column.items() if isinstance(values, list)}, {"time_ns": str(start)})

    def means(self):
        yield from map(average_row, self.known["averages"])
        for tail in self.known["tail"]:
            yield from (Row("tail" + ("-" + tail["way"] if tail["way"] else ""), stage["stage"], numbers_of(stage))
                        for stage in tail["stages"])

    def has_intervals(self):
        """Those in which nothing was counted are not in JSON."""
        return max((row["interval"] for row in self.known["drops"] + self.known["counts"]), default=0) > 0

    def drops(self):
        drops = self.known["drops"]
        names = ("symbol", "offset", "module", "address", "reason", "reason_number", "group", "benign")
        yield from (drop_row("drop", drop) for drop in totals(drops, names))
        yield from (drop_row("interval-drop", drop) for drop in drops if self.has_intervals())

    def stacks(self):
        paths = collections.Counter()
        for stack in self.known.get("stacks", []):
            names = [frame["symbol"] or frame["address"] or "0x0" for frame in stack["frames"]]
            paths[printable(reason_of(stack)), " < ".join(map(printable, names)) or "other paths"] += stack["count"]
        yield from (Row("stack", path, {"count": count}, {"reason": reason}) for (reason, path), count in paths.items())

    def counts(self):
        counted, tallies = self.known["counted"], self.known["counts"]
        yield from (count_row("count", counted, tally) for tally in totals(tallies, ("group",)))
        yield from (count_row("interval-count", counted, tally) for tally in tallies if self.has_intervals())

    def who(self):
        yield from (Row("who", "", numbers_of(row), texts_of(row["group"])) for row in self.known.get("who", []))

    def ledger(self):
        for line in self.known.get("ledger", []):
            yield Row("ledger", line["entry"], {"packets": line["packets"]}, texts_of(line["group"]))

    def account(self):
        known, lines = self.known["accounting"], self.known["input"]
        for fate in ("incomplete", "lost"):
            assert known[fate] == sum(known[f"{fate}_by"].values()), known
        assert known["seen"] == sum(known[key] for key in ("reported", "filtered", "incomplete", "lost", "unaccounted")), known
        counts = [("account", {key: int(known[key]) for key in FATES}), ("transport", {key: known[key] for key in LOSSES}),
                  ("input", {key: lines[key] for key in ("lines", "recognised", "unrecognised")})]
        counts += [(key.removesuffix("_by"), known.get(key, {})) for key in ("incomplete_by", "lost_by", "other", "skipped_by")]
        yield from (Row(kind, name, {"count": count}) for kind, names in counts for name, count in names.items())
        for counter in self.known["counters"]:
            yield Row("counter", counter["name"], {"count": counter["count"]})


def check_reached(what, bins, measure):
    """BINS are (end in ns, how many are below it): they rise to n, and a percentile is where that many are reached."""
    counts = [count for _, count in bins]
    assert counts == sorted(counts) and counts[-1] == measure["n"], f"{what}: {counts} of {measure['n']}"
    for percent, ns in measure.get("percentiles_ns", {}).items():
        if ns is not None:
            rank = math.ceil(measure["n"] * float(percent) / 100 - 1e-6)
            place = next(place for place, count in enumerate(counts) if count >= rank)
            begin, end = bins[place - 1][0] if place else 0, bins[place][0]
            assert begin <= ns < end, f"{what}: p{percent} is {ns} ns, and in the bin from {begin} to {end}"
