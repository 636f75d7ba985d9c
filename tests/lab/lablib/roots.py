# SPDX-License-Identifier: GPL-2.0-or-later
"""Building and caching the Debian root of a suite."""

import concurrent.futures
import contextlib
import fcntl
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from . import chroot, cross, initrd, machine, other_kernel
from .common import LabError, Skipped, doing, lab_dir, locked, run_logged, run_unharmed, say

# Raise this when what build() does to a root changes.
VERSION = 3
SUITES = {
    "bookworm": {"extra": True, "optional": False},
    "trixie": {"extra": True, "optional": False},
    "forky": {"extra": False, "optional": True},
    # Another kernel in the root of a suite.
    "trixie-cloud": {"base": "trixie", "packages": ["linux-image-cloud-amd64", "linux-headers-cloud-amd64"]},
    "trixie-rt": {"base": "trixie", "packages": ["linux-image-rt-amd64", "linux-headers-rt-amd64"]},
    "bookworm-backports": {"base": "bookworm", "from": "bookworm-backports",
                           "packages": ["linux-image-amd64", "linux-headers-amd64"]},
    # Guests of another architecture, whose modules the root of a suite compiles.
    "trixie-arm64": {"base": "trixie", "architecture": "arm64"},
    "trixie-arm64-16k": {"base": "trixie", "architecture": "arm64", "flavour": "arm64-16k", "machine": "arm64-16k"},
    "forky-arm64": {"base": "forky", "architecture": "arm64", "optional": True},
    # A kernel of Debian's source with what tells of faults, built here.
    "debug": {"base": "trixie", "settings": "kasan.config", "machine": "q35"},
    "debug-races": {"base": "trixie", "settings": "kcsan.config", "machine": "q35"},
    "debug-bookworm": {"base": "bookworm", "settings": "kasan.config", "machine": "q35"},
}
PACKAGES = """systemtap linux-image-amd64 linux-headers-amd64 kmod gcc make libc6-dev memcached
    libmemcached-tools redis-server nginx apache2-utils iperf3 tcpdump ethtool iproute2 procps
    nftables iputils-ping python3-minimal netcat-openbsd liburing-dev busybox-static openssh-server ipvsadm libnginx-mod-stream""".split()
UNUSED_MODULES = """drivers/gpu drivers/media drivers/net/wireless drivers/infiniband drivers/iio
    drivers/staging drivers/usb drivers/scsi sound""".split()
TOOLS = {"debootstrap": "debootstrap", "qemu-system-x86_64": "qemu-system-x86",
         "mke2fs": "e2fsprogs", "unshare": "util-linux"}


