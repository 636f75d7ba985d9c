#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tapsets and recipes find in kernels that are not run: check_kernels.py STAPGEN [RELEASE...] [--update]

From RELEASE in symbols.tar.xz and headers/ it makes a build tree just large enough for stap's pass 2. In it stap
resolves every alias of the tapsets and every recipe. What it chose, with which arguments, is compared with the rows
that `expected` has for RELEASE; --update writes them there. Without a RELEASE it is each of them.
"""

import difflib
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SYMBOLS = HERE / "symbols.tar.xz"
EXPECTED = HERE / "expected"
SKIPPED = 77
# stap's own tapsets. Most of each run would be the reading of those that probe system calls, of which we use none.
LIBRARY = pathlib.Path("/usr/share/systemtap/tapset")

# Compiles what stap asks of a build tree: modules that hold a header's tracepoints or types. The other headers
# that stap includes for real kernels' sake are left out.
MAKEFILE = r"""
modules .DEFAULT:
	cd $(M) && for c in *.c; do \
	  sed -i '/^#include <trace/!{/^#include/d}' $$c; \
	  gcc -g -fno-eliminate-unused-debug-types -w DEFINES '-DMODULE_LICENSE(x)=' '-DMODULE_DESCRIPTION(x)=' -IHEADERS \
	    $$(sed -n 's/"//g;s/^CFLAGS_.*:=//p' Makefile) -c $$c -o $${c%.c}.o && cp $${c%.c}.o $${c%.c}.ko; \
	done
"""


def version(release):
    return [int(number) for number in re.match(r"[\d.]+", release)[0].rstrip(".").split(".")]


def make_tree(tree, release):
    with tarfile.open(SYMBOLS) as archive:
        symbols = [line.split() for line in archive.extractfile(release).read().decode().splitlines()]
    major, minor = version(release)[:2]
    defines = ["CONFIG_TRACEPOINTS", f"KERNEL={major * 100 + minor}"]
    defines += ["TRACE_" + name.removeprefix("__tracepoint_") for kind, name in symbols if kind == "D"]
    if redhat := re.search(r"\.el(\d+)", release):
        defines.append(f"EL{redhat[1]}")
    makefile = MAKEFILE.replace("DEFINES", " ".join("-D" + d for d in defines))
    (tree / "include/config").mkdir(parents=True)
    (tree / "include/config/kernel.release").write_text(release + "\n")
    (tree / ".config").touch()
    (tree / "Module.symvers").touch()
    (tree / "Makefile").write_text(makefile.replace("HEADERS", str(HERE / "headers")))
    # Where stap looks for tracepoints, and for functions.
    (tree / "include/trace").symlink_to(HERE / "headers/trace")
    (tree / "boot").mkdir()
    table = "".join(f"0000000000000000 {kind} {name}\n" for kind, name in symbols)
    (tree / f"boot/System.map-{release}").write_text(table)


def link_library(folder):
    """Make a library without those that probe system calls, and those of other architectures."""
    for file in LIBRARY.rglob("*.stp*"):
        name = file.relative_to(LIBRARY)
        if not file.name.startswith("sysc_") and set(name.parts[:-1]) <= {"linux", "x86_64"}:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(file)


class Stap:
    def __init__(self, folder, tree, tapsets):
        self.environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(folder), "TMPDIR": str(folder),
                            "SYSTEMTAP_DIR": str(folder / "systemtap")}
        if LIBRARY.is_dir():
            link_library(folder / "library")
            self.environment["SYSTEMTAP_TAPSET"] = str(folder / "library")
        self.command = ["stap", "--color=never", "--sysroot", tree, "-r", tree, "-I", tapsets, "-I", tapsets / "debuginfo-never"]

    def __call__(self, *arguments, script=""):
        return subprocess.run([*self.command, *arguments], env=self.environment, input=script, capture_output=True,
                              text=True, timeout=HANGS, check=False)


# stap's names for a function f, for $x of a tracepoint, for a cast's field; private ones contain the tapset's path.
NAMES = [(r"__global_(\w+?)__overload_\d+", r"\1"), (r"__tracepoint_arg_(\w+)", r"$\1"),
         (r"__private_\w+?_dwarf_cast_get_cast_\d+|stapgen_sock_of", "field_of"),
         (r"__private_\w+?_stpm?_(\w+)", r"\1")]
# @stapgen_arg1 and the others read these registers.
NAMES += [(r"%\{\s*/\* pure \*/ \(int64_t\)c->kregs->" + register + r"\s*%\}", f"pointer_arg({number})")
          for number, register in enumerate(("di", "si", "dx", "cx"), 1)]


def readable(expression):
    for pattern, name in NAMES:
        expression = re.sub(pattern, name, expression)
    return re.sub(r"^\((.*)\)$", r"\1", expression)


def arguments(release):
    """Function -> its first arguments in that kernel."""
    found = {}
    for line in (HERE / "signatures").read_text().splitlines():
        if line.startswith("#"):
            continue
        function, since, *names = line.split()
        if since == "el7":
            holds = ".el7." in release
        else:
            holds = version(since.lstrip("~")) <= version(release)
        if holds:
            found[function] = names
    return found


def judged(name, expression, probe, known):
    """The row's text for one variable, with what is wrong about it."""
    text = f"{name} = {expression}"
    function = re.match(r'kprobe\.function\("(\w+)', probe)
    index = re.search(r"pointer_arg\((\d)\)", expression)
    if not function or not index:
        return text
    names = known.get(function[1])
    if names is None:
        return text + " (not in signatures)"
    actual = names[int(index[1]) - 1] if int(index[1]) <= len(names) else "-"
    if "field_of" in expression:
        return f"{text} (of {actual})"
    return text if actual == name else f"{text} (WRONG, that is {actual})"


