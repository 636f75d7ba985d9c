#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each command in the docs that is no example of check_examples.py's: check_commands.py STAPGEN SOURCE MODULE [--packages]

They stand in indented blocks, in other blocks than ```console, `in a sentence`, and in the program's own help, of
which its manual is made. bash runs them as they are typed, those of a document in turn, in a folder that has FILES;
AS_HERE says what is another program then. What measures or compiles is run with --dry-run, ON_THIS_MACHINE says what
the others may answer, a name alone in a sentence has to have --help. What would build, test or boot is asked of cmake,
of ctest, of the lab's parser and of the programs' --help. NOT_HERE has the rest, and who runs it.

MODULE is a module with all filters, for no kernel there is. With --packages it is those that make a package or install
one, else all the others.
"""

import collections
import gzip
import importlib.machinery
import importlib.util
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "command_line"))
from stapgen import HANGS, Stapgen  # noqa: E402

DOCUMENTS = ["*.md", "docs/**/*.md", "samples/*.md", "tests/README.md", "tests/*/README.md"]
# Each name of a reader's own file, and what of the source it is here; .gz is packed. Compare would end with 3 if aN were slower.
FILES = {
    "slow.rec": "samples/rx-latency.rec",
    "app.rec": "tests/golden/why/requests/app1.rec",
    "rx-latency-20261129T031207.104Z.kept.rec": "tests/golden/kept/spike.rec",
    "before.rec": "samples/slower-stage/before/1.rec",
    "before.txt": "tests/golden/counters/ip-before.txt",
    "after.txt": "tests/golden/counters/ip-after.txt",
    "after.rec": "samples/slower-stage/before/2.rec",
    **{f"{side}{i}.rec": f"samples/slower-stage/before/{i}.rec" for side in "ab" for i in (1, 2)},
    "web1.rec": "samples/rx-latency.rec",
    "web2.rec": "samples/slower-stage/before/1.rec",
    **{f"monday/web{i}.rec": f"samples/slower-stage/before/{i}.rec" for i in range(1, 6)},
    **{f"chain/{host}.rec": f"tests/golden/chain/{host}.rec" for host in ("app1", "web1", "db1")},
    **{f"pair/{host}.rec": f"samples/pair/{host}.rec" for host in ("app1", "db1")},
    **{name: f"samples/captured/{name}" for name in ("app1.rec", "db1.rec", "db1.pcap")},
    "drops.txt": "samples/dropwatch-2009.txt",
    "dmesg.txt": "tests/golden/sources/log/dmesg.txt",
    **{f"{name}.tar.xz": "samples/sosreport.tar.xz" for name in ("sosreport-web1", "monday", "tuesday", "cases/web1")},
    "System.map-6.1.0-56-amd64": "tests/unit/symbols/data/drop-map-6.12.117",
    "System.map": "tests/golden/System.map",
    "kallsyms.gz": "tests/golden/System.map",
}
# Words that are not literal; the threads have to be there.
PLACEHOLDERS = {
    "19550": str(os.getpid()), "31337": str(os.getpid()), "ARGS": "quiet", "COMMAND...": "true", "DIR": "folder", "FILE": "drops.txt", "FOLDER": "monday", "REASON": "NO_SOCKET",
    "NAME": "tcp-calls", "PREFIX": "folder", "PREFIX/share/stapgen": "root/usr/local/share/stapgen",
    "RECIPE": "rx-latency", "RELEASE": "6.12.117+deb13-amd64", "S": "60", "SCENARIO...": "selftest", "SUITE": "trixie",
    "WORDS...": "rx",
}
WITHOUT_KERNEL = {"list", "show", "render", "report", "compare", "between", "resolve", "export", "query", "new-recipe",
                  "help", "man", "mcp", "complete"}
# What has no --dry-run, and what it may say of the machine that runs this.
ON_THIS_MACHINE = {
    "doctor": r"will (not )?(run|compile) here|some modules are not in the cache",
    "check": r"what it fills into script.stp|there is no recipe 'tcp-calls'",
    "exec": r"is for kernel 0\.0\.0-nowhere|not allowed to load|loader is not installed|the running kernel does not support modules",
}
# What bash knows before it runs a command. apt looks for packages and installs none; the kernel is any of Debian's.
AS_HERE = """
stapgen() { "$STAPGEN" "$@" $ADDED; }
apt-get() { command apt-get --simulate "$@"; }
cmake() { DESTDIR=$HOME/root command cmake "$@"; }
cpack() { command cpack "$@" -B "$HOME"; }
man() { mandoc -T ascii "build/release/share/man/man1/$1.1.gz"; }
sudo() { "$@"; }
uname() { echo amd64; }
"""
PACKAGES = re.compile(r"\bcpack |\./stapgen_")
RUN = ("apt-get install ", "cd ", "man ", "sudo ")
# How each other begins that neither runs here nor can be asked of, and what runs it.
NOT_HERE = {
    "apt-get remove stapgen": "the lab's package, on a machine that has it",
    "sudo install -D ": "nobody: it would write to /etc; tests/unit/recipe/program_files_test.cpp has what root reads there",
    "sudo kill -USR1 ": "the lab's seconds-before: here it would be sent to whatever stapgen runs on this machine",
    "sudo tcpdump ": "the lab's both-ends, in two namespaces",
    "nft ": "the lab's packet-flow-chosen, which reads them in docs/guide/one-packet.md: they take a kernel's netfilter",
}

SAID = {}  # by commands that the folder they run in is nothing to

# Begins a command that is not stapgen's.
OTHER = re.compile(r"sudo (?!stapgen )|(cmake|ctest|apt-get|nft add|cd|man|tests/\S+/\S+) |\./[\w/-]+( |$)")


def in_sentences(prose):
    for code in re.findall(r"`([^`]+)`", "\n".join(prose)):
        yield " ".join(code.split()), True


def typed(text):
    """Yield (what is typed, whether in a sentence)."""
    fence, prose = None, []
    for line in text.replace("\\\n", "").splitlines():
        fenced = line.lstrip().startswith("```")  # also inside a list
        if fence is None and not fenced and not line.startswith("    "):
            prose.append(line)
            continue
        yield from in_sentences(prose)
        prose = []
        if fenced:
            fence = (line.strip()[3:] or "text") if fence is None else None
        elif fence != "console":
            prompt = re.match(r"[$#] (.*)", line.strip())
            if prompt or fence in (None, "sh"):
                yield re.split(r"\s+#", prompt[1] if prompt else line.strip())[0], False
    yield from in_sentences(prose)


def commands(text):
    """Yield (command, whether in a sentence); those of stapgen without what starts it: sudo, ip netns exec, a pipe."""
    for line, in_sentence in typed(text):
        for part in [line] if line.startswith("cd ") else line.split(" && "):
            if OTHER.match(part):
                yield part, in_sentence
            elif own := re.search(r"(?:^| )(stapgen -*[a-zA-Z].*)", part):
                yield own[1], in_sentence


def without_placeholders(command):
    return re.sub(r"[^\s\[\]]+", lambda word: PLACEHOLDERS.get(word[0], word[0]), command)


class Machine:
    """A home and a folder with the files that a document names."""

    def __init__(self, stapgen, source, module, folder):
        self.source, self.folder = source, folder
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(stapgen.parents[1])
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "TZ": "UTC",
                            "LC_ALL": "C.UTF-8", "STAPGEN": str(stapgen), "STAPGEN_STAP": "/no/stap",
                            "DEBIAN_FRONTEND": "noninteractive"}
        for name in ("samples", "tests"):
            (folder / name).symlink_to(source / name)
        for name, origin in {**FILES, "rx.ko": module}.items():
            content = (source / origin).read_bytes()
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    def run(self, command, added=""):
        """Run it with the options that are ADDED. Return its exit code and what it printed."""
        if "--dry-run" not in added and not re.match(r"apt-get install [^.]+$", command):
            return self.run_here(command, added)
        key = command, added, (self.folder / ".config").exists()
        if key not in SAID:
            SAID[key] = self.run_here(command, added)
        return SAID[key]

    def run_here(self, command, added):
        with open(self.source / "tests/golden/drops.txt", encoding="utf-8") as piped:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", AS_HERE + command], cwd=self.folder,
                                  env={**self.environment, "ADDED": added}, stdin=piped, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=HANGS, check=False)
        return done.returncode, done.stdout


