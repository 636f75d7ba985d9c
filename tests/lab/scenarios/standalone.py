"""render --standalone: one script that plain stap compiles, with nothing of stapgen's beside it."""

import pathlib

from lablib.scenario import load, load_file

DESCRIPTION = "each recipe's standalone script compiles with plain stap, and so does the recipe that the docs teach"
IN_CI = ("trixie",)

SOURCE = pathlib.Path(__file__).parents[3]


def prepare(lab):
    symbols = lab.symbols_for_stap()
    options = load("selftest").cure(lab)
    for recipe in ("rx-latency", "tx-latency", "net-latency", "sock-latency", "dropwatch",
                   "call-trace"):
        script = lab.stapgen(["render", recipe, "--standalone"]).stdout
        (lab.work / f"{recipe}.stp").write_text(script)
        guru = ["-g"] if "%{" in script else []
        lab.chroot(["stap", *options, *guru, "-r", lab.release, "-p4", "-m", recipe.replace("-", "_"), f"{recipe}.stp"],
                   binds=[symbols], env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})
        print(f"{lab.suite} {recipe}: {script.count(chr(10))} lines compile")
    load_file(SOURCE / "tests/docs/check_examples.py").taught_recipe(SOURCE, lab.work / "recipes")
    lab.stapgen(["--recipe-path", "/lab/work/recipes", "build", "read-wait", "-r", lab.release, "--symbols",
                 lab.symbols, "-o", "/lab/work/read-wait.ko"])
