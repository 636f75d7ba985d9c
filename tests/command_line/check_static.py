#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_static.py STATIC STAPGEN SAMPLES: the program of the preset `static` runs where nothing else is.

Its root holds that one file and a sample: no C library, no /proc, no /tmp. System calls that Linux 3.10 lacks fail, as
they do there. What it prints is what the program STAPGEN prints. "skipped: why" where it cannot be tried.
"""

import ctypes
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

READING = [["--version"], ["list"], ["list", "--json"], ["show", "rx-latency"], ["render", "rx-latency"],
           ["render", "sock-latency", "--standalone"], ["rx-latency", "--help"], ["complete", "--", "re"],
           ["report", "/sample.txt"], ["report", "/sample.txt", "--format", "json"],
           ["report", "/sample.txt", "--format", "html"], ["report", "/utf-16.txt"], ["report", "/packed.xz"],
           ["compare", "/sample.txt", "/packed.xz"]]

LAST_OF_3_10 = 313  # finit_module
X86_64 = 0xC000003E


def forbid_newer_calls():
    """Have the kernel say ENOSYS to what Linux 3.10 has not, to this process and its children (seccomp(2))."""
    def step(code, true, false, value):
        return struct.pack("HBBI", code, true, false, value)

    load, equal, above, answer = 0x20, 0x15, 0x25, 0x06
    steps = b"".join([step(load, 0, 0, 4), step(equal, 0, 2, X86_64),
                      step(load, 0, 0, 0), step(above, 1, 0, LAST_OF_3_10),
                      step(answer, 0, 0, 0x7FFF0000), step(answer, 0, 0, 0x00050000 | 38)])
    memory = ctypes.create_string_buffer(steps)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps) // 8, ctypes.addressof(memory)))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((38, 1, 0, 0, 0), (22, 2, program, 0, 0)):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def without_traffic(text):
    """Leave out what `show` expects of the traffic of now, of which an empty root knows nothing."""
    return re.sub(rb"Expected: .*\n  with --aggregate: .*\n", b"", text)


def words_of_elf(program):
    """Return what readelf says of its segments and notes."""
    return subprocess.run(["readelf", "-lnW", program], capture_output=True, text=True, check=True).stdout


class Root:
    """A root with nothing but what is put into it."""

    def __init__(self, folder, program):
        self.folder = pathlib.Path(folder)
        shutil.copy(program, self.folder / "stapgen")

    def run(self, *words, code=0, old=True, **environment):
        done = subprocess.run(["unshare", "--map-root-user", "--root", self.folder, "/stapgen", *words],
                              preexec_fn=forbid_newer_calls if old else None, stdin=subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"], **environment}, capture_output=True, timeout=HANGS, check=False)
        assert done.returncode == code, f"{words} ended with {done.returncode}: {done.stderr.decode()}"
        return done.stdout, done.stderr.decode()


def check(static, stapgen, sample, top):
    elf = words_of_elf(static)
    assert "INTERP" not in elf and "DYNAMIC" not in elf, "it asks for an interpreter"
    assert "OS: Linux, ABI: 3.2.0" in elf, "it asks for another kernel than 3.2"
    size = os.stat(static).st_size
    assert size < 14_000_000, f"it has {size} bytes"  # optimised 9, a debug build more

    root = Root(top / "root", static)
    text = sample.read_text()
    shutil.copy(sample, root.folder / "sample.txt")
    (root.folder / "utf-16.txt").write_text("\N{BYTE ORDER MARK}" + text, encoding="utf-16-le")
    (root.folder / "packed.xz").write_bytes(lzma.compress(sample.read_bytes()))
    there = {path.name for path in root.folder.iterdir()}
    for words in READING:
        # The files have no other names outside.
        paths = [str(root.folder) + word if word.startswith("/") else word for word in words]
        done = subprocess.run([stapgen, *paths], capture_output=True, check=False, env={"HOME": str(top)})
        # The sample is too short to be compared.
        code = 7 if words[0] == "compare" else 0
        assert done.returncode == code, done.stderr
        wanted = done.stdout.replace(str(root.folder).encode(), b"")
        got = without_traffic(root.run(*words, code=code)[0])
        wanted = without_traffic(wanted)
        assert got == wanted, f"{words}: {got[:2000]!r} and not {wanted[:2000]!r}"
    kept = list((root.folder / "root/.cache/stapgen").iterdir())
    assert len(kept) == 1 and kept[0].name.startswith("program-"), kept
    assert {path.name for path in root.folder.iterdir()} == there | {"root"}

    # What runs elsewhere names the package that is missing.
    for words in (["rx-latency", "-d", "1"], ["doctor"]):
        said = "".join(map(str, root.run(*words, code=4)))
        assert "systemtap" in said, said

    # Where the cache is a file it takes a folder that goes, and where there is none, says what to do.
    root.run("list", code=4, XDG_CACHE_HOME="/stapgen")
    (root.folder / "tmp").mkdir()
    assert root.run("list", XDG_CACHE_HOME="/stapgen")[0] == root.run("list")[0]
    assert "DuckDB" in root.run("export", "/sample.txt", "--parquet", "/store", code=4)[1]
    assert not list((root.folder / "tmp").iterdir())


def main():
    static, stapgen, sample = map(pathlib.Path, sys.argv[1:4])
    if not static.exists():
        sys.exit(f"{static} is not built")
    with tempfile.TemporaryDirectory() as top:
        pathlib.Path(top, "root").mkdir()
        allowed = subprocess.run(["unshare", "--map-root-user", "true"], capture_output=True, check=False)
        if allowed.returncode != 0:
            print("skipped: this machine allows no user namespace")
            return
        check(static, stapgen, sample, pathlib.Path(top))


main()