def aliases(stap, tapsets, known):
    """Rows of the aliases that name a place in the kernel without its DWARF: (alias, probe, variables)."""
    defined = re.findall(r"^(stapgen\.\S+) = (.*)", stap("--dump-probe-aliases").stdout, re.MULTILINE)
    names = [name for name, places in defined
             if re.search(r"\b(kprobe|kernel|stapgen\.light)\.", places) and not name.startswith(("stapgen.dwarf.", "stapgen.light."))]
    if not names:
        sys.exit("kernels: stap found no aliases in the tapsets")
    ours = set(re.findall(r"\b(\w+) = ", "".join(path.read_text() for path in tapsets.glob("*.stp"))))
    # Optional, so that one which finds nothing does not end all; -u keeps variables that nobody reads.
    script = "".join(f'probe {name} ? {{ println("@@{name}") }}\n' for name in names)
    done = stap("-p2", "-u", "-v", "-v", "-", script=script)
    if done.returncode != 0:
        sys.exit(f"kernels: stap could not resolve the aliases:\n{done.stderr[-4000:]}")
    rows = []
    entries = {}   # what the @entry()s of return probes keep, each from the probe before it
    kept_by = re.compile(r"\(__global_entry_tvar_entry_(\d+)\[.*?\]\) = (\(.*\));$", re.MULTILINE)
    for body in re.split(r"^(?=\S.* /\* +<- )", done.stdout[done.stdout.index("# probes"):], flags=re.MULTILINE):
        for number, expression in kept_by.findall(body):
            entries[number] = readable(expression)
        marker = re.search(r'println\("@@(.*)"\)', body)
        if not marker:
            continue
        values = []
        probe = body.split(" /*")[0].rstrip("?!")
        for name, expression in re.findall(r"^\((\w+)\) = (\(.*\));$", body, re.MULTILINE):
            if name in ours:
                kept = re.fullmatch(r"\(__global_entry_tvar_entry_(\d+)_tmp\)", expression)
                expression = f"@entry({entries[kept[1]]})" if kept else readable(expression)
                values.append(judged(name, expression, probe, known))
        rows.append((marker[1], probe, ", ".join(values)))
    found = {row[0] for row in rows}
    return sorted(rows + [(name, "-", "") for name in names if name not in found])


def locks_in_branches(source):
    """Handlers that take their locks inside a branch only, in stap's C code: docs/inside/kernel-quirks.md, "A lock in a branch".
    Globals that no handler writes have none."""
    places = dict(re.findall(r'STAP_PROBE_INIT\(\d+, &(probe_\d+), "(.*?)", ', source))
    for handler in re.split(r"^static void (?=probe_\d+ \(struct context)", source, flags=re.MULTILINE)[1:]:
        name, body = handler.split(" ", 1)
        body = body[:body.find("\n}\n")]
        lock = re.search(r"^( *)if \(!stp_lock_probe", body, re.MULTILINE)
        if re.search(r"stp_probe_lock locks\[\] = \{\s*\}", body):
            continue
        if lock and len(lock[1]) > 6:
            yield places[name]


