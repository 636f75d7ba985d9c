#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens the pages of sample_page in a headless Chromium.

    check_pages.py SAMPLE_PAGE KIND              checks one kind of page
    check_pages.py SAMPLE_PAGE KIND PICTURE.png [WIDTH HEIGHT [dark]]    takes a picture, to look at

Chromium's HTML parser, scripts and painting are what is tested: pixels are counted, not looked at.
"""

import base64
import hashlib
import html
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CHARTS = {"server": 2, "comparison": 2, "hosts": 2, "drops": 0, "averages": 0, "packets": 1, "hostile": 2}
# Pictures without a script that are open: heatmaps, curves, columns.
PLOTS = {"server": 2, "comparison": 5, "hosts": 2, "drops": 1, "averages": 0, "packets": 2, "hostile": 2}
STAGES = {"packets": 21}  # with the total; 8 of the others
TIMELINES = {"server": 10, "hosts": 10, "comparison": 20, "packets": 20, "hostile": 10}
SMALL = {"hosts": 60}
SENTENCES = {"server", "drops"}
MOST_BYTES = {"server": 350_000, "comparison": 550_000, "hosts": 500_000, "packets": 400_000, "hostile": 300_000}
VOID = {"meta", "link", "br", "img", "input", "hr"}
DARK, LIGHT = "preferredColorScheme=0", "preferredColorScheme=1"

# Added to a copy of the page: what only a script can tell, in an element for --dump-dom.
PROBE = """
<script>
(async () => {
  // uPlot paints when the script that made the chart has ended.
  const painted = () => new Promise(resolve => setTimeout(resolve, 10));
  await painted();
  const charts = [...document.querySelectorAll(".chart")];
  const style = getComputedStyle(document.documentElement);
  const wanted = parseInt(style.getPropertyValue("--c0").trim().slice(1), 16);
  const line = [wanted >> 16, wanted >> 8 & 255, wanted & 255];
  // How many pixels have the colour of the chart's line, or nearly: edges are blurred.
  const ink = chart => {
    const canvas = chart.querySelector("canvas");
    if (!canvas) return 0;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let count = 0;
    for (let i = 0; i < pixels.length; i += 4)
      if (pixels[i + 3] > 150 && line.every((value, c) => Math.abs(pixels[i + c] - value) < 12)) ++count;
    return count;
  };
  const said = {
    ink: charts.map(ink),
    shown: charts.map(chart => chart.dataset.drawn),
    canvases: document.querySelectorAll("canvas").length,
    paper: getComputedStyle(document.body).backgroundColor,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    width: document.documentElement.clientWidth,
    strangers: document.querySelectorAll("img, iframe, object, embed, link, [onerror], [onload]").length,
    scripts: document.querySelectorAll("script").length,
  };
  // Of each bar its width and that of its parts, and of each stage the paint by which it is known.
  said.timelines = [...document.querySelectorAll(".timelines .parts")].map(bar => [
    bar.getBoundingClientRect().width, [...bar.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0)]);
  const legend = document.querySelector(".timelines")?.parentElement.querySelectorAll(".legend i") ?? [];
  said.paints = [...legend].map(part => getComputedStyle(part)).map(style => style.backgroundColor + style.backgroundImage);
  // Of each small chart how wide it is, how much of that its distribution takes, and where its line is.
  said.small = [...document.querySelectorAll(".small svg")].map(svg => {
    const [steps, mark] = [...svg.children].map(path => path.getBBox());
    return [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height, steps.width, steps.height, mark?.x];
  });
  // Of each plot that is open its size, and of its shapes how many are inside it and not empty.
  said.plots = [...document.querySelectorAll(".plot svg")].filter(svg => svg.checkVisibility()).map(svg => {
    const box = svg.viewBox.baseVal, inside = [...svg.children].map(path => path.getBBox()).filter(shape =>
      shape.width + shape.height > 0 && shape.x >= -0.01 && shape.x + shape.width <= box.width + 0.01 &&
      shape.y >= -0.01 && shape.y + shape.height <= box.height + 0.01);
    return [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height, svg.children.length, inside.length];
  });
  // Of each sentence in a table its width, and how much of that is seen without scrolling.
  said.sentences = [...document.querySelectorAll("td:last-child:not(.n)")].filter(cell =>
    cell.checkVisibility() && cell.textContent.length > 24).map(cell => {
      const own = cell.getBoundingClientRect(), box = cell.closest(".wide").getBoundingClientRect();
      return [own.width, Math.min(own.right, box.right) - Math.max(own.left, box.left)];
  });
  // Marks of one scale whose texts are on each other.
  said.collisions = [...document.querySelectorAll(".scale")].filter(scale => scale.checkVisibility()).flatMap(scale => {
    const texts = [...scale.children].map(tick => tick.getBoundingClientRect());
    return texts.slice(1).filter((text, i) => text.left < texts[i].right).map(() => scale.textContent);
  });
  said.stages = [];
  for (const chart of charts) {
    const select = chart.querySelector("select");
    for (const option of select?.options ?? []) {
      select.value = option.value;
      select.dispatchEvent(new Event("change"));
      await painted();
      said.stages.push([chart.dataset.chart, chart.dataset.drawn === option.value, ink(chart)]);
    }
    const box = chart.querySelector("input");
    if (!box) continue;
    box.checked = true;
    box.dispatchEvent(new Event("change"));
    await painted();
    said.stages.push(["logarithmic", true, ink(chart)]);
  }
  const out = document.createElement("output");
  out.id = "said";
  out.textContent = JSON.stringify(said);
  document.body.append(out);
})();
</script>
</body>"""


class Balance(html.parser.HTMLParser):
    """Every tag is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.words, self.tags = [], [], 0

    def handle_starttag(self, tag, attrs):
        self.tags += 1
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice in {attrs}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]} at {self.getpos()}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words += data.split()


