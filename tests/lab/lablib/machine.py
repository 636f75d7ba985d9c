# SPDX-License-Identifier: GPL-2.0-or-later
"""The qemu machine of a root: booted anew, or gone on with from where its first boot was saved."""

import contextlib
import ctypes
import dataclasses
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import time

from . import initrd
from .common import LabError, doing, locked, say, tail

# No cache: with cache=mmap 6.12 loses, at times, what was written to a file that somebody else reads meanwhile; there are
# zeros in its place.
MOUNT_OPTIONS = "trans=virtio,version=9p2000.L,msize=512000,cache=none"
# One instruction is one nanosecond of the guest's clock, and an idle guest's clock leaps to its next timer: what else the
# host does changes nothing.
COUNTING_CLOCK = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]
# The CPUs run side by side, and time goes on while the host is elsewhere.
HOST_CLOCK = ["-accel", "tcg,thread=multi"]
# A card takes what it has to send so long after it was told, and what is on the wire arrives at a multiple of the other
# time, all by the guest's clock. Else qemu would do it beside the guest's CPU. The latter is no multiple of the guest's
# tick of 4 ms, nor is twice of it: the tick's interrupt would be in the same stage of all packets.
CARD_NS, WIRE_US = 7_000_000, 20_618
# What an emulated CPU pays for and nobody here needs: the mitigations of real CPUs, memory that is zeroed for safety, and
# programs at addresses of their own, for each of which qemu translates the same code anew. Together two fifths of a guest.
LEAN = "mitigations=off init_on_alloc=0 norandmaps"


@dataclasses.dataclass(frozen=True)
class Machine:
    """What differs between the machines that qemu emulates."""

    program: str
    words: tuple
    console: str
    go_port: str  # where a guest waits to be told to go on
    arguments: str  # the kernel's
    before_save: str = ""  # what qemu's monitor is told

    def go_option(self, kind, path=None):
        """Return qemu's option for the guest's port go_port: of a KIND of qemu's, file or stdio."""
        if self.go_port == "ttyS1":
            return ["-serial", f"{kind}:{path}" if path else kind]
        return ["-chardev", f"{kind},id=go" + (f",path={escaped(path)}" if path else ""), "-device", "pci-serial,chardev=go"]

    @property
    def kernel_arguments(self):
        return f"console={self.console} loglevel=4 panic=-1 {self.arguments}"


# After a cmpxchg16b qemu 7.2 has flags that are none (such as the direction's) until something else sets them, and an
# interrupt that comes just then keeps them: the kernel dies of it in kmem_cache_alloc, once in a hundred guests.
PC = Machine("qemu-system-x86_64", ("-cpu", "max,cx16=off"), "ttyS0", "ttyS1",
             "tsc=reliable net.ifnames=0 no_timer_check")


def arm64(cpu):
    # Its clock would else have steps of 16 ns. While it runs qemu 7.2 saves pages of its memory as they were before; of a
    # stopped one the state must not say that it is.
    return Machine("qemu-system-aarch64", ("-machine", "virt,gic-version=3", "-cpu", f"{cpu},cntfrq=1000000000",
                                           "-global", "migration.store-global-state=off"),
                   "ttyAMA0", "ttyS0", "net.ifnames=0", "stop\n")


MACHINES = {
    "pc": PC,
    "q35": dataclasses.replace(PC, words=("-machine", "q35", *PC.words)),
    "arm64": arm64("cortex-a72"),
    "arm64-16k": arm64("cortex-a76"),  # that one has no pages of 16k
}
# Softirqs run in threads, and never on top of a probe's handler, where their own probes would be skipped.
APPEND = "threadirqs"
# The boots that several scenarios go on from. With one CPU nothing has to be agreed with another one, which is most of
# what it costs to put hundreds of probes in.
SAVED = (APPEND, f"{APPEND} maxcpus=1", "maxcpus=1")
SHARES = {"lab": "", "run": ",readonly=on", "tree": ",readonly=on", "cache": ",readonly=on", "work": ""}
# Boots take ten seconds; a busy host may need minutes, and a hung one never ends.
BOOT_TIMEOUT = 1200
# The emulator crashes a boot now and then.
ATTEMPTS = 3


class GuestDied(LabError):
    """The guest ended before it should have."""


def bare(root, archive, arguments):
    """Return the qemu command of no more than ROOT's kernel and the initramfs ARCHIVE."""
    return [root.machine.program, *root.machine.words, "-display", "none", "-no-reboot", "-nodefaults",
            "-kernel", root.tree / "boot" / f"vmlinuz-{root.release}", "-initrd", archive, "-append", arguments]


