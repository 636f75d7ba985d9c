# SPDX-License-Identifier: GPL-2.0-or-later
"""The text report, read line by line. What is not understood is an error."""

import re

import sentences
from known import (DURATION, TOP, compare_cell, key_text, loss_of, name_of, ns_of, place_of, printable, rate_of,
                   reason_of, second_of, time_of_day)

HEADING = re.compile(r"ONE CPU|95 % INTERVAL \[us\]|95 % INTERVAL|\[95 %\]|(?:STAGE|SUM) \[(?:us|ms)\]|MEANS ONLY|\S+")


class Lines:
    def __init__(self, text):
        self.lines, self.at = text.splitlines(), 0

    def __bool__(self):
        return self.at < len(self.lines)

    def now(self):
        return self.lines[self.at]

    def next(self):
        self.at += 1
        return self.lines[self.at - 1]

    def block(self):
        """Return all up to the next empty line."""
        block = []
        while self and self.now():
            block.append(self.next())
        return block


def cells(lines, is_left):
    """Return (heading, cell) of each column for each row. IS_LEFT says of a heading whether its column begins with it."""
    heads = [(match[0], match.start(), match.end()) for match in HEADING.finditer(lines[0])]
    rows = []
    for line in lines[1:]:
        row, at = [], 0
        for place, (name, _, end) in enumerate(heads):
            behind = heads[place + 1:place + 2]
            if not behind:
                row.append(line[at:].strip())
            elif not is_left(name):
                row.append(line[at:end].strip())
                assert line[end:end + 1] in (" ", ""), f"{line!r} is wider than {lines[0]!r}"
                at = end + 1
            elif is_left(behind[0][0]):
                row.append(line[at:behind[0][1]].strip())
                at = behind[0][1]
            else:
                # Where this one ends is not known: the next has no blank, or is an interval.
                both = re.fullmatch(r"(.*?)\s+(\[.*\]|\S+)", line[at:behind[0][2]].rstrip())
                row.append(both[1].strip())
                at += len(both[1])
        rows.append([(name, cell) for (name, _, _), cell in zip(heads, row, strict=True)])
    return rows


def compare_measures(compared, lines, report):
    """A table of stages or values, of the whole or of groups."""
    kind = "values" if " VALUE " in f" {lines[0]} " else "stages"
    heads = HEADING.findall(lines[0])
    keys = heads[:heads.index("STAGE [us]" if kind == "stages" else "VALUE")]
    if keys:
        groups = report.groups(kind)
        known = [measure for group in groups[:TOP] for measure in group if measure["n"]]
        known += [measure for measure in report.rest(kind) if measure["n"]]
        text_keys = {key.upper() for key, value in groups[0][0]["group"].items() if isinstance(value, str)}
    else:
        known, text_keys = report.whole(kind), set()
    left = text_keys | {"STAGE [us]", "VALUE"}
    what = f"group-{kind}" if keys else kind
    rows = cells(lines, lambda name: name in left)
    compared.same(f"{what} rows", len(rows), len(known))
    for row, measure in zip(rows, known):
        group = measure["group"]
        if group == {"other": True}:
            shown = ["rest"] + ["-"] * (len(keys) - 1)
        else:
            # A container is a cgroup and a namespace: where it tells groups apart, text has it alone.
            left_out = {"cgroup", "netns"} if "CONTAINER" in keys and not {"CGROUP", "NETNS"} & set(keys) else set()
            of_text = {key: value for key, value in group.items() if key not in left_out}
            shown = [key_text(key, value) for key, value in of_text.items()]
            compared.same(f"{what} keys", [printable(key).upper() for key in of_text], keys)
        compared.same(f"{what} group", [cell for _, cell in row[:len(keys)]], shown)
        compared.same(f"{what} name", row[len(keys)][1], printable(name_of(measure)))
        percentile = None
        for column, cell in row[len(keys) + 1:]:
            if column == "[95 %]":
                column = f"[95 %] {percentile}"
            percentile = column
            compare_cell(compared, what, column, cell, measure)
    return known


def compare_intervals(compared, lines, report):
    kind = "stages" if "[us]" in lines[0] else "values"
    for row, measure in zip(cells(lines, lambda name: name.startswith("95 %")), report.whole(kind), strict=True):
        compared.same(f"{kind} name", row[0][1], printable(name_of(measure)))
        for column, cell in row[1:]:
            compare_cell(compared, kind, f"[95 %] {column}", cell, measure)


