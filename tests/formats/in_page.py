# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML page: each table, line and bar of it. What is not understood is an error."""

import html.parser
import re
import xml.etree.ElementTree as ElementTree

import in_plots
import sentences
from known import (DURATION, TOP, UNITS, compare_cell, key_text, loss_of, name_of, ns_of, place_of, printable, rate_of,
                   reason_of, second_of, time_of_day)

TAIL = {"MEAN, OTHERS": "rest_mean_ns", "MEAN, SLOW": "slow_mean_ns", "SHARE, OTHERS": "rest_share",
        "SHARE, SLOW": "slow_share", "SHARE OF EXTRA TIME": "excess_share"}


class Tree(html.parser.HTMLParser):
    """A page as a tree of elements."""

    def __init__(self, text):
        super().__init__()
        self.builder = ElementTree.TreeBuilder()
        self.feed(text[text.index("<html"):].strip())
        self.root = self.builder.close()

    def handle_starttag(self, tag, attrs):
        self.builder.start(tag, {key: value or "" for key, value in attrs})
        if tag == "meta":
            self.builder.end(tag)

    def handle_endtag(self, tag):
        self.builder.end(tag)

    def handle_data(self, data):
        self.builder.data(data)


def text_of(element):
    return "".join(element.itertext()).strip()


def rows_of(table):
    """Return the headings and, of each row, its cells as {heading: (text, title)}."""
    heads = [text_of(head) for head in table.find("thead/tr")]
    rows = []
    for row in table.find("tbody"):
        assert len(row) == len(heads), f"{len(row)} cells in {len(heads)} columns"
        rows.append({head: (text_of(cell), cell.get("title", "")) for head, cell in zip(heads, row)})
    return heads, rows


