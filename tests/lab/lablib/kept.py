# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures that are kept: what a guest left of a scenario, under the hash of all that made it.

A capture is the scenario's work folder as the guest left it. Its key has the modules, byte for byte (and with them script,
tapset C, SystemTap and kernel), the script and the files that the guest was given, the lab's own part in a guest, the traffic
programs that are named, and the sources of what in stapgen loads and records. What only reads and shows is not in it.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess

from .common import SOURCE, lab_dir

# What of a guest's stapgen makes a recording: it loads the module, looks at the machine and writes the lines.
RECORDERS = ("src/base", "src/filter", "src/host", "src/launch", "src/recording", "src/session")
# All of it, for a scenario whose subject is the running program: recipes without a module are in no .ko.
PROGRAM = ("src", "templates", "tapsets", "skeleton")
GUESTS = ("guest_init.sh", "guest_lib.sh", "guest_captures.sh", "guest_capture.sh", "lablib/machine.py", "lablib/initrd.py", "lablib/guest.py")
CHECKOUT = SOURCE.parent.parent
# Modules and what they are made of: they are in stap's cache, or made again.
BUILT = ("*.ko", "*.o", "*.cmd")
# Of each scenario the newest captures stay: of this tree, and of one to go back to.
NEWEST = 2


def add_file(made_by, name, path):
    made_by.update(f"{name}\0{path.stat().st_size}\0".encode())
    made_by.update(path.read_bytes())


def traffic_sources(words):
    """Return the sources of the traffic programs that are among the words, and of what all of them share."""
    folder = SOURCE / "traffic"
    programs = re.search(r"set\(programs ([^)]*)\)", (folder / "CMakeLists.txt").read_text())[1].split()
    return [path for path in sorted(folder.iterdir()) if path.stem not in programs or path.stem in words]


def key_of(lab, scenario):
    """Return the key of the capture that the scenario, whose files are prepared, would make now."""
    made_by = hashlib.sha256()
    settings = [getattr(scenario, name, None) for name in ("NET", "CPUS", "REAL_TIME", "ALONE", "GUEST")]
    root = lab.root
    qemu = subprocess.run([root.machine.program, "--version"], check=True, capture_output=True, text=True).stdout
    made_by.update(json.dumps([settings, lab.append, root.suite, root.release, root.stap, root.built, qemu]).encode())
    words = set(re.findall(r"[\w-]+", scenario.GUEST))
    for path in sorted(lab.work.rglob("*")):
        if path.is_file():
            add_file(made_by, path.relative_to(lab.work), path)
            if path.suffix in (".py", ".sh"):
                words.update(re.findall(r"[\w-]+", path.read_text()))
    folders = PROGRAM if getattr(scenario, "LIVE", False) else RECORDERS
    sources = [path for folder in folders for path in sorted((CHECKOUT / folder).rglob("*")) if path.is_file()]
    for path in [*sources, *(SOURCE / name for name in GUESTS), *traffic_sources(words)]:
        add_file(made_by, path.relative_to(CHECKOUT), path)
    return made_by.hexdigest()[:24]


def captures_folder():
    return lab_dir() / "captures"


def folder_of(suite, name):
    return captures_folder() / suite / name


def find(suite, name, key):
    """Return the folder of a kept capture, or None."""
    folder = folder_of(suite, name) / key
    if not folder.exists():
        return None
    os.utime(folder)
    return folder


def left_out(folder, names):
    """Return what no capture keeps: what was built, and what an overlay has for a file that is gone."""
    places = {name: os.path.join(folder, name) for name in names}
    gone = {name for name, place in places.items() if not (os.path.islink(place) or os.path.isdir(place) or os.path.isfile(place))}
    return gone | shutil.ignore_patterns(*BUILT)(folder, names)


def keep(lab, name, key, folders, logs=()):
    """Keep a scenario's capture: FOLDERS, what is in a later one over what is in those before, and LOGS."""
    folder = folder_of(lab.suite, name) / key
    partial = folder.with_suffix(".part")
    shutil.rmtree(partial, ignore_errors=True)
    for each in folders:
        shutil.copytree(each, partial / "work", symlinks=True, dirs_exist_ok=True, ignore=left_out)
    for log in logs:
        shutil.copy(log, partial)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    others = sorted((path for path in folder.parent.iterdir() if path != folder), key=lambda path: path.stat().st_mtime)
    for old in others[:len(others) - NEWEST + 1]:
        shutil.rmtree(old)


def megabytes():
    """Return how much all kept captures take."""
    files = (path for path in captures_folder().rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / 1e6
