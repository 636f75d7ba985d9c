#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies what the capture-* scenarios have made into samples/, and makes the files that are put together from it.

usage: collect.py RUNS    where RUNS is the lab's folder runs/
"""

import pathlib
import shutil
import subprocess
import sys

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
RUNS = pathlib.Path(sys.argv[1])
PROMPT = "[root@lab ~]# "


def made(scenario, name):
    return (RUNS / f"trixie-capture-{scenario}" / "work" / name).read_text()


def as_shown(text):
    """Return TEXT as a terminal shows it, and as it is copied from there: backspaces applied, tabs as blanks.

    Not with "col -bx": it lets no blank overwrite, so that the last digit of the year stays.
    """
    shown = []
    for line in text.splitlines():
        cells, column = {}, 0
        for char in line:
            if char == "\b":
                column = max(column - 1, 0)
            elif char == "\t":
                column = column // 8 * 8 + 8
            else:
                cells[column] = char
                column += 1
        shown.append("".join(cells.get(column, " ") for column in range(max(cells, default=-1) + 1)))
    return "\n".join(shown) + "\n"


def copy(scenario, *names):
    for name in names:
        shutil.copy(RUNS / f"trixie-capture-{scenario}" / "work" / name, SAMPLES / name)


def paste():
    """Return a session as a customer would paste it: prompts, commands, and the outputs of several scripts."""
    drops = made("dropwatch", "dropwatch-2020.txt").splitlines(keepends=True)
    timing = as_shown(made("stages", "stage-timing.txt")).splitlines(keepends=True)
    warning = made("stages", "memcached-tracker.err")
    return "".join([
        "Hi, here is what we see, sorry for the mess:\n\n",
        f"{PROMPT}uname -r\n6.12.117+deb13-amd64\n",
        f"{PROMPT}staprun dropwatch_2020.ko &\n[1] 1237\n{PROMPT}", *drops[:5],
        f"{PROMPT}staprun stage.ko\n", *timing[:23], *drops[5:13], *timing[23:61], "^C\n",
        f"{PROMPT}fg\nstaprun dropwatch_2020.ko\n", *drops[13:-1], f"^C{drops[-1]}",
        f"{PROMPT}staprun tracker.ko -x 217 | tail -n 7\n", warning,
        *made("stages", "memcached-tracker.txt").splitlines(keepends=True)[-7:],
        f"{PROMPT}grep nginx timing.log | tail -n 7\n",
        *[line for line in timing if "Proc nginx" in line][-7:], f"{PROMPT}free -m | head -2\n",
        "               total        used        free      shared  buff/cache   available\n",
        "Mem:            1967         181        1629           0         241        1785\n",
        f"{PROMPT}exit\nlogout\n"])


def main():
    copy("stages", "stage-timing.txt", "stage-timing-zones.txt", "memcached-tracker.txt")
    timing = made("stages", "stage-timing.txt")
    (SAMPLES / "stage-timing-terminal.txt").write_text(as_shown(timing))
    (SAMPLES / "stage-timing-col.txt").write_text(
        subprocess.run(["col", "-bx"], input=timing, capture_output=True, text=True, check=True).stdout)
    copy("dropwatch", *(f"dropwatch-{which}.txt" for which in (2009, 2010, 2020, 2023, 2025, "2020-bare")))
    copy("tools", "dropwatch-tool.txt", "perf-drops.txt", "perf-net.txt", "netdev-times.txt", "ftrace-drops.txt",
         "ftrace-net.txt")
    copy("own", "own-rx-latency.txt", "own-sock-latency.txt", "own-dropwatch.txt")
    copy("kinds", "softnet.rec", "losses.rec", "rx-latency-cost.rec")
    (SAMPLES / "mixed-paste.txt").write_text(paste())


main()
