#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_packages.py BUILD SAMPLE: what `cpack -G DEB` and `cpack -G RPM` make of BUILD.

The one for rpm is installed into an empty root and used there: no distribution of that kind is at hand. The lab's scenario
`package` does that to the one for Debian, on Debian; here is what is apart from it. Both are the same when made again.
"""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

FILES = ["bin/stapgen", "share/man/man1/stapgen.1.gz", "share/man/man1/stapgen-rx-latency.1.gz",
         "share/bash-completion/completions/stapgen", "share/zsh/site-functions/_stapgen",
         "share/fish/vendor_completions.d/stapgen.fish", "share/doc/stapgen/THIRD-PARTY-NOTICES.md",
         "share/doc/stapgen/docs/guide/installing.md", "share/licenses/stapgen/LICENSE",
         "share/stapgen/schemas/report-1.json", "share/doc/stapgen/stapgen.spdx.json"]
NEEDS = {"--requires": {"systemtap-runtime"}, "--recommends": {"systemtap"}, "--suggests": {"kernel-devel"}}
AS_ROOT = ["unshare", "--map-root-user"]


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANGS, check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def pack(build, generator, folder):
    """Return {what it is: file} of what cpack makes."""
    run("cpack", "--config", build / "CPackConfig.cmake", "-G", generator, "-B", folder)
    return {path.name.split("_")[0].split("-0")[0]: path for path in folder.glob("stapgen*") if path.is_file()}


def check_same(build, generator, top):
    # In the same folder: CPack 3.25 has its name in the .ddeb's md5sums.
    folder = top / generator
    first = {name: path.read_bytes() for name, path in pack(build, generator, folder).items()}
    shutil.rmtree(folder)
    again = pack(build, generator, folder)
    assert {name: path.read_bytes() for name, path in again.items()} == first, "a package differs from the one made again"
    return again


def build_id(program):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-nW", program))[1]


def check_debug(program, symbols):
    """What is apart is of this program, which has no names itself."""
    assert build_id(program) == build_id(symbols), "the symbols are of another program"
    assert "no symbols" in subprocess.run(["nm", program], capture_output=True, text=True, check=False).stderr
    assert "stapgen::show::" in run("nm", "-C", symbols)


def check_deb(build, top):
    made = check_same(build, "DEB", top)
    assert set(made) == {"stapgen", "stapgen-dbgsym"}, made
    for name, path in made.items():
        run("dpkg-deb", "-x", path, top / name)
    # Without dpkg-shlibdeps the package would depend on nothing.
    done = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount --bind /dev/null "$0" && exec "$@"',
                           shutil.which("dpkg-shlibdeps"), "cpack", "--config", build / "CPackConfig.cmake", "-G", "DEB",
                           "-B", top / "none"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "apt-get install dpkg-dev" in " ".join(done.stderr.split()), done
    assert not list((top / "none").glob("*.deb"))
    depends = run("dpkg-deb", "-f", made["stapgen"], "Depends")
    assert "libc6 (>= " in depends and "systemtap-runtime" in depends, depends
    symbols, = (top / "stapgen-dbgsym/usr/lib/debug/.build-id").rglob("*.debug")
    check_debug(top / "stapgen/usr/bin/stapgen", symbols)
    assert (top / "stapgen/usr/share/stapgen/templates/rx-latency/recipe.toml").is_file()


def check_rpm(build, sample, top):
    package = check_same(build, "RPM", top)["stapgen"]
    assert run("rpm", "-qp", "--queryformat", "%{LICENSE}", package) == "GPL-2.0-or-later"
    for what, names in NEEDS.items():
        found = {line for line in run("rpm", "-qp", what, package).splitlines() if not line.startswith("rpmlib(")}
        assert found == names, (what, found)
    root = top / "root"
    root.mkdir()
    run(*AS_ROOT, "rpm", "--root", root, "--initdb")
    run(*AS_ROOT, "rpm", "--root", root, "--nodeps", "-i", package)
    missing = [path for path in FILES if not (root / "usr" / path).is_file()]
    assert not missing, f"the package lacks {missing}"
    listed = run("rpm", "-qpl", package).splitlines()
    others = [path for path in listed if "stapgen" not in path]
    assert not others, f"the package has {others}"
    assert not (root / "usr/share/stapgen/templates").exists(), "the program carries its recipes"
    check_debug(root / "usr/bin/stapgen", build / "static/stapgen.debug")
    document = json.loads((root / "usr/share/doc/stapgen/stapgen.spdx.json").read_text())
    assert document["packages"][0]["checksums"][0]["checksumValue"] == hashlib.sha256((root / "usr/bin/stapgen").read_bytes()).hexdigest()

    shutil.copy(sample, root / "sample.txt")
    def used(*words):
        return run(*AS_ROOT, "--root", root, "/usr/bin/stapgen", *words)

    assert used("--version").startswith("stapgen "), used("--version")
    assert "rx-latency " in used("list")
    assert used("report", "/sample.txt") == run(build / "bin/stapgen", "report", sample)
    run(*AS_ROOT, "rpm", "--root", root, "-e", "stapgen")
    assert not [path for path in listed if (root / path[1:]).exists()], "something is left"


def main():
    build, sample = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    allowed = subprocess.run([*AS_ROOT, "true"], capture_output=True, check=False)
    if allowed.returncode != 0:
        print("skipped: this machine allows no user namespace")
        return
    with tempfile.TemporaryDirectory() as top:
        check_deb(build, pathlib.Path(top))
        check_rpm(build, sample, pathlib.Path(top))


main()
