#!/usr/bin/env python3
"""What tapsets and recipes find in a kernel that is not run: check_kernels.py STAPGEN RELEASE [--update]

From symbols/RELEASE and headers/ it makes a build tree just large enough for stap's pass 2. In it stap resolves
every alias of the tapsets and every recipe. What it chose, with which arguments, is compared with
expected/RELEASE; --update writes it there.
"""

import difflib
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77

# Compiles what stap asks of a build tree: modules that hold a header's tracepoints or types. The other headers
# that stap includes for real kernels' sake are left out.
MAKEFILE = r"""
modules .DEFAULT:
	cd $(M) && for c in *.c; do \
	  sed -i '/^#include <trace/!{/^#include/d}' $$c; \
	  gcc -g -fno-eliminate-unused-debug-types -w DEFINES '-DMODULE_LICENSE(x)=' -IHEADERS \
	    $$(sed -n 's/"//g;s/^CFLAGS_.*:=//p' Makefile) -c $$c -o $${c%.c}.o && cp $${c%.c}.o $${c%.c}.ko; \
	done
"""


def version(release):
    return [int(number) for number in re.match(r"[\d.]+", release)[0].rstrip(".").split(".")]


def make_tree(tree, release):
    symbols = [line.split() for line in (HERE / "symbols" / release).read_text().splitlines()]
    major, minor = version(release)[:2]
    defines = ["CONFIG_TRACEPOINTS", f"KERNEL={major * 100 + minor}"]
    defines += ["TRACE_" + name.removeprefix("__tracepoint_") for kind, name in symbols if kind == "D"]
    if ".el7." in release:
        defines.append("EL7")
    makefile = MAKEFILE.replace("DEFINES", " ".join("-D" + d for d in defines))
    (tree / "include/config").mkdir(parents=True)
    (tree / "include/config/kernel.release").write_text(release + "\n")
    (tree / ".config").touch()
    (tree / "Module.symvers").touch()
    (tree / "Makefile").write_text(makefile.replace("HEADERS", str(HERE / "headers")))
    # Where stap looks for tracepoints, and for functions (4.8; later ones look in /boot).
    (tree / "include/trace").symlink_to(HERE / "headers/trace")
    (tree / "System.map").write_text("".join(f"0000000000000000 {kind} {name}\n" for kind, name in symbols))


class Stap:
    def __init__(self, folder, tree, tapsets):
        self.environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(folder), "TMPDIR": str(folder),
                            "SYSTEMTAP_DIR": str(folder / "systemtap")}
        self.command = ["stap", "--color=never", "-r", tree, "-I", tapsets, "-I", tapsets / "debuginfo-never"]

    def __call__(self, *arguments, script=""):
        return subprocess.run([*self.command, *arguments], env=self.environment, input=script, capture_output=True,
                              text=True, timeout=100, check=False)


# stap's names for a function f, for $x of a tracepoint, for a cast's field; private ones contain the tapset's path.
NAMES = [(r"__global_(\w+?)__overload_\d+", r"\1"), (r"__tracepoint_arg_(\w+)", r"$\1"),
         (r"__private_\w+?_dwarf_cast_get_cast_\d+", "field_of"), (r"__private_\w+?_stpm?_(\w+)", r"\1")]
# @stapgen_arg1 and the others read these registers.
NAMES += [(r"%\{\s*/\* pure \*/ \(int64_t\)c->kregs->" + register + r"\s*%\}", f"pointer_arg({number})")
          for number, register in enumerate(("di", "si", "dx"), 1)]


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
             if re.search(r"\b(kprobe|kernel)\.", places) and not name.startswith("stapgen.dwarf.")]
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
    for body in re.split(r"^(?=\S.* /\* <- )", done.stdout[done.stdout.index("# probes"):], flags=re.MULTILINE):
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
    """Handlers that take their locks inside a branch only, in stap's C code: docs/kernel-quirks.md, "A lock in a branch"."""
    places = dict(re.findall(r'STAP_PROBE_INIT\(\d+, &(probe_\d+), "(.*?)", ', source))
    for handler in re.split(r"^static void (?=probe_\d+ \(struct context)", source, flags=re.MULTILINE)[1:]:
        name, body = handler.split(" ", 1)
        lock = re.search(r"^( *)if \(!stp_lock_probe", body[:body.find("\n}\n")], re.MULTILINE)
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


def table(rows):
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n" for row in rows)


def unfounded(release, found, file):
    """What kernels.toml says of this kernel and stap does not: recipes that are whole there, or lost."""
    rows = [row for row in tomllib.loads(file.read_text())["kernels"] if release in row["releases"]]
    if len(rows) != 1:
        return f"kernels.toml has {len(rows)} rows with {release} in 'releases', and should have one\n"
    lost = rows[0].get("lost", {})
    return "".join(f"kernels.toml says of {name} on {rows[0]['range']} that nothing is lost, but: {says}\n"
                   for name, says in found if says != "resolves" and not ({name, "all"} & lost.keys()))


def main():
    stapgen, release = sys.argv[1], sys.argv[2]
    try:
        about = subprocess.run(["stap", "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               check=False).stdout
    except FileNotFoundError:
        about = ""
    if "version 4.8/" not in about:
        print("kernels: skipped, expected/ is what SystemTap 4.8 says and there is another one or none here")
        return SKIPPED
    share = pathlib.Path(stapgen).resolve().parent.parent / "share/stapgen"
    tapsets = share / "tapsets"
    with tempfile.TemporaryDirectory(prefix="stapgen-kernels-") as folder:
        folder = pathlib.Path(folder)
        tree = folder / "build"
        make_tree(tree, release)
        stap = Stap(folder, tree, tapsets)
        found = list(recipes(stapgen, stap, share / "templates"))
        text = table(aliases(stap, tapsets, arguments(release))) + "\n" + table(found)
    complaint = unfounded(release, found, share / "kernels.toml")
    complaint += "".join(f"{line}\n" for line in text.splitlines() if "WRONG" in line or "(not in" in line)
    sys.stdout.write(complaint)
    expected = HERE / "expected" / release
    if "--update" in sys.argv:
        expected.write_text(text)
        return 0
    before = expected.read_text() if expected.exists() else ""
    difference = difflib.unified_diff(before.splitlines(True), text.splitlines(True), f"expected/{release}", "found")
    sys.stdout.writelines(difference)
    if text != before:
        print(f"kernels: if this is right: {pathlib.Path(__file__).name} STAPGEN {release} --update")
    return 0 if text == before and not complaint else 1


sys.exit(main())
