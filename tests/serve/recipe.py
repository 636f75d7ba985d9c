#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""recipe.py FOLDER: a steered stapgen whose kernel is a test: the protocol of src/session/remote.h.

Run N reads FOLDER/lines-N as the test makes it longer, and sends its lines as those of a script. A file FOLDER/die-N ends
it: its first word is the exit code, or below 0 a signal; what follows is said on stderr. FOLDER/kept is said there, once.
When stdin ends so does it, with the line in FOLDER/end.
"""

import json
import os
import pathlib
import select
import sys
import time

FOLDER = pathlib.Path(sys.argv[1])


def send(text, last=False):
    """A raw block of a zstd frame."""
    data = text.encode()
    os.write(1, (int(last) | len(data) << 3).to_bytes(3, "little") + data)


def stdin_ended():
    readable, _, _ = select.select([0], [], [], 0)
    return bool(readable) and not os.read(0, 64)


def note(name):
    """Note the time of this machine in the file of that NAME: a line for each run."""
    with open(FOLDER / name, "a", encoding="utf-8") as file:
        print(time.monotonic(), file=file)


def die(words):
    code, _, said = words.partition(" ")
    note("ends")
    print(said, file=sys.stderr, flush=True)
    if int(code) < 0:
        os.kill(os.getpid(), -int(code))
    os._exit(int(code))


def main():
    runs = FOLDER / "runs"
    number = len(runs.read_text().splitlines()) + 1 if runs.exists() else 1
    note("runs")
    fatal, lines = FOLDER / f"die-{number}", FOLDER / f"lines-{number}"
    print("@stapgen ready", file=sys.stderr, flush=True)
    if not sys.stdin.buffer.raw.read(3):
        sys.exit(1)
    # A frame's header, with a window of 1 MiB.
    os.write(1, b"\x28\xb5\x2f\xfd\x00\x50")
    send("recording\t1\t" + (FOLDER / "setup").read_text() + "\n")
    sent = 0
    while True:
        text = lines.read_text() if lines.exists() else ""
        whole = text[sent:text.rfind("\n") + 1]
        for at in range(0, len(whole), 100000):
            send(whole[at:at + 100000])
        sent += len(whole)
        if (FOLDER / "kept").exists():
            print((FOLDER / "kept").read_text(), file=sys.stderr, flush=True)
            (FOLDER / "kept").unlink()
        if fatal.exists():
            die(fatal.read_text())
        if stdin_ended():
            break
        time.sleep(0.01)
    send((FOLDER / "end").read_text() if (FOLDER / "end").exists() else "")
    send("recording-end\t" + json.dumps({"lines": 1, "skipped_probes": 3}) + "\n", last=True)


main()
