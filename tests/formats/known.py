# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report's JSON says, and the comparison of what other formats show with it."""

import collections
import datetime
import math
import re

# As many groups as a table and a page show, where nobody says how many.
TOP = 20
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
DURATION = r"-?[\d.]+ (?:ns|us|ms|s)"


class Compared:
    """Compares what one format shows, and counts it by kind."""

    def __init__(self, form):
        self.form, self.where, self.counts = form, "", collections.Counter()

    def fail(self, kind, shown, known):
        raise AssertionError(f"{self.form}, {self.where}: {kind} is {shown!r}, and in JSON {known!r}")

    def same(self, kind, shown, known):
        """Both are one text, or one whole number."""
        if shown != known:
            self.fail(kind, shown, known)
        self.counts[kind.split()[0]] += 1

    def number(self, kind, shown, known, unit=1, slack=0.0):
        """SHOWN, a text, is KNOWN in UNIT as far as it has digits; - or nothing is None. A pair is a range."""
        if known is None or shown in ("-", ""):
            self.same(kind, None if shown in ("-", "") else shown, known)
            return
        digits = len(shown.partition(".")[2])
        number = float(shown.replace(",", ""))
        low, high = known if isinstance(known, tuple) else (known, known)
        off = 0.5 * 10**-digits + slack / unit if "e" not in shown else 0.0
        off += 1e-12 * max(abs(low), abs(high)) / unit
        if not low / unit - off <= number <= high / unit + off:
            self.fail(kind, shown, known)
        self.counts[kind.split()[0]] += 1

    def exact(self, kind, shown, known, slack=0.0):
        """SHOWN, a text, has all digits of KNOWN; SLACK is what JSON has rounded away."""
        if known is None or shown == "":
            self.same(kind, shown or None, known)
        elif abs(float(shown) - known) > slack + 1e-12 * abs(known):
            self.fail(kind, shown, known)
        else:
            self.counts[kind.split()[0]] += 1

    def duration(self, kind, shown, ns):
        """SHOWN is like '12.3 us'."""
        number, unit = shown.split(" ")
        self.number(kind, number, ns, UNITS[unit], 1)

    def share(self, kind, shown, part):
        """SHOWN is like '12.3 %' or '12.3%'; without a part there is none."""
        self.number(kind, shown.rstrip("% "), None if part is None else part * 100, 1, 1e-4)


def printable(text):
    """Control characters, and bytes that are no UTF-8, which are U+FFFD in JSON, are seen."""
    return "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or ord(c) == 127 else "\\xff" if c == "\ufffd" else c
                   for c in text)


def ns_of(time):
    """Return the ns since 1970 of JSON's time, or None."""
    if time is None:
        return None
    seconds, fraction = time.removesuffix("Z").split(".")
    return int(datetime.datetime.fromisoformat(f"{seconds}+00:00").timestamp()) * 10**9 + int(fraction)


def second_of(ns):
    """Return what a table shows of a time in the zone UTC."""
    return datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S +0000")


def time_of_day(ns):
    at = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc)
    return f"{at:%H:%M:%S}.{ns % 10**9 // 1000:06}"


def place_of(drop, with_module=True):
    place = printable(drop["symbol"]) if drop["symbol"] is not None else drop["address"] or "0x0"
    if drop["symbol"] is not None and drop["offset"] is not None:
        place += f"+0x{drop['offset']:x}"
    return f"{place} [{printable(drop['module'])}]" if with_module and drop["module"] is not None else place


def reason_of(drop):
    if drop["reason"] is not None:
        return printable(drop["reason"])
    return "-" if drop["reason_number"] is None else str(drop["reason_number"])


def key_text(key, value):
    """Return what stands in the column of a group's key."""
    return key if value is True else printable(value) if isinstance(value, str) else str(value)


class Report:
    """One report, and what follows from it that other formats show."""

    def __init__(self, known):
        self.known, self.recipe = known, known["recipe"]
        self.accounting = known["accounting"]
        self.start, self.end = ns_of(known["start"]), ns_of(known["end"])

    def whole(self, kind):
        """Return the stages or values of the whole; those that nothing went through only if there are no others."""
        whole = [measure for measure in self.known[kind] if not measure["group"]]
        return [measure for measure in whole if measure["n"]] or whole

    def groups(self, kind):
        """Return a list of lists: the stages or values of each group."""
        groups = {}
        for measure in self.known[kind]:
            if measure["group"]:
                groups.setdefault(tuple(measure["group"].items()), []).append(measure)
        return list(groups.values())

    def rest(self, kind):
        """Return what the groups behind the largest are together. Its percentiles are ranges."""
        together = {}
        for group in self.groups(kind)[TOP:]:
            for measure in group:
                together.setdefault(name_of(measure), []).append(measure)
        rest = [added_up(measures) for measures in together.values()]
        if kind == "stages":
            time = sum(measure["sum_ns"] for measure in rest if measure["stage"] != "total")
            for measure in rest:
                measure["share"] = measure["sum_ns"] / time if time else None
        return rest

    def total_drops(self):
        """Return [place, module, reason, benign, count] of all intervals together, the largest count first."""
        totals = collections.Counter()
        for drop in self.known["drops"]:
            totals[tuple(drop[key] for key in ("symbol", "offset", "module", "address", "reason", "reason_number",
                                               "benign"))] += drop["count"]
        names = ("symbol", "offset", "module", "address", "reason", "reason_number", "benign")
        return [dict(zip(names, key), count=count) for key, count in totals.most_common()]

    def total_stacks(self):
        """Return (reason, path, count) of all intervals together, of each reason the largest count first."""
        totals = collections.Counter()
        for stack in self.known.get("stacks", []):
            names = [frame["symbol"] or frame["address"] or "0x0" for frame in stack["frames"]]
            totals[reason_of(stack), " < ".join(map(printable, names)) or "other paths"] += stack["count"]
        return [(*key, count) for key, count in totals.most_common()]

    def shown_stacks(self, number=5):
        """Return so many of each reason."""
        shown = collections.Counter()
        for reason, path, count in self.total_stacks():
            shown[reason] += 1
            if shown[reason] <= number:
                yield reason, path, count

    def total_counts(self):
        totals = {}
        for tally in self.known["counts"]:
            known = totals.setdefault(tuple(tally["group"].items()), dict(tally, count=0))
            known["count"] += tally["count"]
        return sorted(totals.values(), key=lambda tally: (rank_of(tally), tally["count"]), reverse=True)

    def has_intervals(self):
        """Whether there are several; those in which nothing was counted are not in JSON."""
        return max((row["interval"] for row in self.known["drops"] + self.known["counts"]), default=0) > 0


