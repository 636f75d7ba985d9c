#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens the pages of sample_page in a headless Chromium.

    check_pages.py SAMPLE_PAGE KIND              checks one kind of page
    check_pages.py SAMPLE_PAGE KIND PICTURE.png [WIDTH HEIGHT [dark]]    takes a picture, to look at

Chromium's HTML parser, scripts and layout are what is tested: shapes are measured, not looked at.
"""

import base64
import hashlib
import html
import html.parser
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

# Pictures that are open: heatmaps, curves, distributions, columns.
PLOTS = {"server": 3, "comparison": 9, "hosts": 3, "drops": 1, "averages": 0, "packets": 3, "waits": 3, "ledger": 0,
         "between": 0, "hostile": 3}
# Of each picture of the slowest how many.
TIMELINES = {"server": [10], "hosts": [10], "comparison": [10, 10], "packets": [20], "waits": [20],
             "between": [10, 10, 10, 10], "hostile": [10]}
SMALL = {"hosts": 60}
SENTENCES = {"drops"}
# Of each step of a flow what is drawn: packets that join the trunk, or leave it (-), or are the trunk (=).
FLOW = {"ledger": "101 9973 -101 -211 503 13 -17 -19 =10242 -401 -307 -137 -1013 -31 -1 -53 -1717 -211 -109 -5691 -571"}
MOST_BYTES = {"server": 350_000, "comparison": 550_000, "hosts": 500_000, "packets": 400_000, "hostile": 300_000}
READING = r"(P[\d.]+|[\d.]+( [num]?s)?)(, [\d.]+( [num]?s)?)?"
VOID = {"meta", "link", "br", "img", "input", "hr"}
DARK, LIGHT = "preferredColorScheme=0", "preferredColorScheme=1"

# Added to a copy of the page: what only a script can tell, in an element for --dump-dom.
PROBE = """
<script>
(() => {
  const said = {
    paper: getComputedStyle(document.body).backgroundColor,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    width: document.documentElement.clientWidth,
    strangers: document.querySelectorAll("img, iframe, object, embed, link, [onerror], [onload]").length,
    scripts: document.querySelectorAll("script").length,
  };
  // Of each bar its width and that of its parts, and of each stage the paint by which it is known.
  const timelines = [...document.querySelectorAll(".timelines")];
  said.timelines = timelines.map(rows => [...rows.querySelectorAll(".parts")].map(bar => [
    bar.getBoundingClientRect().width, [...bar.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0)]));
  // What the bar's label says it is all.
  said.totals = timelines.map(rows => [...rows.querySelectorAll("p strong")].map(label => label.textContent));
  const legend = document.querySelector(".timelines")?.parentElement.querySelectorAll(".legend i") ?? [];
  said.paints = [...legend].map(part => getComputedStyle(part)).map(style => style.backgroundColor + style.backgroundImage);
  // Of each small chart how wide it is, how much of that its distribution takes, and where its line is.
  said.small = [...document.querySelectorAll(".small svg")].map(svg => {
    const [steps, mark] = [...svg.children].map(path => path.getBBox());
    return [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height, steps.width, steps.height, mark?.x];
  });
  // Of each plot that is open its size, and of its shapes how many are inside it, not empty and painted.
  const plots = [...document.querySelectorAll(".plot svg")].filter(svg => svg.checkVisibility());
  said.plots = plots.map(svg => {
    const box = svg.viewBox.baseVal, inside = [...svg.children].filter(path => {
      const shape = path.getBBox(), style = getComputedStyle(path);
      return shape.width + shape.height > 0 && shape.x >= -0.01 && shape.x + shape.width <= box.width + 0.01 &&
        shape.y >= -0.01 && shape.y + shape.height <= box.height + 0.01 && (style.stroke !== "none" || style.fill !== "none");
    });
    return [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height, svg.children.length, inside.length];
  });
  // What is read in the middle of each plot, and what is seen of it: a half, a quarter, and all again.
  said.read = plots.map(svg => {
    const edges = svg.getBoundingClientRect(), scale = svg.parentElement.nextElementSibling;
    const send = (type, part) => svg.dispatchEvent(new PointerEvent(type, {
      pointerType: "mouse", clientX: edges.left + part * edges.width, clientY: edges.top + edges.height / 2 }));
    const seen = () => svg.viewBox.baseVal.width, all = seen(), marks = [...scale.children].map(mark => mark.style.left).join();
    const drag = () => ["pointerdown", "pointermove", "pointerup"].forEach((type, i) => send(type, i ? 0.75 : 0.25));
    send("pointermove", 0.5);
    const read = svg.parentElement.querySelector("output").textContent;
    drag();
    const half = seen() / all;
    drag();
    const quarter = seen() / all;
    send("dblclick", 0.5);
    send("pointerleave", 0.5);
    const same = [...scale.children].map(mark => mark.style.left).join() === marks && !svg.parentElement.querySelector("output");
    return [read, half, quarter, seen() / all, same];
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
  // Of each step of a flow how wide its trunk is, and its stream at the top and at the bottom, in pixels.
  said.flow = [...document.querySelectorAll(".flow li")].map(step => {
    const svg = step.querySelector("svg"), [trunk, stream] = ["trunk", "stream"].map(name => svg.querySelector("." + name));
    const cut = (path, y) => {
      if (!path) return [0, 0];
      const inside = [...Array(20000).keys()].filter(x => path.isPointInFill(new DOMPoint(x / 20, y)));
      const pixels = svg.getBoundingClientRect().width / 20000;
      return [inside.length * pixels, inside[0] * pixels];
    };
    return [step.querySelector("b").textContent, step.className, ...[[trunk, 50], [stream, 0.01], [stream, 99.99]].map(
      ([path, y]) => cut(path, y)), svg.querySelector("title").textContent];
  });
  // What stands beyond the window, but for what scrolls by itself; headings that nothing follows.
  const scrolls = element => element.closest(".wide, pre, .icicle, svg, .hidden");
  said.beyond = [...document.querySelectorAll("body *")].filter(element => element.checkVisibility() && !scrolls(element)).filter(
    element => element.getBoundingClientRect().right > said.width + 0.5 || element.getBoundingClientRect().left < -0.5).map(
      element => `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`);
  const isThere = element => element.checkVisibility() && element.getBoundingClientRect().height > 0;
  said.empty = [...document.querySelectorAll("section")].filter(isThere).filter(section =>
    ![...section.children].slice(1).some(isThere)).map(section => section.id);
  // Pictures without a name, and links that lead nowhere.
  said.nameless = [...document.querySelectorAll("svg")].filter(svg =>
    !svg.ariaLabel && !svg.ariaHidden && !svg.querySelector("title, desc")).length;
  said.astray = [...document.querySelectorAll("a")].filter(link =>
    !document.getElementById(decodeURIComponent(link.hash.slice(1)))).map(link => link.hash);
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


def check_flow(kind, flow):
    """Widths are of the packets, nothing is hidden, and what joins is what leaves."""
    wanted = FLOW.get(kind, "").split()
    assert [count.replace(",", "") for count, *_ in flow] == [step.lstrip("-=") for step in wanted], flow
    if not flow:
        return
    received = next(step for step, name in zip(flow, wanted) if name.startswith("="))
    scale = received[2][0] / int(received[0].replace(",", ""))
    before = 0
    for step, (_, look, (trunk, _), (top, top_at), (bottom, bottom_at), title) in zip(wanted, flow):
        packets, change = int(step.lstrip("-=")), 0 if step.startswith("=") else int(step)
        width = abs(change) * scale
        assert math.isclose(top, bottom, abs_tol=0.2), (step, top, bottom)
        assert top > 1 if change else top == 0, (step, top)
        assert math.isclose(top, width, abs_tol=0.2) or width < top < 5, (step, top, width)
        assert math.isclose(trunk, min(before, before + change) * scale, abs_tol=0.2) or trunk < 5, (step, trunk, before)
        assert (top_at < bottom_at) == (change < 0) or not change, (step, top_at, bottom_at)
        assert f"{packets} packets" in title and look in ("kept", "lost", "unknown"), (look, title)
        before += change
    assert before == 0, f"{before} packets are left"


def check_timelines(timelines, labels):
    """Bars are of their totals, on one scale: of totals of three digits to the pixel."""
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    totals = [float(number) * units[unit] for number, unit in
              (re.fullmatch(r"#\d+ ([\d.]+) (\w+)", label).groups() for label in labels)]
    for (bar, parts), total in zip(timelines, totals):
        assert math.isclose(parts, bar * total / max(totals), abs_tol=1, rel_tol=0.005), (parts, bar, total)


def check_small_charts(small, count):
    assert len(small) == count, len(small)
    for width, height, steps, highest, _ in small:
        assert width > 200 and height > 30 and 5 < steps <= 100 and highest == 100, (width, height, steps, highest)
    marks = [chart[4] for chart in small]
    assert marks == sorted(marks, reverse=True), "the slowest is not first"


def check(kind, text, folder):
    size = len(text.encode())
    assert size < MOST_BYTES.get(kind, 250_000), f"{size} bytes"
    words = words_of(text)

    # Chromium's own switch for this would also stop its --dump-dom.
    plain = in_a_frame(folder, text, 'sandbox="allow-same-origin"', "JSON.stringify(page.documentElement.outerHTML)",
                       expected="Blocked script execution")
    assert words_of(plain) == words and "<output" not in plain, "without scripts words are missing"

    on_paper = probe(folder, text.replace("@media print", "@media all"), "--window-size=720,1000")
    assert not on_paper["empty"] and not on_paper["beyond"], (on_paper["empty"], on_paper["beyond"])
    light = probe(folder, text, "--window-size=1400,1000", f"--blink-settings={LIGHT}")
    dark = probe(folder, text, "--window-size=1400,1000", f"--blink-settings={DARK}")
    narrow = in_a_frame(folder, probed(text), "width=360 frameborder=0",
                        "page.getElementById('said').textContent")
    print(kind, size, "bytes", {name: (said["width"], said["read"]) for name, said in
                                (("light", light), ("dark", dark), ("narrow", narrow))})
    assert light["paper"] != dark["paper"], "dark is light"
    assert (kind in SENTENCES) <= bool(narrow["sentences"]), "no sentences"
    assert all(width > 200 and seen > width - 1 for width, seen in narrow["sentences"]), narrow["sentences"]
    assert narrow["width"] == 360 and light["width"] == 1400
    for said in (light, dark, narrow):
        assert said["overflow"] <= 0, f"{said['overflow']} pixels too wide at {said['width']}"
        assert said["strangers"] == 0 and said["scripts"] == 2, said
        assert len(said["plots"]) == PLOTS[kind], said["plots"]
        for width, height, shapes, inside in said["plots"]:
            assert width > 200 and height > 150 and 1 < shapes == inside, said["plots"]
        assert not said["collisions"], said["collisions"]
        assert [len(rows) for rows in said["timelines"]] == TIMELINES.get(kind, []), said["timelines"]
        for rows, totals in zip(said["timelines"], said["totals"]):
            check_timelines(rows, totals)
        check_flow(kind, said["flow"])
        assert not said["beyond"] and not said["empty"] and not said["astray"], (
            said["width"], said["beyond"], said["empty"], said["astray"])
        assert said["nameless"] == 0, f"{said['nameless']} pictures have no name"
        check_small_charts(said["small"], SMALL.get(kind, 0))
        assert len(set(said["paints"])) == len(said["paints"]), said["paints"]
        for read, half, quarter, whole, same in said["read"]:
            assert re.fullmatch(READING, read) and same, said["read"]
            assert math.isclose(half, 0.5) and math.isclose(quarter, 0.25) and whole == 1, said["read"]


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