def recipes(stapgen, stap, templates):
    """Rows of the recipes that have a script: does their script pass stap's analysis, and if not what is the first thing amiss."""
    listed = subprocess.run([stapgen, "list", "--json"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r'"name": *"(.*?)"', listed):
        if not (templates / name / "script.stp").exists():
            continue
        script = subprocess.run([stapgen, "render", name], capture_output=True, text=True, check=True).stdout
        done = stap("-p3", "-", script=script)
        reasons = re.findall(r"^semantic error: (?!resolution failed|no match)(.*)", done.stderr, re.MULTILINE)
        reasons += [f"no lock where {place} needs it" for place in locks_in_branches(done.stdout)]
        yield name, re.sub(r" at \S*/", " at ", reasons[0]) if reasons else "resolves"


def age(release):
    return [int(number) for number in re.findall(r"\d+", release)]


def within(kernels, release):
    """Whether "A", "A .. B", "A .." or ".. B" is said of that kernel."""
    first, dots, last = (part.strip() for part in kernels.partition(".."))
    last = last if dots else first
    return (not first or age(first) <= age(release)) and (not last or age(release) <= age(last))


def expected(release):
    """The rows of one kernel, without the kernels that they are of."""
    rows = [re.fullmatch(r"(.*?)(?:  \[(.*)\])?", row).groups() for row in EXPECTED.read_text().splitlines()]
    return [text for text, of in rows if of is None or any(within(kernels, release) for kernels in of.split(", "))]


def write_expected(rows_of, releases):
    """Release -> rows, as one row for all the kernels that have it; `releases` are all of them, the oldest first."""
    newest = len(releases) - 1
    written = []
    for row in set().union(*rows_of.values()):
        in_kernels = itertools.groupby(range(len(releases)), key=lambda i: row in rows_of[releases[i]])
        runs = [list(run) for has, run in in_kernels if has]
        ranges = []
        for first, last in ((run[0], run[-1]) for run in runs):
            ends = f"{releases[first] if first > 0 else ''} .. {releases[last] if last < newest else ''}".strip()
            ranges.append(releases[first] if first == last < newest else ends)
        of = "" if ranges == [".."] else f"  [{', '.join(ranges)}]"
        written.append((row.split()[0], runs[0][0], row + of))
    EXPECTED.write_text("".join(row + "\n" for *_, row in sorted(written)))


def unfounded(release, found, file):
    """What kernels.toml says of this kernel and stap does not: recipes that are whole there, or lost."""
    rows = [row for row in tomllib.loads(file.read_text())["kernels"] if release in row["releases"]]
    if len(rows) != 1:
        return f"kernels.toml has {len(rows)} rows with {release} in 'releases', and should have one\n"
    lost = rows[0].get("lost", {})
    return "".join(f"kernels.toml says of {name} on {rows[0]['range']} that nothing is lost, but: {says}\n"
                   for name, says in found if says != "resolves" and not ({name, "all"} & lost.keys()))


def check(stapgen, release):
    """The rows that stap finds in that kernel, and what is wrong about them whatever was expected."""
    share = pathlib.Path(stapgen).resolve().parent.parent / "share/stapgen"
    tapsets = share / "tapsets"
    with tempfile.TemporaryDirectory(prefix="stapgen-kernels-") as folder:
        folder = pathlib.Path(folder)
        tree = folder / "build"
        make_tree(tree, release)
        stap = Stap(folder, tree, tapsets)
        found = list(recipes(stapgen, stap, share / "templates"))
        # A recipe that resolves needs no row: a new one is in no file but its own.
        assert len(found) > 10, found
        amiss = [row for row in found if row[1] != "resolves"]
        rows = ["  ".join(row).rstrip() for row in aliases(stap, tapsets, arguments(release)) + amiss]
    complaints = unfounded(release, found, share / "kernels.toml").splitlines()
    return rows, complaints + [row for row in rows if "WRONG" in row or "(not in" in row]


def main():
    if "--help" in sys.argv:
        print(__doc__)
        return 0
    stapgen, *asked = [argument for argument in sys.argv[1:] if argument != "--update"]
    if shutil.which("stap") is None:
        print("kernels: skipped, there is no stap")
        return SKIPPED
    with tarfile.open(SYMBOLS) as archive:
        releases = sorted(archive.getnames(), key=age)
    rows_of = {release: expected(release) for release in releases}
    failed = False
    for release in asked or releases:
        rows, wrong = check(stapgen, release)
        wrong += difflib.unified_diff(sorted(rows_of[release]), sorted(rows), f"expected of {release}", "found",
                                      lineterm="")
        sys.stdout.writelines(line + "\n" for line in wrong)
        failed = failed or wrong
        rows_of[release] = rows
    if "--update" in sys.argv:
        write_expected(rows_of, releases)
        return 0
    if failed:
        print(f"kernels: if this is right: {pathlib.Path(__file__).name} STAPGEN --update")
    return 1 if failed else 0


sys.exit(main())
