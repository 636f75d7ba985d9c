#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No input of a megabyte costs a reader more than 150 MB, crashes it or keeps it busy; and what stands beside it is read.

usage: check_structures.py STAPGEN INPUTS [READER[:CASE]]...

INPUTS is the folder that write_structures.py made.
"""

import collections
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import archive_structures  # noqa: F401  its cases are in CASES
from packed_structures import RECORDING
from structures import CASES
from write_structures import file_of

MAX_MB = 150
# Nothing here is about time: these end what would never end, and what would take the machine with it.
MAX_CPU_S, MAX_ADDRESSES = int(os.environ.get("STAPGEN_TEST_CPU_S", 300)), 6 << 30
# For each input of an archive's reader, of which there may be two; reading alone is 6 s.
ARCHIVE_CPU_S = 20
READERS = {}
Run = collections.namedtuple("Run", "code mb seconds text")


def reader(*of, good=(0, 2)):
    """A function of the command, the file and a folder that returns the arguments; GOOD are the exit codes it may have."""
    def add(arguments):
        READERS[arguments.__name__.replace("_", "-")] = (arguments, of, good)
        return arguments
    return add


def run(argv, stdin=None, environment=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
        if "STAPGEN_TEST_UNLIMITED" not in os.environ:
            resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESSES, MAX_ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as output, open(stdin or os.devnull, "rb") as source:
        process = subprocess.Popen(argv, stdin=source, stdout=output, stderr=subprocess.STDOUT, preexec_fn=limit,
                                   env={**os.environ, "STAPGEN_CONFIG": "", **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read(200_000).decode(errors="replace")
    return Run(process.returncode, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, text)


# Each returns arguments, what stdin is, and variables.

@reader("text", "packed", "refused")
def report(file, folder):
    return ["report", file], None, {}


@reader("lines")
def report_lines(file, folder):
    return ["report", file], None, {}


@reader("archive")
def report_archive(file, folder):
    return ["report", file, "--format", "json"], None, {"TMPDIR": str(folder)}


@reader("archive")
def report_archives(file, folder):
    return ["report", file, file], None, {"TMPDIR": str(folder)}


@reader("text")
def report_html(file, folder):
    return ["report", file, "--format", "html"], None, {}


@reader("text")
def report_json(file, folder):
    return ["report", file, "--format", "json"], None, {}


@reader("text")
def report_events(file, folder):
    return ["report", file, "--format", "csv", "--events"], None, {}


@reader("text")
def report_perfetto(file, folder):
    return ["report", file, "--format", "perfetto"], None, {}


@reader("text")
def report_openmetrics(file, folder):
    return ["report", file, "--format", "openmetrics"], None, {}


@reader("text", good=(0, 2, 5))
def report_with_good(file, folder):
    return ["report", folder / "good.rec", file, "--by", "recording"], None, {}


@reader("text", "packed", good=(0, 2, 3, 7))
def compare(file, folder):
    return ["compare", file, file], None, {}


@reader("text", "packed", "refused", good=(0, 5))
def fleet_report(file, folder):
    return ["fleet", "report", folder / "fleet"], None, {}


@reader("text", good=(0, 2, 3, 5, 7))
def fleet_compare(file, folder):
    return ["fleet", "compare", folder / "fleet"], None, {}


@reader("text", "packed", "refused", good=(0, 2, 5))
def export(file, folder):
    return ["export", folder / "good.rec", file, "--parquet", folder / "store"], None, {}


@reader("text", "packed")
def resolve_recording(file, folder):
    return ["resolve", "--recording", file, "ffffffff81000010"], None, {}


@reader("text", "packed")
def annotate(file, folder):
    return ["resolve", "--annotate", "--map", folder / "good.map"], file, {}


@reader("map")
def resolve_map(file, folder):
    return ["resolve", "--map", file, "ffffffff81000010"], None, {}


@reader("map")
def annotate_map(file, folder):
    return ["resolve", "--annotate", "--map", file], folder / "good.map", {}


@reader("map", good=(2, 4))
def execute(file, folder):
    return ["exec", file, "-d", "1"], None, {}


@reader("modules")
def resolve_modules(file, folder):
    return ["resolve", "--map", folder / "good.map", "--modules", file, "ffffffff81000010"], None, {}


@reader("toml", good=(2,))
def show(file, folder):
    recipe = folder / "recipes" / "hostile"
    recipe.mkdir(parents=True, exist_ok=True)
    (recipe / "recipe.toml").write_bytes(file.read_bytes())
    (recipe / "script.stp").write_text("")
    return ["show", "hostile"], None, {"STAPGEN_RECIPE_PATH": str(folder / "recipes")}


@reader("toml", good=(2,))
def config(file, folder):
    return ["list"], None, {"STAPGEN_CONFIG": str(file)}


@reader("index", good=(0, 2, 5))
def index_report(file, folder):
    (folder / "index").mkdir(exist_ok=True)
    (folder / "index" / "a.rec").write_bytes(RECORDING)
    (folder / "index" / "fleet.json").write_bytes(file.read_bytes())
    return ["fleet", "report", folder / "index"], None, {}


def check_folders(stapgen, _):
    """What is found in a folder and is no file of a usual size: said, and the hosts beside it are in the report."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "good.rec").write_bytes(RECORDING)
        index = folder / "fleet.json"

        def expect(code, *words):
            for command in (["fleet", "report", folder], ["export", folder, "--parquet", folder / "store"]):
                done = run([stapgen, *map(str, command)])
                print(f"  {command[0]}: exit {done.code}, {done.mb:.0f} MB: {done.text.splitlines()[:1]}")
                assert done.code in code and done.mb <= MAX_MB and all(word in done.text for word in words), done

        with index.open("wb") as out:
            out.truncate(20 << 30)
        expect((2,), "fleet.json", "larger than 16777216 bytes")
        index.unlink()
        os.mkfifo(index)
        expect((2,), "fleet.json is not a regular file")
        index.unlink()
        os.mkfifo(folder / "pipe.rec")
        rows = [{"host": name, "state": "done", "why": "", "recording": name + ".rec"} for name in ("good", "pipe")]
        index.write_text(json.dumps({"hosts": rows}))
        expect((0, 5), "pipe", "not a regular file")
        index.unlink()
        done = run([stapgen, "fleet", "report", str(folder)])
        assert done.code in (0, 5) and "a-b" in done.text, done