def options_added(name, words):
    """Return what makes a command of stapgen's run here without a kernel."""
    if name == "resolve" and "--map" not in words:
        return "--map System.map"
    if name in WITHOUT_KERNEL or words[:1] in (["report"], ["compare"], ["why"]) or name.startswith("-") or "--help" in words:
        return ""
    if name == "why" and words and not words[0].startswith("-"):  # of a recording
        return ""
    compiles = name != "serve" and "softnet" not in (name, *words)
    return "--dry-run --no-workaround all" if compiles else "--dry-run"


def check_own(machine, command, in_sentence):
    """Return how a command of stapgen's was checked, and what is wrong with it."""
    name, *words = shlex.split(command)[1:]
    if in_sentence and not words and not name.startswith("-"):
        check, added = "only named", "--help"
    elif name in ON_THIS_MACHINE and "--help" not in words:
        _, printed = machine.run(command)
        return "as far as this machine can", None if re.search(ON_THIS_MACHINE[name], printed) else printed
    else:
        added = options_added(name, words)
        check = "--dry-run" if "--dry-run" in added else "run"
    if name == "query" and not (machine.folder / "store").exists():
        machine.run("stapgen export monday --parquet store")
    code, printed = machine.run(command, added)
    if code == 4 and "DuckDB's library cannot be loaded" in printed:
        return "as far as this machine can", None
    if code == 7 and name == "compare" and "no result: before has " in printed:
        return "on recordings that are too short", None
    return check, f"{printed}exit code {code}" if code else None


