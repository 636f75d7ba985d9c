"""render --standalone: one script that plain stap compiles, with nothing of stapgen's beside it."""

from lablib.captures import tracepoint_headers
from lablib.scenario import load

DESCRIPTION = "each recipe's standalone script is a script to plain stap, and two of them are compiled"
IN_CI = ("trixie",)


def prepare(lab):
    symbols = lab.symbols_for_stap()
    options = load("selftest").workarounds(lab)
    scripts = {recipe: lab.stapgen(["render", recipe, "--standalone"]).stdout for recipe in (
        "rx-latency", "tx-latency", "net-latency", "sock-latency", "dropwatch", "irq-latency", "tcp-probe", "page-alloc",
        "packet-flow", "call-trace")}
    fewer, shown = tracepoint_headers(lab, *scripts.values())
    for recipe, script in scripts.items():
        (lab.work / f"{recipe}.stp").write_text(script)
        guru = ["-g"] if "%{" in script else []
        # Up to C, which takes seconds; from there it is the same as without --standalone.
        last = "-p4" if recipe in ("rx-latency", "packet-flow") else "-p3"
        lab.chroot(["stap", *options, *fewer, *guru, "-r", lab.release, last, "-m", recipe.replace("-", "_"),
                    f"{recipe}.stp"], binds=[symbols, *shown], env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})
        print(f"{lab.suite} {recipe}: {script.count(chr(10))} lines pass {last}")
