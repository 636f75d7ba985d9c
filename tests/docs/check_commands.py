#!/usr/bin/env python3
"""Each command in the docs that is no example of check_examples.py's: check_commands.py STAPGEN SOURCE MODULE VMLINUX

They stand in indented blocks, in other blocks than ```console, `in a sentence`, and in the program's own help, of
which its manual is made. Those of stapgen are run by bash as they are typed, in a folder that has FILES: what needs
no kernel has to end with 0; what measures or compiles is run with --dry-run; ON_THIS_MACHINE says what the others may
answer. A name alone in a sentence has to have --help. Those of the lab have to be words that its parser takes. What
else there is to type is in RUN_ELSEWHERE.

MODULE is a module with all filters, for no kernel there is; VMLINUX that of tests/fake_kernel.
"""

import collections
import gzip
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "command_line"))
from stapgen import Stapgen  # noqa: E402

DOCUMENTS = ["*.md", "docs/*.md", "samples/*.md", "tests/*/README.md"]
# Each name in the docs, and what of the source it is here; .gz is packed. Compare would end with 3 if aN were slower.
FILES = {
    "slow.rec": "samples/rx-latency.rec",
    "run.rec": "samples/dropwatch.rec",
    "whole.rec": "samples/rx-latency.rec",
    "before.rec": "samples/slower-stage/before/1.rec",
    "after.rec": "samples/slower-stage/before/2.rec",
    **{f"b{i}.rec": f"samples/slower-stage/before/{i}.rec" for i in range(1, 6)},
    **{f"a{i}.rec": f"samples/slower-stage/before/{i}.rec" for i in range(1, 6)},
    "web1.rec": "samples/rx-latency.rec",
    "web2.rec": "samples/slower-stage/before/1.rec",
    "drops.txt": "samples/dropwatch-2009.txt",
    "System.map-6.1.0-56-amd64": "tests/unit/symbols/data/drop-map-6.12.117",
    "System.map": "tests/golden/System.map",
    "kallsyms.gz": "tests/golden/System.map",
    "kallsyms-of-that-kernel.gz": "tests/golden/System.map",
}
# Words that are not literal; the threads have to be there.
PLACEHOLDERS = {
    "19550": str(os.getpid()), "31337": str(os.getpid()), "ARGS": "quiet", "COMMAND...": "true", "DIR": "folder",
    "NAME": "tcp-calls", "PREFIX": "folder", "RECIPE": "rx-latency", "RELEASE": "6.12.117+deb13-amd64", "S": "60",
    "SCENARIO...": "selftest", "SUITE": "trixie", "WORDS...": "rx",
}
WITHOUT_KERNEL = {"list", "show", "render", "report", "compare", "resolve", "new-recipe", "help", "man", "complete"}
# What has no --dry-run, and what it may say of the machine that runs this.
ON_THIS_MACHINE = {
    "doctor": r"will (not )?(run|compile) here|not everything that was asked for is in the cache",
    "exec": r"is for kernel 0\.0\.0-nowhere|not allowed to load|loader is not installed|the running kernel has no",
}
# Scripts of the source that need no more than Python.
RUN_HERE = "tests/perfetto/draw_trace.py "
# Each other command, the file that runs it, and the words there; of what is run by hand, the file that knows it.
LAB, BENCH, FUZZ = "tests/lab/CMakeLists.txt", "tests/bench/CMakeLists.txt", "tests/fuzz/CMakeLists.txt"
PACKAGE, CHOSEN = "tests/lab/scenarios/package.py", "tests/lab/scenarios/packet-flow-chosen.py"
VERSION, DOCTOR = "tests/command_line/check_version.py", "tests/lab/scenarios/doctor.py"
RUN_ELSEWHERE = {
    "./run-demo": ("tests/lab/scenarios/demo.py", "./run-demo"),
    "./run-tests": (".ci/run", "./run-tests"),
    "./run-tests --all": ("run-tests", "--all) "),
    "./run-tests --fast": ("run-tests", "--fast) "),
    "./scripts/install-packages": ("run-tests", "./scripts/install-packages"),
    "apt-get install ./stapgen_0.1.0_amd64.deb": (PACKAGE, "install /lab/work/stapgen.deb"),
    "apt-get install clang libclang-rt-14-dev": ("CMakePresets.json", "-fsanitize=fuzzer-no-link"),
    "apt-get install debootstrap qemu-system-x86 e2fsprogs python3": ("scripts/install-packages", "debootstrap"),
    "apt-get install gcc-12": (DOCTOR, "apt-get install make gcc-"),
    "apt-get install linux-headers-$(uname -r)": (DOCTOR, "apt-get install linux-headers-"),
    "apt-get install linux-image-$(uname -r)-dbg": ("tests/lab/lablib/debuginfo.py", "-dbg="),
    "apt-get install systemtap": (DOCTOR, "apt-get install systemtap"),
    "apt-get install systemtap linux-headers-$(uname -r)": ("tests/lab/lablib/roots.py", "linux-headers-amd64"),
    "apt-get remove stapgen": (PACKAGE, "remove stapgen"),
    "cd PREFIX/share/stapgen": (VERSION, "cwd=share"),
    "cd build/release": (LAB, "${CMAKE_BINARY_DIR}/CPackConfig.cmake"),
    "cmake --build --preset release": ("run-tests", "cmake --build --preset release"),
    "cmake --build --preset release --target stapgen --target manual":
        ("run-demo", "cmake --build --preset release --target stapgen --target manual"),
    "cmake --build --preset release --target resolve_bench": (BENCH, "add_executable(resolve_bench "),
    "cmake --build --preset release --target stapgen --target bench_generate":
        (BENCH, "add_executable(bench_generate "),
    "cmake --preset asan": ("CMakePresets.json", '"name": "asan"'),
    "cmake --preset release": ("run-tests", "cmake --preset release"),
    "cpack -G DEB": (LAB, "${CMAKE_CPACK_COMMAND} -G DEB"),
    "ctest --preset release --label-exclude lab": ("run-tests", '"--label-exclude lab"'),
    "ctest --preset release -R NAME": ("run-tests", "ctest --preset release"),
    "ctest -L statistics": ("tests/statistics/CMakeLists.txt", "LABELS statistics"),
    "ctest -R '^traffic'": ("tests/lab/traffic/CMakeLists.txt", "NAME traffic."),
    "ctest -R fuzz": (FUZZ, "NAME fuzz."),
    "ctest -R kernels": ("tests/kernels/CMakeLists.txt", "NAME kernels."),
    "find cures.toml tapsets templates -type f | LC_ALL=C sort | xargs sha256sum | sha256sum":
        (VERSION, "find cures.toml tapsets templates -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"),
    "man stapgen": ("tests/command_line/check_help.py", '"mandoc"'),
    "man stapgen-rx-latency": ("tests/command_line/check_help.py", '"mandoc"'),
    "nft add chain ip t c '{ type filter hook prerouting priority 0; }'":
        (CHOSEN, "type filter hook prerouting priority 0"),
    "nft add rule ip t c udp sport 4711 udp length 1208 meta mark set 0x9999": (CHOSEN, "meta mark set 0x9999"),
    "nft add rule ip t prerouting udp sport 4711 meta mark set 0x9999": (CHOSEN, "meta mark set 0x9999"),
    "nft add table ip t": (CHOSEN, "table ip lab"),
    "sudo cat /proc/kallsyms >FILE": ("tests/lab/lablib/roots.py", "cat /proc/kallsyms >kallsyms"),
    "sudo cmake --install build/release": (LAB, "--install ${CMAKE_BINARY_DIR}"),
    "tests/bench/million --measure": (BENCH, "/million"),
    "tests/bench/overhead --parts lo2,virtio2 --rounds 5 --json all.json --table all.md":
        (BENCH, "/check_overhead.py"),
    "tests/bench/overhead --quick": (BENCH, "/check_overhead.py"),
    "tests/bench/overhead --quick --only rx,bpf-rx --json rx.json": (BENCH, "/check_overhead.py"),
    "tests/bench/resolve System.map --vmlinux vmlinux": ("tests/bench/resolve", '"--vmlinux"'),
    "tests/bench/run --memory": (BENCH, "/run --check-only"),
    "tests/bench/start --stapgen PREFIX --all-headers forky": ("tests/bench/start", '"--stapgen"'),
    "tests/fuzz/run 60 recogniser recipe": (FUZZ, "stapgen_fuzz(recogniser "),
    "tests/fuzz/run 600 NAME": ("tests/fuzz/run", "seconds=600"),
    "tests/kernels/check_kernels.py build/release/bin/stapgen --update":
        ("tests/kernels/check_kernels.py", '"--update"'),
    "tests/live/draw_screen.py screen.raw 30 100 live.png": ("tests/lab/scenarios/live.py", "live/draw_screen.py"),
}