class Root:
    """A finished root: its tree, its disk image and its kernel's release."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.tree = self.folder / "root"
        facts = json.loads((self.folder / "facts.json").read_text())
        self.suite, self.release, self.stap = facts["suite"], facts["release"], facts["stap"]
        self.stamp, self.built, self.base_built = facts["stamp"], facts["built"], facts.get("base_built")
        suite = SUITES[self.suite]
        self.machine = machine.MACHINES[suite.get("machine", suite.get("architecture", "pc"))]
        self.architecture, self.base = suite.get("architecture"), suite.get("base")
        # What a guest runs: the tree itself, but for another architecture.
        self.guest_tree = self.folder / "guest" if self.architecture else self.tree
        # A suite that only has another kernel boots from the disk of its base; what is of that kernel it sees in its tree.
        self.disk = (self.folder if self.architecture else self.folder.with_name(suite.get("base", self.folder.name))) / "disk.img"

    @property
    def symbols(self):
        return lab_dir() / "symbols" / f"kallsyms-{self.release}.gz"


def stamp(suite):
    """Return a hash of all that decides what a root contains."""
    recipe = [VERSION, suite, SUITES[suite], PACKAGES, UNUSED_MODULES]
    if "settings" in SUITES[suite]:
        names = ("build-debug", "debug.config", SUITES[suite]["settings"])
        recipe += [(other_kernel.SCRIPTS / name).read_text() for name in names]
    if "architecture" in SUITES[suite]:
        recipe += [cross.BUILDERS, cross.LIBRARIES, cross.COMPILER, cross.PACKAGES]
    return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:16]


def cached_root(suite, base=None):
    """Return the root of SUITE, on BASE, if a whole and current one is there."""
    try:
        root = Root(lab_dir() / "roots" / suite)
    except (FileNotFoundError, ValueError, KeyError):
        return None
    if base and root.base_built != base.built:
        return None
    return root if root.stamp == stamp(suite) and root.symbols.exists() else None


@contextlib.contextmanager
def use_root(suite, rebuild=False):
    """Yield the root of SUITE, built if need be and kept as it is while in use."""
    if os.geteuid():
        raise LabError("the lab needs root: debootstrap, chroot and mount do")
    if suite not in SUITES:
        raise LabError(f"no suite {suite}; there are {', '.join(SUITES)}")
    with contextlib.ExitStack() as held:
        base = held.enter_context(use_root(SUITES[suite]["base"])) if "base" in SUITES[suite] else None
        handle = held.enter_context(locked(f"root-{suite}", shared=True))
        root = None if rebuild else cached_root(suite, base)
        if not root:
            fcntl.flock(handle, fcntl.LOCK_EX)
            root = None if rebuild else cached_root(suite, base)
            root = root or build(suite, base)
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield root


def archives():
    """Return the URIs of the Debian archive and of its security archive, as apt has them. debootstrap notes the first only, and
    deb.debian.org has the other beside it."""
    main = os.environ.get("STAPGEN_LAB_MIRROR")
    security = os.environ.get("STAPGEN_LAB_SECURITY_MIRROR")
    listing = subprocess.run(["apt-get", "update", "--print-uris"], check=False,
                             capture_output=True, text=True).stdout
    for uri, release in re.findall(r"^'((?:https?|ftp|file)://?\S+)/dists/(\S+)/InRelease'",
                                   listing, re.M):
        if release.endswith("-security"):
            security = security or uri
        elif release in (*SUITES, "sid", "stable", "testing", "unstable"):
            main = main or uri
    if main and not security and re.search(r"/deb\.debian\.org/debian/?$", main):
        security = main.rstrip("/") + "-security"
    if not main or not security:
        raise LabError("apt's sources name no Debian archive with its security archive: set "
                       "STAPGEN_LAB_MIRROR and STAPGEN_LAB_SECURITY_MIRROR to their URIs")
    return main, security


def proxy_options():
    """Return apt's proxy settings on this machine as options for apt elsewhere."""
    dump = subprocess.run(["apt-config", "dump", "--format", "%f=%v%n"], check=False,
                          capture_output=True, text=True).stdout
    return [word for line in dump.splitlines()
            if re.match(r"Acquire::(http|https|ftp)::Proxy=.", line) for word in ("-o", line)]


