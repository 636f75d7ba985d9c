# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting a root in qemu."""

import os
import shlex
import shutil
import subprocess
import sys
import time

from . import chroot, initrd, machine
from .common import SOURCE, LabError, say, tail


class Guest:
    """One virtual machine.

    It sees the host's folders RUN as /lab, CACHE as /lab/cache (its own changes are
    not kept) and WORK as /lab/work. With NET its two network cards are up. Its clock
    counts instructions, or is the host's with REAL_TIME. It goes on from a boot that is saved
    with the root, unless its kernel arguments, its clock, the number of its CPUS, its DEVICES (options of qemu's) or what
    STARTs it (firmware.start) are its own.
    """

    def __init__(self, root, run, append=machine.APPEND, net=False, env=None, cache=None, work=None, real_time=False, cpus=None, start=None,
                 devices=()):
        self.root, self.run, self.append = root, run, append
        self.cache, self.work = cache, work
        self.boot = run / "boot"
        self.console = self.boot / "console.log"
        self.net, self.real_time, self.cpus, self.start_words, self.devices = net, real_time, cpus, start, devices
        self.env = dict(env or {})

    def prepare(self, script, **env):
        """Write all that the guest reads at boot; SCRIPT is bash source or None."""
        shutil.rmtree(self.boot, ignore_errors=True)
        for folder in (self.boot, self.run / "work"):
            folder.mkdir(parents=True, exist_ok=True)
        for name in ("guest_lib.sh", "guest_captures.sh", "guest_capture.sh"):
            shutil.copy(SOURCE / name, self.boot)
        shutil.copy(SOURCE / "guest_init.sh", self.boot / "init")
        (self.boot / "init").chmod(0o755)
        if script is not None:
            (self.boot / "guest.sh").write_text(script)
        environment = chroot.ENVIRONMENT | {"LAB_9P_OPTIONS": machine.MOUNT_OPTIONS, "LAB_NOW": f"@{time.time():.0f}",
                                            "LAB_CONSOLE": self.root.machine.console,
                                            "TERM": os.environ.get("TERM", "linux")}
        environment |= self.env | env
        for name, value in (("NET", self.net), ("CACHE", self.cache), ("WORK", self.work)):
            environment[f"LAB_{name}"] = "1" if value else ""
        (self.boot / "environment").write_text("".join(
            f"export {name}={shlex.quote(str(value))}\n" for name, value in environment.items()))

    def folders(self):
        """Return what each share of the machine shows; one that is not wanted, something small."""
        return {"lab": self.run, "run": self.run, "tree": self.root.tree, "cache": self.cache or self.boot,
                "work": self.work or self.boot}

    def command(self, console):
        """Return the qemu command of a boot of its own; CONSOLE is the value of its -serial option."""
        archive = self.boot / "initrd.gz"
        archive.write_bytes(initrd.archive(self.root, machine.MOUNT_OPTIONS))
        return [*machine.command(self.root, self.folders(), archive, self.append, self.real_time, self.cpus, self.start_words),
                *self.devices, "-serial", console]

    def start(self, log):
        """Return the process of the running machine."""
        console = f"file:{self.console}"
        if self.append in machine.SAVED and not (self.real_time or self.cpus or self.devices):
            return machine.resume(self.root, self.folders(), self.append, console, log)
        return subprocess.Popen(self.command(console), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                preexec_fn=machine.die_with_parent)

    def started(self):
        return (self.boot / "started").exists()

    def execute(self, script, timeout, echo=True, **env):
        """Boot, run SCRIPT and return its exit code; a boot that the emulator crashed is repeated."""
        def boot():
            self.prepare(script, **env)
            return self.execute_once(timeout, echo)

        return machine.boot_again(boot, self.started)

    def execute_once(self, timeout, echo):
        """TIMEOUT: since it started, or since it has last said by boot/progress how far it is."""
        output, shown, started, progress = self.boot / "output", 0, False, None
        limit, deadline = machine.BOOT_TIMEOUT, time.monotonic() + machine.BOOT_TIMEOUT
        with open(self.boot / "qemu.log", "wb") as log:
            process = self.start(log)
            try:
                while True:
                    ended = process.poll() is not None
                    if echo and output.exists():
                        shown = copy_new(output, shown)
                    if ended:
                        break
                    if not started and self.started():
                        started, limit, deadline = True, timeout, time.monotonic() + timeout
                    if not started and process.stdin:
                        machine.go_on(process)
                    if (now := stamp_of(self.boot / "progress")) != progress:
                        progress, deadline = now, time.monotonic() + timeout
                    if time.monotonic() > deadline:
                        raise LabError(f"the guest was still busy after {limit} s; "
                                       f"console: {self.console}\n{tail(self.console, 60)}")
                    time.sleep(0.1)
            finally:
                machine.stop(process)
        code = self.boot / "exit-code"
        if not code.exists():
            raise machine.GuestDied(f"the guest ended without an exit code; console: {self.console}\n"
                                    + tail(self.boot / "qemu.log", 5) + tail(self.console, 60))
        return int(code.read_text())

    def interactive(self):
        """Boot to a shell on this terminal; ends when that shell ends."""
        size = shutil.get_terminal_size()
        self.prepare(None, LAB_SHELL="1", LAB_COLUMNS=size.columns, LAB_ROWS=size.lines)
        say("the shell's end powers off; Ctrl-A X ends qemu at once")
        return subprocess.run(self.command("mon:stdio"), check=False).returncode


def stamp_of(path):
    """Return what is another when a file has been written, None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_size


def copy_new(path, offset):
    """Copy what a file has gained beyond OFFSET to standard output."""
    with path.open("rb") as source:
        source.seek(offset)
        data = source.read()
    if data and sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # the line of common.doing()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
    return offset + len(data)
