#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_dry_run.py STAPGEN: --dry-run changes nothing, and needs no right to write anything."""

import os
import pathlib
import subprocess
import sys
import tempfile

from stapgen import ENVIRONMENT, HANGS

NOBODY = 65534


def contents(folder):
    return sorted((str(path), path.lstat().st_mtime_ns) for path in pathlib.Path(folder).rglob("*"))


def plan(stapgen, words, home, user=None):
    environment = {**ENVIRONMENT, "HOME": str(home), "TMPDIR": str(home)}
    done = subprocess.run([stapgen, *words, "--dry-run"], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=HANGS, check=False, cwd=home, user=user)
    assert done.returncode == 0, f"{words}: {done.returncode} {done.stderr}"
    assert done.stdout.startswith("#"), done.stdout


def main():
    stapgen = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        # Nobody may enter a clone in root's home.
        subprocess.run(["cmake", "--install", pathlib.Path(stapgen).parents[1], "--prefix", pathlib.Path(top, "usr")],
                       stdout=subprocess.DEVNULL, check=True)
        stapgen = os.path.join(top, "usr/bin/stapgen")
        home = pathlib.Path(top, "home")
        home.mkdir()
        symbols = pathlib.Path(top, "symbols")
        symbols.write_text("ffffffff81000000 T tcp_v4_rcv\n", encoding="utf-8")
        before = contents(top)
        for words in (["rx-latency", "-o", "rx.rec"], ["dropwatch", "--symbols", str(symbols)],
                      ["build", "rx-latency", "-r", "5.10.0-none", "-o", "rx.ko"], ["softnet", "-o", "soft.rec"]):
            plan(stapgen, words, home)
            assert contents(top) == before, f"{words} changed {contents(top)}"
            if os.geteuid() == 0:
                plan(stapgen, words, home, user=NOBODY)
                plan(stapgen, words, "/", user=NOBODY)

main()
