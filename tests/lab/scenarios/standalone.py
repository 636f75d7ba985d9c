"""render --standalone: one script that plain stap compiles, with nothing of stapgen's beside it."""

import importlib.util
import pathlib

DESCRIPTION = "each recipe's standalone script compiles with plain stap"


def cure(lab):
    path = pathlib.Path(__file__).with_name("selftest.py")
    spec = importlib.util.spec_from_file_location("selftest", path)
    selftest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(selftest)
    return selftest.cure(lab)


def prepare(lab):
    boot = lab.work / "boot"
    boot.mkdir()
    lab.plain_symbols().rename(boot / f"System.map-{lab.release}")
    options = cure(lab)
    for recipe in ("rx-latency", "tx-latency", "sock-latency", "dropwatch"):
        script = lab.stapgen(["render", recipe, "--standalone"]).stdout
        (lab.work / f"{recipe}.stp").write_text(script)
        lab.chroot(["stap", *options, "-r", lab.release, "-p4", "-m", recipe.replace("-", "_"), f"{recipe}.stp"],
                   binds=[(boot, "/boot")], env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})
        print(f"{lab.suite} {recipe}: {script.count(chr(10))} lines compile")
