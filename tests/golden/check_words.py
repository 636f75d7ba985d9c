#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The difference of two cases in words names each planted change, and what views keep is what was printed."""

import sys

sys.dont_write_bytecode = True
import views  # noqa: E402
import words  # noqa: E402

REPORT = b"""{
  "recipe": "r",
  "stages": [
    {"stage": "drv-ip", "group": {}, "n": 17, "p50_ns": 4001},
    {"stage": "tcp-app", "group": {}, "n": 19, "p50_ns": 5003}
  ]
}
"""
TABLE = "STAGE [us] N P50\ndrv-ip 17 4.001\ntcp-app 19 5.003\n"
CSV = words.CSV_COLUMNS + ",pid\n1,r,stage,drv-ip,,,,n,17,,\n1,r,stage,drv-ip,,,,p50_ns,4001,,\n"
JSON, ROWS = "$ stapgen report --json\n", "$ stapgen report --format csv\n"


def words_of(command, before, after):
    return "\n".join(words.difference(command + before + "[exit 0]\n", command + after + "[exit 0]\n"))


def in_json(before, after):
    return words_of(JSON, *(views.view(["--json"], text, 0) for text in (before, after)))


def in_csv(before, after):
    return words_of(ROWS, *(views.view(["--format", "csv"], text.encode(), 0) for text in (before, after)))


def main():
    assert not words.difference(JSON + TABLE, JSON + TABLE)
    for old, new, told in (
            (b'"n": 19', b'"n": 23', "stages n changed: [tcp-app] 19 -> 23"),
            (b', "p50_ns": 5003', b"", "key stages p50_ns gone: [tcp-app] 5003"),
            (b'"p50_ns"', b'"p50_us"', "key stages p50_us new: [drv-ip] 4001; [tcp-app] 5003"),
            (b',\n    {"stage": "tcp-app", "group": {}, "n": 19, "p50_ns": 5003}', b"", "row of stages gone: [tcp-app]"),
            (b'"recipe": "r"', b'"recipe": "q"', 'recipe changed: "r" -> "q"')):
        assert old in REPORT and told in in_json(REPORT, REPORT.replace(old, new)), in_json(REPORT, REPORT.replace(old, new))
    assert "not indented" not in in_json(REPORT, REPORT) and "in one line" in in_json(REPORT, REPORT.replace(b"\n", b"") + b"\n")
    for old, new, told in (("n,17", "n,18", "stage n changed: [drv-ip] 17 -> 18"),
                           ("1,r,stage,drv-ip,,,,n,17,,\n", "", "key stage n gone: [drv-ip] 17")):
        assert told in in_csv(CSV, CSV.replace(old, new)), in_csv(CSV, CSV.replace(old, new))
    for old, new, told in (("5.003", "5.004", "5.003 -> 5.004"), ("tcp-app 19 5.003\n", "", "line gone: 'tcp-app 19 5.003'"),
                           ("P50", "P90", "P50 -> P90")):
        found = words_of(ROWS, TABLE, TABLE.replace(old, new))
        assert told in found, found
    many = in_json(REPORT, b"".join(b'{"a": %d}\n' % number for number in range(99)))
    assert len(many.splitlines()) <= words.MOST_LINES, many
    # What a reader sees is not lost in a view: a quote that is not escaped, a key twice, a line of ndjson that is two.
    for broken in (b'{"a": "x"y"}\n', b'{"a": 1, "a": 2}\n', b'{"a": 1}'):
        try:
            views.view(["--json"], broken, 0)
        except (AssertionError, ValueError):
            continue
        raise AssertionError(f"{broken} was taken")
    page = views.view(["--format", "html"], b'<!doctype html>\n<p title="&amp;">x<path d="M0"/>\n', 0)
    assert page == '<!doctype html>\n<p title="&amp;">x\n<path d="M0"/>\n', page


main()