# Begins a command that is not stapgen's.
OTHER = re.compile(r"sudo (?!stapgen )|(cmake|cpack|ctest|apt-get|nft add|cd|find|man|tests/\S+/\S+) |\./[\w/-]+( |$)")


def in_sentences(prose):
    for code in re.findall(r"`([^`]+)`", "\n".join(prose)):
        yield " ".join(code.split()), True


def typed(text):
    """Yield (what is typed, whether in a sentence)."""
    fence, prose = None, []
    for line in text.replace("\\\n", "").splitlines():
        fenced = line.startswith("```")
        if fence is None and not fenced and not line.startswith("    "):
            prose.append(line)
            continue
        yield from in_sentences(prose)
        prose = []
        if fenced:
            fence = (line[3:] or "text") if fence is None else None
        elif fence != "console":
            prompt = re.match(r"[$#] (.*)", line.strip())
            if prompt or fence in (None, "sh"):
                yield re.split(r"  |\s#", prompt[1] if prompt else line.strip())[0], False
    yield from in_sentences(prose)


def commands(text):
    """Yield (command, whether in a sentence); those of stapgen without what starts it: sudo, ip netns exec, a pipe."""
    for line, in_sentence in typed(text):
        for part in line.split(" && "):
            if OTHER.match(part):
                yield part, in_sentence
            elif own := re.search(r"(?:^| )(stapgen -*[a-zA-Z].*)", part):
                yield own[1], in_sentence


