"""Making the files of samples/: foreign scripts and tools run in a guest, whose output is kept as it is."""

import shutil

from .common import SOURCE, say
from .roots import proxy_options
from .scenario import allow_overload, load

FOLDER = SOURCE / "captures"


def compile_script(lab, script, name, arguments=(), options=(), binds=()):
    """Compile captures/SCRIPT.stp with plain stap as /lab/work/NAME.ko; to be run with staprun."""
    shutil.copy(FOLDER / f"{script}.stp", lab.work)
    # Where stapgen's builds keep what stap knows of this kernel's tracepoints, which takes minutes to find out;
    # its rc switches off the overload guard, see allow_overload() of scenario.py.
    allow_overload(lab.cache / "stapgen/systemtap")
    lab.chroot(["stap", "-p4", "-r", lab.release, "-m", name, *load("selftest").cure(lab), *options, f"{script}.stp",
                *map(str, arguments)], binds=binds, env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})


def keep(lab, names):
    """Say where the files NAMES are that this scenario has made for samples/."""
    for name in names:
        lines = lab.read(name).count("\n")
        assert lines, f"{name} is empty"
        say(f"{lab.work / name}: {lines} lines")


def unpack_packages(lab, *packages):
    """Unpack PACKAGES, with what they need and the root has not, into /lab/work/tools; nothing is installed."""
    folder = lab.work / "debs"
    folder.mkdir()

    def run(*command):
        lab.chroot(command, binds=[(folder, "/mnt")])

    apt = ["apt-get", "-o", "Dir::State=/mnt", "-o", "Dir::Cache=/mnt", "-o", "APT::Sandbox::User=root",
           "-o", "Dir::State::status=/var/lib/dpkg/status", *proxy_options()]
    run(*apt, "update", "--error-on=any")
    run(*apt, "install", "-y", "--no-install-recommends", "--download-only", *packages)
    run("sh", "-c", 'for deb in /mnt/archives/*.deb; do dpkg-deb -x "$deb" /lab/work/tools; done')
    shutil.rmtree(folder)
