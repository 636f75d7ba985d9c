# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a scenario's truth holds: its capture, kept or made, is checked on the host."""

import contextlib
import pathlib
import shutil
import sys
import time
import traceback

from . import batch, kept
from .common import LabError, Skipped, say
from .scenario import Lab, boot_scenario, load, prepared


def capture(lab, scenario, name):
    """Bring what the scenario's guest leaves into LAB's work folder, from a guest of its own if that is not kept."""
    key = kept.key_of(lab, scenario)
    folder = None if lab.options.fresh else kept.find(lab.suite, name, key)
    if folder:
        say(f"{lab.suite} {name}: captured before, {folder}")
        put_capture(lab, folder)
    else:
        boot_scenario(scenario, lab)
        kept.keep(lab, name, key, [lab.work])


def put_capture(lab, folder):
    """Make LAB's work folder a copy of a kept capture, but for the modules that were built: more guests may load them, and no
    capture has them."""
    for path in lab.work.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.suffix != ".ko":
            path.unlink()
    shutil.copytree(pathlib.Path(folder) / "work", lab.work, symlinks=True, dirs_exist_ok=True)


def truth(scenario, lab):
    """Check what was captured. What the check prints is in RUN/said; of that a test prints what it left out."""
    with open(lab.run / "said", "w", encoding="utf-8") as said, contextlib.redirect_stdout(said):
        try:
            scenario.check(lab)
        finally:
            said.flush()
            for line in (lab.run / "said").read_text().splitlines():
                if line.startswith("skipped"):
                    print(line, file=sys.__stdout__, flush=True)


def run_scenario(root, run, name, options):
    """Check one scenario, which is captured if its guest is its own; returns True, False, or None if it was skipped."""
    begin = time.monotonic()
    title = f"{root.suite} {name}"
    scenario = load(name)
    try:
        if batch.is_shared(scenario):
            lab = Lab(root, run, options)
            put_capture(lab, batch.captured(root.suite, name))
        else:
            lab = prepared(root, run, scenario, options)
            if hasattr(scenario, "GUEST"):
                capture(lab, scenario, name)
        if hasattr(scenario, "check"):
            truth(scenario, lab)
    except Skipped as reason:
        print(f"SKIP {title}: {reason}", flush=True)
        return None
    except Exception as failure:  # pylint: disable=broad-except
        report(title, failure, run)
        return False
    print(f"PASS {title} ({time.monotonic() - begin:.0f} s)", flush=True)
    return True


def report(title, failure, run):
    """Print in ten lines or so why a scenario failed, and where all is that it left."""
    lines = (str(failure) or type(failure).__name__).splitlines()
    print("\n".join([f"FAIL {title}: {lines[0][:400]}", *(f"  {line[:200]}" for line in lines[1:7])]))
    if not isinstance(failure, LabError):
        places = [place for place in traceback.extract_tb(failure.__traceback__) if "/tests/lab/" in place.filename]
        if places:
            print(f"  {places[-1].filename}:{places[-1].lineno}: {places[-1].line}")
    for what in ("work", "said", "boot/console.log", "boot/output"):
        if (run / what).exists():
            print(f"  {what}: {run / what}", flush=True)
