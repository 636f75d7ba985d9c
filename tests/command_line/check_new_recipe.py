#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_new_recipe.py STAPGEN SOURCE: a new recipe is its folder. With one more in a copy of what is installed, which is
thrown away, stapgen knows it everywhere, and what tests expect of stapgen and of all recipes holds as it is.

Its sample and its scenario are found by their names: samples/expected/*.case, tests/lab/scenarios/*.py.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from stapgen import HANGS, Stapgen

# No other's beginning, no longer than the others, and in the middle of lists.
NAME = "new-calls"


def copy(stapgen, source, folder):
    """Return stapgen in a copy with the recipe, and the sources as if they had it."""
    shared, program = stapgen.parents[1] / "share/stapgen", folder / "prefix/bin/stapgen"
    share = folder / "prefix/share/stapgen"
    for made in (program.parent, share, folder / "source"):
        made.mkdir(parents=True)
    shutil.copy2(stapgen, program)
    shutil.copytree(shared / "templates", share / "templates")
    for entry in shared.iterdir():
        if entry.name != "templates":
            (share / entry.name).symlink_to(entry.resolve())
    for entry in source.iterdir():
        (folder / "source" / entry.name).symlink_to(share / "templates" if entry.name == "templates" else entry)
    Stapgen(program).run("new-recipe", NAME, "--into", str(share / "templates"))
    return program, folder / "source"


def check_it_is_known(stapgen):
    """Help, completion, the manual and each command that takes a recipe have it."""
    assert NAME in (recipe["name"] for recipe in json.loads(stapgen.run("list", "--json"))["recipes"])
    for words in ([], ["render"], ["build"], ["check"], ["show"], ["doctor"], ["serve"]):
        assert NAME in stapgen.complete(*words, ""), words
    assert NAME in stapgen.run("--help") and "--min-bytes" in stapgen.run(NAME, "--help")
    assert "--min-bytes" in stapgen.complete(NAME, "--")
    with tempfile.TemporaryDirectory() as folder:
        stapgen.run("man", folder)
        assert any(NAME in page.name for page in pathlib.Path(folder).iterdir()), os.listdir(folder)
    assert "stapgen.tcp.recvmsg.return" in stapgen.run("render", NAME)
    assert "%{" in stapgen.run("render", NAME, "--standalone")


def main():
    stapgen, source = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        program, tree = copy(stapgen, source, pathlib.Path(folder))
        check_it_is_known(Stapgen(program))
        golden = source / "tests/golden"
        checks = [[golden / "run_case.py", program, case] for case in sorted(golden.glob("*.case"))]
        checks += [[source / "tests/source/check_tapsets.py", tree], [source / "tests/docs/check_account.py", program, tree]]
        assert len(checks) > 20

        def run(check):
            return check, subprocess.run([sys.executable, *check], capture_output=True, text=True, timeout=HANGS, check=False)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failed = [f"{' '.join(map(str, check))}:\n{done.stdout}{done.stderr}" for check, done in pool.map(run, checks) if done.returncode]
        print(f"{len(checks)} checks with {NAME}", *failed, sep="\n")
        sys.exit(bool(failed))


main()