class Run:
    """The part of a page that is one report."""

    def __init__(self, compared, report):
        self.compared, self.report, self.known = compared, report, report.known
        self.shown, self.sections, self.directions, self.distribution = [], set(), [], {}
        self.blocks, self.drop_plot = None, None

    def header(self, header):
        warnings = 0
        for element in header:
            form, text = (element.tag, element.get("class")), text_of(element)
            if form == ("h1", None):
                self.compared.same("title recipe", text, printable(self.report.recipe))
            elif form == ("p", "facts"):
                found = re.search(r"(?:^|, )(\d{4}-\d\d-\d\d \S+ \+0000(?:, (?:for |\d+ recordings of ).*)?)$", text)
                if found:
                    sentences.compare_span(self.compared, found[1], self.report)
                else:
                    self.compared.same("time start", self.report.start, None)
            elif form == ("p", "answer"):
                directions = [tail["way"] for tail in self.known["tail"] if tail["way"]]
                direction = next((direction for direction in directions if text.startswith(f"{direction}: ")), None)
                sentences.compare_sentence(self.compared, text.removeprefix(f"{direction}: "), self.report)
            elif form == ("ul", "warnings"):
                for item in element:
                    sentences.compare_warning(self.compared, text_of(item).removeprefix("WARNING: "), self.report)
                    warnings += 1
            elif form == ("ul", "notes"):
                self.compared.same("note text", [text_of(item) for item in element],
                                   [printable(note) for note in self.known["notes"]])
            elif element.tag != "nav":
                self.compared.fail("header element", form, text)
        self.compared.same("loss warnings", warnings, sentences.warnings_expected(self.report))

    def section(self, section):
        name = section.get("id").split("-")[1]
        self.sections.add(name)
        self.directions = [tail["way"] for tail in self.known["tail"]]
        self.elements(name, section)

    def elements(self, name, parent):
        for element in parent:
            form = (element.tag, element.get("class"))
            if form == ("div", "wide"):
                self.table(name, element.find("table"))
            elif form == ("details", "tables"):
                self.blocks = re.fullmatch(r"Numbers, in blocks of (\S+) s", text_of(element.find("summary")))[1]
                self.elements(name, element)
            elif form == ("figure", "plot"):
                self.plot(name, element)
            elif element.tag == "details" and element.find("figure") is not None:
                self.plot(name, element.find("figure"))
            elif element.tag == "details" and element.find("pre") is not None:
                self.calls(text_of(element.find("pre")))
            elif element.tag == "details":
                self.table(name, element.find("div/table"))
                for below in element.findall("p"):
                    self.below(text_of(below), None)
            elif form == ("p", "below"):
                self.below(text_of(element), self.shown)
                self.shown = []
            elif form == ("p", None):
                self.line(name, text_of(element))
            elif form == ("div", "stack"):
                self.stack(element)
            elif form == ("div", "timelines"):
                self.timelines(element)
            elif form not in (("h2", None), ("p", "legend"), ("div", "chart"), ("summary", None)):
                self.compared.fail(f"{name} element", form, text_of(element))

    def below(self, text, measures):
        """The line under a table."""
        if more := re.match(r"and (\d+) smaller groups(?:; )?", text):
            behind = max(len(self.report.groups("stages")), len(self.report.groups("values"))) - TOP
            self.compared.same("group-stages rest", int(more[1]), behind)
            text = text[more.end():]
        if measures is None:
            self.compared.same("series needs", text, "-: not enough samples; P50 needs 6, P99 needs 368")
        elif text:
            sentences.compare_needs(self.compared, text, measures)

    def line(self, section, text):
        if sentences.compare_line(self.compared, text if not text.startswith("line ") else f"  {text}", self.report):
            return
        if section == "averages":
            self.compared.same("averages note", text.startswith("The input has means only, no distribution."), True)
        elif section == "calls":
            self.compared.same("call note", text.startswith("A call is as wide as it took"), True)
        else:
            self.compared.same(f"{section} line", text, "*: part of normal operation, no packet is lost by it")

    def stack(self, element):
        """The whole time of a direction as a bar of its stages: means of all records, and parts of their sum."""
        direction = element.find("span[@class='direction']")
        direction = text_of(direction) if direction is not None else ""
        tail = next(tail for tail in self.known["tail"] if printable(tail["way"]) == direction)
        if tail["n_slow"] is not None:
            n = tail["n_slow"] + tail["n_rest"]
        else:
            n = int(re.search(r"(?:^|None of )([\d,]+) ", tail["sentence"])[1].replace(",", ""))
        parts = []
        for bar in element.find("span[@class='parts']"):
            name, mean, part = re.fullmatch(rf"(.*) ({DURATION}), (.* %)", bar.get("title")).groups()
            stage = next(stage for stage in self.report.whole("stages") if printable(stage["stage"]) == name)
            parts.append((stage["sum_ns"], part))
            self.compared.share("direction share", part, stage["share"])
            self.compared.duration("direction mean", mean, stage["sum_ns"] / n)
        total = sum(ns for ns, _ in parts)
        mean = text_of(element.find("span[@class='total']")).removesuffix(" on average")
        self.compared.duration("direction total", mean, total / n)

    def timelines(self, element):
        direction = self.directions.pop(0)
        known = [record for record in self.known["slowest"] if record["way"] == direction]
        *rows, scale = element
        longest = max(sum(ns or 0 for ns in record["stages_ns"].values()) for record in known)
        longest = max(longest, *(record["total_ns"] for record in known))
        for tick in scale:
            at = float(re.search(r"left:([\d.]+)%", tick.get("style"))[1]) / 100 * longest
            number, unit = text_of(tick).split(" ") if text_of(tick) != "0" else ("0", "ns")
            self.compared.number("slowest scale", number, at, UNITS[unit], longest * 1e-4)
        self.compared.same("slowest number", len(rows), len(known))
        for place, (row, slow) in enumerate(zip(rows, known), 1):
            label = text_of(row.find("strong"))
            self.compared.same("slowest place", label.split(" ")[0], f"#{place}")
            self.compared.duration("slowest total", label.split(" ", 1)[1], slow["total_ns"])
            stages = [(name, ns) for name, ns in slow["stages_ns"].items() if ns is not None]
            begin = 0
            for bar, (name, ns) in zip(row.find("span[@class='parts']"), stages, strict=True):
                shown = re.fullmatch(rf"(.*) ({DURATION}), from ({DURATION}) on", bar.get("title"))
                self.compared.same("slowest stage", shown[1], printable(name))
                self.compared.duration("slowest ns", shown[2], ns)
                self.compared.duration("slowest begin", shown[3], begin)
                begin += ns

    def plot(self, section, figure):
        if section == "drops":
            self.drop_plot = figure  # compared with the table below it
            return
        compare_plot = {"time": in_plots.compare_heatmap, "distribution": in_plots.compare_curves,
                        "calls": in_plots.compare_icicle}[section]
        compare_plot(self.compared, figure, self.report)

    def calls(self, text):
        packet, *lines = text.splitlines()
        sentences.compare_calls(self.compared, lines, [call for call in self.known["calls"]
                                                       if f"packet {call['packet']}" == packet])

    def table(self, section, table):
        heads, rows = rows_of(table)
        getattr(self, f"{section}_table")(text_of(table.find("caption")), heads, rows)

    def measures(self, what, heads, rows, known):
        self.compared.same(f"{what} rows", len(rows), len(known))
        self.shown = known
        for row, measure in zip(rows, known):
            group = [key_text(key, value) for key, value in measure["group"].items()]
            cells = list(row.items())
            self.compared.same(f"{what} group", [cell for _, (cell, _) in cells[:len(group)]], group)
            self.compared.same(f"{what} name", cells[len(group)][1][0], printable(name_of(measure)))
            for column, (cell, title) in cells[len(group) + 1:]:
                compare_cell(self.compared, what, column, cell, measure)
                for name, number in re.findall(r"(standard deviation|minimum|sum) (\S+)", title):
                    column = {"standard deviation": "SD", "minimum": "MIN", "sum": "SUM"}[name]
                    compare_cell(self.compared, what, column, number.rstrip(","), measure)
                if found := re.fullmatch(r"(P\S+): 95 % confidence (\S+) to (\S+)", title):
                    compare_cell(self.compared, what, f"[95 %] {found[1]}", f"[{found[2]}, {found[3]}]", measure)
                elif found := re.fullmatch(r"(P\S+): needs (\d+) values", title):
                    compare_cell(self.compared, what, f"[95 %] {found[1]}", "-", measure)
                    sentences.compare_needs(self.compared, f"{found[1]} needs {found[2]}", [
                        {"percentiles": {found[1][1:]: None}}])
                else:
                    self.compared.same(f"{what} title", bool(title), column in ("SD", "MIN", "SUM"))

    def stages_table(self, caption, heads, rows):
        kind = "values" if caption == "Values" else "stages"
        self.measures(kind, heads, rows, self.report.whole(kind))

    def groups_table(self, caption, heads, rows):
        kind = "values" if caption == "Values by group" else "stages"
        known = [measure for group in self.report.groups(kind)[:TOP] for measure in group if measure["n"]]
        self.measures(f"group-{kind}", heads, rows, known)

    def tail_table(self, caption, heads, rows):
        found = re.fullmatch(rf"(\d+)(?: of (.*))? above P99 \(({DURATION})\) against (\d+) others, means in microseconds",
                             caption)
        tail = next(tail for tail in self.known["tail"] if printable(tail["way"]) == (found[2] or ""))
        self.compared.same("tail n_slow", int(found[1]), tail["n_slow"])
        self.compared.same("tail n_rest", int(found[4]), tail["n_rest"])
        self.compared.duration("tail threshold", found[3], tail["threshold_ns"])
        known = [stage for stage in tail["stages"] if stage["slow_mean_ns"] or stage["rest_mean_ns"]]
        for row, stage in zip(rows, known + [dict(tail, stage="all")], strict=True):
            self.compared.same("tail stage", row.pop("STAGE")[0], printable(stage["stage"]))
            for head, (cell, _) in row.items():
                if head.startswith("MEAN"):
                    self.compared.number(f"tail {head}", cell, stage[TAIL[head]], 1e3, 0.01)
                else:
                    self.compared.share(f"tail {head}", cell, stage.get(TAIL[head]))

    def time_table(self, caption, heads, rows):
        name, length = caption, self.blocks
        series = self.known["series"]
        self.compared.number("series length", length, series["block_ns"], 1e9)
        columns = [(kind, column) for kind in ("stages", "values") for column in series[kind]]
        kind, column = next((kind, column) for kind, column in columns if printable(name_of(column)) == name)
        unit, scale = ("", 1) if kind == "values" else ("_ns", 1e3)
        self.compared.same("series rows", len(rows), len(series["start_ns"]))
        for place, (row, start) in enumerate(zip(rows, series["start_ns"])):
            cells = [cell for cell, _ in row.values()]
            self.compared.number("series from", cells[0], start - series["start_ns"][0], 1e9)
            self.compared.same("series at", cells[1], "-" if self.report.start is None else time_of_day(start)[:8])
            for cell, key in zip(cells[2:], ("n", "p50" + unit, "p99" + unit, "max" + unit), strict=True):
                self.compared.number(f"series {key}", cell, column[key][place], scale if key != "n" else 1)

    def distribution_table(self, caption, heads, rows):
        """All values are there, and each percentile is where that many are reached."""
        stages = self.report.whole("stages")
        self.compared.same("distribution stages", heads[2:], [printable(stage["stage"]) for stage in stages])
        for stage, head in zip(stages, heads[2:]):
            counts = [int(row[head][0]) for row in rows]
            self.compared.same("distribution n", sum(counts), stage["n"])
            ends = [float("inf") if row["TO, BELOW"][0] == "-" else round(float(row["TO, BELOW"][0]) * 1e3) for row in rows]
            begins = [0 if row["FROM"][0] == "-" else round(float(row["FROM"][0]) * 1e3) for row in rows]
            self.compared.same("distribution order", all(a <= b for a, b in zip(ends, begins[1:])), True)
            reached = [sum(counts[:place + 1]) for place in range(len(counts))]
            self.distribution[stage["stage"]] = dict(zip(ends, reached))
            for percent, ns in stage["percentiles_ns"].items():
                if ns is not None:
                    rank = stage["n"] * float(percent) / 100 - 1e-6
                    place = next(place for place, count in enumerate(reached) if count >= rank)
                    self.compared.same(f"distribution p{percent}", begins[place] <= ns < ends[place], True)

    def slowest_table(self, caption, heads, rows):
        found = re.fullmatch(r"The slowest (\d+)(?: of (.*))?, in microseconds", caption)
        known = [record for record in self.known["slowest"] if printable(record["way"]) == (found[2] or "")]
        self.compared.same("slowest number", int(found[1]), len(known))
        for place, (row, slow) in enumerate(zip(rows, known, strict=True), 1):
            cells = {head: cell for head, (cell, _) in row.items()}
            self.compared.same("slowest place", cells.pop("#"), str(place))
            timed = slow["time_ns"] is not None and self.report.start is not None
            self.compared.same("slowest time", cells.pop("ENDED"), time_of_day(slow["time_ns"]) if timed else "-")
            self.compared.number("slowest total", cells.pop("TOTAL"), slow["total_ns"], 1e3)
            self.compared.same("slowest of", cells.pop("OF"),
                               ", ".join(f"{key} {key_text(key, value)}" for key, value in slow["of"].items()))
            stages = {printable(name): ns for name, ns in slow["stages_ns"].items()}
            for name in {name for name, ns in stages.items() if ns is not None} | cells.keys():
                self.compared.number(f"slowest {name}", cells[name], stages[name], 1e3)

    def drops_table(self, caption, heads, rows):
        cells = [{head: cell for head, (cell, _) in row.items()} for row in rows]
        totals, drops = self.report.total_drops(), self.known["drops"]
        if caption == "Drops by place and reason":
            total = sum(drop["count"] for drop in totals)
            self.counted("drops", cells, [{"COUNT": str(drop["count"]), "LOCATION": place_of(drop),
                                           "REASON": reason_of(drop) + (" *" if drop["benign"] else "")}
                                          for drop in totals], total)
        elif caption == "What the reasons mean, and where to look":
            for row in cells:
                given = sentences.compare_advice(self.compared, row["REASON"], row["ADVICE"], self.report)
                self.compared.same("advice count", row["DROPS"], str(given["count"]))
        elif caption.startswith("Call paths, the "):
            total = sum(count for _, _, count in self.report.total_stacks())
            self.counted("stacks", cells, [{"COUNT": str(count), "REASON": reason, "PATH": path}
                                           for reason, path, count in self.report.shown_stacks()], total)
        elif caption == "Drops in each interval":
            for interval, row in enumerate(cells):
                here = [drop for drop in drops if drop["interval"] == interval]
                self.compared.same("interval drops", row.pop("DROPS"), str(sum(drop["count"] for drop in here)))
                for reason in row.keys() - {"FROM [s]", "TO [s]", "ENDED"}:
                    self.compared.same("interval reason", row[reason],
                                       str(sum(drop["count"] for drop in here if reason_of(drop) == reason)))
                if here:
                    self.compared.same("interval end", row["ENDED"], end_of(here[0]))
            if self.drop_plot is not None:
                in_plots.compare_drops(self.compared, self.drop_plot, [
                    {head: cell for head, (cell, _) in row.items()} for row in rows])
        elif caption == "Places and reasons in each interval":
            self.counted("interval-drops", cells, [
                {"ENDED": end_of(drop), "COUNT": str(drop["count"]), "LOCATION": place_of(drop),
                 "REASON": reason_of(drop) + (" *" if drop["benign"] else "")} for drop in drops])
        else:
            self.compared.same("counters caption", caption.startswith("Losses without a drop event, "), True)
            self.counted("counters", cells, [
                {"COUNT": str(one["count"]), "COUNTER": printable(one["name"]), "WHAT": printable(one["help"])}
                for one in self.known["counters"] if (one["count"] or 0) > 0])

    def counts_table(self, caption, heads, rows):
        cells = [{head: cell for head, (cell, _) in row.items()} for row in rows]
        by_interval = caption == "In each interval"
        tallies = self.known["counts"] if by_interval else self.report.total_counts()
        known, first = [], next(key for tally in tallies for key, value in tally["group"].items() if value is not True)
        for tally in tallies:
            group = {key.upper(): key_text(key, value) for key, value in tally["group"].items() if value is not True}
            row = {self.known["counted"].upper(): str(tally["count"]), **(group or {first.upper(): "other"})}
            row |= {"ENDED": end_of(tally)} if by_interval else {}
            row |= {"LOSS": loss_of(tally)} if "LOSS" in heads else {}
            row |= {"PER S": rate_of(tally)} if "PER S" in heads else {}
            row |= {"WHAT": printable(tally["meaning"] or "")} if "WHAT" in heads else {}
            known.append({head: row.get(head, "") for head in heads if head != "SHARE"})
        self.counted("interval-counts" if by_interval else "counts", cells, known,
                     sum(tally["count"] for tally in tallies) if "SHARE" in heads else None)

    def counted(self, kind, rows, known, total=None):
        """Rows in any order of those of one count."""
        self.compared.same(f"{kind} rows", len(rows), len(known))
        for row in rows:
            if total is not None:
                share = row.pop("SHARE")
                self.compared.share(f"{kind} share", share, int(next(row[h] for h in row if row[h].isdigit())) / total)
            self.compared.same(f"{kind} row", row in known, True)
            known.remove(row)

    def averages_table(self, caption, heads, rows):
        known = self.known["averages"]
        if caption == "Averages of the whole":
            for row, average in zip(rows, known, strict=True):
                unit, scale = ("_ns", 1e3) if "mean_ns" in average else ("", 1)
                self.compared.same("averages name", row["NAME"][0], printable(average["name"]) + (" [us]" if unit else ""))
                self.compared.same("averages n", row["N"][0], str(average["n"]))
                self.compared.number("averages mean", row["MEAN"][0], average["mean" + unit], scale, 0.01)
                self.compared.number("averages error", row["ERROR"][0], average["error" + unit], scale, 0.01)
            return
        for row, interval in zip(rows, self.known["average_intervals"], strict=True):
            (_, (line, _)), (_, (n, _)), *cells = row.items()
            self.compared.same("averages line", (line, n), (str(interval["line"]), str(interval["n"])))
            for (head, (cell, title)), average in zip(cells, interval["averages"]):
                unit, scale = ("_ns", 1e3) if head.endswith(" [us]") else ("", 1)
                self.compared.number("averages mean", cell, average["mean" + unit], scale, 0.01)
                error = re.fullmatch(r"off by (\S+) at most", title)[1]
                self.compared.number("averages error", error, average["error" + unit], scale, 0.01)

    def account_table(self, caption, heads, rows):
        account = self.report.accounting
        known = {"reported": account["reported"], "filtered": account["filtered"]}
        for fate in ("incomplete", "lost"):
            known |= {f"{fate}: {printable(cause)}": count for cause, count in account[f"{fate}_by"].items() if count}
        known |= {"unaccounted": account["unaccounted"]} if account["unaccounted"] else {}
        self.compared.same("account fates", [row[""][0] for row in rows], list(known))
        for row in rows:
            count = known[row[""][0]]
            self.compared.same("account count", row["COUNT"][0], str(count))
            self.compared.share("account share", row["SHARE OF SEEN"][0], count / account["seen"] if account["seen"] else 0)

    def expected_sections(self):
        known = self.known
        return {name for name, there in (
            ("calls", known.get("calls")), ("stages", known["stages"] or known["values"]),
            ("tail", any(tail["stages"] for tail in known["tail"])), ("time", known["series"]["start_ns"]),
            ("distribution", any(stage["n"] for stage in known["stages"])), ("slowest", known["slowest"]),
            ("counts", known["counted"]), ("averages", known["averages"]),
            ("groups", any(len(self.report.groups(kind)) > 1 for kind in ("stages", "values"))), ("account", True))
            if there}


def end_of(row):
    return "after the last tick" if row["time"] is None else second_of(ns_of(row["time"]))


def compare(compared, text, reports):
    """Return of each report and stage how many values are below the ends of the page's bins, in ns."""
    articles = Tree(text).root.findall("body/article")
    compared.same("page reports", len(articles), len(reports))
    distributions = []
    for article, report in zip(articles, reports):
        run = Run(compared, report)
        for element in article:
            (run.header if element.tag == "header" else run.section)(element)
        compared.same("page sections", run.sections - {"drops"}, run.expected_sections())
        distributions.append(run.distribution)
    return distributions
