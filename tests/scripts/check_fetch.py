#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fetch-duckdb: check_fetch.py SOURCE. What it unpacks is what it checked, whatever becomes of the cache then.

The script is the real one but for the checksum, which is that of a package made here. sha512sum is the machine's, after
which another file is in the cache; npm delivers what it is told to.
"""

import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

SCRIPT, FILES = "fetch-duckdb", ["LICENSE", "libduckdb.so"]


def package(names, text):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in names:
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


def put(path, text):
    path.write_text(text)
    path.chmod(0o755)


def check(source, folder):
    good, bad = package(FILES, b"good"), package(FILES, b"bad")
    text = (source / "scripts" / SCRIPT).read_text()
    put(folder / SCRIPT, re.sub(r"^sha512=\w+$", f"sha512={hashlib.sha512(good).hexdigest()}", text, flags=re.M))
    name = "duckdb-node-bindings-linux-x64-{}.tgz".format(re.search(r"^version=(\S+)$", text, re.M)[1])
    cache, bin_folder, into = folder / "cache/stapgen-build", folder / "bin", folder / "into"
    for path in (cache, bin_folder, into):
        path.mkdir(parents=True)
    (folder / "bad").write_bytes(bad)
    put(bin_folder / "sha512sum", f'#!/bin/sh\n/usr/bin/sha512sum "$@" || exit 1\ncp "{folder}/bad" "{cache}/{name}"\n')
    put(bin_folder / "npm", f'#!/bin/sh\ncp "{folder}/delivered" "{name}"\n')

    def run():
        environment = os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache")}
        done = subprocess.run([folder / SCRIPT, into], env=environment, capture_output=True, text=True, timeout=HANGS, check=False)
        found = {file.read_bytes() for file in into.rglob("*") if file.is_file()}
        for file in into.rglob("*"):
            if file.is_file():
                file.unlink()
        assert not list(into.glob(".fetching*")), list(into.iterdir())
        return done, found

    (folder / "delivered").write_bytes(bad)
    (cache / name).write_bytes(good)
    done, found = run()
    assert done.returncode == 0 and found == {b"good"}, (done, found)
    done, found = run()  # what is in the cache is the bad one now, and npm has none better
    assert done.returncode == 1 and not found and "checksum" in done.stderr, (done, found)
    (folder / "delivered").write_bytes(good)
    done, found = run()
    assert done.returncode == 0 and found == {b"good"}, (done, found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))


main()
