#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_lengths.py SOURCE: no file of src, tests, tapsets or scripts has more than 400 lines.

Data is exempt by its kind: expected output (.case), lists (.txt), npm's lock and what is in a folder data.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
from check_links import tracked  # noqa: E402

LIMIT = 400
FOLDERS = ("src", "tests", "tapsets", "scripts")
# Those that are longer and say at their beginning why, or are still to be split.
LONGER = {"src/launch/child_process.cpp", "tapsets/c/request.h"}


def is_data(name):
    return pathlib.PurePath(name).suffix in (".case", ".txt") or name.endswith("-lock.json") or "/data/" in name


def too_long(name, lines):
    return name.split("/")[0] in FOLDERS and not is_data(name) and lines > LIMIT


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    assert too_long("src/a.cpp", 401) and not too_long("src/a.cpp", 400) and not too_long("tests/unit/data/a", 401)
    lengths = {file.relative_to(source).as_posix(): file.read_bytes().count(b"\n") for file in tracked(source)}
    found = {name for name, lines in lengths.items() if too_long(name, lines)}
    for name in sorted(found - LONGER):
        print(f"{name} has {lengths[name]} lines, and may have {LIMIT}: split it by what it is about")
    for name in sorted(LONGER - found):
        print(f"{name} has {lengths.get(name, 0)} lines: LONGER in check_lengths.py need not name it")
    print(f"{len(lengths)} files")
    sys.exit(len(lengths) < 1000 or found != LONGER)


if __name__ == "__main__":
    main()
