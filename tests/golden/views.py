# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command prints, as a case keeps it: nothing that a reader sees is missing, and each line is one thing that may change.

JSON has a line for each key and each row, its numbers as they were printed. Rows of CSV that differ in their statistic alone,
and buckets of one histogram, are one line. A page is its head and body without style and scripts, which are the same on
every page, and below what it says of several runs without their own reports; of a long path of a picture only the begin,
the length and a sum are kept. A trace for Perfetto is its tracks and slices, as tests/formats/perfetto/read_trace.py reads
them.
"""

import hashlib
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "formats" / "perfetto"))
import read_trace  # noqa: E402

LONG_ROW = 100


class Number(str):
    """A number as it was printed."""


def pairs(items):
    found = dict(items)
    assert len(found) == len(items), f"a key twice: {[key for key, _ in items]}"
    return found


DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, object_pairs_hook=pairs)


def parsed(text):
    """Yield each document, and how it is printed: indented or in one line."""
    at = 0
    while at < len(text):
        document, end = DECODER.raw_decode(text, at)
        assert text[end:end + 1] == "\n", f"no line end behind {text[max(at, end - 40):end]}"
        yield document, text[at:end]
        at = end + 1


def rounded(number):
    """Digits beyond the seventh of a fraction are another compiler's, or another libm's."""
    digits = re.sub(r"[-+.]|e.*", "", number).lstrip("0")
    return f"{float(number):.7g}" if len(digits) > 9 and re.search(r"[.e]", number) else number


def compact(value):
    if isinstance(value, Number):
        return rounded(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {compact(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(compact, value)) + "]"
    return json.dumps(value)


def of_rows(value, indent=0):
    """JSON again, with a line for each key and each row."""
    line = compact(value)
    deep = isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value)
    if not isinstance(value, (dict, list)) or (indent and not deep and len(line) <= LONG_ROW):
        return line
    if isinstance(value, dict) and not any(isinstance(part, (dict, list)) and part for part in value.values()):
        return line
    if isinstance(value, list):
        if not deep:
            return line
        return "[\n" + ",\n".join(" " * (indent + 1) + compact(part) for part in value) + "]"
    if indent > 1:
        return line
    rows = [f"{json.dumps(key)}: {of_rows(part, indent + 1)}" for key, part in value.items()]
    return "{" + (",\n" + " " * (indent + 1)).join(rows) + "}"


def json_of(text, lines):
    """LINES: each document has to be a line."""
    found = []
    for document, printed in parsed(text):
        is_line = "\n" not in printed
        assert is_line or not lines, f"more than a line of ndjson: {printed[:40]}"
        found.append(of_rows(document) + ("\n[in one line]\n" if is_line and not lines else "\n"))
    return "".join(found)


def picture(match):
    path = match[1]
    if len(path) <= 60:
        return match[0]
    return f'd="{path[:40]}... {len(path)} characters, {hashlib.sha256(path.encode()).hexdigest()[:8]}"'


CELL = re.compile(r'<(td|th scope="(col|row)")( class="n")?([^>]*)>((?:(?!</?t[dhr]\b).)*)</t[dh]>')
SIGNS = {"": "|", "col": "|^", "row": "|>"}


def row_of(match):
    """A row of a table: ^ begins a column's head, > a row's, # a number; what else a tag says is in braces."""
    cells, left = [], match[1]
    for cell in CELL.finditer(match[1]):
        said = f"{{{cell[4].strip()}}}" if cell[4] else ""
        cells.append(SIGNS[cell[2] or ""] + ("#" if cell[3] else "") + said + cell[5])
        left = left.replace(cell[0], "", 1)
    return match[0] if left.strip() or not cells else "".join(cells)


