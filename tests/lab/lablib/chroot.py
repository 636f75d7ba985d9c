# SPDX-License-Identifier: GPL-2.0-or-later
"""Running commands inside a root, with mounts that nobody else sees."""

import subprocess

# The root is bind-mounted on itself: "unshare -m" within a chroot refuses to
# work where "/" is no mount point.
ENTER = r"""
set -e
root=$1 mode=$2
shift 2
mount --bind "$root" "$root"
if [ "$mode" = scratch ]; then
    mount -t tmpfs tmpfs "$root/tmp"
    mkdir "$root/tmp/upper" "$root/tmp/work"
    mount -t overlay overlay -o "lowerdir=$root,upperdir=$root/tmp/upper,workdir=$root/tmp/work" "$root"
fi
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    shift 2
done
shift
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
if [ "$mode" = ro ]; then
    mount -t tmpfs tmpfs "$root/root"
    mount -o remount,bind,ro "$root"
fi
exec chroot "$root" "$@"
"""

ENVIRONMENT = {
    "HOME": "/root",
    "LC_ALL": "C",
    "PATH": "/lab/stapgen/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/lab/traffic",
    "XDG_CACHE_HOME": "/lab/cache",
}


def chroot_command(root, argv, binds=(), mode="ro", cwd="/", env=None):
    """Return the command that runs ARGV in ROOT; BINDS are (host, guest) folders.

    MODE: "ro" for reading only, "rw" to change the root, "scratch" to change what is gone at the command's end.
    """
    command = ["unshare", "-m", "--propagation", "private", "sh", "-c", ENTER, "chroot",
               str(root), mode]
    for host, guest in binds:
        command += [str(host), guest]
    environment = ENVIRONMENT | (env or {})
    command += ["--", "env", "-i", *(f"{k}={v}" for k, v in environment.items()),
                "sh", "-c", 'cd "$0" && exec "$@"', cwd]
    return command + [str(word) for word in argv]


def run_chroot(root, argv, binds=(), cwd="/", env=None, scratch=False, **options):
    """Run ARGV in ROOT, which stays as it is, and return the CompletedProcess. SCRATCH: ARGV may change its own view."""
    command = chroot_command(root, argv, binds, mode="scratch" if scratch else "ro", cwd=cwd, env=env)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, **options)
