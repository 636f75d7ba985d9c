#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names from the measured system, as nasty as they may be, bring no control character to the terminal in any format.

usage: check_escapes.py STAPGEN
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

# A title, a cleared screen, a report of the cursor, 8-bit CSI as a byte and as UTF-8, a carriage return, DEL, bytes that
# are no UTF-8, and what a name must not do to a table or a page.
NAMES = [b"\x1b]0;owned\x07", b"\x1b[2J\x1b[H", b"a\x1b[6nb", b"\x9b31mred", b"\xc2\x9b31mred", b"ok\rno", b"\x7f\x08\x08",
         b"\xff\xfe\xe6\x97", b"\x0b\x0c\x0e", b"<script>", b"a|b", b"\xe2\x80\xae evil"]
HEADER = (b"stapgen\t3\trx-latency\trx\ttime:time\tpid:int\ttid:int\tcomm:text\tlocal:endpoint\tremote:endpoint\tdev:text"
          b"\tdrv-ip:stage\tip-tcp:stage\n")
FORMATS = {"table": r"\n", "json": r"\n", "ndjson": r"\n", "csv": r"\n", "openmetrics": r"\n", "html": r"\n\t"}


def recording():
    lines = [HEADER]
    for number, name in enumerate(NAMES * 3):
        lines.append(b"rx\t%d\t%d\t%d\t%s\t10.0.0.1:80\t10.0.0.2:%d\t%s\t%d\t%d\n" % (
            number, number, number, name, number, name, 101 + number, 103 + number))
    lines += [b"what is \x1b[31mthis\x1b[0m\n", b"end\t99\tseen=36\treported=36\n"]
    return b"".join(lines)


def drops():
    """Drops at places with names that no kernel has."""
    head = b"stapgen\t3\tdropwatch\tdrop\taddress:address\treason:reason\tcount:count\n"
    return head + b"".join(b"drop\t%s\t%d\t%d\n" % (name, number, 7 + number) for number, name in enumerate(NAMES))


def check(stapgen, argv, allowed, stdin=b""):
    done = subprocess.run([stapgen, *argv], input=stdin, capture_output=True, check=False, timeout=HANGS)
    shown = [word if isinstance(word, str) else repr(word) for word in argv]
    for stream, text in (("stdout", done.stdout), ("stderr", done.stderr)):
        may = allowed if stream == "stdout" else r"\n"
        try:
            decoded = text.decode()
        except UnicodeDecodeError as error:
            raise AssertionError(f"{shown}: {stream} is not UTF-8: {error}: {text[error.start - 40:error.end + 40]}") from None
        found = re.search(f"(?![{may}])[\x00-\x1f\x7f-\x9f]", decoded)
        assert not found, f"{shown}: {stream} has {decoded[max(found.start() - 60, 0):found.end() + 20]!r}"
    return done


def main():
    stapgen, checked = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text in (("names.rec", recording()), ("drops.rec", drops())):
            (folder / name).write_bytes(text)
            for form, allowed in FORMATS.items():
                for more in ([], ["--series"], ["--by", "socket,process"]):
                    if name == "drops.rec" and more:
                        continue
                    done = check(stapgen, ["report", str(folder / name), "--format", form, *more], allowed)
                    assert done.returncode == 0 and len(done.stdout) > 101, (form, more, done.stderr)
                    checked += 1
        # What the user typed, or a shell's * found, comes back in messages. Those that are no UTF-8 are tried alone.
        for name in [b" ".join(NAMES[at::3]) for at in range(3)] + [name for name in NAMES if b"\xff" in name or b"\x9b" in name]:
            word = os.fsdecode(name)
            file = os.fsencode(folder) + b"/" + name.replace(b"/", b"")
            pathlib.Path(os.fsdecode(file)).write_bytes(b"nothing\n")
            for argv in ([word], ["rx-latency", "--" + word], ["rx-latency", "--dev", word], ["rx-latency", "--addr", word],
                         ["report", os.fsdecode(file)], ["report", word], ["resolve", "--map", os.fsdecode(file), "1"],
                         ["resolve", word], ["show", word], ["--recipe-path", word, word], ["new-recipe", word],
                         ["rx-latency", "--no-workaround", word], ["rx-latency", "--max-packets", word],
                         ["call-trace", "--functions", word], ["compare", os.fsdecode(file), word],
                         ["exec", os.fsdecode(file)], ["build", "rx-latency", "-r", word, "-o", word]):
                done = check(stapgen, argv, r"\n")
                assert done.returncode in (1, 2, 4), (argv, done.returncode, done.stdout, done.stderr)
                checked += 1
    print(f"{checked} commands, no control character")


main()
