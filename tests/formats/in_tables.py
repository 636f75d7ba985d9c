# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a text and of a page: each row is one of JSON, and its numbers are those of JSON, rounded as shown."""

import collections
import html.parser
import re
from typing import NamedTuple

from in_openmetrics import key_of
from results import check_reached, is_close, printable

# What a column has the name of a row in; what says of a statistic more than its name in capitals; what JSON has not.
NAMES = {"STAGE", "VALUE", "NAME", "95 % INTERVAL", "COUNTER", "PROBE", "PATH", "LINE", "LEDGER", "#", ""}
STATISTICS = {"SD": "stddev", "SHARE OF TIME": "share", "SHARE OF DIRECTION": "share",
              "MEAN, OTHERS": "rest_mean", "MEAN, SLOW": "slow_mean", "SHARE, OTHERS": "rest_share",
              "SHARE, SLOW": "slow_share", "SHARE OF EXTRA TIME": "excess_share"}
RELATIVE, TIMES = {"FROM", "TO"}, {"AT", "ENDED", "TIME"}
NUMBER = re.compile(r"(-?[\d,]+(?:\.(\d+))?)(?: ?(%|ns|us|ms|s|cycles))?")
UNITS = {"%": 0.01, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "cycles": 1}
# A table or a page has all rows of a kind, or so many.
TOP = 20


class Table(NamedTuple):
    title: str  # in a text the line above it
    heads: list
    rows: list


def table_of(title, heads, rows):
    """Return it without units, which are put behind the cells, and with the bounds of percentiles as cells."""
    table = Table(title, [re.sub(r" \[\w+\]$", "", head) for head in heads], [])
    for row in rows:
        cells = {"ENDED": title} if re.match(r"\d{4}-\d\d-\d\d \d|after the last tick", title) else {}
        for place, (head, cell) in enumerate(zip(table.heads, row, strict=True)):
            head = table.heads[place - 1] if head == "[95_%]" else head
            if bounds := re.fullmatch(r"\[(\S+),_(\S+)\]", cell):
                cells |= {f"{head}_LOW": bounds[1], f"{head}_HIGH": bounds[2]}
            else:
                cells[head] = cell + (" ms" if heads[place].endswith("[ms]") and cell != "-" else "")
        table.rows.append(cells | ({"STAGE": title} if heads[:1] == ["FROM [s]"] and "AT" in heads else {}))
    return table


def is_number(cell, number, statistic):
    """Whether it is this one as far as it has digits; ns are shown as us where no unit stands beside it."""
    found = NUMBER.fullmatch(cell)
    if number is None or not found:
        return number is None and cell in ("-", "")
    unit = UNITS[found[3]] if found[3] else 1e3 if statistic.endswith("_ns") else 1
    return is_close(float(found[1].replace(",", "")) * unit, number, statistic, 0.5 * 10**-len(found[2] or "") * unit)


def is_cell(head, cell, row):
    for key in (head, head.lower()):
        if key in row.keys:
            return cell == row.keys[key]
    for key in (head, STATISTICS.get(head, head.lower())):
        for statistic in (key, key + "_ns"):
            if statistic in row.numbers:
                return is_number(cell, row.numbers[statistic], statistic)
    if head in NAMES:
        # Of a part, indented below its stage, the cause is shown.
        return cell in (printable(row.name), printable(row.name.partition(".")[2]))
    # What JSON does not have; together others have none of a group's keys.
    return head in RELATIVE or head not in TIMES and (cell in ("-", "") or cell == "other" and "other" in row.keys)


def rows_shown(table, rows):
    """Return the places in ROWS of those that the table has, or None if one of it is not there."""
    places = []
    for shown in table.rows:
        numbers = {cell for head, cell in shown.items() if head not in RELATIVE | TIMES}
        if "DROPS" in shown and numbers == {"0"} or next(iter(shown.values())) == "rest":  # not in JSON
            continue
        place = next((place for place, row in enumerate(rows)
                      if place not in places and ("ENDED" in shown) == ("ENDED" in row.keys)
                      and all(is_cell(head, cell, row) for head, cell in shown.items())), None)
        if place is None:
            return None
        places.append(place)
    return places


