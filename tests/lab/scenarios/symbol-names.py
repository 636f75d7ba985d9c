# SPDX-License-Identifier: GPL-2.0-or-later
"""resolve against the kernel's own %pS and %pB, for addresses of every kind, in the guest and from saved copies."""

import bisect
import collections
import json
import pathlib
import random
import re
import shutil

from lablib.common import SOURCE
from lablib.kernel import build_modules
from lablib.symbols import is_code, markers, parse_kallsyms, parse_modules

DESCRIPTION = "18,000 addresses: stapgen resolve says what the kernel's %pS and %pB say, or it is known why not"
LIVE = True
# A module that comes later may lie where an earlier one had its __init, whose names are in kallsyms to its end.
ALONE = "it has few modules"
IN_CI = ("trixie",)

RANDOM, FUNCTIONS, IN_MODULES = 10_007, 503, 1009
PAGE = 4096
# No function is longer: src/base/kernel.h.
LONGEST = 0x20000

GUEST = r"""
insmod kernel/symbol_names.ko || exit 1
modprobe -a nf_tables nft_ct vxlan sch_netem || exit 1
# What else makes code at run time, which kallsyms lists as of modules: ftrace, kprobes and BPF.
cd /sys/kernel/tracing
echo icmp_rcv >set_ftrace_filter && echo function >current_tracer || exit 1
for offset in $(seq 5 40); do echo "p:lab ip_rcv+$offset" >kprobe_events && break; done 2>/tmp/no-instruction
echo 1 >events/kprobes/lab/enable || exit 1
start_ready python3 /lab/work/kernel/load_bpf.py 3 101 1009 || exit 1
cd /lab/work
cat /proc/modules >modules
cat /proc/kallsyms >kallsyms
# What is asked for is chosen here: the guest does not wait for the host.
python3 -c 'import symbol_names; symbol_names.write_addresses()' || exit 1

cat addresses >/proc/symbol_names && cat /proc/symbol_names >kernel-names || exit 1
stapgen resolve --json <addresses >live.json || exit 1

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
as_nobody cat /proc/kallsyms >/tmp/zeros
as_nobody stapgen resolve ffffffff81000000 >nobody.out 2>nobody.err
echo $? >nobody.exit
stapgen resolve --map /tmp/zeros ffffffff81000000 >zeros.out 2>zeros.err
echo $? >zeros.exit
finish
"""


def prepare(lab):
    build_modules(lab)
    shutil.copytree(SOURCE / "lablib", lab.work / "lablib")
    shutil.copy(__file__, lab.work / "symbol_names.py")


def write_addresses():
    """Write the file addresses, in the guest."""
    symbols, modules = (parse(pathlib.Path(name).read_text())
                        for parse, name in ((parse_kallsyms, "kallsyms"), (parse_modules, "modules")))
    pathlib.Path("addresses").write_text("".join(f"{address:016x}\n" for address in sorted(choose(symbols, modules))))


def choose(symbols, modules):
    """Return the set of addresses to ask for; it is the same for the same kallsyms."""
    dice, mark = random.Random(5), markers(symbols)
    kernel = [symbol.address for symbol in symbols if not symbol.module]
    text = [address for address in kernel if mark["_stext"] <= address < mark["_etext"]]
    init = [address for address in kernel if mark["_sinittext"] <= address < mark["_einittext"]]
    data = [address for address in kernel if mark["_etext"] < address < mark["_sinittext"]]
    loaded = [symbol for symbol in symbols if symbol.module]
    in_modules = [symbol.address for symbol in loaded if is_code(symbol)]

    chosen = {dice.randrange(mark["_stext"], mark["_etext"]) for _ in range(RANDOM)}
    starts = dice.sample(sorted(set(text)), FUNCTIONS) + [max(text)] + dice.sample(sorted(set(init)), 101)
    starts += dice.sample(sorted(set(in_modules)), min(IN_MODULES, len(set(in_modules))))
    starts += dice.sample(sorted(set(data)), 101)
    starts += dice.sample(kernel, 101)  # per-CPU ones among them, which are small numbers before Linux 6.15
    starts += mark.values()
    starts += [symbol.address for symbol in loaded if symbol.module.startswith("__builtin__") or symbol.module == "bpf"]
    for base, size in modules.values():
        starts += [base, base + size]
        chosen |= {base + dice.randrange(size) for _ in range(101)}
    for name in {symbol.module for symbol in loaded}:
        code = [symbol.address for symbol in loaded if symbol.module == name and is_code(symbol)]
        if not code:
            continue
        starts += [min(code), max(code)]
        page_end = max(code) // PAGE * PAGE + PAGE
        starts += [page_end, page_end + PAGE]
        chosen |= {dice.randrange(max(code), page_end) for _ in range(11)}
    for start in starts:
        chosen |= {start - 1, start, start + 1}
    chosen |= {0, 1, 42, 4096, 0x7FFF_DEAD_BEEF, 0x5555_5555_4321, 0x8000_0000_0000_0000, 0x1234_5678_9ABC_DEF0,
               0xFFFF_8880_0000_1001, 0xFFFF_FFFF_FF60_0000, 0xFFFF_FFFF_FFFF_FFFE, 0xFFFF_FFFF_FFFF_FFFF}
    return {address % 2**64 for address in chosen}


Name = collections.namedtuple("Name", "name offset size module")


