#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_account.py STAPGEN SOURCE: `help account` explains every count that a script prints."""

import pathlib
import re
import subprocess
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402


def printed(source):
    """The names of the counts in what scripts print."""
    names = set()
    for folder in ("tapsets", "templates"):
        for file in (source / folder).rglob("*.stp"):
            for name in re.findall(r"\\t((?:incomplete\.|lost\.)?[a-z][a-z-]+)=%d", file.read_text()):
                names.add(name.removeprefix("incomplete."))
    return names - {"seen", "reported", "filtered"}


def main():
    stapgen, source = sys.argv[1], pathlib.Path(sys.argv[2])
    said = subprocess.run([stapgen, "help", "account"], capture_output=True, text=True, timeout=HANGS, check=True).stdout
    rows = re.findall(r"^([a-z., -]+) \(([a-z, -]+)\): (.*)$", re.sub(r"\n  ", " ", said), re.M)
    recipes = [tomllib.loads(file.read_text()) for file in sorted((source / "templates").glob("*/recipe.toml"))]
    own = [(name, recipe["name"], help) for recipe in recipes for name, help in sorted(recipe.get("account", {}).items())]
    assert len(own) > 10 and rows[-len(own):] == own and len(rows) > len(own), rows
    known = {name for names, _, _ in rows for name in names.split(", ")}
    missing = printed(source) - known
    assert not missing, f"printed by a script and not explained: {sorted(missing)}"


main()
