#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a case: run_case.py STAPGEN FILE.case [--update]

A case is a text file of commands and what they print, stdout and stderr together:

    $ stapgen rx-latncy
    stapgen: there is no recipe or command 'rx-latncy'
    ...
    [exit 2]

Commands run in the case's folder, without a shell, in an environment of their own, to which NAME=VALUE before a command
adds. What one has written into HOME/FILE the next ones find there. With WIDTH=N it runs on a terminal of N columns; with ROWS=1 a report's JSON is asked for, and kept as rows of what
was measured. JSON, pages and traces are kept as views.py has them. What differs from machine to machine is masked: MASKS. What an earlier command of the case has printed is not kept again. --update
writes what was printed into the file; `update` does that for all cases. Both print the difference in words.
"""

import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command_line"))
import views  # noqa: E402
import words  # noqa: E402
from terminals import on_terminal  # noqa: E402

MASKS = [(re.escape(os.uname().release), "RELEASE"), (r"/tmp/stapgen-\w+", "TMP"), (r"\S*/staprun\b", "staprun"),
         (r"git (unknown|[0-9a-f]{12}(, dirty)?); \S+ [\d.]+", "git REVISION; COMPILER"),
         (r"installed [0-9a-f]{12}, (as built|changed since the build)", "installed SUM, as built"), (r"recipes: \d+ \(", "recipes: N ("), (r"STAPGEN_C=x[0-9a-f]{16}", "STAPGEN_C=xSUM"),
         (r"stapgen_recipe=[0-9a-f]{16}", "stapgen_recipe=HASH"), (r"(made by|with) stapgen \d\S+ ", r"\1 stapgen VERSION "),
         (r"[\d,]+ hits/s at the current traffic, .* each, assumed", "N hits/s at the current traffic, ..., assumed"),
         (r"with --aggregate: .* of the busiest", "with --aggregate: N % of the busiest")]
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC"}


@functools.cache
def recipes_of(prefix):
    """Return the names of the shipped recipes, and those of them that no case has."""
    names = sorted(file.parent.name for file in pathlib.Path(prefix, "share/stapgen/templates").glob("*/recipe.toml"))
    cases = "".join(case.read_text(encoding="utf-8") for case in pathlib.Path(__file__).resolve().parent.rglob("*.case"))
    return names, [name for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", cases)]


def without_new(text, prefix):
    """Leave out of lists of recipes those that no case has, and lines' ends: a new recipe is in no file but its own."""
    names, new = recipes_of(prefix)
    one = rf"(?:{'|'.join(names)})(?![\w-])"
    text = re.sub(rf"(?<![\w-]){one}(?:,\s+{one})+", lambda found: ", ".join(name for name in re.split(r",\s+", found[0]) if name not in new), text)
    for name in new:
        row = rf'\{{"name": "{name}", "summary": "(?:\\.|[^"])*"\}}'
        text = re.sub(rf"^{name}  .*\n|,\n  {row}|{row},\n  ", "", text, flags=re.M)
    return text


def printed(stapgen, command, home):
    """Return what a command prints, and its exit code."""
    argv, environment = shlex.split(command), {**ENVIRONMENT, "HOME": home}
    while "=" in argv[0]:
        name, _, environment[name] = argv.pop(0).partition("=")
    stdin = subprocess.DEVNULL
    if "<" in argv:
        stdin = open(argv[argv.index("<") + 1], encoding="utf-8")
        argv = argv[:argv.index("<")]
    assert argv[0] == "stapgen", command
    # As root stapgen reads recipes only where nobody else can write, and who owns this checkout is not known.
    recipes = os.path.join(home, "recipes")
    argv = [stapgen, *(recipes if word == "recipes" else re.sub("^HOME/", f"{home}/", word) for word in argv[1:])]
    is_rows = environment.pop("ROWS", None) == "1"
    if width := environment.pop("WIDTH", None):
        code, text = on_terminal(int(width), argv, {"TERM": "xterm", **environment})
        text = views.view(argv, text.encode(), code)
    else:
        # Text has its warnings where they come, what programs read has them before.
        apart = is_rows or views.format_of(argv) in ("json", "ndjson", "html", "perfetto")
        done = subprocess.run(argv + ["--json"] * is_rows, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE if apart else subprocess.STDOUT,
                              env=environment, timeout=60, check=False)
        text = views.rows_of(done.stdout.decode(errors="replace")) if is_rows else views.view(argv, done.stdout, done.returncode)
        code, text = done.returncode, (done.stderr or b"").decode(errors="replace") + text
    prefix = os.path.dirname(os.path.dirname(stapgen))
    text = without_new(text, prefix).replace(recipes, "recipes").replace(home, "HOME").replace(prefix, "PREFIX")
    for pattern, name in MASKS:
        text = re.sub(pattern, name, text)
    return text + "\n[no line end]\n" if text and not text.endswith("\n") else text, code


def run(stapgen, commands, home):
    """Return the case: what each of its commands prints."""
    known, blocks = {}, []
    for command in commands:
        text, code = printed(stapgen, command, home)
        first = known.setdefault(text, command)
        if first != command and text.count("\n") > 3:
            text = f"[as: {first}]\n"
        blocks.append(f"$ {command}\n{text}[exit {code}]\n")
    return "\n".join(blocks)


def made_again(stapgen, case):
    """Return what is in a case, and what its commands print now."""
    expected = case.read_text(encoding="utf-8")
    commands = [line[2:] for line in expected.splitlines() if line.startswith("$ ")]
    assert commands, f"{case} has no command"
    os.chdir(case.parent)
    with tempfile.TemporaryDirectory() as home:
        if os.path.isdir("recipes"):
            shutil.copytree("recipes", os.path.join(home, "recipes"))
        return expected, run(stapgen, commands, home)


def main():
    stapgen, case = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    expected, actual = made_again(stapgen, case)
    print(*words.difference(expected, actual), sep="\n")
    if "--update" in sys.argv:
        case.write_text(actual, encoding="utf-8")
    elif actual != expected:
        sys.exit(1)


if __name__ == "__main__":
    main()
