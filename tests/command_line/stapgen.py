# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of this folder share: the program under test, and what it says of itself."""

import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

HOME = tempfile.TemporaryDirectory()
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME.name, "LC_ALL": "C.UTF-8", "TERM": "xterm"}


class Stapgen:
    def __init__(self, program):
        self.program = os.path.abspath(program)

    def run(self, *words, code=0):
        """Return what it prints on stdout; it has to end with CODE."""
        done = subprocess.run([self.program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=HANGS, check=False)
        assert done.returncode == code, f"{words} ended with {done.returncode}: {done.stderr}"
        return done.stdout

    def complete(self, *words):
        """Return {candidate: what it is} for the last of WORDS."""
        lines = self.run("complete", "--", *words).splitlines()
        return dict(line.split("\t") if "\t" in line else (line, None) for line in lines)

    @functools.cache
    def commands(self):
        """Return the words of each command, those of `build recipe` and `fleet run recipe` included, [] for the whole."""
        found = [[]]
        for command in found:
            if command in ([], ["build"], ["render"], ["fleet"], ["fleet", "run"]):
                found += [[*command, name] for name in self.complete(*command, "")]
        return found

    @functools.cache
    def options_of(self, *command):
        """Return the options that are completed for it."""
        return {word for word in self.complete(*command, "-") if word.startswith("-")}

    def options(self, command):
        return self.options_of(*command)


def options_in(text):
    """Return the words of TEXT that look like options."""
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))