def command(root, folders, archive, append, real_time=False, cpus=None, start=None):
    """Return the qemu command of ROOT's machine, but for its serial ports.

    FOLDERS are those that it sees, by their tags in SHARES; ARCHIVE is its initramfs. CPUS: how many, if not as usual.
    START: what boots another way than bare().
    """
    # On the counting clock Linux 6.1 waits for its second CPU without giving it a turn.
    cpus = cpus or ("2" if real_time or root.release.startswith("6.12.") else "1")
    words = [*(start or bare(root, archive, f"{root.machine.kernel_arguments} {LEAN} {append}")), *(HOST_CLOCK if real_time else COUNTING_CLOCK),
             "-smp", cpus, "-m", "2048", "-snapshot", "-drive", f"file={escaped(root.disk)},if=virtio,format=raw"]
    for tag, access in SHARES.items():
        # "multidevs" only silences a warning about folders on several devices.
        words += ["-virtfs", f"local,path={escaped(folders[tag])},mount_tag={tag},"
                             f"security_model=none,multidevs=remap{access}"]
    for card in (0, 1):
        words += ["-netdev", f"hubport,id=n{card},hubid=0", "-device",
                  f"virtio-net-pci,netdev=n{card},mac=52:54:00:00:00:0{card + 1},tx=timer,x-txtimer={CARD_NS},romfile="]
    words += ["-object", f"filter-buffer,id=wire,netdev=n0,interval={WIRE_US}"]
    return [str(word) for word in words]


def to_save(root, folders, archive, append):
    """Return the command of the machine that is saved, and that goes on from there."""
    return command(root, folders, archive, f"{append} {initrd.WAIT}")


def boot_again(boot, is_started=lambda: False):
    """Return what BOOT returns; it is repeated where the guest died before it was started."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return boot()
        except GuestDied as death:
            if is_started() or attempt == ATTEMPTS:
                raise
            say(f"boot {attempt} of {ATTEMPTS} crashed: {str(death).splitlines()[0]}")


@contextlib.contextmanager
def saved_boot(root, append):
    """Yield the initramfs of ROOT's saved boot and the open file of its state; the first who asks boots it.

    The saved machine has its disk mounted and waits for a line on its go_port.
    """
    content = initrd.archive(root, MOUNT_OPTIONS)
    version = subprocess.run([root.machine.program, "--version"], check=True, capture_output=True, text=True).stdout
    made_of = [version, *to_save(root, dict.fromkeys(SHARES, "/"), "initrd", append)]
    made_by = hashlib.sha256(content + chr(10).join(made_of).encode()).hexdigest()[:16]
    name = f"booted-{append.replace(' ', '-')}-"
    folder = root.folder / f"{name}{made_by}"
    with locked(f"booted-{root.suite}"):
        if not folder.exists():
            for old in root.folder.glob(name + "?" * len(made_by)):
                shutil.rmtree(old)
            boot_again(lambda: save_boot(root, content, folder, append))
        state = (folder / "state").open("rb")
    with state:
        yield folder / "initrd.gz", state


def save_boot(root, content, folder, append):
    """Boot ROOT with the initramfs CONTENT until it waits, and save that in FOLDER."""
    partial = folder.with_suffix(".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    archive, ready, state = partial / "initrd.gz", partial / "ready", partial / "state"
    archive.write_bytes(content)
    words = to_save(root, dict.fromkeys(SHARES, partial), archive, append)
    ports = ["-serial", f"file:{partial / 'console.log'}", *root.machine.go_option("file", ready), "-monitor", "stdio"]
    with doing(f"booting {root.suite} once for all with {append}"), open(partial / "qemu.log", "wb") as log:
        process = subprocess.Popen([*words, *ports], stdin=subprocess.PIPE, stdout=log, stderr=log, preexec_fn=die_with_parent)
        try:
            deadline = time.monotonic() + BOOT_TIMEOUT
            while not (ready.exists() and ready.read_bytes()):
                if process.poll() is not None:
                    raise GuestDied(f"the first boot of {root.suite} failed\n{tail(partial / 'console.log', 60)}")
                if time.monotonic() > deadline:
                    raise LabError(f"{root.suite} still booted after {BOOT_TIMEOUT} s\n{tail(partial / 'console.log', 60)}")
                time.sleep(0.1)
            process.communicate(f'{root.machine.before_save}migrate "exec:cat >{shlex.quote(str(state))}"\nquit\n'.encode(), BOOT_TIMEOUT)
        finally:
            stop(process)
    if not state.exists() or not state.stat().st_size:
        raise GuestDied(f"qemu saved no state; see {partial / 'qemu.log'}\n{tail(partial / 'qemu.log', 20)}")
    partial.rename(folder)


def resume(root, folders, append, console, log):
    """Return the process of a machine that goes on from ROOT's saved boot with APPEND when it is told to."""
    with saved_boot(root, append) as (archive, state):
        return subprocess.Popen(
            [*to_save(root, folders, archive, append), "-serial", console, *root.machine.go_option("stdio"),
             "-incoming", f"fd:{state.fileno()}"],
            stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=[state.fileno()], preexec_fn=die_with_parent)


def go_on(process):
    """Tell a machine to go on; to be repeated, as qemu loses what it reads before the state is there."""
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(b"go\n")
        process.stdin.flush()


def die_with_parent():
    # PR_SET_PDEATHSIG: a killed lab must not leave its qemu behind.
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def stop(process):
    """End a process that is still there, by force if it does not listen."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def escaped(path):
    """Return a path as the value of an option of qemu's, where commas are doubled."""
    return os.fspath(path).replace(",", ",,")