def check_run(machine, command):
    """Return how it was checked, and what is wrong with it."""
    if command.startswith("apt-get ") and not apt_knows_them():
        print(f"skipped: apt has no list of Debian 12's packages here: {command}")
        return "left out", None
    code, printed = machine.run(command)
    if "cmake -D STAPGEN_STATIC=ON, and" in printed:  # packaging/generator.cmake.in
        print(f"skipped: no static program was built: {command}")
        return "left out", None
    return "run", f"{printed}exit code {code}" if code else None


def apt_knows_them():
    release = platform.freedesktop_os_release()
    return release.get("VERSION_CODENAME") == "bookworm" and any(pathlib.Path("/var/lib/apt/lists").glob("*_Packages*"))


def lab_parser(source):
    sys.path.insert(0, str(source / "tests/lab"))
    loader = importlib.machinery.SourceFileLoader("lab", str(source / "tests/lab/lab"))
    lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
    loader.exec_module(lab)
    return lab.parse


def check_lab(parse, command):
    try:
        parse(shlex.split(re.sub(r"[\[\]]", "", command))[1:])
    except SystemExit:
        return "the lab's parser does not take it"
    return None


class Build:
    """What cmake and ctest know of the source and of the build that the program is of."""

    def __init__(self, stapgen, source):
        self.source, self.folder = source, stapgen.parents[1]
        # ./run-tests has unit tests and corpora in the build with sanitizers alone.
        self.builds = [build for build in (self.folder, self.folder.parent / "asan")
                       if (build / "CTestTestfile.cmake").exists()]
        self.presets = self.said("cmake", "--list-presets=all")
        self.targets = set(re.findall(r"[\w.-]+", self.said("cmake", "--build", self.folder, "--target", "help")))

    def said(self, *command):
        return subprocess.run(command, cwd=self.source, capture_output=True, text=True, check=True).stdout

    def check(self, command):
        """Return what is wrong with a command of cmake's or ctest's: no such preset, target or test."""
        words = shlex.split(command)
        named = [words[place + 1] for place, word in enumerate(words) if word == "--preset"]
        if unknown := [name for name in named if f'"{name}"' not in self.presets]:
            return f"no preset {unknown}"
        targets = [words[place + 1] for place, word in enumerate(words) if word == "--target"]
        if unknown := [name for name in targets if name not in self.targets]:
            return f"no target {unknown}"
        if words[0] == "ctest":
            chosen = [word for word in words[1:] if word not in ("--preset", *named)]
            if all("Total Tests: 0" in self.said("ctest", "--test-dir", build, "-N", *chosen) for build in self.builds):
                return "there is no such test"
        return None


