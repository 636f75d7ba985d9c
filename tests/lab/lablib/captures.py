# SPDX-License-Identifier: GPL-2.0-or-later
"""Making the files of samples/: foreign scripts and tools run in a guest, whose output is kept as it is."""

import os
import pathlib
import re
import shutil

from .common import SOURCE, say
from .roots import proxy_options
from .scenario import allow_overload, load

FOLDER = SOURCE / "captures"


def tracepoint_headers(lab, *scripts):
    """Return options of plain stap, and binds, by which it looks for the SCRIPTS' tracepoints where they are defined.

    Without them it compiles each of 173 headers to look into it, which takes minutes. The compiler is shown all of them.
    """
    names = {name.split(":")[-1] for script in scripts for name in re.findall(r'kernel\.trace\("([\w:]+)"', script)}
    definitions = [re.compile(rf"[(,]\s*{name}\s*,") for name in names]
    # Debian 12's link begins at the root of its tree.
    link = lab.root.tree / "usr/lib/modules" / lab.release / "source"
    real = (lab.root.tree / os.readlink(link).lstrip("/") if os.readlink(link).startswith("/") else link).resolve() / "include/trace"
    everything, shown = lab.work / "headers/trace", lab.work / "shown-to-stap"
    everything.mkdir(parents=True, exist_ok=True)

    def unwanted(folder, files):
        if not folder.endswith("/events"):
            return ()
        texts = {file: pathlib.Path(folder, file).read_text(encoding="utf-8") for file in files if file.endswith(".h")}
        return [file for file, text in texts.items() if not any(definition.search(text) for definition in definitions)]

    shutil.rmtree(shown, ignore_errors=True)
    shutil.copytree(real, shown, ignore=unwanted)
    # In this order: what is shown hides the folder itself.
    return ["-B", "KCPPFLAGS=-I/lab/work/headers"], [(real, "/lab/work/headers/trace"),
                                                     (shown, "/" / real.relative_to(lab.root.tree.resolve()))]


def compile_script(lab, script, name, arguments=(), options=(), binds=()):
    """Compile captures/SCRIPT.stp with plain stap as /lab/work/NAME.ko; to be run with staprun."""
    shutil.copy(FOLDER / f"{script}.stp", lab.work)
    # Its rc switches off the overload guard, see allow_overload() of scenario.py.
    allow_overload(lab.cache / "stapgen/systemtap")
    fewer, shown = tracepoint_headers(lab, (FOLDER / f"{script}.stp").read_text(encoding="utf-8"))
    lab.chroot(["stap", "-p4", "-r", lab.release, "-m", name, *load("selftest").workarounds(lab), *fewer, *options,
                f"{script}.stp", *map(str, arguments)],
               binds=[*binds, *shown], env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})


def keep(lab, names):
    """Say where the files NAMES are that this scenario has made for samples/."""
    for name in names:
        lines = lab.read(name).count("\n")
        assert lines, f"{name} is empty"
        say(f"{lab.work / name}: {lines} lines")


def unpack_packages(lab, *packages):
    """Unpack PACKAGES, with what they need and the root has not, into /lab/work/tools; nothing is installed."""
    folder = lab.work / "debs"
    folder.mkdir()

    def run(*command):
        lab.chroot(command, binds=[(folder, "/mnt")])

    apt = ["apt-get", "-o", "Dir::State=/mnt", "-o", "Dir::Cache=/mnt", "-o", "APT::Sandbox::User=root",
           "-o", "Dir::State::status=/var/lib/dpkg/status", *proxy_options()]
    run(*apt, "update", "--error-on=any")
    run(*apt, "install", "-y", "--no-install-recommends", "--download-only", *packages)
    run("sh", "-c", 'for deb in /mnt/archives/*.deb; do dpkg-deb -x "$deb" /lab/work/tools; done')
    shutil.rmtree(folder)
