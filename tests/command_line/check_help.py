#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_help.py STAPGEN SOURCE MANUAL: help fits a screen, and nothing is left out of help, manual or completion."""

import gzip
import json
import pathlib
import re
import subprocess
import sys

from stapgen import Stapgen, options_in

LINES, COLUMNS = 24, 80
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]


def of_each_kind(stapgen):
    """Return the commands, but of those that take any recipe each with one only: recipes have the same options with each."""
    return [command for command in stapgen.commands() if len(command) < 2 or command[-1] in ("packet-flow", "run", "report", "compare")]


def check_short_help(stapgen):
    for command in stapgen.commands():
        lines = stapgen.run(*command, "--help").splitlines()
        assert len(lines) <= LINES, f"{command} --help has {len(lines)} lines"
        assert max(map(len, lines)) <= COLUMNS, f"{command} --help: {max(lines, key=len)}"
        if len(command) < 2:
            # Only the summary is before the examples.
            assert any(line.startswith("Example") for line in lines[:4]), f"{command} --help: the examples are not first"
            assert lines == stapgen.run(*command, "-h").splitlines()


def check_whole_help(stapgen):
    for command in of_each_kind(stapgen):
        text = stapgen.run(*command, "--help-all")
        missing = stapgen.options(command) - options_in(text)
        assert not missing, f"{command} --help-all lacks {missing}"
        assert text == stapgen.run("help", *command)


def options_of_the_source(source):
    """Return the long options that the rows of the commands' options begin with."""
    names = set()
    for path in (source / "src/cli").glob("*/*.cpp"):
        for row in re.findall(r'(?:\{|\boption\()\s*"(-[^"]+)",', path.read_text()):
            names |= {name.split("{")[0] for name in row.split(",") if name.startswith("--")}
    return names


def check_nothing_is_left_out(stapgen, source, pages):
    listed = [recipe["name"] for recipe in json.loads(stapgen.run("list", "--json"))["recipes"]]
    assert listed == sorted(file.parent.name for file in (source / "templates").glob("*/recipe.toml")), listed
    assert listed == [line.split()[0] for line in stapgen.run("list").splitlines()]
    # Of recipes that ask for it: none of ours; and of a hidden command, for the build.
    own = options_of_the_source(source) - {"--guru", "--installed"}
    assert {"--target-tid", "--buffer", "--help-all", "--version", "--kaslr-offset"} <= own
    completed = set().union(*(stapgen.options(command) for command in of_each_kind(stapgen)))
    assert own <= completed, f"not completed: {own - completed}"
    parameters = {f"--{name}" for recipe in (source / "templates").glob("*/recipe.toml")
                  for name in re.findall(r'^\[\[parameters\]\]\nname = "([^"]+)"', recipe.read_text(), re.M)}
    assert parameters <= completed, f"not completed: {parameters - completed}"
    for command in of_each_kind(stapgen):
        name = "-".join(["stapgen", *command[:1]])
        missing = stapgen.options(command) - options_in(pages[name].replace("\\-", "-"))
        assert not missing, f"{name}(1) lacks {missing} of {command}"


def check_pages(stapgen, pages):
    assert set(pages) == {"-".join(["stapgen", *command[:1]]) for command in stapgen.commands()}
    recipes = stapgen.run("list").split("\n")
    for name, text in pages.items():
        sections = re.findall(r'^\.SH "([^"]+)"', text, re.M)
        assert [one for one in sections if one in SECTIONS] == SECTIONS, f"{name}: {sections}"
        assert "EXAMPLES" in sections, name
        for page, section in re.findall(r"^\.BR (stapgen\S+) \((\d)\)", text, re.M):
            assert section == "1" and page.replace("\\-", "-") in pages, f"{name} refers to {page}"
    for recipe in filter(None, recipes):
        assert f'.B "{recipe.split()[0]}"'.replace("-", "\\-") in pages["stapgen"]
    for name, text in pages.items():
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=text, capture_output=True, text=True,
                              check=False)
        assert not lint.stdout, f"{name}: {lint.stdout}"
        shown = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=80"], input=text, capture_output=True, text=True, check=True)
        wide = [line for line in re.sub(".\b", "", shown.stdout).split("\n") if len(line) > 80]
        assert not wide, f"{name}: wider than 80 columns: {wide}"


def main():
    stapgen, source, folder = Stapgen(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    pages = {file.name.removesuffix(".1.gz"): gzip.decompress(file.read_bytes()).decode()
             for file in folder.glob("*.1.gz")}
    check_short_help(stapgen)
    check_whole_help(stapgen)
    check_nothing_is_left_out(stapgen, source, pages)
    check_pages(stapgen, pages)


main()
