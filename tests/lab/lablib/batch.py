# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made together: those of one machine share a guest, one behind the other, and two guests run side by side."""

import collections
import concurrent.futures
import json
import os
import shutil
import threading
import time

from . import kept, scenario
from .common import LabError, fresh_run, lab_dir, say, tail
from .guest import Guest

# A guest takes no more than so many: when one ends early the next begins, and both cores have something to do to the end.
PER_GUEST = 6
GUESTS_AT_ONCE = 2


class Capture:
    """One scenario whose files are prepared, and what became of it."""

    def __init__(self, name, module, lab):
        self.name, self.module, self.lab = name, module, lab
        self.key = kept.key_of(lab, module)
        self.failure = None

    @property
    def machine(self):
        """Those that can share a guest have the same one."""
        return self.lab.append, getattr(self.module, "CPUS", None)

    @property
    def timeout(self):
        return getattr(self.module, "TIMEOUT", scenario.TIMEOUT)

    @property
    def line(self):
        return f"capture {self.name}{' net' if getattr(self.module, 'NET', False) else ''}"


def run_guest(lab, run, captures):
    """Make CAPTURES in one guest. Each has then been kept, or has a failure; return those that it did not come to."""
    folder = run / "captures"
    for capture in captures:
        place = folder / capture.name
        (place / "out").mkdir(parents=True)
        shutil.copytree(capture.lab.work, place / "work", symlinks=True, copy_function=os.link)
        (place / "guest.sh").write_text(capture.module.GUEST)
    append, cpus = captures[0].machine
    guest = Guest(lab.root, run, append, cache=lab.cache, cpus=cpus, env=lab.environment)
    script = "\n".join([". /lab/boot/guest_captures.sh", *(capture.line for capture in captures)])
    death = ""
    try:
        guest.execute(scenario.HEAD + script, max(capture.timeout for capture in captures), echo=False)
    except LabError as failure:  # it died, or was busy for too long
        death = str(failure)
    progress = guest.boot / "progress"
    last = progress.read_text().strip() if progress.exists() else captures[0].name
    left = []
    for capture in captures:
        if (folder / capture.name / "exit-code").exists():
            try:
                take(capture, folder / capture.name)
            except OSError as failure:  # and what shutil has collected of them
                capture.failure = f"cannot be kept: {failure}"
        elif capture.name == last and death:
            capture.failure = f"the guest did not survive it: {death}"
        else:
            left.append(capture)
    if left == captures:
        raise LabError(f"a guest made no capture: {death or tail(guest.boot / 'output', 20)}")
    return left


def take(capture, place):
    """Keep what the guest has left of a capture; a failed one stays in the guest's run."""
    code = int((place / "exit-code").read_text())
    if code:
        capture.failure = f"its script ended with {code}; see {place}\n{tail(place / 'output', 12)}"
    else:
        kept.keep(capture.lab, capture.name, capture.key, [capture.lab.work, place / "out/upper"], [place / "output", place / "dmesg"])


