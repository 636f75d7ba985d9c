"""render --standalone: one script that plain stap compiles, with nothing of stapgen's beside it."""

from lablib.scenario import load

DESCRIPTION = "each recipe's standalone script compiles with plain stap"
IN_CI = ("trixie",)


def prepare(lab):
    symbols = lab.symbols_for_stap()
    options = load("selftest").cure(lab)
    for recipe in ("rx-latency", "tx-latency", "net-latency", "sock-latency", "dropwatch", "irq-latency", "tcp-probe",
                   "page-alloc", "packet-flow", "call-trace"):
        script = lab.stapgen(["render", recipe, "--standalone"]).stdout
        (lab.work / f"{recipe}.stp").write_text(script)
        guru = ["-g"] if "%{" in script else []
        lab.chroot(["stap", *options, *guru, "-r", lab.release, "-p4", "-m", recipe.replace("-", "_"), f"{recipe}.stp"],
                   binds=[symbols], env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})
        print(f"{lab.suite} {recipe}: {script.count(chr(10))} lines compile")
