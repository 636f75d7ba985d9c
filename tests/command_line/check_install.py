#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_install.py BUILD: what `cmake --install` installs, shells find below share/, and the target uninstall removes all of it
and nothing else."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

RECORDS = ("install_manifest.txt", "install_folders.txt")


def run(*command, code=0, **environment):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANGS,
                          env=os.environ | environment, check=False)
    assert (done.returncode == 0) == (code == 0), f"{command} ended with {done.returncode}: {done.stdout}"
    return done.stdout


@contextlib.contextmanager
def records_kept(build):
    """An installation of the user's from BUILD can be uninstalled afterwards, too."""
    before = {name: (build / name).read_bytes() for name in RECORDS if (build / name).exists()}
    for name in RECORDS:
        (build / name).unlink(missing_ok=True)
    try:
        yield
    finally:
        for name in RECORDS:
            (build / name).unlink(missing_ok=True)
        for name, content in before.items():
            (build / name).write_bytes(content)


def everything_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def check_fish(prefix):
    found = run("fish", "-c", "complete -C 'stapgen rx-lat'", XDG_DATA_DIRS=f"{prefix}/share:/usr/share",
                PATH=f"{prefix}/bin:{os.environ['PATH']}", HOME=str(prefix))
    assert found.startswith("rx-latency\t"), found


def check_uninstall(build, prefix):
    (prefix / "share/fish/vendor_completions.d").mkdir(parents=True)
    (prefix / "share/fish/vendor_completions.d/other.fish").touch()
    (prefix / "share/man").mkdir()
    before = everything_in(prefix)
    uninstall = ["cmake", "--build", build, "--target", "uninstall"]
    run("cmake", "--install", build, "--prefix", prefix)
    run("cmake", "--install", build, "--prefix", prefix)  # it finds its own folders there now
    assert (prefix / "share/stapgen/templates/rx-latency/recipe.toml").is_file()
    check_fish(prefix)
    (prefix / "share/stapgen/of-the-user").touch()
    for path in (prefix / ".config", prefix / ".local", prefix / ".cache"):
        before |= {str(one.relative_to(prefix)) for one in (path, *path.rglob("*")) if one.exists()}  # fish's
    said = run(*uninstall)
    assert "removed " in said, said
    left = everything_in(prefix)
    assert left == before | {"share/stapgen", "share/stapgen/of-the-user"}, left ^ before
    assert "nothing was installed" in run(*uninstall, code=1)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    script = pathlib.Path(__file__).resolve().parents[2] / "scripts/uninstall.cmake"
    with records_kept(build), tempfile.TemporaryDirectory() as folder:
        check_uninstall(build, pathlib.Path(folder).resolve())
        (build / "install_manifest.txt").write_text("/somewhere/_CPack_Packages/Linux/DEB/stapgen-0/usr/bin/stapgen\n")
        assert "cpack has overwritten" in run("cmake", f"-DBUILD={build}", "-P", script, code=1)


main()