def check_program(source, words):
    """Return what is wrong with a command of the source's own: no such program, or an option that --help does not have."""
    program = source / words[0]
    if not os.access(program, os.X_OK):
        return f"{words[0]} cannot be run"
    options = [word for word in words[1:] if word.startswith("--")]
    asked = subprocess.run([program, "--help"], capture_output=True, text=True, check=False) if options else None
    unknown = [word for word in options if not re.search(rf"{word}(?![\w-])", asked.stdout + asked.stderr)]
    if words[0] == "tests/fuzz/run":
        unknown += [word for word in words[2:] if not (source / f"tests/fuzz/{word}.cpp").exists()]
    return f"{words[0]} does not know {unknown}" if unknown else None


def check_other(machine, build, command):
    """Return how it was checked, and what is wrong with it."""
    literal = without_placeholders(re.sub(r"\bNAME\b", "recipe", command))  # a fuzzer, and a test
    if command.startswith(tuple(NOT_HERE)):
        return "not run here", None
    if command.startswith(RUN):
        return check_run(machine, literal)
    if command.startswith(("cmake ", "ctest ")):
        return "asked of cmake and ctest", build.check(literal)
    if re.match(r"\./|tests/", command):
        return "asked of the program", check_program(build.source, shlex.split(literal))
    return "unknown", "nothing runs it: RUN and NOT_HERE in check_commands.py"


def check_document(text, machine, parse, build, of_packages):
    """Yield (command, how it was checked, what is wrong with it or None)."""
    for command, in_sentence in commands(text):
        if bool(PACKAGES.search(command)) != of_packages:
            continue
        literal = without_placeholders(command)
        if in_sentence and re.search(r"\.\.\.|…", literal):
            yield command, "left out", None
        elif command.startswith("stapgen "):
            yield command, *check_own(machine, literal, in_sentence)
        elif command.startswith("tests/lab/lab "):
            yield command, "parsed by the lab", check_lab(parse, literal)
        else:
            yield command, *check_other(machine, build, command)


def documents(stapgen, source):
    """Yield (name, text) of the files, then of each example of the program's own help."""
    for path in sorted(path for pattern in DOCUMENTS for path in source.glob(pattern)):
        yield path.relative_to(source), path.read_text(encoding="utf-8")
    program = Stapgen(stapgen)
    for words in program.commands():
        examples = re.search(r"^Examples:\n((?:  .*\n)+)", program.run("help", *words), re.M)
        for example in re.sub(r" \\\n +", " ", examples[1]).splitlines():
            yield " ".join(["stapgen help", *words]), "  " + example


def main():
    stapgen, source, module = map(pathlib.Path.resolve, map(pathlib.Path, sys.argv[1:4]))
    of_packages = sys.argv[4:] == ["--packages"]
    parse, checks, wrong = lab_parser(source), collections.Counter(), []
    unused = set(() if of_packages else [*NOT_HERE, *PLACEHOLDERS, *(name for name in FILES if "/" not in name)])
    build = Build(stapgen, source)
    for name, text in documents(stapgen, source):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(stapgen, source, module, pathlib.Path(folder))
            if settings := re.search(r"```toml\n(\[options\].*?)```", text, re.DOTALL):
                (pathlib.Path(folder) / ".config/stapgen").mkdir(parents=True)
                (pathlib.Path(folder) / ".config/stapgen/config.toml").write_text(settings[1])
            for command, check, problem in check_document(text, machine, parse, build, of_packages):
                checks[check] += 1
                unused -= {name for name in unused
                           if command.startswith(name) or re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w.])", command)}
                if problem is not None:
                    wrong.append(f"{name}: {command}\n{problem}")
    wrong += [f"check_commands.py: no document has {name}" for name in sorted(unused)]
    for each in wrong:
        print(each)
    print(", ".join(f"{check}: {count}" for check, count in sorted(checks.items())))
    assert ({"run"} if of_packages else {"run", "--dry-run", "as far as this machine can", "parsed by the lab"}) <= set(checks)
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
