#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run-demo, run-tests: check_tasks.py SOURCE. No signal and no failure kills a package manager, nothing else outlives them,
and what cannot work is said at once.

The scripts are the real ones. apt-get, dpkg, cmake, debootstrap and what the checks ask are stand-ins, all that there is in
PATH beside a few programs of the machine. Each appends what it does to a file.
"""

import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS, wait_for  # noqa: E402

TURNS = 8
PROGRAMS = """bash sh env awk cat cp cut date dirname df du fmt grep head kill mkdir mktemp printf ps rm sed sleep stat tail tput tr
    touch uname""".split()
# A package manager as it is: it has a child that does the work, and both die of any signal. One that is SLOW ends when
# there is a file GO.
PACKAGE_MANAGER = """
import os, signal, subprocess, sys, time
name, slow = os.path.basename(sys.argv[0]), os.environ.get("SLOW") == os.path.basename(sys.argv[0])
def say(what):
    with open(os.environ["EVENTS"], "a") as events: events.write(f"{name} {what}\\n")
def hurt(number, _):
    say(f"hurt by {number}")
    os._exit(1)
# A question changes nothing: it may die of a signal.
if "--print-uris" in sys.argv:
    if "NEVER_ANSWERS" in os.environ:
        say(f"is asked as {os.getpid()}")
        signal.pause()
    print("'http://archive/dists/trixie/InRelease' x")
    if "NO_SECURITY" not in os.environ: print("'http://archive/dists/trixie-security/InRelease' y")
    sys.exit()
if "--assume-no" in sys.argv: sys.exit(1)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, hurt)
if "update" in sys.argv: sys.exit()
if slow: say("begins")
child = os.fork()
while slow and not os.path.exists(os.environ["GO"]): time.sleep(0.02)
if child == 0: os._exit(0)
if os.waitpid(child, 0)[1]: say("its child was hurt")
say("whole")
"""
SH = {
    "id": "echo ${ID_IS-0}",
    "dpkg": '[ "$1" != --print-architecture ] || echo ${ARCHITECTURE-amd64}; [ "$1" != --audit ] || echo "${AUDIT-}"',
    "dpkg-query": "echo not-installed",
    "unshare": '[ -z "${UNSHARE_SAYS-}" ] || { echo "unshare: $UNSHARE_SAYS" >&2; exit 1; }',
    "findmnt": "echo rw,relatime${MOUNTED-}",
    "df": 'echo head; echo "disk 1 1 ${FREE-99999} 1% /"',
    "cmake": 'echo cmake begins >>"$EVENTS"; [ -z "${CMAKE_FAILS-}" ] || { until grep -q "$CMAKE_FAILS" "$EVENTS"; do sleep 0.02; done; '
             'echo no compiler; exit 1; }; sleep ${CMAKE_TAKES-0} & wait',
    "ctest": "exit 0",
}
# The lab as far as it installs: its real way to run a package manager.
LAB = """import os, signal, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lablib.common import run_unharmed
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
if sys.argv[0].endswith("demo"):
    print("the demo begins")
    open(os.environ["EVENTS"], "a").write("lab runs\\n")
    subprocess.run(["sleep", os.environ.get("LAB_TAKES", "0")])
    sys.exit()