def words_of(text):
    parser = Balance()
    parser.feed(text)
    parser.close()
    assert not parser.open and parser.tags > 20, parser.open
    return parser.words


def chromium(folder, page, *options, expected=None):
    """Run the browser; return what it prints. What it logs of the page, an error or a refusal, fails the test, unless
    it is `expected`: then it must be there."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--hide-scrollbars", f"--user-data-dir={folder}/profile", "--enable-logging=stderr",
               "--allow-file-access-from-files", "--virtual-time-budget=3000", *options, page.as_uri()]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=170, check=False)
    log = done.stderr.decode(errors="replace")
    assert done.returncode == 0, log
    complaints = re.findall(r".*CONSOLE.*", log)
    if expected:
        assert any(expected in line for line in complaints), f"not logged: {expected}"
        complaints = [line for line in complaints if expected not in line]
    assert not complaints, "\n".join(complaints)
    return done.stdout.decode()


def said_in(dom):
    said = re.search(r'<output id="said">(.*?)</output>', dom, re.S)
    assert said, "the page's scripts did not end"
    return json.loads(html.unescape(said[1]))


def probed(text):
    """Return TEXT with the probe added, which its policy lets run."""
    assert text.count("</body>") == text.count("script-src ") == 1
    script = re.search("<script>(.*?)</script>", PROBE, re.S)[1].encode()
    allowed = base64.b64encode(hashlib.sha256(script).digest()).decode()
    return text.replace("script-src ", f"script-src 'sha256-{allowed}' ").replace("</body>", PROBE)


def probe(folder, text, *options):
    """Open TEXT with the probe added; return what it said."""
    page = folder / "page.html"
    page.write_text(probed(text), encoding="utf-8")
    return said_in(chromium(folder, page, "--dump-dom", *options))


def in_a_frame(folder, text, attributes, telling, **expected):
    """Open TEXT in a frame, which can be narrower than a window, and can be kept from running scripts; return what
    the script TELLING says of its `page`."""
    (folder / "inner.html").write_text(text, encoding="utf-8")
    outer = folder / "outer.html"
    outer.write_text(f"""<iframe src="inner.html" height=900 {attributes}></iframe><output id="said"></output>
