#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Thousands of values made to break out of a script are each one literal of it, or refused: real stap's parse tree says so.

usage: check_injection.py RENDER_HOSTILE [SEED [COUNT]]
"""

import collections
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

SKIPPED = 77
LITERAL = r'"((?:[^"\\]|\\.)*)"'
# As stap prints what it has parsed.
BLOCKS = {
    "text": re.compile(r"probe begin\{\nprintln\(" + LITERAL + r"\);\n\}\n", re.ASCII),
    "integer": re.compile(r"probe begin\{\nprintln\((\d+|-\(\d+\)|\(-\(\d+\)\))\);\n\}\n", re.ASCII),
    "functions": re.compile(r"probe kprobe\.function\(" + LITERAL + r"\)\.call\?\{\nprintln\(1\);\n\}\n", re.ASCII),
}
BLOCKS["duration"] = BLOCKS["integer"]
CONTROL = 'x") } probe begin { system("id") } //'


def parse(stap, script):
    """Return stap's parse tree of SCRIPT as its probes, each as text."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tree = folder / "tree"
        (tree / "include/config").mkdir(parents=True)
        for name in (".config", "Module.symvers", "Makefile"):
            (tree / name).touch()
        (tree / "include/config/kernel.release").write_text("6.1.0-0-stapgen-test\n")
        (folder / "script.stp").write_bytes(script)
        done = subprocess.run([stap, "-p1", "-r", tree, folder / "script.stp"], capture_output=True, check=False,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(folder)}, timeout=HANGS)
    assert done.returncode == 0, f"stap -p1 ended with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}"
    text = done.stdout.decode("latin-1")
    start = text.index("# file ")
    body = text[text.index("\n", start) + 1:].rstrip("\n") + "\n"
    # Whatever else was parsed (functions, globals) stays in one of the pieces, and fits none of BLOCKS.
    return [piece + "\n" for piece in re.split(r"\n(?=probe )", body.rstrip("\n"))]


def bytes_of(literal):
    """Return what the inside of a SystemTap string stands for; only octal escapes are ours."""
    assert not re.search(r"\\(?![0-7]{3})", literal), f"an escape that stapgen does not write: {literal!r}"
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), literal).encode("latin-1")


def number_of(shown):
    digits = int(re.sub(r"\D", "", shown))
    return -digits if "-" in shown else digits


def check_block(line, block):
    """BLOCK is one probe, and the value is the one literal in it."""
    match = BLOCKS[line["kind"]].fullmatch(block)
    assert match, f"{line}: stap has {block!r}"
    value = bytes.fromhex(line["value"])
    if line["kind"] == "text":
        assert bytes_of(match[1]) == value, f"{line}: stap has {block!r}"
    elif line["kind"] == "functions":
        # No escape, no brace: names and patterns alone.
        assert re.fullmatch(rb"[A-Za-z0-9_.*?,]*", value) and match[1].encode() == b"{" + value + b"}", block
    else:
        wanted = int(line["ns"]) if line["kind"] == "duration" else int(value)
        assert number_of(match[1]) == wanted, f"{line}: stap has {block!r}"


def check_comm(line):
    """The numbers are the first 15 bytes and which bytes count, and nothing else."""
    kept = bytes.fromhex(line["value"])[:15]
    words = {name: int(value) for name, value in line["globals"].items()}
    assert set(words) == {"stapgen_comm_a", "stapgen_comm_b", "stapgen_comm_mask_a", "stapgen_comm_mask_b"}
    assert struct.pack(">qq", words["stapgen_comm_a"], words["stapgen_comm_b"]) == kept.ljust(16, b"\0")
    mask = struct.pack(">qq", words["stapgen_comm_mask_a"], words["stapgen_comm_mask_b"])
    assert mask == (b"\xff" * (len(kept) + 1)).ljust(16, b"\0")


def check_control(stap):
    """The same value put in as it is breaks out, and that is seen."""
    line = {"kind": "text", "value": CONTROL.encode().hex()}
    blocks = parse(stap, f'probe begin {{ println("{CONTROL}") }}\n'.encode())
    assert len(blocks) == 2, blocks
    try:
        check_block(line, blocks[0])
    except AssertionError:
        return
    raise AssertionError("a value that breaks out was not seen")


def main():
    stap = shutil.which("stap")
    if not stap:
        print("no stap on this machine")
        return SKIPPED
    program, seed, count = (sys.argv[1:] + ["20261121", "7001"][len(sys.argv) - 2:])[:3]
    out = subprocess.run([program, seed, count], stdout=subprocess.PIPE, check=True).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    check_control(stap)
    rendered = [line for line in lines if "script" in line]
    blocks = parse(stap, "".join(line["script"] for line in rendered).encode("latin-1"))
    assert len(blocks) == len(rendered), f"{len(rendered)} probes were written, stap has {len(blocks)}"
    for line, block in zip(rendered, blocks):
        check_block(line, block)
    for line in lines:
        if line["kind"] == "comm":
            check_comm(line)
    of_kind, taken = (collections.Counter(line["kind"] for line in some) for some in (lines, rendered))
    for kind in of_kind:
        what = "as numbers" if kind == "comm" else f"{taken[kind]} taken, each one literal to stap; the others refused"
        print(f"{kind}: {of_kind[kind]} values, {what}")
    assert all(taken[kind] > 101 for kind in BLOCKS), taken
    return 0


if __name__ == "__main__":
    sys.exit(main())