# What each page begins with: it fetches nothing, and nobody is told where it was read.
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src ...; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="stapgen">
"""
FOOT = """<footer>...</footer>
<script>...</script>
</body>
</html>
"""
TABLE = re.compile(r'<div class="wide" tabindex="0" role="region" aria-label="([^"]*)">\n<table([^>]*)>\n<caption( class="hidden")?>\1</caption>\n'
                   r"<thead>(.*)</thead>\n<tbody>\n((?:.*\n)*?)</tbody>\n</table>\n</div>\n")


def table_of(match):
    return f"<table{match[2]}>{'(hidden) ' if match[3] else ''}{match[1]}\n{match[4]}\n{match[5]}"


def run_of(match):
    """The report of one run below what a page says of all of them: other pages have its like."""
    return f"{match[1]}...{len(match[2].splitlines())} lines{match[3]}"


def page_of(text):
    text = re.sub(r"(<style>)(.*?)(</style>)", r"\1...\3", text, flags=re.DOTALL)
    text = re.sub(r"(<script>)(.*?)(</script>)", r"\1...\3", text, flags=re.DOTALL)
    text = re.sub(r"script-src [^;]*;", "script-src ...;", text)
    text = re.sub(r'\bd="([^"]*)"', picture, text)
    text = re.sub(r"(<footer>)(.*?)(</footer>)", r"\1...\3", text, flags=re.DOTALL)
    text = re.sub(r"<tr>(.*?)</tr>", row_of, text)
    text = re.sub(r"\n{2,}", "\n", re.sub(r"(?<=.)(?=<(?:tr|p|path|div|details|figure)\b)", "\n", text))
    text = TABLE.sub(table_of, text)
    if '<article id="both">' in text or '<article id="all">' in text:
        text = re.sub(r'(<article id="r\d+">)(.*?)(</article>)', run_of, text, flags=re.DOTALL)
    return text.replace(HEAD, "<head of every page>\n").replace(FOOT, "<foot of every page>\n")


def folded(lines, parts):
    """Rows that follow each other and differ only in what PARTS (a pattern of begin, what differs, end) finds are one line."""
    found = []
    for line in lines:
        match = parts.fullmatch(line)
        same = match and (match["begin"], match["end"])
        if found and same and found[-1][0] == same:
            found[-1][1].append(match["differs"])
        else:
            found.append((same, [match["differs"] if match else line]))
    return "".join((f"{same[0]}{{{' '.join(rows)}}}{same[1]}" if same else rows[0]) + "\n" for same, rows in found)


FRACTION = re.compile(r"(?<=,)-?\d*\.\d{6,}(?:e[-+]\d+)?(?=,|$)")
STATISTIC = re.compile(r'(?P<begin>\d+,(?:(?:[^,"]*|"(?:[^"]|"")*"),){6})(?P<differs>[\w.]+,[-+\w.]*)(?P<end>,.*)')
BUCKET = re.compile(r'(?P<begin>\w+_bucket\{.*,le=)"(?P<differs>[-+\w.]+"\} \d+)(?P<end>)')


def trace_of(data):
    trace = read_trace.Trace(data)
    lines = [f"{key}: {value}" for key, value in trace.metadata.items()]
    lines += [f"time of day: {'unknown' if trace.wall is None else f'{trace.wall} ns more'}"]
    for track in trace.tracks:
        lines.append(trace.name_of(track).encode("unicode_escape").decode())
        events = [one for one in trace.slices + trace.instants if one["track"] == track]
        for one in sorted(events, key=lambda event: (event["begin"], event["depth"])):
            flow = f", flow {one['flow']}" if one["flow"] else ""
            about = "".join(f", {key} {value}" for key, value in one["annotations"].items())
            lines.append(f"  {'  ' * one['depth']}{one['begin']} +{one['end'] - one['begin']} {one['name']}{flow}{about}")
    return "\n".join(lines) + "\n"


def format_of(words):
    """The format that a command line asks for."""
    for place, word in enumerate(words):
        if word == "--format" and place + 1 < len(words):
            return words[place + 1]
        if word in ("--json", "-j"):
            return "json"
    return "table"


def view(words, output, code):
    """OUTPUT is in bytes. A refusal is kept as it is."""
    form = format_of(words)
    if form == "perfetto" and output[:1] == b"\n":
        return trace_of(output)
    text = output.decode("utf-8", errors="replace")
    if form == "json" and text.startswith("{") and code in (0, 3, 4, 7):
        return json_of(text, False)
    if form == "ndjson" and text.startswith("{"):
        return json_of(text, True)
    if form == "html" and text.startswith("<!"):
        return page_of(text)
    if form == "csv":
        assert "\r" not in text
        return folded((FRACTION.sub(lambda number: rounded(number[0]), line) for line in text.splitlines()), STATISTIC)
    if form == "openmetrics":
        return folded(text.splitlines(), BUCKET)
    return text.replace("\x1b", "\u241b")


def named(row, *keys):
    return [str(row[key]) for key in keys if row.get(key) is not None]


def group_of(row):
    return [f"{key}={value}" for key, value in row.get("group", {}).items()]


def place_of(row):
    place = row["symbol"] + (f"+0x{int(row['offset']):x}" if row["offset"] not in (None, "0") else "") if row["symbol"] else row["address"]
    return (place or "-") + (f" [{row['module']}]" if row["module"] else "")


def with_units(row, keys):
    return ", ".join(f"{key} {row[key]}" for key in keys if row.get(key) is not None)


def measure_of(kind, row, unit):
    median = next(iter(row.get("percentiles" + unit, {"": None}).items()))
    numbers = with_units(row, ["n", "sum" + unit, "min" + unit]) + (f", p{median[0]} {median[1]}" if median[1] else "")
    part = [f"of {row['part_of']}"] if row.get("part_of") else []
    return f"{' '.join([kind, row[kind], *part, *group_of(row)])}: {numbers}" + (f", max {row['max' + unit]}" if row["n"] != "0" else "")


def rows_of_report(report):
    """Yield the numbers of a report that are measured, without what is made of them."""
    yield f"report {report['recipe']}" + (f", from {report['start']}" if report["start"] else "") + (f" to {report['end']}" if report["end"] else "")
    for origin in report["origins"]:
        yield "origin " + with_units(origin, ["host", "kernel", "definition"])
    if report.get("apart"):
        yield f"apart: {report['apart']}"
    for kind, unit in (("stage", "_ns"), ("value", "")):
        rows = report[kind + "s"]
        groups = {compact(row["group"]) for row in rows if row["group"]}
        yield from (measure_of(kind, row, unit) for row in rows if row["n"] != "0" and not row["group"])
        if 0 < len(groups) < 4:
            yield from (measure_of(kind, row, unit) for row in rows if row["n"] != "0" and row["group"])
        elif groups:
            yield f"{len(groups)} groups of {kind}s"
    for row in report["averages"]:
        yield f"average {row['name']}: " + with_units(row, ["n", "mean_ns", "error_ns", "mean", "error"])
    totals = {}
    for row in report["drops"]:
        reason = row["reason"] or row["reason_number"] or "-"
        what = " ".join(["drop", place_of(row), reason, *group_of(row), *(["benign"] if row["benign"] else [])])
        totals.setdefault(what, []).append(int(row["count"]))
    for row in report["counts"]:
        loss = ["lost"] if row["loss"] else ["by name"] if row.get("loss_by_name") else []
        what = " ".join([str(report["counted"]), *group_of(row), *loss, *(["explained"] if row["meaning"] else []), *(
            [f"{row['per_s']} per s"] if row.get("per_s") else [])])
        totals.setdefault(what, []).append(int(row["count"]))
    for what, counts in totals.items():
        yield f"{what}: {sum(counts)}" + (f" in {len(counts)} rows" if len(counts) > 1 else "")
    for row in report.get("stacks", []):
        yield f"stack {row['reason'] or row['reason_number']} {' < '.join(map(place_of, row['frames']))}: {row['count']}"
    for row in report.get("hosts", []):
        yield "host " + with_units(row, list(row))
    for row in report.get("ledger", []):
        yield f"ledger {' '.join([row['entry'], *group_of(row)])}: {row['packets']}"
    for row in report["counters"]:
        if row["count"] != "0":
            yield f"counter {row['name']}: {row['count']}"
    for row in report["advice"]:
        yield f"advice {' in '.join(named(row, 'reason', 'function'))}: {row['count']}"
    if "calls" in report:
        yield f"{len(report['calls'])} calls"
    account = report["accounting"]
    counts = [f"{key} {value}" for key, value in account.items() if isinstance(value, Number) and value != "0"]
    counts += [f"{key} {compact(value)}" for key, value in account.items() if isinstance(value, dict) and value]
    yield "account " + ", ".join([*counts, *([] if account["closed"] else ["not closed"])])
    known = report["input"]
    yield f"input {known['recognised']} of {known['lines']} lines"
    yield from (f"  line {row['line']}: {row['why']}" for row in known["first_unrecognised"])
    for key in ("broke_off", "clock_set_ns", "suspended_ns", "counters_read"):
        if key in report:
            yield f"{key}: {report[key]}"
    yield from (f"note: {note}" for note in report["notes"])


def rows_of(text):
    """Return the measured numbers of a report in JSON; another text as it is."""
    if not text.startswith("{"):
        return text
    reports = [report for document, _ in parsed(text) for report in document.get("reports", [document])]
    return "".join(f"{line}\n" for report in reports for line in rows_of_report(report))
