#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_output.py STAPGEN SAMPLE: an output that takes nothing is an error; a reader that has enough is none."""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

from stapgen import ENVIRONMENT, HANGS

TOLD = "stapgen: the output is incomplete: it could not be written\n  hint: check whether stdout is closed, or its disk full\n"


def run(words, redirection, **streams):
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *words]
    done = subprocess.run(shell, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True, timeout=HANGS, check=False, **streams)
    return done.returncode, done.stderr


def check_full_disk(stapgen, sample):
    """A page is whole or not there: into a file by the shell, behind what is there already, and with -o. A recording that is not
    whole is said to be so."""
    def at_most(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    def allow_8_kb():
        at_most(8192)

    page = [stapgen, "report", sample, "--format", "html"]
    with tempfile.TemporaryDirectory() as folder:
        measured = [stapgen, "softnet", "-d", "100ms", "-q", "--format", "html"]
        for words, redirection, left in ((page, f">{folder}/new", b""), (page, f">>{folder}/old", b"before\n"),
                                         (measured, f">{folder}/new", b"")):
            file = pathlib.Path(redirection.lstrip(">"))
            file.write_bytes(left)
            code, errors = run(words, redirection, preexec_fn=allow_8_kb)
            assert code == 1 and "nothing of it is in the file" in errors and file.read_bytes() == left, (code, errors)
        code, errors = run([*page, "-o", f"{folder}/page.html"], "", preexec_fn=allow_8_kb)
        assert code == 1 and "could not be written" in errors, (code, errors)
        assert sorted(os.listdir(folder)) == ["new", "old"], os.listdir(folder)
        assert run([*page, "-o", f"{folder}/page.html"], "") == (0, "")
        text = pathlib.Path(folder, "page.html").read_text()
        assert text.rstrip().endswith("</html>") and os.stat(f"{folder}/page.html").st_mode & 0o777 == 0o600
        code, errors = run([*page, "-o", f"{folder}/page.html"], "")
        assert code == 2 and "choose a new file name" in errors, (code, errors)
        recording = f"{folder}/softnet.rec"
        code, errors = run([stapgen, "softnet", "-d", "100ms", "-q", "-o", recording], ">/dev/null", preexec_fn=lambda: at_most(509))
        assert code == 1 and f"{recording} is incomplete" in errors and os.stat(recording).st_size == 509, (code, errors)


def check_new_file(stapgen, sample):
    """-o has what stdout would have, with the exit code that it would have had."""
    hosts = pathlib.Path(sample).parent / "six-hosts"
    sides = [pathlib.Path(sample).parent / f"slower-stage/{side}" for side in ("before", "after")]
    with tempfile.TemporaryDirectory() as folder:
        for number, words in enumerate((["report", sample], ["compare", *sides], ["fleet", "report", hosts], ["fleet", "compare", hosts])):
            command = [stapgen, *words, "--format", "json"]
            printed = subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=HANGS, check=False)
            file = pathlib.Path(folder, f"{number}.json")
            code, errors = run([*command, "-o", file], "")
            assert (code, errors) == (printed.returncode, printed.stderr.decode()), (words, code, errors)
            assert file.read_bytes() == printed.stdout != b"", words


def main():
    stapgen, sample = (os.path.abspath(word) for word in sys.argv[1:3])
    for words in (["list"], ["--help"], ["--version"], ["help", "list"], ["complete", "--", ""], ["render", "dropwatch"],
                  ["report", sample], ["report", sample, "--format", "html"], ["rx-latency", "--dry-run"]):
        for redirection in (">/dev/full", ">&-", ">&- <&-"):
            ended = run([stapgen, *words], redirection)
            assert ended == (1, TOLD), f"{words} {redirection}: {ended}"
        reader, writer = os.pipe()
        os.close(reader)
        ended = run([stapgen, *words], "", stdout=writer)
        os.close(writer)
        assert ended == (0, ""), f"{words} into a pipe without a reader: {ended}"
        ended = run([stapgen, *words], ">/dev/null 2>&-")
        assert ended == (0, ""), f"{words} without stderr: {ended}"
        # A terminal that is closed: what is written to it fails, and nobody is there to be told.
        main_end, terminal = os.openpty()
        os.close(main_end)
        ended = run([stapgen, *words], "", stdout=terminal)
        os.close(terminal)
        assert ended == (0, ""), f"{words} onto a closed terminal: {ended}"
    check_full_disk(stapgen, sample)
    check_new_file(stapgen, sample)
    # What it found stays the exit code; that the report of it is lost is said, too.
    slower = os.path.join(os.path.dirname(sample), "slower-stage")
    code, errors = run([stapgen, "compare", f"{slower}/before", f"{slower}/after"], ">/dev/full")
    assert code == 3 and errors.startswith(TOLD) and "regression" in errors, f"compare: {code} {errors}"
    code, errors = run([stapgen, "report", "-"], "<&- >/dev/null")
    assert code != 0 and "Bad file descriptor" in errors, f"stdin closed: {code} {errors}"


main()
