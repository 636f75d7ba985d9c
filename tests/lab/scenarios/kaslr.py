# SPDX-License-Identifier: GPL-2.0-or-later
"""The KASLR offset inferred from a log of drops alone is the kernel's own, or none: boots with KASLR, a few drops in each."""

import collections
import os
import random
import re

from lablib import drops, roots
from lablib.symbols import in_text, kernel_map, markers, parse_kallsyms

DESCRIPTION = "STAPGEN_LAB_BOOTS boots (2): resolve infers each one's KASLR offset from its drops, or refuses; never another"
IN_CI = ("trixie",)
APPEND = ""  # boots of its own: the saved one has one KASLR offset
BUILD = {"drops": ["dropwatch"]}
BOOTS = int(os.environ.get("STAPGEN_LAB_BOOTS", "2"))

EACH_BOOT = drops.GUEST + r"""
prepare_drops || exit 1
record boot-NUMBER drops || exit 1
drop 2 KINDS || exit 1
end_records boot-NUMBER
grep -E ' (_text|_etext)$' /proc/kallsyms >boot-NUMBER.symbols
sync
"""

# found: {map: the KASLR offset inferred, None if refused}
Boot = collections.namedtuple("Boot", "offset own in_modules found")


def prepare(lab):
    drops.prepare(lab)
    keep_map(lab, lab.root, "right")
    for suite in roots.SUITES:
        root = roots.cached_root(suite)
        if root and suite != lab.suite:
            keep_map(lab, root, f"wrong-{suite}")


def keep_map(lab, root, name):
    (lab.work / f"{name}.map").write_text(kernel_map(root))


def maps(lab):
    """Return the names of the kernels whose maps are there, sorted."""
    return sorted(path.stem for path in lab.work.glob("*.map"))


def inferred(lab, counts):
    """Return {map: the KASLR offset that resolve gives, None if it refuses} for a log of these drops."""
    (lab.work / "log.txt").write_text(drops.as_2009(counts))
    offsets = {}
    for name in maps(lab):
        said = lab.stapgen(["resolve", "--map", f"{name}.map", "--annotate", "log.txt"], check=False).stderr
        found = re.search(r"\bKASLR offset (?:0x([0-9a-f]+)|unknown)\b", said)
        assert found, said
        offsets[name] = int(found[1], 16) if found[1] else None
    return offsets


def print_row(offset, own, in_modules, found):
    words = ["-" if it is None else "found" if it == offset else f"WRONG {it:#x}" for it in found.values()]
    print(f"  {offset:10x} {own:4} {in_modules:4}  " + "".join(f"{word:23}" for word in words).rstrip())


def check_never_wrong(offset, found):
    for name, answer in found.items():
        assert answer is None or (answer == offset and name == "right"), f"{name}: {answer:#x} for {offset:#x}"


def run_boot(lab, number):
    """Boot, make a few drops, and return what there was and the kernel's own places."""
    kinds = random.Random(number).sample(drops.kinds(), 1 + (16 + 5 * number) % 17)
    lab.boot(EACH_BOOT.replace("NUMBER", str(number)).replace("KINDS", " ".join(kinds)))
    counts = drops.recorded(lab, f"boot-{number}.rec")
    symbols = parse_kallsyms(lab.read(f"boot-{number}.symbols"))
    offset = markers(symbols)["_text"] - markers(parse_kallsyms(lab.read("right.map")))["_text"]
    own = {address: count for address, count in counts.items() if in_text(symbols, address)}
    return Boot(offset, len(own), len(counts) - len(own), inferred(lab, counts)), own


def check(lab):
    print(f"{lab.suite}: offset, places in the kernel, in modules; the KASLR offset inferred from {', '.join(maps(lab))}")
    boots = []
    for number in range(BOOTS):
        boot, own = run_boot(lab, number)
        boots.append(boot)
        print_row(*boot)
        check_never_wrong(boot.offset, boot.found)
    print("the last boot's places, each alone in a log:")
    for address, count in own.items():
        found = inferred(lab, {address: count})
        print_row(boot.offset, 1, 0, found)
        check_never_wrong(boot.offset, found)
    assert any(boot.offset for boot in boots), "KASLR is off"
    print(f"{lab.suite}: found in {sum(boot.found['right'] == boot.offset for boot in boots)} of {BOOTS} boots")
    # It takes ten places.
    assert any(boot.found["right"] for boot in boots) and all(boot.own > 9 for boot in boots if boot.found["right"])
