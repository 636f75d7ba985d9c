# SPDX-License-Identifier: GPL-2.0-or-later
"""Another kernel in the root of a suite: Debian's own of another flavour, or one that is built here."""

import os
import shutil

from . import chroot
from .common import SOURCE, lab_dir, run_logged, run_unharmed

SCRIPTS = SOURCE / "linux"


def add(base, suite, folder, log, proxy):
    """Make FOLDER/root, which is BASE's tree and the kernel that SUITE says."""
    tree = folder / "root"
    share(base.tree, tree, log)
    if "settings" in suite:
        # Where the build ends early, the next one goes on from there.
        built = lab_dir() / "kernels" / folder.stem
        run_script(base.tree, built, ["build-debug", suite["settings"]], log, proxy)
        run_logged(["cp", "-a", f"{built}/kernel/.", tree], log)
        shutil.rmtree(built)
        return
    install(suite, tree, log, proxy)
    release = next(path.name for path in (tree / "lib/modules").iterdir() if path.name != base.release)
    modules = tree / "lib/modules" / release
    if not list(modules.rglob("9p.ko*")):
        run_script(tree, folder / "built", ["build-9p", release], log, proxy)
        shutil.copytree(folder / "built/9p", modules / "updates", ignore=lambda _, names: [n for n in names if n[-3:] != ".ko"])
        shutil.rmtree(folder / "built")
        run_logged(chroot.chroot_command(tree, ["depmod", release], mode="rw"), log)


def share(old, tree, log):
    """Make TREE a copy of OLD, whose files are the same ones as far as nothing writes to them."""
    run_logged(["cp", "-al", old, tree], log)
    # apt and dpkg replace files, but write to those of these folders.
    for name in ("etc", "var", "boot"):
        shutil.rmtree(tree / name)
        run_logged(["cp", "-a", old / name, tree / name], log)


def install(suite, tree, log, proxy):
    """Install the packages of SUITE's kernel in TREE."""
    release = ["-t", suite["from"]] if "from" in suite else []
    if release:
        sources = tree / "etc/apt/sources.list"
        main = sources.read_text().splitlines()[0].split()
        with sources.open("a") as more:
            more.write(f"deb {main[1]} {suite['from']} main\n")
    for words in (["update", "--error-on=any"], ["-y", *release, "install", *suite["packages"]], ["clean"]):
        run_unharmed(chroot.chroot_command(tree, ["apt-get", *proxy, *words], mode="rw",
                                           env={"DEBIAN_FRONTEND": "noninteractive", "INITRD": "No"}), log)
    shutil.rmtree(tree / "var/lib/apt/lists")


def run_script(tree, folder, words, log, proxy):
    """Run a script of linux/ in TREE, which stays as it is; FOLDER is its /lab."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [f"/mnt/{words[0]}", *words[1:]]
    jobs = os.environ.get("STAPGEN_LAB_JOBS", str(os.cpu_count()))
    run_logged(chroot.chroot_command(tree, command, [(SCRIPTS, "/mnt"), (folder, "/lab")], mode="scratch", cwd="/lab",
                                     env={"PROXY": " ".join(proxy), "JOBS": jobs}), log)
