# SPDX-License-Identifier: GPL-2.0-or-later
"""The CSV report: each row is one number of JSON, and each number has its row."""

import collections
import csv
import io

from results import is_close, printable


def cell(text):
    """Return a text as it stands in a cell: no formula to any spreadsheet."""
    text = printable(text)
    return "'" + text if text.lstrip(" ")[:1] in ("=", "+", "-", "@") and text.strip(" ") else text


def expected(number, report):
    """Yield what each row is of, its kind, its statistic, and its value."""
    for row in report.rows():
        of = [("report", str(number)), ("recipe", report.recipe), ("kind", row.kind), ("name", row.name), *row.keys.items()]
        for statistic, value in row.numbers.items():
            yield frozenset((key, cell(text)) for key, text in [*of, ("statistic", statistic)] if text), row.kind, statistic, value


def compare(text, reports):
    """Return how many numbers are JSON's, by kind."""
    numbers, counts = collections.defaultdict(list), collections.Counter()
    for row in csv.DictReader(io.StringIO(text, newline=""), strict=True):
        assert None not in row and None not in row.values(), f"a row of another length: {row}"
        value = row.pop("value")
        assert not any(cell.lstrip(" ").startswith(("=", "+", "-", "@")) for cell in row.values()), f"a formula: {row}"
        if row["kind"] not in ("origin", "cause"):  # texts
            # A group's key that has a column's name is apart from it.
            numbers[frozenset((key.removeprefix("group_"), text) for key, text in row.items() if text)].append(value)
    for number, report in enumerate(reports, 1):
        for of, kind, statistic, known in expected(number, report):
            # Rows of one name stand in one order.
            shown = numbers[of].pop(0) if numbers[of] else None
            assert shown == "" if known is None else shown and is_close(float(shown), known, statistic), (
                f"csv: {of} is {shown!r}, and in JSON {known!r}")
            counts[kind] += 1
    left = {key: values for key, values in numbers.items() if values}
    assert not left, f"csv has what JSON has not: {left}"
    return counts
