#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_ctrl_c.py STAPGEN SAMPLES: SIGINT at moments of export, query and serve, from the first to the last: each ends in order,
nothing is left in the temporary folder, nobody goes on, and a store can be read and written again.

fleet run has the same in tests/fleet, run-demo in tests/scripts.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from sessions import left_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS, wait_for  # noqa: E402

TURNS = 12
SKIPPED = 77
SLOW = "SELECT count(*) FROM hist a, hist b, hist c WHERE a.n + b.n + c.n = 1"


class Interrupted:
    def __init__(self, stapgen, folder):
        self.stapgen, self.folder = stapgen, folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir(mode=0o700)
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8",
                            "TMPDIR": str(self.temporary)}

    def run(self, *words):
        done = subprocess.run([self.stapgen, *words], env=self.environment, capture_output=True, text=True, timeout=HANGS,
                              check=False)
        assert done.returncode == 0, (words, done.returncode, done.stderr)
        return done.stdout

    def start(self, words):
        return subprocess.Popen([self.stapgen, *words], env=self.environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def interrupt_at_each(self, words, seconds, codes):
        """Interrupt it at moments in that time; return its exit codes."""
        return [self.interrupt(words, codes, lambda turn=turn: time.sleep(seconds * turn / TURNS)) for turn in range(TURNS)]

    def interrupt(self, words, codes, wait):
        """Run it, WAIT, and send SIGINT; return its exit code."""
        process = self.start(words)
        wait()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=HANGS)
        assert process.returncode in codes, (words, process.returncode, error)
        wait_for(lambda: not left_of(process.pid))
        left = sorted(path.name for path in self.temporary.iterdir())
        assert not left, (words, left)
        return process.returncode


def check_export(interrupted, samples):
    store = interrupted.folder / "store"
    words = ["export", samples / "six-hosts", samples / "rx-latency.rec", "--parquet"]
    # While a run is written SIGINT waits for its end, and is heeded then. Between two runs it ends the program.
    for turn in range(TURNS):
        fresh = interrupted.folder / f"fresh-{turn}"
        if interrupted.interrupt([*words, fresh], (0, 1, -signal.SIGINT), lambda: wait_for(lambda: any(fresh.rglob("*.parquet")))) == 1:
            break
    else:
        raise AssertionError("of a run that was being written none ended by SIGINT")
    began = time.monotonic()
    interrupted.run(*words, interrupted.folder / "whole")
    seconds = time.monotonic() - began
    words.append(store)
    ended = interrupted.interrupt_at_each(words, seconds, (0, 1, -signal.SIGINT))
    left = [path.name for path in store.rglob("*") if path.is_file() and not path.name.endswith(".parquet")]
    assert not left, left
    # A run that is said to be there is whole, and the next export makes it so.
    if (store / "runs").is_dir():
        interrupted.run("query", store, "SELECT run, sum(n) FROM hist JOIN runs USING (run) GROUP BY run", "--json")
    interrupted.run(*words)
    rows = json.loads(interrupted.run("query", store, "SELECT count(*) AS runs FROM runs", "--json"))["rows"]
    assert rows == [{"runs": 7}], rows
    print(f"export: exit codes {ended}")
    return store


def check_query(interrupted, store):
    began = time.monotonic()
    interrupted.run("query", store, "SELECT 1")
    ended = interrupted.interrupt_at_each(["query", store, SLOW], 2 * (time.monotonic() - began), (0, -signal.SIGINT))
    assert -signal.SIGINT in ended, ended
    print(f"query: exit codes {ended}")


def check_serve(interrupted):
    words = ["serve", "softnet", "--listen", "127.0.0.1:0"]
    process, began = interrupted.start(words), time.monotonic()
    # It ends in order from when it says so.
    assert wait_for(process.stderr.readline).endswith("; Ctrl-C ends it\n")
    seconds = time.monotonic() - began
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=HANGS) and process.returncode == 0, process.returncode
    ended = interrupted.interrupt_at_each(words, 3 * seconds, (0, -signal.SIGINT))
    print(f"serve: exit codes {ended}")


def main():
    stapgen, samples = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    library = pathlib.Path(stapgen).parent.parent / "share/stapgen/libduckdb.so"
    with tempfile.TemporaryDirectory() as folder:
        interrupted = Interrupted(stapgen, pathlib.Path(folder))
        check_serve(interrupted)
        if not library.exists() and not shutil.which("duckdb"):
            print("DuckDB's library is not here: export and query were not tried")
            return SKIPPED
        check_query(interrupted, check_export(interrupted, samples))
    return 0


sys.exit(main())