def compare_averages(compared, lines, report):
    for row, average in zip(cells(lines, lambda name: name == "MEANS ONLY"), report.known["averages"], strict=True):
        unit, scale = ("_ns", 1e3) if "mean_ns" in average else ("", 1)
        shown = dict(row)
        compared.same("averages name", shown["MEANS ONLY"], printable(average["name"]) + (" [us]" if unit else ""))
        compared.same("averages n", shown["N"], str(average["n"]))
        compared.number("averages mean", shown["MEAN"], average["mean" + unit], scale, 0.01)
        compared.number("averages error", shown["+-ERROR"], average["error" + unit], scale, 0.01)


def compare_slowest(compared, lines, report, way):
    """The timelines of one way."""
    known = [record for record in report.known["slowest"] if record["way"] == way]
    records = re.split(r"\n(?=#\d)", "\n".join(lines))
    compared.same("slowest number", len(records), min(len(known), 5))
    for number, (record, slow) in enumerate(zip(records, known), 1):
        head, *steps = re.split(r"\n(?= +\+[\d.]+  )", record)
        found = re.match(r"#(\d+) ([\d.]+)(?:, (\d\d:\d\d:\d\d\.\d+|-?[\d.]+ s))?", " ".join(head.split()))
        compared.same("slowest place", int(found[1]), number)
        compared.number("slowest total", found[2], slow["total_ns"], 1e3)
        if found[3] and found[3].endswith(" s"):
            compared.number("slowest time", found[3].split()[0], slow["time_ns"], 1e9)
        else:
            compared.same("slowest time", found[3], None if slow["time_ns"] is None else time_of_day(slow["time_ns"]))
        of = " ".join(head.split())[found.end():]
        for key, value in slow["of"].items():
            if key in ("cgroup", "netns") and slow["of"].get("container"):
                continue  # a container is both
            compared.same(f"slowest {key}", key_text(key, value) in of, True)
        stages = [(name, ns) for name, ns in slow["stages_ns"].items() if ns is not None]
        compared.same("slowest steps", len(steps), len(stages))
        begin = 0
        for step, (name, ns) in zip(steps, stages):
            shown = re.fullmatch(r" +\+([\d.]+)  (.*?) +([\d.]+) \|[ #]+\|", step)
            compared.number("slowest begin", shown[1], begin, 1e3)
            compared.same("slowest stage", shown[2], printable(name))
            compared.number("slowest stage", shown[3], ns, 1e3)
            begin += ns


def compare_series(compared, lines, report, length):
    series, kind = report.known["series"], "values" if " VALUE " in lines[0] else "stages"
    compared.duration("series length", length, series["block_ns"])
    unit = "" if kind == "values" else "_ns"
    whole = {name_of(measure): measure["n"] for measure in report.known[kind] if not measure["group"]}
    shown = [column for column in series[kind] if whole[name_of(column)]]
    if any(name_of(column) == "total" for column in shown):
        shown = [column for column in shown if name_of(column) == "total"]
    known = [(start, column, place) for place, start in enumerate(series["start_ns"]) for column in shown]
    for row, (start, column, place) in zip(cells(lines, lambda name: name in ("TIME", "STAGE [us]", "VALUE")), known,
                                           strict=True):
        time, name, *numbers = [cell for _, cell in row]
        if report.start is None:
            compared.number("series time", time.split()[0], start, 1e9)
        else:
            compared.same("series time", time, second_of(start))
        compared.same("series name", name, printable(name_of(column)))
        for key, number in zip(("n", "p50" + unit, "p99" + unit, "max" + unit), numbers, strict=True):
            value = column[key][place]
            compared.number(f"series {key}", number, value, 1e3 if key.endswith("_ns") else 1)


def compare_rows(compared, lines, kind, known):
    """A table of counts. KNOWN is what its rows must be, in any order of those with one count."""
    rows = [[cell for _, cell in row] for row in cells(lines, lambda name: name not in ("COUNT", lines[0].split()[0]))]
    compared.same(f"{kind} order", [int(row[0]) for row in rows], [int(row[0]) for row in known])
    for row in sorted(known):
        compared.same(f"{kind} row", row in rows, True)
        rows.remove(row)


def compare_stacks(compared, lines, report):
    """Each is wrapped; of equal counts the order is open."""
    rows = " ".join(line if line.startswith(" ") else f"\n{line}" for line in lines).split("\n")[1:]
    found = [re.fullmatch(r"(\d+) (\S+): (.*)", " ".join(row.split())).groups() for row in rows]
    known = [(str(count), reason, path) for reason, path, count in report.shown_stacks()]
    compared.same("stacks", sorted(found), sorted(known))


def drop_rows(drops):
    return [[str(drop["count"]), place_of(drop), reason_of(drop) + (" *" if drop["benign"] else "")] for drop in drops]


