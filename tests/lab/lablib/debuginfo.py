# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel with DWARF, which Debian has in a package of its own of some 1 GB."""

import shutil
import subprocess

from . import chroot
from .common import LabError, Skipped, doing, lab_dir, locked, run_logged, say
from .roots import proxy_options

# The root is read-only, and its lists of packages were removed; /lab is the folder of the download.
APT = ["apt-get", "-o", "Dir::State=/lab", "-o", "Dir::Cache=/lab", "-o", "APT::Sandbox::User=root"]


def vmlinux(root):
    """Return the path of vmlinux-RELEASE with DWARF for ROOT, fetched if it is not there yet."""
    target = lab_dir() / "dbg" / f"vmlinux-{root.release}"
    with locked(f"dbg-{root.release}"):
        if not target.exists():
            fetch(root, target)
    return target


def fetch(root, target):
    """Fetch the debug package of just ROOT's kernel and keep its vmlinux as TARGET."""
    folder = target.with_name(f"{root.release}.part")
    log = target.with_name(f"{root.release}.log")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log.write_text("")

    def run(*command):
        run_logged(chroot.chroot_command(root.tree, command, [(folder, "/lab")], cwd="/lab"), log)

    image = f"linux-image-{root.release}"
    version = chroot.run_chroot(root.tree, ["dpkg-query", "-W", "-f", "${Version}", image],
                                check=True, text=True, stdout=subprocess.PIPE).stdout
    package = f"{image}-dbg={version}"
    say(f"fetching {package}; log: {log}")
    try:
        with doing(f"fetching {package}", log):
            run(*APT, *proxy_options(), "update", "--error-on=any")
            run(*APT, *proxy_options(), "download", package)
    except LabError as failure:
        raise Skipped(f"the archive does not deliver {package}; if it has a newer kernel, "
                      f"run: lab root --rebuild {root.suite}\n{failure}") from None
    member = f"usr/lib/debug/boot/vmlinux-{root.release}"
    # tar stops at the file that is wanted; that dpkg-deb then dies of the closed pipe is no failure.
    run("sh", "-c", 'dpkg-deb --fsys-tarfile ./*.deb | tar -x --occurrence=1 "./$0"', member)
    (folder / member).rename(target)
    shutil.rmtree(folder)