def loss_of(tally):
    return "lost" if tally["loss"] else "by name" if tally.get("loss_by_name") else ""


def rank_of(tally):
    if tally["loss"] or tally.get("loss_by_name") or tally["meaning"]:
        return 3 if tally["loss"] else 2 if tally.get("loss_by_name") else 1
    name = str(tally["group"].get("name"))
    return -1 if name.endswith("Octets") or "bytes" in name else 0


def rate_of(tally):
    """In each second, as tables show it."""
    if "per_s" not in tally:
        return "-"
    rate = tally["per_s"]
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.{1 if rate >= 10 else 2}f}"


def name_of(measure):
    return measure["stage"] if "stage" in measure else measure["value"]


def unit_of(measure):
    return "_ns" if "stage" in measure else ""


def added_up(measures):
    """Return several of one name as one."""
    first, unit = measures[0], unit_of(measures[0])
    n, total = sum(m["n"] for m in measures), sum(m["sum" + unit] for m in measures)
    known = {**first, "group": {"other": True}, "n": n, "sum" + unit: total}
    there = [m for m in measures if m["n"]]
    if not there:
        return known
    mean = total / n
    squares = sum((m["stddev" + unit] or 0) ** 2 * (m["n"] - 1) + m["n"] * (m["mean" + unit] - mean) ** 2 for m in there)
    known["mean" + unit] = mean
    known["stddev" + unit] = math.sqrt(squares / (n - 1)) if n > 1 else None
    known["min" + unit] = min(m["min" + unit] for m in there)
    known["max" + unit] = max(m["max" + unit] for m in there)
    for percent in first["percentiles" + unit]:
        each = [m["percentiles" + unit][percent] for m in there]
        low = [m["min" + unit] if p is None else p for m, p in zip(there, each)]
        high = [m["max" + unit] if p is None else p for m, p in zip(there, each)]
        # A percentile is the end of a bin, or the largest value.
        known["percentiles" + unit] = known["percentiles" + unit] | {
            percent: (min(low) * 0.996, max(high) * 1.004) if n >= values_needed(percent) else None}
        known["percentiles_ci" + unit] = known["percentiles_ci" + unit] | {
            percent: ((known["min" + unit], known["max" + unit]),) * 2 if n >= values_needed(percent) else None}
    return known


def compare_cell(compared, kind, column, shown, measure):
    """One number of a stage or value, in the column of a table or of a page."""
    unit = unit_of(measure)
    scale = 1e3 if unit else 1
    what = f"{kind} {name_of(measure)} {column}"
    column = re.sub(r" \[(us|ms)\]$", "", column)
    if column == "N":
        compared.same(what, shown, str(measure["n"]))
    elif column in ("SHARE", "SHARE OF TIME", "SHARE OF DIRECTION"):
        compared.share(what, shown, measure["share"])
    elif column == "SUM":
        compared.number(what, shown, measure["sum" + unit], scale * scale)
    elif column in ("MEAN", "SD"):
        compared.number(what, shown, measure[{"MEAN": "mean", "SD": "stddev"}[column] + unit], scale, 0.01)
    elif column in ("MIN", "MAX"):
        compared.number(what, shown, measure[column.lower() + unit], scale)
    elif interval := re.fullmatch(r"\[95 %\] P(.*)", column):
        known = measure["percentiles_ci" + unit][interval[1]]
        ends = shown.strip("[]").split(", ") if shown != "-" else ["-", "-"]
        for end, ns in zip(ends, known or (None, None), strict=True):
            compared.number(what, end, ns, scale)
    elif column.startswith("P"):
        compared.number(what, shown, measure["percentiles" + unit][column[1:]], scale)
    else:
        compared.fail(what, shown, "nothing of that name")


def values_needed(percent):
    """Return how many values it takes until the smallest and the largest hold a percentile with 95 % confidence."""
    part = max(float(percent), 100 - float(percent)) / 100
    return math.ceil(math.log(0.025) / math.log(part))