def without_placeholders(command):
    return re.sub(r"[^\s\[\]]+", lambda word: PLACEHOLDERS.get(word[0], word[0]), command)


class Machine:
    """A home and a folder with the files that a document names."""

    def __init__(self, stapgen, source, module, vmlinux, folder):
        self.source, self.folder = source, folder
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "TZ": "UTC",
                            "LC_ALL": "C.UTF-8", "STAPGEN": str(stapgen), "STAPGEN_STAP": "/no/stap"}
        for name in ("samples", "tests"):
            (folder / name).symlink_to(source / name)
        built = {"rx.ko": module, "vmlinuz": vmlinux, "vmlinuz-6.1.0-56-amd64": vmlinux}
        for name, origin in {**FILES, **built}.items():
            content = (source / origin).read_bytes()
            (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    def run(self, command, added=""):
        """Run it with the options that are ADDED. Return its exit code and what it printed."""
        script = f'stapgen() {{ "$STAPGEN" "$@" {added}; }}\n{command}\n'
        with open(self.source / "tests/golden/drops.txt", encoding="utf-8") as piped:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", script], cwd=self.folder, env=self.environment,
                                  stdin=piped, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=60, check=False)
        return done.returncode, done.stdout


def options_added(name, words):
    """Return what makes a command of stapgen's run here without a kernel."""
    if name == "resolve" and "--map" not in words:
        return "--map System.map"
    if name in WITHOUT_KERNEL or name.startswith("-") or "--help" in words:
        return ""
    return "--dry-run" if name == "softnet" else "--dry-run --no-cure all"


def check_own(machine, command, in_sentence):
    """Return how a command of stapgen's was checked, and what is wrong with it."""
    name, *words = shlex.split(command)[1:]
    if in_sentence and not words and not name.startswith("-"):
        way, added = "only named", "--help"
    elif name in ON_THIS_MACHINE and "--help" not in words:
        _, printed = machine.run(command)
        return "as far as this machine can", None if re.search(ON_THIS_MACHINE[name], printed) else printed
    else:
        added = options_added(name, words)
        way = "--dry-run" if "--dry-run" in added else "run"
    code, printed = machine.run(command, added)
    return way, f"{printed}exit code {code}" if code else None


def check_script(machine, command):
    code, printed = machine.run(command)
    return f"{printed}exit code {code}" if code else None


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


def check_other(source, command):
    if command not in RUN_ELSEWHERE:
        return "nothing is known to run it: RUN_ELSEWHERE in check_commands.py"
    file, words = RUN_ELSEWHERE[command]
    return None if words in (source / file).read_text(encoding="utf-8") else f"'{words}' is not in {file}"


def check_document(text, machine, parse):
    """Yield (command, how it was checked, what is wrong with it or None)."""
    for command, in_sentence in commands(text):
        literal = without_placeholders(command)
        if in_sentence and re.search(r"\.\.\.|…", literal):
            yield command, "left out", None
        elif command.startswith("stapgen "):
            yield command, *check_own(machine, literal, in_sentence)
        elif command.startswith("tests/lab/lab "):
            yield command, "parsed by the lab", check_lab(parse, literal)
        elif command.startswith(RUN_HERE):
            yield command, "run", check_script(machine, literal)
        else:
            yield command, "run elsewhere", check_other(machine.source, command)


def documents(stapgen, source):
    """Yield (name, text) of the files, then of each example of the program's own help."""
    for path in sorted(path for pattern in DOCUMENTS for path in source.glob(pattern)):
        yield path.relative_to(source), path.read_text(encoding="utf-8")
    program = Stapgen(stapgen)
    for words in program.commands():
        examples = re.search(r"^Examples:\n((?:  .*\n)+)", program.run("help", *words), re.M)
        for example in examples[1].splitlines():
            yield " ".join(["stapgen help", *words]), "  " + example


def main():
    stapgen, source, *built = map(pathlib.Path.resolve, map(pathlib.Path, sys.argv[1:]))
    parse, ways, wrong, unused = lab_parser(source), collections.Counter(), [], set(RUN_ELSEWHERE)
    for name, text in documents(stapgen, source):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(stapgen, source, *built, pathlib.Path(folder))
            for command, way, problem in check_document(text, machine, parse):
                ways[way] += 1
                unused.discard(command)
                if problem is not None:
                    wrong.append(f"{name}: {command}\n{problem}")
    wrong += [f"RUN_ELSEWHERE: no document has {command}" for command in sorted(unused)]
    for each in wrong:
        print(each)
    print(", ".join(f"{way}: {count}" for way, count in sorted(ways.items())))
    assert {"run", "--dry-run", "as far as this machine can", "parsed by the lab", "run elsewhere"} <= set(ways)
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
