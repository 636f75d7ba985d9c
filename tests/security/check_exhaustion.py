#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_exhaustion.py STAPGEN SAMPLES: where descriptors or memory run out, each command ends with an error and never aborts."""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS, wait_for  # noqa: E402

# From too few for anything on, up to what each of them needs.
DESCRIPTORS = [*range(4, 26), 32]
MEMORY_MB = [40, 60, 80, 120, 200]
SERVE = ["serve", "softnet", "--listen", "127.0.0.1:0"]
EXIT_CODES = {0, 1, 2, 4, 5, 7}


def work_of(pid):
    """Return what a process and its children have had of processors, in ticks."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = " ".join(file.read_text() for file in pathlib.Path(f"/proc/{pid}/task").glob("*/children")).split()
        return sum(map(int, words[11:15])) + sum(map(work_of, children))
    except OSError:
        return 0  # it has ended


def end_of(argv, limit, value, goes_on):
    """Return the exit code and stderr of ARGV under that limit. What GOES_ON is ended by Ctrl-C as soon as it runs."""
    with tempfile.TemporaryFile("w+") as error:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=error,
                                   preexec_fn=lambda: resource.setrlimit(limit, (value, value)))

        def said():
            error.seek(0)
            return error.read()

        if goes_on:
            wait_for(lambda: process.poll() is not None or "metrics are at" in said())
            # It has come to rest, most likely; if not, that is a moment like any other.
            before = -1
            while process.poll() is None and before != (before := work_of(process.pid)):
                time.sleep(0.2)
            process.send_signal(signal.SIGINT)
        process.wait(timeout=HANGS)
        return process.returncode, said()


def main():
    # A fault here may be a signal to every process: there are no others.
    if os.getpid() != 1 and os.geteuid() == 0:
        sys.exit(subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", sys.executable, *sys.argv], check=False).returncode)
    stapgen, samples = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    commands = [["doctor"], ["softnet", "-d", "100ms"], SERVE,
                ["report", samples / "rx-latency.rec"], ["fleet", "report", samples / "six-hosts"],
                ["compare", samples / "rx-latency.rec", samples / "rx-latency.rec"]]
    refused = tried = 0
    for limit, values in ((resource.RLIMIT_NOFILE, DESCRIPTORS),
                          (resource.RLIMIT_AS, [value << 20 for value in MEMORY_MB])):
        for value in values:
            for command in commands:
                code, error = end_of([stapgen, *command], limit, value, command is SERVE)
                if code == 127 and "error while loading shared libraries" in error:
                    continue  # by the loader: it had not begun
                tried += 1
                assert code in EXIT_CODES or code == -signal.SIGINT, (command, value, code, error[-1000:])
                assert code == 0 or "stapgen: " in error or code < 0, (command, value, code, error)
                refused += code != 0
    assert refused > 20, f"the limits refused {refused} of {tried} commands"
    print(f"{tried} commands under limits, {refused} of them ended with an error, none by a signal of its own")


main()
