#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_install.py BUILD: what `cmake --install` installs, shells find below share/, and the target uninstall removes all of it
and nothing else."""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(*command, code=0, **environment):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANGS,
                          env=os.environ | environment, check=False)
    assert (done.returncode == 0) == (code == 0), f"{command} ended with {done.returncode}: {done.stdout}"
    return done.stdout


def everything_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def check_fish(prefix):
    found = run("fish", "-c", "complete -C 'stapgen rx-lat'", XDG_DATA_DIRS=f"{prefix}/share:/usr/share",
                PATH=f"{prefix}/bin:{os.environ['PATH']}", HOME=str(prefix))
    assert found.startswith("rx-latency\t"), found


def uninstall(build, prefix, code=0):
    return run("cmake", f"-DBUILD={build}", f"-DPREFIX={prefix}", "-P", SOURCE / "scripts/uninstall.cmake", code=code)


def check_uninstall(build, prefix, other):
    (prefix / "share/fish/vendor_completions.d").mkdir(parents=True)
    (prefix / "share/fish/vendor_completions.d/other.fish").touch()
    (prefix / "share/man").mkdir()
    before = everything_in(prefix)
    run("cmake", "--install", build, "--prefix", prefix)
    run("cmake", "--install", build, "--prefix", prefix)  # it finds its own folders there now
    assert (prefix / "share/stapgen/templates/rx-latency/recipe.toml").is_file()
    check_fish(prefix)
    (prefix / "share/stapgen/of-the-user").touch()
    for path in (prefix / ".config", prefix / ".local", prefix / ".cache"):
        before |= {str(one.relative_to(prefix)) for one in (path, *path.rglob("*")) if one.exists()}  # fish's
    # As run-demo does, into another prefix of the same build: each has its own record.
    run("cmake", "--install", build, "--prefix", os.path.relpath(other))
    elsewhere = everything_in(other)
    said = uninstall(build, prefix)
    assert f" files from {prefix};" in said, said
    left = everything_in(prefix)
    assert left == before | {"share/stapgen", "share/stapgen/of-the-user"}, left ^ before
    assert everything_in(other) == elsewhere
    said = uninstall(build, prefix, code=1)
    assert "nothing was installed" in said and f"PREFIX={other}" in "".join(said.split()), said
    uninstall(build, other)
    assert not everything_in(other.parent) - {other.name}, everything_in(other.parent)


def check_target(build, folder):
    """The target uninstalls what was installed where the build was configured for."""
    run("cmake", "--install", build, DESTDIR=str(folder))
    assert everything_in(folder)
    run("cmake", "--build", build, "--target", "uninstall", DESTDIR=str(folder))
    assert not everything_in(folder), everything_in(folder)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        (folder / "prefix").mkdir()
        check_uninstall(build, folder / "prefix", folder / "other/demo")
        check_target(build, folder / "root")


main()
