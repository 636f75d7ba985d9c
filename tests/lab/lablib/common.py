# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths, locks and errors shared by the lab's modules."""

import contextlib
import fcntl
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

SKIPPED = 77
SOURCE = pathlib.Path(__file__).resolve().parent.parent


class LabError(Exception):
    """A failure that is explained by its message alone."""


class Skipped(LabError):
    """The archive cannot deliver something optional today, or a scenario does not apply."""


def lab_dir():
    """Return the folder that holds roots, symbols, caches and runs."""
    folder = os.environ.get("STAPGEN_LAB_DIR")
    if folder:
        return pathlib.Path(folder).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "stapgen-lab"


def say(message):
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{clear}lab: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def doing(what, log=None):
    """Tell for how long it is being done, and what LOG ends with: on a terminal in a line that does not stay, else every 10 s."""
    terminal = sys.stderr.isatty()
    begin, over = time.monotonic(), threading.Event()

    def tell():
        while not over.wait(1 if terminal else 10):
            last = re.sub(r"[^ -~]", "", tail(log, 1)) if log and log.exists() else ""
            line = f"lab: {what} ... {time.monotonic() - begin:.0f} s{': ' + last if last else ''}"
            if terminal:
                print(f"\r{line[:shutil.get_terminal_size().columns - 1]}\x1b[K", end="", file=sys.stderr, flush=True)
            else:
                print(line[:119], file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        if terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(name, shared=False):
    """Hold the lock file NAME, waiting for it if need be; yields its descriptor."""
    path = lab_dir() / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with path.open("a") as handle:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run that holds {path}")
            fcntl.flock(handle, mode)
        yield handle


@contextlib.contextmanager
def fresh_run(name):
    """Yield an empty run folder NAME, or NAME.2 and so on while others use it."""
    locks = lab_dir() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        unique = name if number == 1 else f"{name}.{number}"
        with (locks / f"run-{unique}").open("a") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            run = lab_dir() / "runs" / unique
            shutil.rmtree(run, ignore_errors=True)
            run.mkdir(parents=True)
            yield run
            return


def run_logged(command, log, **options):
    """Run COMMAND with its output appended to LOG; raise LabError if it fails."""
    with open(log, "ab") as output:
        output.write(f"+ {' '.join(map(str, command))}\n".encode())
        output.flush()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode:
        raise LabError(f"{command[0]} ended with {done.returncode}; see {log}\n{tail(log, 15)}")


def run_unharmed(command, log, **options):
    """run_logged() a package manager: no signal to this process or its group reaches it; one is answered at its end."""
    came = []

    def later(number, _):
        came.append(number)
        say("waiting for the package manager to end: killed, it would leave packages half installed")

    before = {number: signal.signal(number, later) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        run_logged(command, log, start_new_session=True, **options)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            os.kill(os.getpid(), came[0])


def tail(path, lines):
    """Return the last LINES lines of a text file, or a note that it is missing."""
    try:
        text = pathlib.Path(path).read_text(errors="replace")
    except FileNotFoundError:
        return f"({path} does not exist)"
    return "\n".join(text.splitlines()[-lines:])