def build(suite, base=None):
    """Build the root of SUITE, on BASE if it has one, beside its final place and move it there when it is whole."""
    for tool, package in (TOOLS | (cross.TOOLS if "architecture" in SUITES[suite] else {})).items():
        if not shutil.which(tool):
            raise LabError(f"{tool} is missing: install the package {package}")
    final = lab_dir() / "roots" / suite
    if re.search(r"\s", str(final)):
        raise LabError(f"debootstrap cannot work in a folder with a space in its name: {final}")
    folder = final.with_name(f"{suite}.building")
    log = lab_dir() / "roots" / f"{suite}.log"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    log.write_text("")
    begin = time.monotonic()
    say(f"building the root of {suite}; log: {log}")
    try:
        with doing(f"building the root of {suite}", log):
            if "architecture" in SUITES[suite]:
                cross.add(base, SUITES[suite], [name for name in PACKAGES if not name.startswith("linux-")], folder, log, proxy_options())
            elif base:
                other_kernel.add(base, SUITES[suite], folder, log, proxy_options())
            else:
                install(suite, folder / "root", log)
    except LabError as failure:
        if SUITES[suite].get("optional"):
            raise Skipped(f"the archive does not deliver {suite} today: {failure}") from None
        raise
    say(f"packages installed after {time.monotonic() - begin:.0f} s")
    release = kernel_release(folder / "root", base)
    stap = chroot.run_chroot(folder / "root", ["stap", "--version"], check=True, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    facts = {"suite": suite, "release": release, "stamp": stamp(suite), "built": time.time(),
             "stap": re.search(r"version ([\d.]+)", stap)[1], "base_built": base.built if base else None}
    (folder / "facts.json").write_text(json.dumps(facts, indent=1))
    root = Root(folder)
    tasks = [fetch_symbols] if root.disk.parent != folder else [make_disk, fetch_symbols]
    with (doing(f"making the disk of {suite}, and asking its kernel for its symbols"),
          concurrent.futures.ThreadPoolExecutor() as pool):
        for done in [pool.submit(task, root, log) for task in tasks]:
            done.result()
    old = final.with_name(f"{suite}.old")
    if final.exists():
        final.rename(old)
    folder.rename(final)
    shutil.rmtree(old, ignore_errors=True)
    say(f"{suite}: stap {facts['stap']}, Linux {release}, "
        f"ready after {time.monotonic() - begin:.0f} s")
    return Root(final)


def install(suite, tree, log):
    """Fill TREE with the suite's minimal system and the lab's packages."""
    main, security = archives()
    proxy = proxy_options()
    environment = dict(os.environ)
    for setting in proxy[1::2]:
        name, value = setting.split("=", 1)
        environment.setdefault(f"{name.split('::')[1]}_proxy", value)
    excluded = ["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*"]
    for modules in UNUSED_MODULES:
        excluded += [f"{base}/modules/*/kernel/{modules}/*" for base in ("/lib", "/usr/lib")]
    dpkg = tree / "etc/dpkg/dpkg.cfg.d/lab"
    dpkg.parent.mkdir(parents=True)
    dpkg.write_text("force-unsafe-io\n" + "".join(f"path-exclude={path}\n" for path in excluded))
    command = ["debootstrap", "--variant=minbase", suite, tree, main]
    if not pathlib.Path("/usr/share/debootstrap/scripts", suite).exists():
        # An older debootstrap does not know the names of newer suites.
        command.append("sid")
    run_unharmed(command, log, env=environment)

    sources = [f"deb {main} {suite} main\n"]
    if SUITES[suite]["extra"]:
        sources += [f"deb {main} {suite}-updates main\n",
                    f"deb {security} {suite}-security main\n"]
    (tree / "etc/apt/sources.list").write_text("".join(sources))
    settings = ['Acquire::Languages "none";', 'APT::Install-Recommends "false";']
    if SUITES[suite]["optional"]:
        # A mirror may be behind testing's Release file, which is only valid for
        # a week; its signature is checked all the same.
        settings.append('Acquire::Check-Valid-Until "false";')
    (tree / "etc/apt/apt.conf.d/lab").write_text("\n".join(settings) + "\n")
    policy = tree / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)

    # INITRD=No: the hook of initramfs-tools then builds none.
    apt_environment = {"DEBIAN_FRONTEND": "noninteractive", "INITRD": "No"}
    for words in (["update", "--error-on=any"], ["-y", "dist-upgrade", *PACKAGES], ["clean"]):
        run_unharmed(chroot.chroot_command(tree, ["apt-get", *proxy, *words], mode="rw",
                                           env=apt_environment), log)
    shutil.rmtree(tree / "var/lib/apt/lists")
    for mount_point in ("lab", "usr/lib/debug/boot"):
        (tree / mount_point).mkdir(parents=True, exist_ok=True)


def kernel_release(tree, base=None):
    """Return the release of the kernel that has headers and an image in TREE, beside that of its BASE."""
    releases = [path.name.removeprefix("vmlinuz-") for path in (tree / "boot").glob("vmlinuz-*")]
    releases = [release for release in releases if not base or release != base.release]
    if len(releases) != 1:
        raise LabError(f"expected one kernel in {tree}/boot, found {releases}")
    if not (tree / "lib/modules" / releases[0] / "build").is_symlink():
        raise LabError(f"no headers for {releases[0]}")
    return releases[0]


def make_disk(root, log):
    """Make the disk image of ROOT, without the kernel's headers: a guest has /usr/src from the tree."""
    run_logged(["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', root.guest_tree / "usr/src",
                "mke2fs", "-q", "-t", "ext4", "-m", "0", "-d", root.guest_tree, root.disk, "3G"], log)


def fetch_symbols(root, log):
    """Boot the kernel of ROOT and store its own symbols, without those of modules."""
    run = root.folder / "symbols-run"
    run.mkdir()
    (run / "initrd.gz").write_bytes(initrd.symbols_archive(root))
    with open(run / "kallsyms", "wb") as disk:
        disk.truncate(64 << 20)
    arguments = f"{root.machine.kernel_arguments} nokaslr"
    run_logged(["timeout", str(machine.BOOT_TIMEOUT), *machine.bare(root, "initrd.gz", arguments),
                "-accel", "tcg", "-m", "1024", "-serial", "stdio", "-drive", "file=kallsyms,if=virtio,format=raw"], log, cwd=run)
    lines = (run / "kallsyms").read_bytes().rstrip(b"\0").splitlines(keepends=True)
    own = [line for line in lines if not line.endswith(b"]\n")]
    if len(own) < 30000:
        raise LabError(f"/proc/kallsyms of {root.release} has only {len(own)} symbols; see {log}")
    root.symbols.parent.mkdir(parents=True, exist_ok=True)
    partial = root.symbols.with_suffix(".part")
    partial.write_bytes(gzip.compress(b"".join(own)))
    partial.rename(root.symbols)
    shutil.rmtree(run)