class Batch:
    """All captures of a suite: prepared, then made in guests as these become free."""

    def __init__(self, root, options, runs):
        self.root, self.options, self.runs = root, options, runs
        self.waiting, self.lock = [], threading.Lock()
        self.made = self.found = self.guests = 0

    def prepare(self, name):
        """Build what the scenario runs, and put it into the queue if its capture is not kept."""
        run = self.runs.enter_context(fresh_run(f"{self.root.suite}-{name}"))
        module = scenario.load(name)
        try:
            lab = scenario.prepared(self.root, run, module, self.options)
        except scenario.Skipped as reason:
            self.note(name, f"skipped: {reason}")
            return
        except Exception as failure:  # pylint: disable=broad-except
            self.note(name, f"{type(failure).__name__}: {failure}")
            return
        capture = Capture(name, module, lab)
        if not self.options.fresh and (folder := kept.find(self.root.suite, name, capture.key)):
            self.found += 1
            self.note(name, folder=folder)
            return
        with self.lock:
            self.waiting.append(capture)

    def note(self, name, failure=None, folder=None):
        """Say for `lab run --captured` where a capture is, or why it is not."""
        path = result_file(self.root.suite, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"failure": failure, "folder": folder and str(folder)}))

    def next_group(self):
        """Take some captures of one machine out of the queue: of the one that fewest wait for, so that those which can be
        shared out evenly come last."""
        with self.lock:
            by_machine = collections.Counter(capture.machine for capture in self.waiting)
            if not by_machine:
                return []
            machine = min(by_machine, key=by_machine.get)
            # Both guests end at about the same time.
            many = min(PER_GUEST, -(-len(self.waiting) // GUESTS_AT_ONCE))
            group = [capture for capture in self.waiting if capture.machine == machine][:many]
            self.waiting = [capture for capture in self.waiting if capture not in group]
            self.guests += 1
            return group

    def run_guests(self):
        """Make captures until none waits."""
        while group := self.next_group():
            begin = time.monotonic()
            run = self.runs.enter_context(fresh_run(f"{self.root.suite}-guest"))
            lab = scenario.Lab(self.root, run, self.options)
            lab.fill()
            names = ", ".join(capture.name for capture in group)
            say(f"{self.root.suite}: a guest makes {names}")
            left = run_guest(lab, run, group)
            for capture in group:
                if capture not in left:
                    self.made += 1
                    self.note(capture.name, capture.failure, kept.folder_of(self.root.suite, capture.name) / capture.key)
            with self.lock:
                self.waiting += left
            say(f"{self.root.suite}: {len(group) - len(left)} captures in {time.monotonic() - begin:.0f} s")

    def build(self, names):
        """Build each distinct module of all scenarios once."""
        every = {tuple(arguments): arguments for name in names for arguments in getattr(scenario.load(name), "BUILD", {}).values()}
        lab = scenario.Lab(self.root, self.runs.enter_context(fresh_run(f"{self.root.suite}-modules")), self.options)

        def build(number, arguments):
            try:
                scenario.build_modules(lab, {f"module-{number}": arguments})
                self.options.built[tuple(arguments)] = lab.work / f"module-{number}.ko"
            except LabError as failure:
                say(f"{' '.join(arguments)}: {failure}")  # its scenarios will fail of it

        if not every:
            return
        first, *others = enumerate(every.values())
        build(*first)  # and with it what all share
        with concurrent.futures.ThreadPoolExecutor(GUESTS_AT_ONCE) as pool:
            list(pool.map(lambda one: build(*one), others))

    def run(self, names):
        """Make the captures of these scenarios; of those that are captured alone, build the modules."""
        self.build(names)
        with concurrent.futures.ThreadPoolExecutor(GUESTS_AT_ONCE) as pool:
            list(pool.map(self.prepare, (name for name in names if is_shared(scenario.load(name)))))
            for done in [pool.submit(self.run_guests) for _ in range(GUESTS_AT_ONCE)]:
                done.result()
        (results_folder() / f"{self.root.suite}.json").write_text(
            json.dumps({"made": self.made, "kept": self.found, "guests": self.guests}))
        say(f"{self.root.suite}: {self.made} captures made in {self.guests} guests, {self.found} were kept")


def summary():
    """Return what the last batch of each suite did, and what is kept."""
    done = collections.Counter()
    for path in results_folder().glob("*.json"):
        done.update(json.loads(path.read_text()))
    return (f"Captures: {done['made']} made in {done['guests']} guests, {done['kept']} kept from before; "
            f"{kept.megabytes():.0f} MB in {kept.captures_folder()} (--fresh makes all anew)")


def results_folder():
    """Return where batches leave what became of each capture."""
    folder = lab_dir() / "runs/captured"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def result_file(suite, name):
    return results_folder() / suite / f"{name}.json"


def is_shared(module):
    """Whether a scenario's capture is made in a guest that others share."""
    return hasattr(module, "GUEST") and not getattr(module, "ALONE", None) and not getattr(module, "REAL_TIME", False)


def captured(suite, name):
    """Return the folder of the capture that the last batch has made or found; raise what it met."""
    path = result_file(suite, name)
    if not path.exists():
        raise LabError(f"nobody has captured {name} on {suite}: lab capture {suite} {name}")
    result = json.loads(path.read_text())
    if (result["failure"] or "").startswith("skipped: "):
        raise scenario.Skipped(result["failure"].removeprefix("skipped: "))
    if result["failure"]:
        raise LabError(result["failure"])
    return result["folder"]
