"""Running commands inside a root, with mounts that nobody else sees."""

import subprocess

# The root is bind-mounted on itself: "unshare -m" within a chroot refuses to
# work where "/" is no mount point.
ENTER = r"""
set -e
root=$1 mode=$2
shift 2
mount --bind "$root" "$root"
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


def chroot_command(root, argv, binds=(), writable=False, cwd="/", env=None):
    """Return the command that runs ARGV in ROOT; BINDS are (host, guest) folders."""
    command = ["unshare", "-m", "--propagation", "private", "sh", "-c", ENTER, "chroot",
               str(root), "rw" if writable else "ro"]
    for host, guest in binds:
        command += [str(host), guest]
    environment = ENVIRONMENT | (env or {})
    command += ["--", "env", "-i", *(f"{k}={v}" for k, v in environment.items()),
                "sh", "-c", 'cd "$0" && exec "$@"', cwd]
    return command + [str(word) for word in argv]


def run_chroot(root, argv, binds=(), cwd="/", env=None, **options):
    """Run ARGV in the read-only ROOT and return the CompletedProcess."""
    command = chroot_command(root, argv, binds, cwd=cwd, env=env)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, **options)
