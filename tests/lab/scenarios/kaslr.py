# SPDX-License-Identifier: GPL-2.0-or-later
"""The KASLR offset inferred from a log of drops alone is the kernel's own, or none: a boot with KASLR, many drops and few."""

import random
import re

from lablib import drops, roots
from lablib.symbols import in_text, kernel_map, markers, parse_kallsyms

DESCRIPTION = "resolve infers a boot's KASLR offset from its drops, or refuses; never another, and from no other kernel's map"
IN_CI = ("trixie",)
APPEND = ""  # a boot of its own: the saved ones have one KASLR offset
BUILD = {"drops": ["dropwatch"]}
# recording -> how many kinds of drops
KINDS = {"many": 17, "few": 5}


def kinds(name):
    return " ".join(random.Random(KINDS[name]).sample(drops.kinds(), KINDS[name]))


GUEST = drops.GUEST + "\n".join(["prepare_drops || exit 1", *(f"""
record {name} drops || exit 1
drop 2 {kinds(name)} || exit 1
end_records {name}
""" for name in KINDS), "grep -E ' (_text|_etext)$' /proc/kallsyms >symbols", "finish"])


def prepare(lab):
    drops.prepare(lab)


def keep_maps(lab):
    """Put the map of this kernel into the work folder, and those of the other suites' kernels; return their names."""
    maps = {"right": lab.root}
    for suite in roots.SUITES:
        root = roots.cached_root(suite)
        if root and root.release != lab.release:
            maps[f"wrong-{suite}"] = root
    for name, root in maps.items():
        (lab.work / f"{name}.map").write_text(kernel_map(root))
    return sorted(maps)


def inferred(lab, maps, counts):
    """Return {map: the KASLR offset that resolve gives, None if it refuses} for a log of these drops."""
    (lab.work / "log.txt").write_text(drops.as_2009(counts))
    offsets = {}
    for name in maps:
        said = lab.analyse(["resolve", "--map", f"{name}.map", "--annotate", "log.txt"], check=False).stderr
        found = re.search(r"\bKASLR offset (?:0x([0-9a-f]+)|unknown)\b", said)
        assert found, said
        offsets[name] = int(found[1], 16) if found[1] else None
    return offsets


def check(lab):
    maps, symbols = keep_maps(lab), parse_kallsyms(lab.read("symbols"))
    offset = markers(symbols)["_text"] - markers(parse_kallsyms(lab.read("right.map")))["_text"]
    assert offset, "KASLR is off"
    own = {}
    for name in KINDS:
        counts = drops.recorded(lab, f"{name}.rec")
        own[name] = {address: count for address, count in counts.items() if in_text(symbols, address)}
        logs = [counts] if name == "many" else [counts, *({address: count} for address, count in own[name].items())]
        for log in logs:
            found = inferred(lab, maps, log)
            print(f"{lab.suite} {name}: offset {offset:#x}, {len(log)} places: {found}")
            # Never another: from few places none, from the right map this one.
            assert all(answer is None or (answer, of) == (offset, "right") for of, answer in found.items()), (offset, found)
            # It takes ten places.
            assert found["right"] == offset if name == "many" else found["right"] is None or len(own[name]) > 9, found
    assert len(own["many"]) > 9, own
    assert lab.read("modules-left").strip() == "0"