def tally_rows(tallies):
    keys = list(dict.fromkeys(key for tally in tallies for key, value in tally["group"].items() if value is not True))
    has_losses = any(loss_of(tally) for tally in tallies)
    has_rates = any("per_s" in tally for tally in tallies)
    for tally in tallies:
        group = tally["group"]
        shown = [key_text(key, group[key]) if key in group else "other" if key == keys[0] else "" for key in keys]
        rate = [rate_of(tally)] if has_rates else []
        yield [str(tally["count"]), *rate, *shown, *([loss_of(tally)] if has_losses else [])]


def compare_each(compared, shown, cost, cycles, hits):
    """What a hit costs, in a unit of time if it is known how long cycles are."""
    of_one = cycles // max(hits, 1)
    if cost["cycles_per_s"]:
        compared.duration("cost each", shown, of_one / cost["cycles_per_s"] * 1e9)
    else:
        compared.number("cost each", shown.removesuffix(" cycles"), of_one)


def compare_cost(compared, line, lines, cost):
    found = re.fullmatch(r"The probes' cost: (\S+) hits(?: \((\S+) expected for this traffic\))?, (.*) each"
                         r"(?:; ([\d.]+)% of one CPU's time(?:, ([\d.]+)% of all (\d+))?)?", line)
    hits, expected, each, one_cpu, all_cpus, cpus = found.groups()
    compared.number("cost hits", hits, cost["hits"])
    compared.number("cost expected_hits", expected or "-", cost["expected_hits"])
    compare_each(compared, each, cost, cost["cycles"], cost["hits"])
    compared.number("cost one_cpu", one_cpu or "-", cost["one_cpu_percent"])
    if all_cpus:
        compared.number("cost all_cpus", all_cpus, cost["all_cpus_percent"])
        compared.same("cost cpus", int(cpus), cost["cpus"])
    known = sorted(cost["probes"], key=lambda probe: -probe["cycles"])
    for row, probe in zip(cells(lines, lambda name: name == "PROBE"), known, strict=True):
        shown = dict(row)
        compared.number("cost hits", shown["HITS"], probe["hits"])
        compare_each(compared, shown["MEAN"], cost, probe["cycles"], probe["hits"])
        compare_each(compared, shown["MAX"], cost, probe["max_cycles"], 1)
        compared.number("cost one_cpu", shown["ONE CPU"].rstrip("%"), probe["one_cpu_percent"])
        compared.same("cost probe", shown["PROBE"], printable(probe["point"]))


