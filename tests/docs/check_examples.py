#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every `$ stapgen ...` in a ```console block of the docs is run again: check_examples.py STAPGEN SOURCE

It runs at the top of the source, and must print what the docs show; a line "..." in the docs stands for any lines.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def examples(text):
    """Yield (command, output) of each console block."""
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def check_recipes(stapgen, source):
    """The recipes of docs/reference/recipes.md: the new one renders (the lab's scenario new-recipe runs it), the other is valid."""
    text = (source / "docs/reference/recipes.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder) / "mynic"
        other.mkdir()
        (other / "recipe.toml").write_text(re.search(r'^name = "mynic".*?(?=^```$)', text, re.M | re.S)[0])
        path = ["--recipe-path", folder]
        done = [subprocess.run([stapgen, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               check=False)
                for words in (["new-recipe", "tcp-calls", "--into", folder],
                              [*path, "render", "tcp-calls", "-i", "1"], [*path, "show", "mynic"])]
    if any(each.returncode for each in done) or "timer.ms(1000)" not in done[1].stdout:
        print("docs/reference/recipes.md:\n" + "".join(each.stdout for each in done))
        return 1
    return 0


def is_shown(shown, printed):
    """Whether SHOWN is what was PRINTED; each "..." line of it stands for any lines, also for none."""
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^\.\.\.$", shown.strip(), flags=re.M)]
    return re.fullmatch(r"(?:.*\n)?".join(part + "\n" if part else "" for part in parts), printed.strip() + "\n", re.S) is not None


def main():
    stapgen, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    failed, run = 0, 0
    for path in [source / "README.md", *sorted((source / "docs").rglob("*.md"))]:
        for command, shown in examples(path.read_text(encoding="utf-8")):
            run += 1
            done = subprocess.run([stapgen, *shlex.split(command)[1:]], cwd=source, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                  env={**os.environ, "TZ": "UTC"})
            if not is_shown(shown, done.stdout):
                failed += 1
                print(f"{path.name}: $ {command}\nshown:\n{shown}\nprinted:\n{done.stdout}")
    assert run > 0, "no examples found"
    failed += check_recipes(stapgen, source)
    print(f"{run} examples, {failed} differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