<script>onload = () => setTimeout(() => {{ const page = frames[0].document; said.textContent = {telling}; }}, 1500);
</script>""", encoding="utf-8")
    return said_in(chromium(folder, outer, "--dump-dom", **expected))


def check_small_charts(small, count):
    assert len(small) == count, len(small)
    for width, height, steps, highest, _ in small:
        assert width > 200 and height > 30 and 5 < steps <= 100 and highest == 100, (width, height, steps, highest)
    marks = [chart[4] for chart in small]
    assert marks == sorted(marks, reverse=True), "the slowest is not first"


def check(kind, text, folder):
    charts = CHARTS[kind]
    size = len(text.encode())
    assert size < MOST_BYTES.get(kind, 250_000), f"{size} bytes"
    words = words_of(text)

    # Chromium's own switch for this would also stop its --dump-dom.
    plain = in_a_frame(folder, text, 'sandbox="allow-same-origin"', "JSON.stringify(page.documentElement.outerHTML)",
                       expected="Blocked script execution")
    assert words_of(plain) == words and "<canvas" not in plain, "without scripts words are missing"

    light = probe(folder, text, "--window-size=1400,1000", f"--blink-settings={LIGHT}")
    dark = probe(folder, text, "--window-size=1400,1000", f"--blink-settings={DARK}")
    narrow = in_a_frame(folder, probed(text), "width=360 frameborder=0",
                        "page.getElementById('said').textContent")
    print(kind, size, "bytes", {name: (said["width"], said["ink"]) for name, said in
                                (("light", light), ("dark", dark), ("narrow", narrow))})
    assert light["paper"] != dark["paper"], "dark is light"
    assert (kind in SENTENCES) <= bool(narrow["sentences"]), "no sentences"
    assert all(width > 200 and seen > width - 1 for width, seen in narrow["sentences"]), narrow["sentences"]
    assert narrow["width"] == 360 and light["width"] == 1400
    for said in (light, dark, narrow):
        assert said["canvases"] == charts
        assert len(said["ink"]) == charts and all(ink > 10 for ink in said["ink"]), said["ink"]
        assert all(said["shown"])
        assert said["overflow"] <= 0, f"{said['overflow']} pixels too wide at {said['width']}"
        assert said["strangers"] == 0 and said["scripts"] == 3, said
        # Each chart has all stages to choose from, that of the distribution a box to tick.
        assert len(said["stages"]) == (charts * STAGES.get(kind, 8) + 1 if charts else 0), said["stages"]
        assert len(said["plots"]) == PLOTS[kind], said["plots"]
        for width, height, shapes, inside in said["plots"]:
            assert width > 200 and height > 150 and 1 < shapes == inside, said["plots"]
        assert not said["collisions"], said["collisions"]
        assert len(said["timelines"]) == TIMELINES.get(kind, 0), said["timelines"]
        assert all(0.1 * bar < parts < bar + 0.5 for bar, parts in said["timelines"]), said["timelines"]
        check_small_charts(said["small"], SMALL.get(kind, 0))
        assert len(set(said["paints"])) == len(said["paints"]), said["paints"]
        assert all(drawn and ink > 10 for _, drawn, ink in said["stages"]), said["stages"]


def main():
    program, kind, *picture = sys.argv[1:]
    text = subprocess.run([program, kind], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not picture:
            check(kind, text, folder)
            return
        file, width, height, scheme = picture + ["1400", "1000", "light"][len(picture) - 1:]
        page = folder / "page.html"
        page.write_text(text, encoding="utf-8")
        chromium(folder, page, f"--screenshot={pathlib.Path(file).absolute()}", f"--window-size={width},{height}",
                 f"--blink-settings={DARK if scheme == 'dark' else LIGHT}")


if __name__ == "__main__":
    main()
