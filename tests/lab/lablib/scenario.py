# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario and what it sees: what it builds in the chroot, its guest, and what that left for the host."""

import dataclasses
import gzip
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import time

from . import chroot, cross, debuginfo, machine
from .common import SOURCE, LabError, Skipped, doing, lab_dir, say, tail
from .guest import Guest

FOLDER = SOURCE / "scenarios"
TIMEOUT = 900
BUILT_TRAFFIC = SOURCE.parent.parent / "build/release/tests/lab/traffic"
HEAD = "cd /lab/work\n. /lab/boot/guest_lib.sh\n"


def names():
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name):
    """Return the scenario NAME as a module."""
    path = FOLDER / f"{name}.py"
    if not path.exists():
        raise LabError(f"no scenario {name}; there are {', '.join(names())}")
    return load_file(path)


def load_file(path):
    """Return the Python file PATH as a module."""
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclasses.dataclass
class Options:
    """What is under test, and how."""

    stapgen: str | None = None  # where it is installed
    traffic: str | None = None  # the folder of the traffic programs, if not in build/release
    packages: str | None = None  # that of the Debian package
    fresh: bool = False  # what is kept is captured anew
    built: dict = dataclasses.field(default_factory=dict)  # modules by the arguments that they were built with


class Lab:
    """What a scenario sees of the lab; /lab in chroot and guest is the folder "run"."""

    def __init__(self, root, run, options, append=machine.APPEND, wants_traffic=True):
        self.root, self.run, self.append, self.options, self.wants_traffic = root, run, append, options, wants_traffic
        self.suite, self.release, self.stap = root.suite, root.release, root.stap
        self.work = run / "work"
        self.symbols = f"/lab/symbols/{root.symbols.name}"
        self.cache = lab_dir() / "cache" / root.suite
        self.environment = {"LAB_SUITE": self.suite, "LAB_RELEASE": self.release, "LAB_SYMBOLS": self.symbols}
        self.filled = False
        self.work.mkdir(parents=True, exist_ok=True)

    def fill(self):
        """Bring what chroot and guest have in /lab, once."""
        if self.filled:
            return
        self.filled = True
        for folder in (self.run / "symbols", self.run / "cache", self.cache):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.root.symbols, self.run / "symbols")
        prefix = self.options.stapgen
        if prefix:
            copy_stapgen(pathlib.Path(prefix), self.run / "stapgen")
            allow_overload(self.cache / "stapgen/systemtap")
        if self.wants_traffic:
            copy_traffic(self.options.traffic, self.run / "traffic")
        if self.root.architecture and prefix:
            built = cross.build_programs(self.root, self.run / "build.log")
            copy_stapgen(built / "stapgen", self.run / "guest/stapgen")
            copy_traffic(built / "traffic", self.run / "guest/traffic")
        elif prefix:
            self.check_it_runs()

    def chroot(self, argv, check=True, binds=(), **options):
        """Run ARGV in the root, in /lab/work; returns a CompletedProcess with text output.

        BINDS are more (host path, path in the root) to mount for this command.
        """
        self.fill()
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                   **options}
        done = chroot.run_chroot(self.root.tree, argv, cwd="/lab/work", binds=[
            (self.run, "/lab"), (self.cache, "/lab/cache"), *binds], **options)
        if check and done.returncode:
            raise LabError(f"in the chroot, {' '.join(map(str, argv))}\nended with "
                           f"{done.returncode}\n{done.stdout or ''}{done.stderr or ''}")
        return done

    def check_it_runs(self):
        """Skip where stapgen was built on a later Debian than the root has."""
        said = self.chroot(["stapgen", "--version"], check=False).stderr
        if re.search(r"version `GLIBC\S*' not found", said):
            self.skip(f"{self.suite} has an older C library than the Debian that stapgen was built on")

    def stapgen(self, argv, program="stapgen", **options):
        """Run the stapgen under test, or another PROGRAM of it, in the root, as chroot() does."""
        if not self.options.stapgen:
            raise LabError("this scenario needs stapgen: give --stapgen PREFIX")
        return self.chroot([program, *argv], **options)

    @property
    def installed(self):
        """The run's copy of the stapgen under test, which a scenario may change."""
        self.fill()
        return self.run / "stapgen"

    def analyse(self, argv, check=True, text=True, env=None):
        """Run the stapgen under test on this machine, in the work folder, on what a guest has left there."""
        done = subprocess.run([pathlib.Path(self.options.stapgen).resolve() / "bin/stapgen", *argv], cwd=self.work, text=text,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, env=os.environ | (env or {}))
        if check and done.returncode:
            raise LabError(f"stapgen {' '.join(map(str, argv))}\nended with {done.returncode}\n{done.stderr}")
        return done

    def report(self, name, *options, text=True):
        """Return what stapgen reports of the recording NAME.rec."""
        return self.analyse(["report", f"{name}.rec", *options], text=text).stdout

    def guest(self, net=False, real_time=False, cpus=None, start=None, devices=()):
        """Return a guest that is not booted yet, with the folders and the variables that GUEST has."""
        self.fill()
        return Guest(self.root, self.run, self.append, net, cache=self.cache, real_time=real_time, cpus=cpus, start=start,
                     devices=devices, env=self.environment)

    def boot(self, script, timeout=TIMEOUT, real_time=False, cpus=None, start=None, devices=()):
        """Boot one more guest, whose cards are not up and which has more DEVICES, and run SCRIPT there as GUEST is run."""
        code = run_script(self.guest(real_time=real_time, cpus=cpus, start=start, devices=devices), script, timeout)
        assert code == 0, f"the guest's script ended with {code}"

    def read(self, name):
        """Return the text of a file in the work folder."""
        return (self.work / name).read_text(errors="replace")

    def read_recording(self, name):
        """Return the text of a recording in the work folder, as the script printed it."""
        return subprocess.run(["zstd", "-dc", self.work / name], stdout=subprocess.PIPE, check=True).stdout.decode()

    def symbols_for_stap(self):
        """Return a bind for chroot() that puts the kernel's symbols where stap looks for them.

        stap looks up the addresses for kprobe.function in /boot/System.map-RELEASE; Debian's
        kernels have a stub there, or (7.2) nothing.
        """
        boot = self.work / "boot"
        boot.mkdir()
        (boot / f"System.map-{self.release}").write_bytes(gzip.decompress(self.root.symbols.read_bytes()))
        return boot, "/boot"

    def debuginfo(self):
        """Return a bind for chroot() that puts the kernel's DWARF where stap looks for it.

        Skips the scenario if the archive cannot deliver it.
        """
        return debuginfo.vmlinux(self.root).parent, "/usr/lib/debug/boot"

    def package(self):
        """Return the Debian package of the stapgen under test; skips the scenario if none was given."""
        packages = self.options.packages
        found = sorted(pathlib.Path(packages).glob("stapgen_*.deb")) if packages else []
        if len(found) != 1:
            self.skip("give --packages DIR, a folder with one stapgen_*.deb")
        return found[0]

    def skip(self, reason):
        raise Skipped(reason)


