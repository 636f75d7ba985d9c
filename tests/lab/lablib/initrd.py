# SPDX-License-Identifier: GPL-2.0-or-later
"""A small initramfs: busybox and the modules that it needs."""

import gzip
import lzma
import subprocess

TO_DISK = ["virtio_pci", "virtio_blk"]
TO_ROOT = ["crc32c_generic", *TO_DISK, "ext4", "9pnet_virtio", "9p"]
# With this kernel argument a guest waits for a line on its machine's go_port before it reaches for the host.
WAIT = "lab_wait"

LOAD = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /new
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
for module in $(/bin/busybox cat /modules/order); do
    /bin/busybox insmod /modules/$module || echo "lab: cannot load $module"
done
tries=0
until [ -b /dev/vda ] || [ $tries = 100 ]; do
    /bin/busybox usleep 50000
    tries=$((tries + 1))
done
"""

TO_GUEST = LOAD + """
/bin/busybox mount -t ext4 -o ro /dev/vda /new || echo "lab: no root disk"
# While a guest waits for its disk its clock leaps, too: half a minute of the end of a run was reading staprun's code.
/bin/busybox chroot /new /bin/sh -c 'set -- /usr/bin/staprun /usr/lib*/systemtap/stapio
    cat "$@" $(ldd "$@" | grep -o "/[^ :]*")' >/dev/null
if /bin/busybox grep -qw WAIT /proc/cmdline; then
    echo ready >/dev/GO_PORT
    read -r go </dev/GO_PORT
fi
/bin/busybox mount -o remount,rw /new
/bin/busybox mount -t 9p -o OPTIONS lab /new/lab || echo "lab: no share"
for folder in proc sys dev; do
    /bin/busybox mount -o move /$folder /new/$folder
done
exec /bin/busybox switch_root /new /lab/boot/init
"""

GIVE_SYMBOLS = LOAD + """
/bin/busybox cat /proc/kallsyms >/dev/vda
/bin/busybox sync
/bin/busybox poweroff -f
"""


def module_name(path):
    return path.rsplit("/", 1)[-1].split(".ko")[0].replace("-", "_")


def load_order(modules, wanted):
    """Return the paths of the WANTED modules, each after those it needs."""
    paths, needs = {}, {}
    for line in (modules / "modules.dep").read_text().splitlines():
        path, deps = line.split(":", 1)
        paths[module_name(path)] = path
        needs[module_name(path)] = [module_name(dep) for dep in deps.split()]
    order = []

    def visit(name):
        if name not in paths or paths[name] in order:
            return
        for need in needs[name]:
            visit(need)
        order.append(paths[name])

    for name in wanted:
        visit(name)
    return order


def module_bytes(path):
    """Return a module's plain content, whatever its compression."""
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    return path.read_bytes()


def cpio_entry(number, name, mode, content=b""):
    """Return one member of a cpio archive in the "newc" format."""
    encoded = name.encode() + b"\0"
    fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0]
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return header + b"\0" * (-len(header) % 4) + content + b"\0" * (-len(content) % 4)


def pack(root, wanted, init):
    """Return an initramfs for the kernel of ROOT: INIT loads the WANTED modules."""
    modules = root.tree / "lib/modules" / root.release
    busybox = next(path for path in (root.guest_tree / "usr/bin/busybox", root.guest_tree / "bin/busybox")
                   if path.exists())
    order = load_order(modules, wanted)
    names = [module_name(path) + ".ko" for path in order]
    members = [("bin", 0o40755, b""), ("modules", 0o40755, b""),
               ("bin/busybox", 0o100755, busybox.read_bytes()),
               ("init", 0o100755, init.encode()),
               ("modules/order", 0o100644, "\n".join(names).encode() + b"\n")]
    members += [(f"modules/{name}", 0o100644, module_bytes(modules / path))
                for name, path in zip(names, order)]
    entries = [cpio_entry(number, *member) for number, member in enumerate(members, 1)]
    return gzip.compress(b"".join(entries) + cpio_entry(0, "TRAILER!!!", 0), 1, mtime=0)


def archive(root, mount_options):
    """Return the initramfs of a guest, which goes on with the disk and /lab/boot/init."""
    init = TO_GUEST.replace("OPTIONS", mount_options).replace("WAIT", WAIT).replace("GO_PORT", root.machine.go_port)
    return pack(root, TO_ROOT, init)


def symbols_archive(root):
    """Return an initramfs that copies /proc/kallsyms to the first disk."""
    return pack(root, TO_DISK, GIVE_SYMBOLS)
