#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_exit_codes.py STAPGEN: the manual has the exit codes that the program has."""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=HANGS, check=True).stdout


def main():
    stapgen = sys.argv[1]
    text = re.sub(r"\n  ", " ", run(stapgen, "help", "exit-codes"))
    codes = [line.split(" ", 1) for line in text.splitlines()]
    assert [number for number, _ in codes] == [str(i) for i in range(len(codes))] and len(codes) == 8, codes
    with tempfile.TemporaryDirectory() as folder:
        run(stapgen, "man", folder)
        page = (pathlib.Path(folder) / "stapgen.1").read_text()
    status = page[page.index("EXIT STATUS"):]
    for number, _ in codes:
        assert re.search(rf"^\.B[A-Z]* \"?{number}\b", status, re.M) or f"\n{number}\n" in status, (number, status[:800])


main()