def check_messages(stapgen, inputs):
    """Over a limit the error says which, and what to do."""
    with tempfile.TemporaryDirectory() as temporary:
        for case, *words in (("json-array-in-array", "first line", "64 deep"), ("json-elements", "200000 values"), ("stage-fields", "256 fields"),
                             ("zstd-bomb", "256 times", "unpack it yourself"), ("xz-window-1-gb", "80 MB"),
                             ("zstd-window-2-gb", "80 MB")):
            done = run([stapgen, "report", str(file_of(inputs, case))])
            assert done.code == 2 and all(word in done.text for word in words), (case, done)
        # A plain file has no limit: it is the user's own log.
        file = pathlib.Path(temporary) / "hostile"
        file.write_bytes(file_of(inputs, "recording-bomb").read_bytes()[:300_000])
        plain = subprocess.run(["gzip", "-dc", file], capture_output=True).stdout[:40 << 20]
        file.write_bytes(plain)
        done = run([stapgen, "report", str(file)])
        assert done.code == 0, done


@reader("hosts", good=(2, 4))
def fleet_run(file, folder):
    return ["fleet", "run", "rx-latency", "--hosts", file, "-d", "1", "--dry-run", "-o", folder / "out"], None, {}


def check(stapgen, name, case, file, folder):
    arguments, _, good = READERS[name]
    argv, stdin, environment = arguments(file, folder)
    done = run([stapgen, *map(str, argv)], stdin, environment)
    last = done.text.strip().splitlines()[-1:] or [""]
    wrong = []
    if done.code not in good:
        wrong.append(f"exit code {done.code}")
    if done.mb > MAX_MB:
        wrong.append(f"{done.mb:.0f} MB")
    if "archive" in READERS[name][1] and done.seconds > ARCHIVE_CPU_S:
        wrong.append(f"{done.seconds:.0f} s")
    if name == "report-archive" and "1399" not in done.text:
        wrong.append("what is beside it is not found")
    if "Traceback" in done.text or "terminate called" in done.text:
        wrong.append("it aborted")
    print(f"{name:18} {case:26} exit {done.code:4} {done.mb:6.0f} MB {done.seconds:6.1f} s  {' '.join(wrong) or 'ok':20} "
          f"{last[0][:110]}", flush=True)
    return wrong, done


def main():
    stapgen, inputs = map(os.path.abspath, sys.argv[1:3])
    others = {"folders": check_folders, "messages": check_messages}
    wanted = sys.argv[3:] or [*READERS, *others]
    wrong, memory = [], collections.defaultdict(list)
    for word in wanted:
        if word in others:
            others[word](stapgen, inputs)
            continue
        name, _, only = word.partition(":")
        for case, (_, of) in CASES.items():
            if not set(READERS[name][1]) & set(of) or (only and case != only):
                continue
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary)
                (folder / "good.rec").write_bytes(RECORDING)
                (folder / "good.map").write_text("".join(f"{0xffffffff81000000 + n * 64:x} T f{n}\n" for n in range(99)))
                (folder / "fleet").mkdir()
                (folder / "fleet" / "good.rec").write_bytes(RECORDING)
                rows = [{"host": host, "state": "done", "recording": f"{host}.rec"} for host in ("good", "hostile")]
                (folder / "fleet" / "fleet.json").write_text(json.dumps({"recipe": "rx-latency", "hosts": rows}))
                file = folder / "fleet" / "hostile.rec"
                file.write_bytes(file_of(inputs, case).read_bytes())
                found, done = check(stapgen, name, case, file, folder)
            memory[name].append((done.mb, case, done.seconds))
            wrong += [f"{name} {case}: {what}" for what in found]
    for name, all_of in memory.items():
        print(f"{name:18} {len(all_of):3} inputs, at most {max(all_of)[0]:4.0f} MB ({max(all_of)[1]}), "
              f"{max(s for _, _, s in all_of):5.1f} s of a CPU")
    assert not wrong, "\n".join(wrong)


main()
