# SPDX-License-Identifier: GPL-2.0-or-later
"""Which processes a test has left behind: those of the session that it started a program in."""

import pathlib


def left_of(session):
    """Return the processes of a session that are there."""
    left = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "stat").read_text().rsplit(") ", 1)[1].split()
            if int(words[3]) == session and words[0] != "Z":
                left.append((entry.name, (entry / "cmdline").read_text().replace("\0", " ")))
        except (OSError, IndexError):
            pass
    return left