def copy_stapgen(prefix, target):
    """Copy the installed stapgen at PREFIX, and nothing else from there, to TARGET."""
    if not os.access(prefix / "bin/stapgen", os.X_OK):
        raise LabError(f"no program {prefix}/bin/stapgen")
    (target / "bin").mkdir(parents=True)
    for program in (prefix / "bin").glob("stapgen*"):
        shutil.copy(program, target / "bin")
    for folder in ("share/stapgen", "lib/stapgen", "libexec/stapgen"):
        if (prefix / folder).is_dir():
            shutil.copytree(prefix / folder, target / folder, symlinks=True)


def copy_traffic(folder, target):
    """Copy the traffic programs in FOLDER, by default those of this checkout, to TARGET."""
    source = pathlib.Path(folder) if folder else BUILT_TRAFFIC
    programs = [path for path in source.glob("*") if path.is_file() and os.access(path, os.X_OK)]
    if not programs:
        message = (f"no traffic programs in {source}: build them with "
                   "\"cmake --build --preset release\", or give --traffic DIR")
        if folder:
            raise LabError(message)
        say(f"{message}; boot and shell need none")
    target.mkdir()
    for program in programs:
        shutil.copy(program, target)


def allow_overload(systemtap_dir):
    """Switch off SystemTap's guard against probes that take over half of the CPU.

    It counts TSC cycles, and an emulated CPU's TSC runs on while the host does something
    else, so in the lab the guard ends runs that cost little. stap reads rc before its options.
    """
    systemtap_dir.mkdir(parents=True, exist_ok=True)
    if not (systemtap_dir / "rc").exists():  # its time is part of what stapgen knows a kept module by
        (systemtap_dir / "rc").write_text("-DSTP_NO_OVERLOAD\n")


def build_modules(lab, modules, binds=(), symbols=None, program="stapgen", own_recipes=False):
    """Compile modules as a scenario's BUILD, with other SYMBOLS, another PROGRAM or recipes that only this scenario has; the
    output goes to RUN/build-NAME.log."""
    built_before = {} if binds or symbols or own_recipes or program != "stapgen" else lab.options.built
    for name, arguments in modules.items():
        begin = time.monotonic()
        if built := built_before.get(tuple(arguments)):
            shutil.copy(built, lab.work / f"{name}.ko")
            continue
        with doing(f"compiling {name}"):
            done = lab.stapgen(["build", *arguments, "-r", lab.release, "--symbols", symbols or lab.symbols,
                                "-o", f"/lab/work/{name}.ko"], program=program, check=False, binds=binds)
        log = lab.run / f"build-{name}.log"
        log.write_text(done.stdout + done.stderr)
        if done.returncode or not (lab.work / f"{name}.ko").exists():
            raise LabError(f"building {name} ended with {done.returncode}; see {log}\n"
                           + tail(log, 40))
        say(f"built {name} in {time.monotonic() - begin:.1f} s")


def run_script(guest, script, timeout):
    """Boot GUEST and return the exit code of SCRIPT."""
    begin = time.monotonic()
    with doing("the guest runs", guest.boot / "output"):
        code = guest.execute(HEAD + script, timeout, echo=False)
    say(f"guest ran {time.monotonic() - begin:.1f} s")
    return code


def boot_scenario(scenario, lab):
    """Run the scenario's GUEST."""
    guest = lab.guest(getattr(scenario, "NET", False), getattr(scenario, "REAL_TIME", False), getattr(scenario, "CPUS", None))
    code = run_script(guest, scenario.GUEST, getattr(scenario, "TIMEOUT", TIMEOUT))
    assert code == 0, f"the guest's script ended with {code}"


def prepared(root, run, scenario, options):
    """Return the scenario's Lab with all that its guest is given: what it builds and prepares."""
    lab = Lab(root, run, options, getattr(scenario, "APPEND", machine.APPEND))
    build_modules(lab, getattr(scenario, "BUILD", {}))
    if hasattr(scenario, "prepare"):
        scenario.prepare(lab)
    return lab
