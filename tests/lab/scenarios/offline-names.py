# SPDX-License-Identifier: GPL-2.0-or-later
"""Every place where a packet was dropped gets, from the log and another boot's map, the name it had in its own boot."""

import json
import re

from lablib import drops
from lablib.captures import compile_script
from lablib.symbols import find_return_address, in_text, kernel_map, markers, parse_kallsyms, parse_modules

DESCRIPTION = "drops of many kinds under KASLR: map and modules' files name each as the guest's own kallsyms does"
IN_CI = ("trixie",)
BUILD = {"drops": ["dropwatch"]}

GUEST = drops.GUEST + r"""
prepare_drops || exit 1
staprun -R dropwatch_2009.ko >/tmp/drops.txt 2>staprun.err &
tracer=$!
wait_for "grep -q ^Monitoring /tmp/drops.txt" || exit 1
record recorded drops || exit 1
drop 3 $(cat kinds) || exit 1
sleep 6
end_records recorded
kill -INT $tracer
wait $tracer
cat /proc/modules >modules
cat /proc/kallsyms >kallsyms
finish /tmp/drops.txt
"""


def prepare(lab):
    drops.prepare(lab)
    (lab.work / "kinds").write_text(" ".join(drops.kinds()))
    (lab.work / "other-boot.map").write_text(kernel_map(lab.root))
    compile_script(lab, "dropwatch", "dropwatch_2009", [2009])


def sources(lab, kaslr_offset):
    """Return {name: (options, whether they name modules too)}."""
    system_map = ["--map", "other-boot.map"]
    modules = ["--map", f"/usr/lib/modules/{lab.release}", "--modules", "modules"]
    return {"its own kallsyms": (["--map", "kallsyms"], True),
            "map and offset": ([*system_map, "--kaslr-offset", f"{kaslr_offset:#x}"], False),
            "map": (system_map, False),
            "map, vmlinuz, release": ([*system_map, "--map", f"/boot/vmlinuz-{lab.release}", "-r", lab.release], False),
            "map and modules": ([*system_map, *modules], True)}


def check(lab):
    symbols, modules = parse_kallsyms(lab.read("kallsyms")), parse_modules(lab.read("modules"))
    symbols.sort(key=lambda symbol: symbol.address)
    kaslr_offset = markers(symbols)["_text"] - markers(parse_kallsyms(lab.read("other-boot.map")))["_text"]
    counts, plain = drops.recorded(lab, "recorded.rec"), drops.read_2009(lab.read("drops.txt"))
    truth = {address: find_return_address(symbols, address) for address in counts.keys() | plain.keys()}
    own = {address for address in truth if in_text(symbols, address)}
    print(f"{lab.suite}: KASLR offset {kaslr_offset:#x}, {len(modules)} modules, {len(counts)} places recorded, {len(plain)} in plain "
          f"text, {len(truth) - len(own)} of them in modules")
    for address, (name, offset, module) in sorted(truth.items()):
        print(f"  {counts.get(address, 0):4} {plain.get(address, 0):4} {address:x} {name}+{offset:#x} {module}")
    assert len(own) >= 17 and len(truth) - len(own) >= 2
    (lab.work / "rewritten.txt").write_text(drops.as_2009(counts))
    for name, (options, with_modules) in sources(lab, kaslr_offset).items():
        for log, seen in (("rewritten.txt", counts), ("drops.txt", plain)):
            check_annotated(lab, name, log, options, {a: truth[a] for a in seen if with_modules or a in own})
            check_report(lab, name, log, options, {a: truth[a] for a in seen if with_modules or a in own}, seen)


def check_annotated(lab, source, log, options, expected):
    """The log with names in place of EXPECTED's addresses, and every other byte as it was."""
    done = lab.stapgen(["resolve", *options, "--annotate", log])
    print(f"{lab.suite} {source}, {log}: {done.stderr.strip()}")
    found = {}
    before, after = lab.read(log).splitlines(), done.stdout.splitlines()
    assert len(before) == len(after)
    for old, new in zip(before, after):
        place = re.search("location 0x([0-9a-f]+)", old)
        if not place or int(place[1], 16) not in expected:
            assert old == new, new
            continue
        name = re.fullmatch(r"\d+ packets dropped at location (?:0x)?(\S+)\+0x([0-9a-f]+)/0x[0-9a-f]+(?: \[(\S+)\])?", new)
        assert name, new
        found[int(place[1], 16)] = (name[1], int(name[2], 16), name[3] or "")
    assert found == expected, {a: (found.get(a), expected[a]) for a in expected if found.get(a) != expected[a]}


def check_report(lab, source, log, options, expected, seen):
    """The report of the log has each place's name and count."""
    report = json.loads(lab.stapgen(["report", log, *options, "--format", "json"]).stdout)
    found, counts = {}, {}
    for drop in report["drops"]:
        address = int(drop["address"], 16)
        counts[address] = counts.get(address, 0) + drop["count"]
        if drop["symbol"]:
            found[address] = (drop["symbol"], drop["offset"], drop["module"] or "")
    assert counts == seen, source
    assert found == expected, (source, {a: (found.get(a), expected.get(a)) for a in found | expected})
