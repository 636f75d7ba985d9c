"""Booting a root in qemu."""

import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

from . import chroot, initrd
from .common import SOURCE, LabError, say, tail

# No cache: with cache=mmap 6.12 loses, at times, what was written to a file that somebody else reads meanwhile; there are
# zeros in its place.
MOUNT_OPTIONS = "trans=virtio,version=9p2000.L,msize=512000,cache=none"
# One instruction is one nanosecond of the guest's clock, and an idle guest's clock leaps to its next timer: what else the
# host does changes nothing.
COUNTING_CLOCK = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]
# The CPUs run side by side, and time goes on while the host is elsewhere.
HOST_CLOCK = ["-accel", "tcg,thread=multi"]
# A card takes what it has to send so long after it was told, and what is on the wire arrives at a multiple of the other
# time, all by the guest's clock. Else qemu would do it beside the guest's CPU, and an interrupt that comes while a probe's
# handler runs makes other probes be skipped.
CARD_NS, WIRE_US = 7_000_000, 20_000
KERNEL_ARGUMENTS = "console=ttyS0 loglevel=4 tsc=reliable panic=-1 net.ifnames=0"
ATTEMPTS = 3
# Boots take ten seconds; a busy host may need minutes, and a hung one never ends.
BOOT_TIMEOUT = 1200


class GuestDied(LabError):
    """The guest ended without an exit code of its script."""


def die_with_parent():
    # PR_SET_PDEATHSIG: a killed lab must not leave its qemu behind.
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Guest:
    """One virtual machine.

    It sees the host's folders RUN as /lab, CACHE as /lab/cache (its own changes are
    not kept) and WORK as /lab/work. NET gives it two network cards on one wire. Its clock
    counts instructions, or is the host's with REAL_TIME.
    """

    def __init__(self, root, run, append="", net=False, env=None, cache=None, work=None, real_time=False):
        self.root, self.run, self.append = root, run, append
        self.cache, self.work = cache, work
        self.boot = run / "boot"
        self.console = self.boot / "console.log"
        self.net, self.real_time = net, real_time
        self.env = dict(env or {})

    def prepare(self, script, **env):
        """Write all that the guest reads at boot; SCRIPT is bash source or None."""
        shutil.rmtree(self.boot, ignore_errors=True)
        for folder in (self.boot, self.run / "work"):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / "guest_lib.sh", self.boot)
        shutil.copy(SOURCE / "guest_init.sh", self.boot / "init")
        (self.boot / "init").chmod(0o755)
        if script is not None:
            (self.boot / "guest.sh").write_text(script)
        environment = chroot.ENVIRONMENT | {"LAB_9P_OPTIONS": MOUNT_OPTIONS,
                                            "TERM": os.environ.get("TERM", "linux")}
        environment |= self.env | env
        for name, value in (("NET", self.net), ("CACHE", self.cache), ("WORK", self.work)):
            environment[f"LAB_{name}"] = "1" if value else ""
        (self.boot / "environment").write_text("".join(
            f"export {name}={shlex.quote(str(value))}\n" for name, value in environment.items()))
        initrd.write_initrd(self.root.tree, self.root.release, self.boot / "initrd.gz",
                            MOUNT_OPTIONS)

    def command(self, console):
        """Return the qemu command; CONSOLE is the value of its -serial option."""
        kernel = self.root.tree / "boot" / f"vmlinuz-{self.root.release}"
        shares = [("lab", self.run, ""), ("run", self.run, ",readonly=on"), ("tree", self.root.tree, ",readonly=on"),
                  ("cache", self.cache, ",readonly=on"), ("work", self.work, "")]
        # On the counting clock Linux 6.1 waits for its second CPU without giving it a turn; 7.2 was tried with one only.
        cpus = "2" if self.real_time or self.root.release.startswith("6.12.") else "1"
        command = ["qemu-system-x86_64", *(HOST_CLOCK if self.real_time else COUNTING_CLOCK), "-cpu", "max", "-smp", cpus,
                   "-m", "2048", "-display", "none", "-no-reboot", "-nodefaults",
                   "-serial", console, "-kernel", kernel, "-initrd", self.boot / "initrd.gz",
                   "-append", f"{KERNEL_ARGUMENTS} {self.append}", "-snapshot",
                   "-drive", f"file={escaped(self.root.disk)},if=virtio,format=raw"]
        for tag, host, access in shares:
            # "multidevs" only silences a warning about folders on several devices.
            if host:
                command += ["-virtfs", f"local,path={escaped(host)},mount_tag={tag},"
                                       f"security_model=none,multidevs=remap{access}"]
        for card in range(2 if self.net else 0):
            command += ["-netdev", f"hubport,id=n{card},hubid=0",
                        "-device", f"virtio-net-pci,netdev=n{card},mac=52:54:00:00:00:0{card + 1},tx=timer,x-txtimer={CARD_NS},romfile="]
        if self.net:
            command += ["-object", f"filter-buffer,id=wire,netdev=n0,interval={WIRE_US}"]
        return [str(word) for word in command]

    def started(self):
        return (self.boot / "started").exists()

    def execute(self, script, timeout, echo=True, **env):
        """Boot, run SCRIPT and return its exit code; a boot that the emulator crashed is repeated."""
        for attempt in range(1, ATTEMPTS + 1):
            self.prepare(script, **env)
            try:
                return self.execute_once(timeout, echo)
            except GuestDied as death:
                if self.started() or attempt == ATTEMPTS:
                    raise
                say(f"boot {attempt} of {ATTEMPTS} crashed: {str(death).splitlines()[0]}")

    def execute_once(self, timeout, echo):
        output, shown, started = self.boot / "output", 0, False
        limit, deadline = BOOT_TIMEOUT, time.monotonic() + BOOT_TIMEOUT
        with open(self.boot / "qemu.log", "wb") as log:
            process = subprocess.Popen(self.command(f"file:{self.console}"),
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       preexec_fn=die_with_parent)
            try:
                while True:
                    ended = process.poll() is not None
                    if echo and output.exists():
                        shown = copy_new(output, shown)
                    if ended:
                        break
                    if not started and self.started():
                        started, limit, deadline = True, timeout, time.monotonic() + timeout
                    if time.monotonic() > deadline:
                        raise LabError(f"the guest was still busy after {limit} s; "
                                       f"console: {self.console}\n{tail(self.console, 60)}")
                    time.sleep(0.1)
            finally:
                stop(process)
        code = self.boot / "exit-code"
        if not code.exists():
            raise GuestDied(f"the guest ended without an exit code; console: {self.console}\n"
                            + tail(self.boot / "qemu.log", 5) + tail(self.console, 60))
        return int(code.read_text())

    def interactive(self):
        """Boot to a shell on this terminal; ends when that shell ends."""
        size = shutil.get_terminal_size()
        self.prepare(None, LAB_SHELL="1", LAB_COLUMNS=size.columns, LAB_ROWS=size.lines)
        say("the shell's end powers off; Ctrl-A X ends qemu at once")
        return subprocess.run(self.command("mon:stdio"), check=False).returncode


def escaped(path):
    """Return a path as the value of an option of qemu's, where commas are doubled."""
    return str(path).replace(",", ",,")


def copy_new(path, offset):
    """Copy what a file has gained beyond OFFSET to standard output."""
    with path.open("rb") as source:
        source.seek(offset)
        data = source.read()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
    return offset + len(data)


def stop(process):
    """End a process that is still there, by force if it does not listen."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
