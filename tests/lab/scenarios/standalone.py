"""render --standalone: one script that plain stap compiles, with nothing of stapgen's beside it."""

import importlib.util
import pathlib

DESCRIPTION = "each recipe's standalone script compiles with plain stap, and so does the recipe that the docs teach"

SOURCE = pathlib.Path(__file__).parents[3]


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def prepare(lab):
    boot = lab.work / "boot"
    boot.mkdir()
    lab.plain_symbols().rename(boot / f"System.map-{lab.release}")
    options = module(SOURCE / "tests/lab/scenarios/selftest.py").cure(lab)
    for recipe in ("rx-latency", "tx-latency", "sock-latency", "dropwatch"):
        script = lab.stapgen(["render", recipe, "--standalone"]).stdout
        (lab.work / f"{recipe}.stp").write_text(script)
        lab.chroot(["stap", *options, "-r", lab.release, "-p4", "-m", recipe.replace("-", "_"), f"{recipe}.stp"],
                   binds=[(boot, "/boot")], env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})
        print(f"{lab.suite} {recipe}: {script.count(chr(10))} lines compile")
    module(SOURCE / "tests/docs/check_examples.py").taught_recipe(SOURCE, lab.work / "recipes")
    lab.stapgen(["--recipe-path", "/lab/work/recipes", "build", "read-wait", "-r", lab.release, "--symbols",
                 lab.symbols, "-o", "/lab/work/read-wait.ko"])
