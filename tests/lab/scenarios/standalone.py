# SPDX-License-Identifier: GPL-2.0-or-later
"""render --standalone: one script that plain stap compiles, with nothing of stapgen's beside it, and no longer than it was."""

import os

from lablib import recipes
from lablib.captures import tracepoint_headers
from lablib.scenario import load

DESCRIPTION = "each recipe's standalone script is a script to plain stap, and those without C are compiled without -g"
IN_CI = ("trixie",)

PLAIN = ("dropwatch", "page-alloc", "irq-latency", "tcp-probe", "retransmits", "accept-latency")
# Up to C; from there it is the same as without --standalone. These are compiled, too, and with STAPGEN_LAB_COMPILE_ALL=1 all.
COMPILED = ("dropwatch", "packet-flow")
SCRIPTS = {recipe: [recipe] for recipe in recipes.with_script("rx-latency", "tx-latency", "net-latency")}
# With filters, which the others have none of, and what is left out where it is not asked for.
SCRIPTS |= {"page-alloc-comm": ["page-alloc", "--comm", "memcached"], "irq-latency-slower": ["irq-latency", "--slower-than", "1ms"],
            "tcp-probe-filters": ["tcp-probe", "--port", "443", "--addr", "192.0.2.0/24", "--sample", "4", "--every", "1s"],
            "net-latency-filters": ["net-latency", "--port", "443", "--dev", "eth0", "--mark", "7"],
            "dropwatch-netfilter": ["dropwatch", "--stacks", "--netfilter"],
            "net-latency-aggregate": ["net-latency", "--aggregate"]}
if os.environ.get("STAPGEN_LAB_COMPILE_ALL") == "1":
    COMPILED = tuple(SCRIPTS)


def prepare(lab):
    symbols = lab.symbols_for_stap()
    options = load("selftest").workarounds(lab)
    scripts = {name: lab.stapgen(["render", *arguments, "--standalone"]).stdout for name, arguments in SCRIPTS.items()}
    fewer, shown = tracepoint_headers(lab, *scripts.values())
    for name, script in scripts.items():
        (lab.work / f"{name}.stp").write_text(script)
        # Filters of packets are C.
        is_plain = "%{" not in script
        assert is_plain or name not in PLAIN, f"{name} has C"
        last = "-p4" if name in COMPILED else "-p3"
        lab.chroot(["stap", *options, *fewer, *([] if is_plain else ["-g"]), "-r", lab.release, last, "-m", name.replace("-", "_"),
                    f"{name}.stp"], binds=[symbols, *shown], env={"SYSTEMTAP_DIR": "/lab/cache/stapgen/systemtap"})
        print(f"{lab.suite} {name}: {script.count(chr(10))} lines pass {last}")