def kernel_name(text):
    """Return what %pS has printed, None for a bare number."""
    found = re.fullmatch(r"(\S+)\+0x([0-9a-f]+)/0x([0-9a-f]+)(?: \[(\S+)\])?", text)
    if not found:
        assert re.fullmatch("0x[0-9a-f]+", text), text
        return None
    return Name(found[1], int(found[2], 16), int(found[3], 16), found[4])


def our_names(text):
    names = {}
    for answer in map(json.loads, text.splitlines()):
        name = Name(answer["symbol"], answer["offset"], answer["size"], answer["module"])
        names[int(answer["address"], 16)] = name if name.name else None
    return names


class Explainer:
    """Says why the kernel's answer is not ours, from kallsyms alone; None where there is no reason."""

    def __init__(self, symbols):
        self.mark = markers(symbols)
        self.types, self.last = collections.defaultdict(set), collections.defaultdict(int)
        for symbol in symbols:
            self.types[symbol.name, symbol.module].add(is_code(symbol))
            if symbol.module and is_code(symbol):
                self.last[symbol.module] = max(self.last[symbol.module], symbol.address)

    def reason(self, address, back, ours, kernels):
        """ADDRESS is what was asked for, and was looked up BACK bytes before."""
        place = (address - back) % 2**64
        if not kernels:
            return self.only_ours(ours)
        start = address - kernels.offset
        page_end = start // PAGE * PAGE + PAGE
        bounded = place >= page_end if ours is None else (
            ours[:2] == kernels[:2] and ours.size == page_end - start and place < page_end)
        if (kernels.name, "bpf") in self.types:
            return self.bpf(ours, kernels, bounded)
        if not kernels.module:
            cut = place - start >= LONGEST if ours is None else ours == kernels._replace(size=LONGEST) and place - start < LONGEST
            if kernels.size > LONGEST and cut:
                return "beyond the longest function: a mark or padding, which the kernel names up to the next symbol"
            data = self.mark["_etext"] <= place < self.mark["_sinittext"] or self.mark["_einittext"] <= place < self.mark["_end"]
            return "data of the kernel" if ours is None and data else None
        if ours is None and True not in self.types[kernels.name, kernels.module]:
            return "data of a module"
        if ours is None and place - start >= kernels.size and start == self.last[kernels.module]:
            return "data of a module before its first symbol: the kernel names its last function"
        if bounded and start == self.last[kernels.module]:
            return "a module's last function, which reaches into a further page: kallsyms does not say so"
        return None

    @staticmethod
    def bpf(ours, kernels, bounded):
        if ours and ours[:2] == kernels[:2] and ours.size >= kernels.size:
            return "a BPF program, of whose size kallsyms has nothing: ours is that to the next one or to the page's end"
        return "a BPF program that reaches into a further page: kallsyms does not say so" if bounded else None

    @staticmethod
    def only_ours(ours):
        if ours.module == "bpf" and ours.size <= PAGE:
            return "behind a BPF program, on its page"
        if (ours.module or "").startswith("__builtin__") and ours.size == PAGE and ours.offset <= PAGE:
            return "a page of ftrace or kprobes: kallsyms names it, %pS does not"
        if ours.module is None and ours.name == "_text":
            return "the image's header, before _stext (arm64): kallsyms names it, %pS does not"
        return None


def compare(symbols, asked, back, kernel, ours):
    explain = Explainer(symbols)
    reasons, unexplained, same = collections.Counter(), [], 0
    for address in asked:
        if ours[address] == kernel[address]:
            same += kernel[address] is not None
            reasons["have no name, says the kernel too"] += kernel[address] is None
            continue
        reason = explain.reason(address, back, ours[address], kernel[address])
        reasons[reason] += 1
        if reason is None:
            unexplained.append(f"{address:016x} ours {ours[address]} the kernel's {kernel[address]}")
    print(f"  {len(asked):6} addresses, of these\n  {same:6} have the same name, offset, size and module")
    for reason, count in reasons.items():
        print(f"  {count:6} {reason or 'NOT EXPLAINED'}")
    print("\n".join(unexplained[:60]))
    return len(unexplained)


def check(lab):
    symbols = parse_kallsyms(lab.read("kallsyms"))
    asked = [int(line, 16) for line in lab.read("addresses").split()]
    columns = [line.split("\t") for line in lab.read("kernel-names").splitlines()]
    assert [int(column[0], 16) for column in columns] == asked
    print(f"{lab.suite}: kernel text at {markers(symbols)['_text']:x}")
    failed = 0
    for kind, back, column, options in (("exact", 0, 1, []), ("return", 1, 2, ["--return-addresses"])):
        kernel = {int(words[0], 16): kernel_name(words[column]) for words in columns}
        with (lab.work / "addresses").open() as addresses:
            saved = our_names(lab.stapgen(["resolve", "--json", "--map", "kallsyms", *options], stdin=addresses).stdout)
        assert kind == "return" or saved == our_names(lab.read("live.json"))
        print(f"{lab.suite} {kind}:")
        failed += compare(symbols, asked, back, kernel, saved)
    assert not failed, f"{failed} answers differ and nothing explains why"
    check_hidden(lab)


def check_hidden(lab):
    """Without the right to see addresses there is no answer, but what to do."""
    for who, exit_code in (("nobody", 4), ("zeros", 2)):
        said = lab.read(f"{who}.err")
        print(f"{lab.suite} {who}: {said}[exit {lab.read(f'{who}.exit').strip()}]")
        assert lab.read(f"{who}.exit").strip() == str(exit_code) and lab.read(f"{who}.out") == ""
        assert "all are zero" in said and "hint: read /proc/kallsyms as root" in said
