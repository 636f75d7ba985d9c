#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a trace as Perfetto's viewer would arrange it: draw_trace.py TRACE FIRST LAST > PICTURE.svg

The records of these numbers, and what the CPUs and threads did meanwhile. It is no viewer: it shows what is in a trace
where there is none at hand.
"""

import collections
import sys
from html import escape

sys.dont_write_bytecode = True
import read_trace  # noqa: E402

COLOURS = ["#3b75b5", "#c9791d", "#3d8c63", "#b04a63", "#7660ab", "#2f8f9c", "#8c7526", "#6b7785", "#a65a2a"]
LEFT, WIDTH, ROW, TOP = 330, 1180, 24, 34


def is_record(trace, track):
    return trace.tracks[track].get("name", "").startswith("#")


def main():
    trace, first, last = read_trace.read(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    shown = [one for one in trace.slices if first <= one["flow"] <= last]
    begin, end = min(one["begin"] for one in shown), max(one["end"] for one in shown)
    names = list(dict.fromkeys(one["name"] for one in trace.slices))
    labels = {one["track"]: trace.name_of(one["track"]).split(" / ") for one in shown}
    order = sorted(labels, key=lambda track: (is_record(trace, track), labels[track][:2], track))
    row_of = {track: place for place, track in enumerate(order)}

    def x(time):
        return LEFT + (time - begin) / (end - begin) * (WIDTH - LEFT - 10)

    def y(track):
        return TOP + ROW * row_of[track]

    height = TOP + ROW * len(order) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
           f'font-size="11"><rect width="100%" height="100%" fill="#fff"/>']
    for tick in range(6):
        at = begin + (end - begin) * tick // 6
        out.append(f'<text x="{x(at):.1f}" y="14" fill="#59636e">+{(at - begin) / 1000:.0f} us</text>'
                   f'<path d="M{x(at):.1f} 20V{height}" stroke="#e6eaee"/>')
    for track in order:
        label = labels[track][-1] if is_record(trace, track) else labels[track][min(1, len(labels[track]) - 1)]
        if labels[track][-1] == "at the same time":
            label = labels[track][0]
        out.append(f'<text x="6" y="{y(track) + 15}">{escape(label[:56])}</text>')
    by_flow = collections.defaultdict(list)
    for one in shown:
        left, right = x(one["begin"]), x(one["end"])
        colour = COLOURS[names.index(one["name"]) % len(COLOURS)]
        text = escape(one["name"]) if right - left > 7 * len(one["name"]) else ""
        out.append(f'<g><title>{escape(one["name"])} {(one["end"] - one["begin"]) / 1000:.3f} us</title>'
                   f'<rect x="{left:.2f}" y="{y(one["track"])}" width="{max(right - left, 0.6):.2f}" height="{ROW - 4}" '
                   f'fill="{colour}"/><text x="{left + 3:.2f}" y="{y(one["track"]) + 14}" fill="#fff">{text}</text></g>')
        if not is_record(trace, one["track"]):
            by_flow[one["flow"]].append(one)
    for steps in by_flow.values():
        for a, b in zip(steps, steps[1:]):
            if a["track"] == b["track"]:
                continue
            ax, ay, bx, by = x(a["end"]), y(a["track"]) + ROW / 2 - 2, x(b["begin"]), y(b["track"]) + ROW / 2 - 2
            out.append(f'<path d="M{ax:.1f} {ay}C{ax + 18:.1f} {ay} {bx - 18:.1f} {by} {bx:.1f} {by}" fill="none" '
                       f'stroke="#1c2126" stroke-width="1.2"/><circle cx="{bx:.1f}" cy="{by}" r="2.2" fill="#1c2126"/>')
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
