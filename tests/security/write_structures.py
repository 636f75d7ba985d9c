#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes each input of structures.py once, for all readers: write_structures.py FOLDER. Some take seconds to make."""

import pathlib
import sys

import archive_structures  # noqa: F401  their cases are in CASES
import packed_structures  # noqa: F401
from structures import CASES


def file_of(folder, case):
    return pathlib.Path(folder, case)


def main():
    for case, (make, _) in CASES.items():
        file = file_of(sys.argv[1], case)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(make())


if __name__ == "__main__":
    main()
