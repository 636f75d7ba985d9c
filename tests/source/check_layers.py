#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_layers.py SRC: a folder of src/ includes what USES of its CMakeLists.txt names, and nothing else.

Arrows go one way, and src/session does not know where its lines come from:
neither SystemTap's side (render, module) nor the command line. The real machine is seen through src/host: only there
stand paths below /proc and /sys.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)

# A whole text that is such a path. A sentence that names one, as a hint does, has blanks.
MACHINE_PATH = re.compile(r'"(/(?:proc|sys)(?:/[^"\\\s]*)?)"')
# Who else may have them, and why. No folder of these opens a file itself.
MACHINE_PATHS_OF = {
    "doctor": "it asks host::System for them, and its rows name them",
    "decode": "they are names of formats",
    "launch/child_setup.cpp": "between fork and exec only system calls may be made",
}
OPENS_FILES = {"base/files.h", "base/source.h", "fstream", "fcntl.h"}


def machine_paths_of(name, file, text):
    """What is wrong with how this file sees the machine."""
    if name == "host" or name.startswith("host/"):
        return []
    wrong = []
    if f"{name}/{file}" not in MACHINE_PATHS_OF and name not in MACHINE_PATHS_OF:
        wrong = [f"{name}/{file}: {path} is for src/host" for path in MACHINE_PATH.findall(text)]
    if name in MACHINE_PATHS_OF:
        wrong += [f"{name}/{file}: includes {include}, and may not open files" for include in INCLUDE.findall(text)
                  if include in OPENS_FILES]
    return wrong


def uses_of(folder):
    """The folders that this one may include; None: it is no library."""
    text = (folder / "CMakeLists.txt").read_text() if (folder / "CMakeLists.txt").exists() else ""
    call = re.search(r"^stapgen_folder\((.*?)\)", text, re.MULTILINE | re.DOTALL)
    if call is None:
        return None
    words = call.group(1).split()
    if "USES" not in words:
        return set()
    uses = set()
    for word in words[words.index("USES") + 1:]:
        if word in ("LIBRARIES", "GENERATED"):
            break
        uses.add(word)
    return uses


def folder_of(include, libraries):
    """The library that a header belongs to: the longest folder of that name."""
    folder = pathlib.PurePosixPath(include).parent
    while str(folder) != ".":
        if str(folder) in libraries:
            return str(folder)
        folder = folder.parent
    return None


def cycle_of(libraries):
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return None
        path.append(name)
        for used in sorted(libraries[name]):
            if found := visit(used):
                return found
        path.pop()
        done.add(name)
        return None

    for name in sorted(libraries):
        if found := visit(name):
            return found
    return None


def main():
    src = pathlib.Path(sys.argv[1])
    libraries = {}
    for cmake in sorted(src.glob("**/CMakeLists.txt")):
        uses = uses_of(cmake.parent)
        if uses is not None:
            libraries[cmake.parent.relative_to(src).as_posix()] = uses
    wrong = [f"{name}: USES names {used}, which is no folder" for name in libraries
             for used in sorted(libraries[name] - libraries.keys())]
    if not wrong and (cycle := cycle_of(libraries)):
        wrong.append("a circle: " + " -> ".join(cycle))
    used_by = {name: set() for name in libraries}
    files = 0
    for name, uses in libraries.items():
        for file in sorted((src / name).glob("*.[hc]*")):
            if file.suffix not in (".h", ".cpp"):
                continue
            files += 1
            text = file.read_text()
            wrong += machine_paths_of(name, file.name, text)
            for include in INCLUDE.findall(text):
                if not (src / include).exists():
                    continue
                other = folder_of(include, libraries)
                if other == name:
                    continue
                used_by[name].add(other)
                if other not in uses:
                    wrong.append(f"{name}/{file.name}: includes {include}, and USES does not name {other}")
        for other in sorted(uses - used_by[name]):
            wrong.append(f"{name}: USES names {other}, and nothing of it is included")
        for other in sorted(uses):
            if other.startswith("cli") and not name.startswith("cli"):
                wrong.append(f"{name}: USES names {other}")
        if name == "session" and uses & {"render", "module"}:
            wrong.append("session: it does not know where its lines come from")
    for line in wrong:
        print(line)
    print(f"{len(libraries)} folders, {files} files, {len(wrong)} wrong")
    if files < 250:
        print("there should be more files")
    return 1 if wrong or files < 250 else 0


if __name__ == "__main__":
    sys.exit(main())