run_unharmed(["debootstrap"], "build/debootstrap.log")
open(os.environ["EVENTS"], "a").write("lab goes on\\n")
subprocess.run(["sleep", os.environ.get("LAB_TAKES", "0")])
"""


class Tree:
    """A copy of the scripts with stand-ins around it."""

    def __init__(self, source, folder):
        self.folder, self.events, self.go, self.output = folder, folder / "events", folder / "go", folder / "output"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in ("run-demo", "run-tests", "scripts/tasks.sh", "scripts/install-packages", "tests/check_skips.py",
                     "tests/where_time_went.py"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(source / name, folder / name)
        shutil.copytree(source / "tests/lab/lablib", folder / "tests/lab/lablib")
        for name in ("lab", "demo"):
            self.put(folder / "tests/lab" / name, f"#!{sys.executable}\n{LAB}")
        self.put(folder / "tests/check_skips.py", "#!/bin/sh\nexit 0\n")
        for name in PROGRAMS:
            if not (self.bin / name).exists() and shutil.which(name):
                (self.bin / name).symlink_to(shutil.which(name))
        for name in ("apt-get", "debootstrap"):
            self.put(self.bin / name, f"#!{sys.executable}\n{PACKAGE_MANAGER}")
        for name, text in SH.items():
            (self.bin / name).unlink(missing_ok=True)
            self.put(self.bin / name, f"#!/bin/sh\n{text}\n")

    @staticmethod
    def put(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def start(self, script, *words, **environment):
        self.events.write_text("")
        self.go.unlink(missing_ok=True)
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        environment = {"PATH": str(self.bin), "HOME": str(self.folder), "EVENTS": str(self.events), "GO": str(self.go)} | environment
        with open(self.output, "wb") as output:
            return subprocess.Popen([self.folder / script, *words], env=environment, stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=subprocess.STDOUT, start_new_session=True)

    def wait_for(self, event, running, file=None):
        """Until it is among the events, or what is in another file."""
        def is_there():
            text = (file or self.events).read_text()
            assert event in text or running.poll() is None, f"ended before '{event}':\n{self.output.read_text()}{self.events.read_text()}"
            return event in text

        wait_for(is_there)

    def said_by(self, running):
        """Wait for its end and that of all that it started, and return what they printed."""
        try:
            running.wait(timeout=HANGS)
            # What was ended at last may have yet to go; what nobody ends is there for ever.
            wait_for(lambda: not self.left_running())
        except (subprocess.TimeoutExpired, AssertionError):
            raise AssertionError(f"no end: {self.left_running()}\n{self.output.read_text()}{self.events.read_text()}") from None
        return self.output.read_text()

    def left_running(self):
        """Processes that were started from here."""
        mark, found = f"EVENTS={self.events}\0".encode(), []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found


def check_end(tree, running, codes, waited_for, is_said=True):
    if is_said:
        tree.wait_for("waiting for the package manager", running, tree.output)
    tree.go.touch()
    said = tree.said_by(running)
    events = tree.events.read_text()
    assert running.returncode in codes, f"{running.returncode}, not {codes}:\n{said}{events}"
    assert "hurt" not in events and events.count(f"{waited_for} begins") == events.count(f"{waited_for} whole") > 0, events
    return said


SIGNALS = ((signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGHUP, True))


def check_signals(tree):
    """At three moments: while apt-get installs, while debootstrap does beside the compiler, and while the lab runs."""
    for script in ("run-demo", "run-tests"):
        for number, to_all in SIGNALS[: 4 if script == "run-demo" else 2]:
            for manager, more in (("apt-get", {}), ("debootstrap", {"CMAKE_TAKES": "infinity", "LAB_TAKES": "infinity"})):
                running = tree.start(script, SLOW=manager, **more)
                tree.wait_for(f"{manager} begins", running)
                if more:
                    tree.wait_for("cmake begins", running)
                for _ in range(2):  # who is impatient presses it twice
                    (os.killpg if to_all else os.kill)(running.pid, number)
                    time.sleep(0.05)
                # The script alone: bash answers when install-packages, to which nothing was said, has ended.
                check_end(tree, running, (-number, 128 + number), manager, to_all or manager != "apt-get")
    # Who died of the signal has not answered what it was asked. The signal came before grep was started.
    for script in ("run-demo", "run-tests"):
        running = tree.start(script, NEVER_ANSWERS="1")
        tree.wait_for("\n", running)
        os.kill(running.pid, signal.SIGINT)
        os.kill(int(tree.events.read_text().removeprefix("apt-get is asked as ")), signal.SIGINT)
        said = tree.said_by(running)
        assert running.returncode == 130 and "security archive" not in said, (running.returncode, said)
    running = tree.start("run-demo", LAB_TAKES="infinity", SLOW="")
    tree.wait_for("lab goes on", running)
    os.killpg(running.pid, signal.SIGINT)
    said = tree.said_by(running)
    assert running.returncode == 130 and "ending machine" in said, said


def check_any_moment(source, turns):
    """At those of eight moments of a run, which go from its begin to its end."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(source, pathlib.Path(folder))

        def start():
            running = tree.start("run-demo", SLOW="apt-get", LAB_TAKES="0.2")
            tree.go.touch()
            return running, time.monotonic()

        running, began = start()
        tree.said_by(running)
        whole = time.monotonic() - began
        for turn in turns:
            running, _ = start()
            time.sleep(whole * turn / TURNS)
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGINT)
            said = tree.said_by(running)
            events = tree.events.read_text()
            assert running.returncode in (0, 130, -signal.SIGINT), (turn, running.returncode, said)
            assert "hurt" not in events and events.count(" begins") - events.count("cmake begins") <= events.count(" whole"), events


def check_failure(tree):
    running = tree.start("run-demo", SLOW="debootstrap", CMAKE_FAILS="debootstrap begins")
    said = check_end(tree, running, (1,), "debootstrap")
    assert "no compiler" in said and "program failed" in said, said


def check_whole(tree):
    running = tree.start("run-demo", SLOW="")
    said = tree.said_by(running)
    assert running.returncode == 0, said
    for part in ("this installs Debian packages", "What stays: 1.4 GB in ", "the demo begins", "Next:", "To remove it:",
                 "purge --autoremove $(cat build/installed-packages)"):
        assert part in said, (part, said)
    assert "debootstrap" in (tree.folder / "build/installed-packages").read_text()
    running = tree.start("run-tests", "--fast", SLOW="")
    said = tree.said_by(running)
    assert running.returncode == 0, said
    assert all(part in said for part in ("this takes 5 GB of disk", "Where the time went", "Next:")), said


def check_refusals(tree):
    for environment, why, remedy in (
            ({"UNSHARE_SAYS": "cannot change root filesystem propagation: Invalid argument"}, "no mount point", "mount --bind DIR DIR"),
            ({"UNSHARE_SAYS": "unshare failed: Operation not permitted"}, "cannot be made", "--privileged"),
            ({"MOUNTED": ",nodev"}, "nodev or noexec", "STAPGEN_LAB_DIR"),
            ({"FREE": "700"}, "has 700", "STAPGEN_LAB_DIR"),
            ({"NO_SECURITY": "1"}, "no security archive", "-security main' >/etc/apt/sources.list.d/"),
            ({"ID_IS": "1000"}, "there is no sudo", "run it as root"),
            ({"ARCHITECTURE": "arm64"}, "here is arm64", "untested"),
            ({"AUDIT": "half installed"}, "dpkg was interrupted", "dpkg --configure -a")):
        for script in ("run-demo", "run-tests"):
            running = tree.start(script, **environment)
            said = tree.said_by(running)
            assert running.returncode == 1 and why in said and remedy in said, (environment, said)
            # At once: before anything was installed or built.
            assert tree.events.read_text() == "", tree.events.read_text()


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        check_refusals(tree)
        check_whole(tree)
        check_failure(tree)
        check_signals(tree)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda first: check_any_moment(pathlib.Path(sys.argv[1]).resolve(), range(first, TURNS, 2)), range(2)))


main()
