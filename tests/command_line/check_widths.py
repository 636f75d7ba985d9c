#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_widths.py STAPGEN SOURCE: on a terminal no line is wider than it, and no word or number is cut.

What is printed into a pipe has all words as they are. On a terminal each of them has to be there, whole. No words are of
what changes while this runs: free memory, of which doctor tells for the running kernel, or a stap that answers too late.
"""

import bisect
import os
import pathlib
import re
import sys

from stapgen import ENVIRONMENT, HOME, Stapgen
from terminals import on_terminal

STAP = pathlib.Path(HOME.name, "stap")
WIDTHS = (60, 100)
TRIES = 10  # of what may say another thing the next time: a stap that took its time, the machine's traffic
# Of what only a terminal has.
NOTES = set("not shown as the terminal is narrow: TREND: TREND mean per each row from 0 to its own maximum 95 % INTERVAL "
            "Example:".split())
SAMPLES = ("own-rx-latency.txt", "rx-latency.rec", "own-sock-latency.txt", "packet-flow.rec", "dropwatch.rec", "drop-stacks.rec",
           "call-trace.rec", "softnet.rec", "net-latency.rec", "memcached-tracker.txt", "losses.rec", "containers.rec",
           "rx-latency-cost.rec", "mixed-paste.txt")


def commands(stapgen, source):
    samples = source / "samples"
    yield ["list"]
    yield ["--version"]
    yield ["doctor", "--stap", STAP, "-r", "6.12.117+deb13-amd64"]
    # The first counts the machine's traffic for a quarter of a second.
    yield ["show", "packet-flow"]
    yield ["show", "softnet"]
    recipes = set(stapgen.complete("show", ""))
    for command in stapgen.commands():
        # Recipes have the same options with each verb, and help with the same layout.
        if not recipes & set(command) or command[-1] in ("packet-flow", "rx-latency"):
            yield [*command, "--help"]
            if len(command) < 2:
                yield ["help", *command]
    for name in SAMPLES:
        yield ["report", samples / name]
    yield ["report", "--series", "--by", "port,comm", samples / "own-rx-latency.txt"]
    yield ["report", "--events", "-q", samples / "own-sock-latency.txt"]
    yield ["report", "--events", "-q", samples / "dropwatch.rec"]
    yield ["report", *sorted((samples / "slower-stage/before").iterdir())]
    yield ["compare", "-P", "50,90,99", samples / "slower-stage/before", samples / "slower-stage/after"]
    yield ["fleet", "report", samples / "six-hosts"]
    yield ["fleet", "compare", samples / "six-hosts"]
    yield ["resolve", "--map", source / "tests/golden/System.map", "ffffffff81000000", "0xffffffff81000123"]
    yield ["rx-latency", "--dry-run", "--stap", STAP, "-d", "5", "-o", "/tmp/a-recording-that-is-not-made.rec"]
    yield ["softnet", "--dry-run"]
    yield ["serve", "--dry-run", "dropwatch"]
    yield ["fleet", "run", "dropwatch", "--hosts", "web1,web2", "-d", "5", "-o", "/tmp/not-made", "--dry-run"]
    # What they say where they cannot go on.
    yield ["check", "rx-latnecy"]
    yield ["check", "rx-latency", "--stap", "/no/stap"]
    yield ["build", "rx-latency", "--stap", "/no/stap", "-o", "/tmp/nowhere/rx.ko"]
    yield ["export", "/no/such/file", "--parquet", "/no/such/folder"]
    yield ["query", "/no/such/folder", "--ask", "p99-by-host"]
    yield ["resolve", "--map", "/no/such/System.map", "0xffffffff81000123"]
    yield ["report", "/no/such/file"]
    yield ["fleet", "report", "/no/such/folder"]


def words_of(text):
    """Return its words, without the \\ of a command that goes on, and how long a part of a trend is."""
    return set(re.sub(r" \\\n|(?<=TREND: mean per )\S+ \w+;", "\n", text).split())


def faults(stapgen, command):
    """Return what is wrong at each width."""
    _, text = on_terminal(0, [stapgen.program, *command], ENVIRONMENT)
    _, wide = on_terminal(400, [stapgen.program, *command], {**ENVIRONMENT, "NO_COLOR": "1"})
    return list(filter(None, (check(stapgen, command, width, words_of(text), words_of(wide)) for width in WIDTHS)))


def check(stapgen, command, width, plain, wide_words):
    """Return what is wrong."""
    _, text = on_terminal(width, [stapgen.program, *command], {**ENVIRONMENT, "NO_COLOR": "1"})
    wide = [line for line in text.splitlines() if len(line) > width and widest_word(line) <= width]
    if wide:
        return f"{len(wide)} lines are wider than {width}, as: {wide[0]}"
    # A table may have other columns, and numbers fewer digits: but each word was a word of the text in full.
    known = plain | wide_words
    exact = sorted(number[0] for number in map(number_of, known) if number and number[1])
    cut = [word for word in words_of(text)
           if not known & {word, word.strip(",|")} and not is_part(word, known) and not is_other(word) and not is_rounded(word, exact)]
    if command[0] in ("show", "doctor") or "--dry-run" in command:  # the machine's traffic and disks
        cut = [word for word in cut if not re.fullmatch(r"[\d,.]+", word)]
    return f"cut at {width}: {cut[:5]}" if cut else None


def widest_word(line):
    """Return where it would end if it stood alone, as deep as the line begins, with the \\ of a command that goes on."""
    return len(line) - len(line.lstrip()) + max(map(len, line.split())) + 2 * line.endswith(" \\")


def number_of(word):
    """Return the number, and how many decimals it has; None: it is none."""
    number = re.fullmatch(r"[\[(+]*(-?\d+(?:\.(\d+))?)[%\]),;]*", word)
    return (float(number[1]), len(number[2] or "")) if number else None


def is_rounded(word, exact):
    """Whether it is one of these numbers, which are sorted, with fewer decimals."""
    if not (number := number_of(word)):
        return False
    value, half = number[0], 0.5000001 * 10 ** -number[1]
    at = bisect.bisect_left(exact, value - half)
    return at < len(exact) and exact[at] <= value + half


def is_part(word, known):
    """Whether it is a part with its stage's name, which other tables have above it."""
    return word[0].isalpha() and set(word.split(".")) <= known


def is_other(word):
    """What only a terminal of that width has: bars, a note, an option's short name."""
    bars = re.fullmatch(r"[#|▁-█]+", word)
    option = re.fullmatch(r"-\w", word)
    return bool(bars or option or word.rstrip(",") in NOTES)


def main():
    stapgen, source = Stapgen(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    STAP.write_text("#!/bin/sh\necho 'Systemtap translator/driver (version 4.8/0.188, Debian version 4.8-2)' >&2\n")
    STAP.chmod(0o755)
    wrong = []
    for command in commands(stapgen, source):
        command = [str(word) for word in command]
        if all(found := faults(stapgen, command) for _ in range(TRIES)):
            name = " ".join(os.path.relpath(word, source) if "/" in word else word for word in command)
            wrong += [f"{name}: {fault}" for fault in found]
    print(*wrong, sep="\n")
    assert not wrong, f"{len(wrong)} outputs"


main()
