#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the cases of tests/golden: run_case.py STAPGEN FILE.case [--update]

A case is a text file of commands and what they print, stdout and stderr together:

    $ stapgen rx-latncy
    stapgen: there is no recipe or command 'rx-latncy'
    ...
    [exit 2]

Commands run in this folder, without a shell, in an environment of their own. What differs from machine to
machine is masked: see MASKS. --update writes what was printed into the file.
"""

import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

MASKS = [(re.escape(os.uname().release), "RELEASE"), (r"/tmp/stapgen-\w+", "TMP"), (r"\S*/staprun\b", "staprun"),
         (r"git (unknown|[0-9a-f]{12}(, dirty)?); \S+ [\d.]+", "git REVISION; COMPILER"),
         (r"installed [0-9a-f]{12},", "installed SUM,"), (r"STAPGEN_C=x[0-9a-f]{16}", "STAPGEN_C=xSUM"),
         (r"stapgen_recipe=[0-9a-f]{16}", "stapgen_recipe=HASH"),
         (r"[\d,]+ hits/s at the current traffic, .* each, assumed", "N hits/s at the current traffic, ..., assumed"),
         (r"with --aggregate: .* of the busiest", "with --aggregate: N % of the busiest")]


def run(stapgen, command, home):
    argv = shlex.split(command)
    stdin = subprocess.DEVNULL
    if "<" in argv:
        stdin = open(argv[argv.index("<") + 1], encoding="utf-8")
        argv = argv[:argv.index("<")]
    assert argv[0] == "stapgen", command
    # As root stapgen reads recipes only where nobody else can write, and who owns this checkout is not known.
    recipes = os.path.join(home, "recipes")
    argv = [recipes if word == "recipes" else word for word in argv]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LC_ALL": "C", "TZ": "UTC"}
    done = subprocess.run([stapgen, *argv[1:]], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment, text=True, timeout=60, check=False)
    output = done.stdout.replace(recipes, "recipes").replace(home, "HOME").replace(os.path.dirname(os.path.dirname(stapgen)), "PREFIX")
    for pattern, name in MASKS:
        output = re.sub(pattern, name, output)
    if output and not output.endswith("\n"):
        output += "\n[no line end]\n"
    return f"$ {command}\n{output}[exit {done.returncode}]\n"


def main():
    stapgen, case = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    expected = case.read_text(encoding="utf-8")
    commands = [line[2:] for line in expected.splitlines() if line.startswith("$ ")]
    assert commands, f"{case} has no command"
    os.chdir(case.parent)
    with tempfile.TemporaryDirectory() as home:
        if os.path.isdir("recipes"):
            shutil.copytree("recipes", os.path.join(home, "recipes"))
        actual = "\n".join(run(stapgen, command, home) for command in commands)
    if "--update" in sys.argv:
        case.write_text(actual, encoding="utf-8")
    elif actual != expected:
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True),
                                                   case.name, "printed"))
        sys.exit(1)


main()