def check_bins(report, table, buckets):
    """Bins of a page; the stages are columns. OpenMetrics' BUCKETS that end where one does have as many below it."""
    bounds = [row[head] for row in table.rows for head in table.heads[:2]]
    bounds = [float("inf") if bound == "-" else round(float(bound) * 1e3) for bound in bounds]
    ends = bounds[1::2]
    shown = [stage for stage in report.stages if printable(stage["stage"]) in table.heads]
    assert len(shown) == len(table.heads) - 2 and bounds == sorted(bounds), table
    for stage in shown:
        counts = [int(row[printable(stage["stage"])]) for row in table.rows]
        theirs = buckets["stage_seconds", key_of(report.recipe, [stage["stage"]])]
        bins = [(end, sum(counts[:place + 1])) for place, end in enumerate(ends)]
        check_reached(f"page: {stage['stage']}", bins, stage)
        unlike = {end: (count, theirs[end]) for end, count in bins
                  if max(theirs.values()) == stage["n"] and theirs.get(end, count) != count}
        assert not unlike, f"page and openmetrics: {stage['stage']}: {unlike}"


def compare(form, tables, report, required, buckets=None):
    """Return how many rows are JSON's, by kind. Those of the kinds that are REQUIRED are all there, or many."""
    known, counts = collections.defaultdict(list), collections.Counter()
    for row in report.rows():
        known[row.kind].append(row)
    shown_of = collections.defaultdict(set)
    for table in tables:
        if table.heads[:2] == ["FROM", "TO, BELOW"]:
            check_bins(report, table, buckets)
            counts["bins"] += len(table.rows)
            continue
        found = next(((kind, places) for kind, rows in known.items() if (places := rows_shown(table, rows)) is not None), None)
        assert found, f"{form}: JSON has no such table: {table}"
        shown_of[found[0]] |= set(found[1])
        counts[found[0]] += len(found[1])
    for kind in required & known.keys():
        there = [row for row in known[kind] if row.numbers.get("n", any(row.numbers.values()))]
        alone = kind.startswith("group-") and len({tuple(row.keys.values()) for row in there}) < 2
        assert alone or len(shown_of[kind]) >= min(len(there), TOP), f"{form}: {kind}: {shown_of[kind]} of {there}"
    return counts


class Page(html.parser.HTMLParser):
    """The tables of each report in a page."""

    def __init__(self, text):
        super().__init__()
        self.reports, self.rows, self.cell = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.cell = ""
        if tag == "article":
            self.reports.append([])
        elif tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.cell += data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.title = self.cell.strip()
        elif tag in ("td", "th"):
            self.rows[-1].append(self.cell.strip())
        elif tag == "table":
            self.reports[-1].append(table_of(self.title, self.rows[0], self.rows[1:]))
            self.rows = []


# A line of headings, and what may stand right below a table.
HEADINGS = re.compile(r" *(?:(?:[A-Z_][A-Z\d_.]*|\[[um]s\]|95|%|\[95_%\])(?: +|$)){2,}")
NOTE = re.compile(r"\*: part of|and [\d,]+ |means only: ")


def columns_of(lines):
    """Return [begin, end] of each column: all lines are blank between two. One without heading or cells is part of another."""
    inked = "".join("x" if set(letters) != {" "} else " " for letters in zip(*lines))
    columns = []
    for begin, end in (part.span() for part in re.finditer(r"x+", inked)):
        parts = [line[begin:end].strip() for line in lines]
        if columns and not (parts[0] and any(parts[1:])):
            columns[-1][1] = end
        else:
            columns.append([begin, end])
    return columns


def table_in(paragraph):
    """Return the table of a paragraph; None: it has none."""
    # What stands in brackets is one cell.
    lines = [re.sub(r"\[(\S+) (\S+)\]", r"[\1_\2]", line) for line in paragraph.splitlines()]
    place = next((place for place, line in enumerate(lines) if HEADINGS.fullmatch(line)), len(lines))
    rows = lines[place:]
    rows = rows[:next((place for place, line in enumerate(rows) if NOTE.match(line)), len(rows))]
    if not rows:
        return None
    rows = [row.ljust(max(map(len, rows))) for row in rows]
    columns = columns_of(rows)
    heads, *rows = [[row[begin:end].strip() for begin, end in columns] for row in rows]
    return table_of(lines[place - 1] if place else "", heads, rows)


def in_text(text, recipes):
    """Return the tables of each report of a text, which begins with its recipe's name."""
    reports, names = [], [printable(recipe) for recipe in recipes]
    for paragraph in re.split(r"\n{2,}", text):
        if len(reports) < len(names) and re.match(re.escape(names[len(reports)]) + "(,|$)", paragraph, re.MULTILINE):
            reports.append([])
        reports[-1] += filter(None, [table_in(paragraph)])
    return reports
