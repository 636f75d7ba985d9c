#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_completion.py STAPGEN COMPLETIONS: what the program offers, and what bash, zsh and fish make of it."""

import os
import pathlib
import re
import subprocess
import sys

from stapgen import ENVIRONMENT, HANGS, HOME, Stapgen

RECIPE = """name = "mine"
summary = "A recipe of the user's"
[record]
tag = "mine"
fields = ["time:time", "count:count"]
[[parameters]]
name = "how-many"
type = "int"
default = 17
help = "of what"
"""


def make_recipe():
    folder = pathlib.Path(HOME.name, ".config/stapgen/recipes/mine")
    folder.mkdir(parents=True)
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "script.stp").write_text("probe begin { exit() }\n")


def check_words(stapgen):
    offered = stapgen.complete("")
    assert {"rx-latency", "dropwatch", "report", "help", "mine"} <= set(offered), offered
    assert offered["mine"] == "A recipe of the user's"
    assert not {"man", "complete"} & set(offered)
    assert list(stapgen.complete("rx-")) == ["rx-latency"]
    assert "rx-latency" in stapgen.complete("show", "") and "rx-latency" in stapgen.complete("build", "")
    assert "softnet" not in stapgen.complete("build", "")
    assert {"build", "drop-reasons", "stap-failures"} <= set(stapgen.complete("help", ""))
    assert {"--target-tid", "--how-many"} & stapgen.options(["mine"]) == {"--how-many"}
    assert stapgen.complete("mine", "--how")["--how-many"] == "of what (default 17)"


def check_options(stapgen):
    assert "--comm" not in stapgen.complete("rx-latency", "--target-tid", "1", "-"), "excluded by --target-tid"
    assert "--port" not in stapgen.complete("rx-latency", "--port=1", "-"), "given already"
    assert "--no-workaround" in stapgen.complete("rx-latency", "--no-workaround", "all", "-"), "repeatable"
    assert list(stapgen.complete("rx-latency", "--format", "nd")) == ["ndjson"]
    assert list(stapgen.complete("rx-latency", "--format=nd")) == ["--format=ndjson"]
    assert list(stapgen.complete("packet-flow", "--way", "")) == ["rx", "tx", "both"]
    assert list(stapgen.complete("rx-latency", "--by", "cpu,proc")) == ["cpu,process"]
    assert list(stapgen.complete("list", "--format", "")) == ["table", "json"]
    assert stapgen.complete("rx-latency", "--interval", "") == {}
    assert "all" in stapgen.complete("rx-latency", "--no-workaround", "")
    assert {"symbol-table", "all"} <= set(stapgen.complete("build", "rx-latency", "--no-workaround", ""))


def check_paths(stapgen):
    for words in (["report", ""], ["report", "a.rec", "--", "-b"], ["compare", "a.rec", ""], ["exec", ""],
                  ["rx-latency", "-o", ""], ["resolve", "--map="]):
        assert stapgen.complete(*words) == {":files": None}, words
    assert stapgen.complete("new-recipe", "x", "--into", "") == {":folders": None}
    assert stapgen.complete("compare", "a.rec", "b.rec", "") == {}


def check_living(stapgen, sleeper):
    assert stapgen.complete("rx-latency", "-p", str(sleeper))[str(sleeper)] == "sleep"
    assert stapgen.complete("rx-latency", "-x", str(sleeper))[str(sleeper)] == "sleep"
    assert "sleep" in stapgen.complete("exec", "a.ko", "--comm", "sle")
    assert "lo" in stapgen.complete("rx-latency", "--dev", "")
    modules = pathlib.Path("/lib/modules")
    releases = {path.name for path in modules.iterdir()} if modules.is_dir() else set()
    assert set(stapgen.complete("build", "rx-latency", "-r", "")) == releases


def shell(stapgen, *argv):
    path = f"{os.path.dirname(stapgen.program)}:{ENVIRONMENT['PATH']}"
    return subprocess.run(argv, capture_output=True, text=True, check=True, cwd=HOME.name, timeout=HANGS,
                          stdin=subprocess.DEVNULL, env=ENVIRONMENT | {"PATH": path}).stdout


def check_bash(stapgen, folder, sleeper):
    def bash(line, *more):
        return shell(stapgen, "bash", here("complete.bash"), folder / "stapgen.bash", line, *more).splitlines()
    assert bash("stapgen rx-") == ["rx-latency"]
    assert bash("sudo stapgen rx-") == ["rx-latency"]
    assert bash("stapgen rx-latency --format=nd") == ["ndjson"], "bash parts words at ="
    assert bash("stapgen report b") == ["b c.rec"]
    assert bash("stapgen report b\\ c") == ["b c.rec"]
    assert bash("stapgen new-recipe x --into .co") == [".config"]
    listed = bash("stapgen ", "63")
    assert any(re.fullmatch(r"mine +A recipe of the user's", line) for line in listed), listed
    assert bash(f"stapgen rx-latency -p {sleeper}")[0] == str(sleeper)


def check_zsh(stapgen, folder, sleeper):
    def zsh(line):
        return shell(stapgen, "zsh", here("complete.zsh"), folder, line)
    assert re.search(r"mine +# A recipe of the user's", zsh("stapgen "))
    assert re.search(r"--format=ndjson\W", zsh("stapgen rx-latency --format=")), zsh("stapgen rx-latency --format=")
    assert "slow.rec" in zsh("stapgen report ")
    # More than one, so that there is a list.
    assert re.search(rf"{sleeper} +# sleep", zsh(f"stapgen rx-latency -p {str(sleeper)[:-1]}"))


def check_fish(stapgen, folder, sleeper):
    def fish(line):
        return shell(stapgen, "fish", "--no-config", "-c", f"source {folder}/stapgen.fish; complete -C {line!r}").splitlines()
    assert "mine\tA recipe of the user's" in fish("stapgen m")
    assert fish("stapgen rx-latency --format=nd") == ["--format=ndjson"]
    assert "slow.rec" in fish("stapgen report sl")
    assert f"{sleeper}\tsleep" in fish(f"stapgen rx-latency -p {sleeper}")


def here(name):
    return pathlib.Path(__file__).resolve().with_name(name)


def main():
    stapgen, folder = Stapgen(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    make_recipe()
    for name in ("slow.rec", "sudden.rec", "b c.rec"):
        pathlib.Path(HOME.name, name).touch()
    with subprocess.Popen(["sleep", "infinity"]) as sleeper:
        try:
            check_words(stapgen)
            check_options(stapgen)
            check_paths(stapgen)
            check_living(stapgen, sleeper.pid)
            check_bash(stapgen, folder, sleeper.pid)
            check_zsh(stapgen, folder, sleeper.pid)
            check_fish(stapgen, folder, sleeper.pid)
        finally:
            sleeper.kill()


main()