class Parts:
    """The parts of one report, until its last line."""

    def __init__(self, compared, lines, report):
        self.compared, self.lines, self.report = compared, lines, report
        self.shown, self.interval, self.warnings = [], None, 0

    def heading_of_interval(self, line):
        """In order; of an interval without rows JSON says nothing."""
        rows = {row["interval"]: row["time"] for row in self.report.known["drops"] + self.report.known["counts"]}
        self.interval = 0 if self.interval is None else self.interval + 1
        if self.lines.now() in ("no drops", "none"):
            self.compared.same("interval empty", self.interval in rows, False)
            self.lines.next()
            return
        time = rows[self.interval]
        self.compared.same("interval end", line, "after the last tick" if time is None else second_of(ns_of(time)))

    def rows(self, all_rows, totals):
        """Return those of the interval that was named last, or the totals where the sum was."""
        if self.interval is None:
            return totals
        return [row for row in all_rows if row["interval"] == self.interval]

    def table(self, line):
        """Return whether it is the first line of one; then it is read."""
        known, lines, compared, report = self.report.known, self.lines, self.compared, self.report
        if re.search(r"(?:^| )(?:STAGE \[us\]|VALUE) +N +MEAN", line):
            self.shown += compare_measures(compared, lines.block(), report)
        elif line.startswith("95 % INTERVAL"):
            compare_intervals(compared, lines.block(), report)
        elif line.startswith("MEANS ONLY "):
            block = lines.block()
            compared.same("averages note", block.pop().startswith("means only: "), True)
            compare_averages(compared, block, report)
        elif re.match("COUNT +LOCATION +REASON", line):
            block = [row for row in lines.block() if not row.startswith("*: part of normal operation")]
            compare_rows(compared, block, "drops", drop_rows(self.rows(known["drops"], report.total_drops())))
        elif re.match("COUNT +COUNTER +WHAT", line):
            rows = [[str(one["count"]), printable(one["name"]), printable(one["help"])] for one in known["counters"]
                    if (one["count"] or 0) > 0]
            compare_rows(compared, lines.block(), "counters", rows)
        elif known["counted"] and line.split()[0] == known["counted"].upper():
            block = lines.block()
            tallies = self.rows(known["counts"], report.total_counts())
            if more := re.fullmatch(r"and (?:(\d+) in )?(\d+) more rows?; --top shows more", block[-1]):
                if more[1]:
                    compared.same("counts more", int(more[1]), sum(tally["count"] for tally in tallies[TOP:]))
                compared.same("counts more", int(more[2]), len(tallies[TOP:]))
                block.pop()
            compare_rows(compared, block, "counts", list(tally_rows(tallies[:TOP])))
        else:
            return False
        return True

    def line(self, line):
        """One that is no table."""
        known, lines, compared, report = self.report.known, self.lines, self.compared, self.report
        if found := re.fullmatch(r"packet (\d+)", line):
            sentences.compare_calls(compared, lines.block(),
                                    [call for call in known["calls"] if call["packet"] == int(found[1])])
        elif found := re.fullmatch(r"rest: (\d+) smaller groups? ?(?:together)?", line):
            behind = max(len(report.groups("stages")), len(report.groups("values"))) - TOP
            compared.same("group-stages rest", int(found[1]), behind)
        elif line.startswith("-: not enough samples;"):
            sentences.compare_needs(compared, line, self.shown)
        elif line == "SHARE: of the time of all stages of the same direction":
            compared.same("stages directions", len(known["tail"]) > 1, True)
        elif found := re.fullmatch(f"times are multiples of ({DURATION})", line):
            compared.duration("stages resolution", found[1], known["resolution_ns"])
        elif found := re.fullmatch(r"The slowest (?:(.*) )?records? \[us\]:", line):
            compare_slowest(compared, lines.block(), report, found[1] or "")
        elif found := re.fullmatch(f"In blocks of ({DURATION}):", line):
            compare_series(compared, lines.block(), report, found[1])
        elif re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000|after the last tick", line):
            self.heading_of_interval(line)
        elif line.startswith("Call paths, the "):
            compare_stacks(compared, lines.block(), report)
        elif line.startswith("WARNING: "):
            sentences.compare_warning(compared, line.removeprefix("WARNING: "), report)
            self.warnings += 1
        elif line.startswith("note: "):
            compared.same("note text", line.removeprefix("note: ") in map(printable, known["notes"]), True)
        elif line.startswith("The probes' cost: "):
            compare_cost(compared, line, lines.block(), known["cost"])
        elif line.startswith("Losses without a drop event, "):
            pass
        elif sentences.compare_line(compared, line, report):
            if line.startswith(("total: ", "no drops in all")) or sentences.COUNTERS.fullmatch(line):
                self.interval = None
        else:
            return False
        return True

    def paragraph(self, line):
        """A sentence of the tail, or advice: wrapped lines."""
        block = [line, *self.lines.block()]
        together = " ".join(block)
        if self.report.known["tail"] and any(printable(tail["sentence"]) == together for tail in self.report.known["tail"]):
            sentences.compare_sentence(self.compared, together, self.report)
            return
        for one in re.split(r"\n(?! )", "\n".join(block)):
            subject, text = re.fullmatch(r"(\S+(?: in \S+)?): (.*)", " ".join(one.split())).groups()
            if self.report.known["counted"]:
                meanings = {(printable(str(next(iter(tally["group"].values())))), " ".join(tally["meaning"].split()))
                            for tally in self.report.known["counts"] if tally["meaning"] and tally["group"]}
                self.compared.same("counts meaning", (subject, text) in meanings, True)
            else:
                sentences.compare_advice(self.compared, subject, text, self.report)


def compare(compared, text, reports):
    lines = Lines(text)
    for place, report in enumerate(reports):
        title = lines.next()
        name = printable(report.recipe)
        compared.same("title recipe", title.split(", ")[0], name)
        if title != name:
            sentences.compare_span(compared, title.removeprefix(name + ", "), report)
        sentences.compare_origins(compared, " ".join(lines.block()), report)
        parts = Parts(compared, lines, report)
        behind = printable(reports[place + 1].recipe) if place + 1 < len(reports) else None
        while lines:
            line = lines.now()
            if behind and lines.lines[lines.at - 1] == "" and (line == behind or line.startswith(behind + ", ")):
                break
            if line == "" or parts.table(line):
                lines.at += line == ""
                continue
            lines.next()
            if not parts.line(line):
                parts.paragraph(line)
        compared.same("loss warnings", parts.warnings, sentences.warnings_expected(report))
        for kind in ("stages", "values"):
            if report.known[kind]:
                compared.same(f"{kind} shown", [m for m in report.whole(kind) if m not in parts.shown], [])
