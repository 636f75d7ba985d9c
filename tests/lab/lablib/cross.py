# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest of another architecture: what it runs is compiled on this machine's, and only its kernel is emulated.

The root that compiles is its base's, with a cross compiler and the other architecture's kernel. The guest's tree is
unpacked, none of its programs runs before it boots: what installing them would have made is taken from the base's tree.
"""

import os
import shutil

from . import chroot, other_kernel
from .common import SOURCE, lab_dir, locked, run_logged, run_unharmed

CHECKOUT = SOURCE.parent.parent
TRIPLETS = {"arm64": "aarch64-linux-gnu"}
TOOLS = {"qemu-system-aarch64": "qemu-system-arm"}
# Of scripts/install-packages, what builds stapgen: programs of this machine's, and libraries of the other's.
BUILDERS = "cmake g++ make pkg-config git ca-certificates".split()
LIBRARIES = """libboost-dev libboost-filesystem-dev libexpected-dev libfmt-dev libkainjow-mustache-dev
    libprotozero-dev libtomlplusplus-dev nlohmann-json3-dev libbpf-dev libbz2-dev libdw-dev libelf-dev
    liblzma-dev libmd-dev libncurses-dev libpcap0.8-dev libzstd-dev zlib1g-dev""".split()
# In the root, with /lab for what is downloaded. The kernel's headers are unpacked: they depend on a compiler that runs on
# the other architecture, which excludes the cross compiler; which one that is, the kernel's options say. Newer kernels are in
# several packages, and something that does not run here copies them to /boot.
COMPILER = r"""
set -e
cd /lab
dpkg --add-architecture $ARCH
apt-get $PROXY update --error-on=any
image=$(apt-cache depends linux-image-$FLAVOUR:$ARCH | sed -n 's/.*Depends: \(linux-image-[^:]*\).*/\1/p' | head -1)
release=${image#linux-image-}
parts=$(apt-cache depends $image:$ARCH | sed -n "s/.*Depends: \(linux-[a-z]*-$release:$ARCH\)$/\1/p")
apt-get $PROXY -o APT::Sandbox::User=root download $image:$ARCH linux-headers-$release:$ARCH $parts
for package in ./*.deb; do dpkg -x $package /; done
for file in vmlinuz config System.map; do
    [ -e /boot/$file-$release ] || cp /lib/modules/$release/$file /boot/$file-$release
done
depmod $release
compiler=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ ]*\) .*/\1/p' /boot/config-$release)
libraries=
for name in $LIBRARIES; do  # those of headers alone are for all architectures
    if apt-cache show $name:$ARCH >/dev/null 2>&1; then name=$name:$ARCH; fi
    libraries="$libraries $name"
done
apt-get $PROXY -y install $BUILDERS g++-$TRIPLET ${compiler#$TRIPLET-}-$TRIPLET linux-kbuild-${release%-$FLAVOUR} \
    linux-headers-${release%-$FLAVOUR}-common $libraries
"""
# What a guest has, with all that it depends on: to apt nothing is installed there.
PACKAGES = r"""
set -e
cd /lab
mkdir -p empty/apt/lists/partial packages/partial
touch empty/status
apt-get $PROXY -o APT::Architecture=$ARCH -o APT::Architectures::=$ARCH -o Dir::State::status=/lab/empty/status \
    -o Dir::Cache::Archives=/lab/packages -o APT::Sandbox::User=root -y --download-only install '?essential' '?priority(required)' $PACKAGES
apt-get clean
"""


def add(base, suite, packages, folder, log, proxy):
    """Make FOLDER/root, BASE's tree that compiles for SUITE's architecture, and FOLDER/guest with PACKAGES of that."""
    architecture = suite["architecture"]
    tree, guest, downloads = folder / "root", folder / "guest", folder / "downloads"
    other_kernel.share(base.tree, tree, log)
    environment = {"DEBIAN_FRONTEND": "noninteractive", "ARCH": architecture, "FLAVOUR": suite.get("flavour", architecture),
                   "TRIPLET": TRIPLETS[architecture], "PROXY": " ".join(proxy), "BUILDERS": " ".join(BUILDERS),
                   "LIBRARIES": " ".join(LIBRARIES), "PACKAGES": " ".join(packages)}
    for step in (COMPILER, PACKAGES):
        (downloads / "step").mkdir(parents=True)
        run_unharmed(chroot.chroot_command(tree, ["sh", "-c", step], [(downloads / "step", "/lab")], mode="rw",
                                           env=environment), log)
        (downloads / "step").rename(downloads / ("compiler" if step is COMPILER else "guest"))
    shutil.rmtree(tree / "var/lib/apt/lists")
    unpack(sorted((downloads / "guest/packages").glob("*.deb")), base.tree, guest, log)
    shutil.rmtree(downloads)


def unpack(packages, base, guest, log):
    """Fill GUEST with PACKAGES, and with what BASE has from installing the same ones of its own architecture."""
    guest.mkdir()
    for folder in ("bin", "sbin", "lib"):
        (guest / "usr" / folder).mkdir(parents=True)
        (guest / folder).symlink_to(f"usr/{folder}")
    for package in packages:
        run_logged(["sh", "-c", 'dpkg-deb --fsys-tarfile "$0" | tar -x --keep-directory-symlink -C "$1"', package, guest], log)
    for folder in ("etc", "var"):
        shutil.rmtree(guest / folder)
        run_logged(["cp", "-a", base / folder, guest / folder], log)
    (guest / "etc/ld.so.cache").unlink()  # of the other architecture; without it libraries are looked for in their folders
    for folder in ("usr/bin", "usr/sbin"):
        for link in (base / folder).iterdir():
            if link.is_symlink() and os.readlink(link).startswith("/etc/alternatives/") and not (guest / folder / link.name).is_symlink():
                (guest / folder / link.name).symlink_to(os.readlink(link))
    for folder in ("lab", "usr/src", "proc", "sys", "dev", "tmp", "run", "root", "mnt", "boot", "usr/lib/modules"):
        (guest / folder).mkdir(parents=True, exist_ok=True)
    shutil.rmtree(guest / "usr/share/doc", ignore_errors=True)


def build_programs(root, log):
    """Build stapgen and the traffic programs for ROOT's architecture; returns the folder that has both."""
    name = f"{root.base}-{root.architecture}"
    folder = lab_dir() / "built" / name
    with locked(f"built-{name}"):
        folder.mkdir(parents=True, exist_ok=True)
        jobs = os.environ.get("STAPGEN_LAB_JOBS", str(os.cpu_count()))
        steps = f"""set -e
            cmake -S /mnt -B /lab/program --toolchain scripts/{root.architecture}.cmake -DCMAKE_BUILD_TYPE=Release \
                -DCMAKE_UNITY_BUILD=ON -DBUILD_TESTING=OFF
            cmake --build /lab/program -j {jobs} --target stapgen
            cmake --install /lab/program --prefix /lab/stapgen
            cmake -S /mnt/tests/lab/traffic -B /lab/traffic --toolchain /mnt/scripts/{root.architecture}.cmake
            cmake --build /lab/traffic -j {jobs}
            """
        run_logged(chroot.chroot_command(root.tree, ["sh", "-c", steps], [(CHECKOUT, "/mnt"), (folder, "/lab")], cwd="/mnt"), log)
    return folder
