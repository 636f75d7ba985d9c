# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a scenario: build in the chroot, measure in a guest, check on the host."""

import gzip
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import time
import traceback

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


def modules_of(scenarios):
    """Return the arguments of each module that the scenarios of these names build, each once."""
    found = []
    for name in scenarios:
        for arguments in getattr(load(name), "BUILD", {}).values():
            if arguments not in found:
                found.append(arguments)
    return found


class Lab:
    """What a scenario sees of the lab; /lab in chroot and guest is the folder "run"."""

    def __init__(self, root, run, stapgen_prefix=None, traffic=None, append=machine.APPEND, packages=None, wants_traffic=True):
        self.root, self.run, self.append, self.packages = root, run, append, packages
        self.suite, self.release, self.stap = root.suite, root.release, root.stap
        self.work = run / "work"
        self.symbols = f"/lab/symbols/{root.symbols.name}"
        self.cache = lab_dir() / "cache" / root.suite
        for folder in (self.work, run / "symbols", run / "cache", self.cache):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(root.symbols, run / "symbols")
        if stapgen_prefix:
            copy_stapgen(pathlib.Path(stapgen_prefix), run / "stapgen")
            allow_overload(self.cache / "stapgen/systemtap")
        if wants_traffic:
            copy_traffic(traffic, run / "traffic")
        if root.architecture and stapgen_prefix:
            built = cross.build_programs(root, run / "build.log")
            copy_stapgen(built / "stapgen", run / "guest/stapgen")
            copy_traffic(built / "traffic", run / "guest/traffic")
        elif stapgen_prefix:
            self.check_it_runs()

    def chroot(self, argv, check=True, binds=(), **options):
        """Run ARGV in the root, in /lab/work; returns a CompletedProcess with text output.

        BINDS are more (host path, path in the root) to mount for this command.
        """
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
        if not (self.run / "stapgen/bin/stapgen").exists():
            raise LabError("this scenario needs stapgen: give --stapgen PREFIX")
        return self.chroot([program, *argv], **options)

    def guest(self, net=False, real_time=False, cpus=None, start=None, devices=()):
        """Return a guest that is not booted yet, with the folders and the variables that GUEST has."""
        return Guest(self.root, self.run, self.append, net, cache=self.cache, real_time=real_time, cpus=cpus, start=start,
                     devices=devices, env={"LAB_SUITE": self.suite, "LAB_RELEASE": self.release, "LAB_SYMBOLS": self.symbols})

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
        found = sorted(pathlib.Path(self.packages).glob("stapgen_*.deb")) if self.packages else []
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


def build_modules(lab, modules, binds=(), symbols=None, program="stapgen"):
    """Compile modules as a scenario's BUILD, with other SYMBOLS or another PROGRAM; the output goes to RUN/build-NAME.log."""
    for name, arguments in modules.items():
        begin = time.monotonic()
        with doing(f"compiling {name}"):
            done = lab.stapgen(["build", *arguments, "-r", lab.release, "--symbols", symbols or lab.symbols,
                                "-o", f"/lab/work/{name}.ko"], program=program, check=False, binds=binds)
        log = lab.run / f"build-{name}.log"
        log.write_text(done.stdout + done.stderr)
        if done.returncode or not (lab.work / f"{name}.ko").exists():
            raise LabError(f"building {name} ended with {done.returncode}; see {log}\n"
                           + tail(log, 40))
        say(f"built {name} in {time.monotonic() - begin:.1f} s")


def run_script(guest, script, timeout, echo=False):
    """Boot GUEST and return the exit code of SCRIPT, whose output is shown as it comes with ECHO."""
    begin = time.monotonic()
    with doing("the guest runs", None if echo else guest.boot / "output"):
        code = guest.execute(HEAD + script, timeout, echo=echo)
    say(f"guest ran {time.monotonic() - begin:.1f} s")
    return code


def boot_scenario(scenario, lab):
    """Run the scenario's GUEST."""
    guest = lab.guest(getattr(scenario, "NET", False), getattr(scenario, "REAL_TIME", False), getattr(scenario, "CPUS", None))
    code = run_script(guest, scenario.GUEST, getattr(scenario, "TIMEOUT", TIMEOUT),
                      getattr(scenario, "ECHO", False))
    assert code == 0, f"the guest's script ended with {code}"


def processor_seconds():
    """Return what the lab and its ended children have used, qemu and the compiler among them."""
    times = os.times()
    return sum(times[:4])


def run_scenario(root, run, name, stapgen_prefix, traffic, packages=None):
    """Run one scenario; returns True, False, or None if it was skipped."""
    begin, spent = time.monotonic(), processor_seconds()
    title = f"{root.suite} {name}"
    try:
        scenario = load(name)
        lab = Lab(root, run, stapgen_prefix, traffic, getattr(scenario, "APPEND", machine.APPEND), packages,
                  getattr(scenario, "TRAFFIC", True))
        build_modules(lab, getattr(scenario, "BUILD", {}))
        if hasattr(scenario, "prepare"):
            scenario.prepare(lab)
        if hasattr(scenario, "GUEST"):
            boot_scenario(scenario, lab)
        if hasattr(scenario, "check"):
            scenario.check(lab)
    except Skipped as reason:
        print(f"SKIP {title}: {reason}", flush=True)
        return None
    except Exception as failure:  # pylint: disable=broad-except
        report(title, failure, run)
        return False
    print(f"PASS {title} ({time.monotonic() - begin:.0f} s, {processor_seconds() - spent:.0f} s of CPU time)", flush=True)
    return True


def report(title, failure, run):
    """Print why a scenario failed, what the guest said last, and where the logs are."""
    boot = run / "boot"
    if (boot / "console.log").exists() and not isinstance(failure, machine.GuestDied):
        print(f"--- console of the guest (end)\n{tail(boot / 'console.log', 200)}\n---")
    if isinstance(failure, LabError):
        print(failure)
    else:
        print("".join(traceback.format_exception(failure)).rstrip())
    print(f"FAIL {title}: {str(failure).splitlines()[0] if str(failure) else 'see above'}")
    for what, path in (("work", run / "work"), ("console", boot / "console.log"),
                       ("output", boot / "output"), ("qemu", boot / "qemu.log")):
        if path.exists():
            print(f"  {what:8} {path}", flush=True)
