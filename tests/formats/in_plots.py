# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of a page that need no script: what their shapes say in numbers."""

import math
import re

from known import DURATION, UNITS, printable


def text_of(element):
    return "".join(element.itertext()).strip()


def ticks_of(element, side):
    """Return (text, place from 0 to 1) of each mark."""
    return [(text_of(tick), float(re.search(rf"{side}:([\d.]+)%", tick.get("style"))[1]) / 100) for tick in element]


def ns_of(text):
    number, unit = text.split(" ")
    return float(number) * UNITS[unit]


def legend_of(figure):
    """Return the name of each colour."""
    legend = figure.find("p[@class='legend']")
    return {item.find("i").get("class"): text_of(item) for item in legend} if legend is not None else {}


def shapes_of(figure):
    return [(path.get("class"), path.get("d")) for path in figure.find("div/svg")]


class LogScale:
    """What is at which height, from the marks."""

    def __init__(self, ticks):
        (low, self.at_low), (high, at_high) = ticks[0], ticks[-1]
        self.low = math.log(ns_of(low))
        self.slope = (math.log(ns_of(high)) - self.low) / (at_high - self.at_low)

    def ns(self, at):
        return math.exp(self.low + (at - self.at_low) * self.slope)


def compare_curves(compared, figure, report):
    """At P90 and P99 each curve is as high as that percentile."""
    y = ticks_of(figure.find("div/div[@class='y']"), "bottom")
    if len(y) < 2:
        return
    scale, names = LogScale(y), legend_of(figure)
    stages = {printable(stage["stage"]): stage for stage in report.whole("stages")}
    x = dict(ticks_of(figure.find("p[@class='scale']"), "left"))
    for look, path in shapes_of(figure):
        if look == "grid":
            continue
        look = look.removeprefix("line ")
        stage = stages["total" if look == "ink" else names[look]]
        points = [tuple(map(float, point.split())) for point in re.split("[ML]", path)[1:]]
        for percent in ("90", "99"):
            ns, at = stage["percentiles_ns"].get(percent), x.get(f"P{percent}")
            if ns and at is not None:
                _, height = min(points, key=lambda point, at=at: abs(point[0] - at * 100))
                compared.same("curve percentile", abs(scale.ns(1 - height / 100) / ns - 1) < 0.02, True)


def compare_heatmap(compared, figure, report):
    """Each stage's picture has all its values that have a time, and its cells are within the picture."""
    caption = text_of(figure.find("figcaption"))
    name, n = re.fullmatch(r"(.*) n ([\d,]+); a column is .*", caption).groups()
    series = report.known["series"]
    column = next(column for kind in ("stages", "values") for column in series[kind]
                  if printable(column.get("stage", column.get("value"))) == name)
    compared.same("heatmap n", int(n.replace(",", "")), sum(column["n"]))
    _, _, width, height = map(int, figure.find("div/svg").get("viewbox").split())
    cells = 0
    for look, path in shapes_of(figure):
        if not re.fullmatch("h[1-8]", look):
            continue
        at = 0
        for absolute, y, relative, length in re.findall(r"(?:M(\d+) ([\d.]+)|m(\d+) 0)h(\d+)", path):
            at = (int(absolute) if absolute else at + int(relative)) + int(length)
            cells += int(length)
            compared.same("heatmap cell", at <= width and (not y or float(y) < height), True)
    compared.same("heatmap cells", 0 < cells <= sum(column["n"]), True)


def compare_drops(compared, figure, rows):
    """Of each interval and reason: the height of its part is its drops in a second."""
    _, _, width, _ = map(int, figure.find("div/svg").get("viewbox").split())
    lengths = [float(row["TO [s]"]) - float(row["FROM [s]"]) for row in rows if row["FROM [s]"] != "-"]
    if width != len(rows) or len(lengths) != len(rows) or min(lengths) <= 0:
        return
    top = math.ceil(max(int(row["DROPS"]) / length for row, length in zip(rows, lengths)) - 1e-3)
    names = legend_of(figure)
    for look, path in shapes_of(figure):
        reason = names[look.removeprefix("area ")]
        heights = {int(x): float(height) for x, height in re.findall(r"M(\d+) \S+?h1v([\d.e-]+)h-1z", path)}
        for place, (row, length) in enumerate(zip(rows, lengths)):
            known = int(row[reason]) if reason in row else int(row["DROPS"]) - sum(
                int(row[name]) for name in row.keys() - {"FROM [s]", "TO [s]", "ENDED", "DROPS"})
            shown = heights.get(place, 0) / 100 * top * length
            compared.same("column height", abs(shown - known) <= 0.01 * known + 0.01, True)


def compare_icicle(compared, figure, report):
    """Each call of one context of one packet has a bar, as wide as it took."""
    number, length = re.match(rf"packet (\d+) in .*: ({DURATION}) from {DURATION} on$",
                              text_of(figure.find("figcaption"))).groups()
    whole = ns_of(length)
    calls = [call for call in report.known["calls"] if call["packet"] == int(number)]
    for bar in figure.find("div"):
        function, took = re.fullmatch(rf"(.*?)\(.*\): ({DURATION}), from {DURATION} on", bar.get("title")).groups()
        compared.same("icicle call", any(printable(call["function"]) == function for call in calls), True)
        part = float(re.search(r"width:([\d.]+)%", bar.get("style"))[1]) / 100
        compared.same("icicle width", abs(part - min(1, ns_of(took) / whole)) < 0.01, True)
