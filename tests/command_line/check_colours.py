#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_colours.py STAPGEN SAMPLES: colours are on a terminal only, and as $NO_COLOR, $TERM and --color say."""

import os
import pathlib
import re
import sys
import tempfile

from stapgen import ENVIRONMENT, Stapgen
from terminals import on_terminal

PLAIN_TERM = {**ENVIRONMENT, "TERM": "xterm"}
COLOUR = re.compile(r"\x1b\[[\d;]*m")
TRIES = 10  # of two texts of doctor's, for one of which stap may have been too slow


def main():
    stapgen, samples = Stapgen(sys.argv[1]), pathlib.Path(sys.argv[2])
    before, after = (str(samples / "slower-stage" / side) for side in ("before", "after"))
    commands = {"report": [str(samples / "own-sock-latency.txt")], "compare": [before, after], "doctor": [],
                "fleet report": [str(samples / "six-hosts")], "fleet compare": [str(samples / "six-hosts")]}
    for name, words in commands.items():
        command = [stapgen.program, *name.split(), *words]

        def is_coloured(*options, **environment):
            text = on_terminal(100, [*command, *options], {**PLAIN_TERM, **environment}, open(os.devnull, "wb"))[1]
            return bool(COLOUR.search(text))

        assert is_coloured(), f"{name}: no colours"
        assert is_coloured(NO_COLOR=""), f"{name}: an empty NO_COLOR is none"
        assert not is_coloured(NO_COLOR="0"), f"{name}: NO_COLOR"
        assert not is_coloured(TERM="dumb"), f"{name}: a dumb terminal"
        assert not is_coloured("--color", "never"), name
        assert is_coloured("--color", "always", NO_COLOR="1", TERM="dumb"), name
        if name in ("report", "compare", "doctor"):
            assert not is_coloured("--format", "json"), f"{name}: JSON"

        def texts_are_same():
            piped, forced = (os.popen(f"exec {' '.join(command)} {more} 2>/dev/null").read() for more in ("", "--color always"))
            assert piped and not COLOUR.search(piped), f"{name}: colours in a pipe"
            assert COLOUR.search(forced), f"{name}: --color always"
            # Numbers are of memory, at that moment.
            return re.sub(r"\d+", "N", COLOUR.sub("", forced)) == re.sub(r"\d+", "N", piped)

        assert any(texts_are_same() for _ in range(TRIES)), f"{name}: --color always"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "report.txt")
        code, text = on_terminal(100, [stapgen.program, "report", "-o", file, *commands["report"]], PLAIN_TERM)
        assert code == 0 and not text and not COLOUR.search(file.read_text()) and "▁" not in file.read_text()


main()
