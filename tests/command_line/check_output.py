#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_output.py STAPGEN SAMPLE: an output that takes nothing is an error; a reader that has enough is none."""

import os
import subprocess
import sys

from stapgen import ENVIRONMENT

TOLD = "stapgen: the output is incomplete: it could not be written\n  hint: check whether stdout is closed, or its disk full\n"


def run(words, redirection, **streams):
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *words]
    done = subprocess.run(shell, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True, timeout=60, check=False, **streams)
    return done.returncode, done.stderr


def main():
    stapgen, sample = (os.path.abspath(word) for word in sys.argv[1:3])
    for words in (["list"], ["--help"], ["--version"], ["help", "list"], ["complete", "--", ""], ["render", "dropwatch"],
                  ["report", sample], ["report", sample, "--format", "html"], ["rx-latency", "--dry-run"]):
        for redirection in (">/dev/full", ">&-", ">&- <&-"):
            ended = run([stapgen, *words], redirection)
            assert ended == (1, TOLD), f"{words} {redirection}: {ended}"
        reader, writer = os.pipe()
        os.close(reader)
        ended = run([stapgen, *words], "", stdout=writer)
        os.close(writer)
        assert ended == (0, ""), f"{words} into a pipe without a reader: {ended}"
        ended = run([stapgen, *words], ">/dev/null 2>&-")
        assert ended == (0, ""), f"{words} without stderr: {ended}"
        # A terminal that is closed: what is written to it fails, and nobody is there to be told.
        main_end, terminal = os.openpty()
        os.close(main_end)
        ended = run([stapgen, *words], "", stdout=terminal)
        os.close(terminal)
        assert ended == (0, ""), f"{words} onto a closed terminal: {ended}"
    # What it found stays the exit code; that the report of it is lost is said, too.
    slower = os.path.join(os.path.dirname(sample), "slower-stage")
    code, errors = run([stapgen, "compare", f"{slower}/before", f"{slower}/after"], ">/dev/full")
    assert code == 3 and errors.startswith(TOLD) and "regression" in errors, f"compare: {code} {errors}"
    code, errors = run([stapgen, "report", "-"], "<&- >/dev/null")
    assert code != 0 and "Bad file descriptor" in errors, f"stdin closed: {code} {errors}"


main()
