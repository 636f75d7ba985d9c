#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Input that nobody makes by accident costs bounded memory, and what was not understood is counted.

usage: check_limits.py STAPGEN [CASE]...
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

MB = 1 << 20
# Several times what may be in memory.
LONG = 1 << 28
GROUPS = 1_000_003
HEADER = b"stapgen\t3\trx-latency\trx\ttime:time\tpid:int\ttid:int\tcomm:text\ta-b:stage\tb-c:stage\n"


def run(argv, write, max_mb):
    """Run ARGV with what WRITE writes on its stdin; return its exit code and output. Its memory has to stay under MOST_MB."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT)

        def feed():
            try:
                write(process.stdin)
                process.stdin.close()
            except BrokenPipeError:
                pass  # it had seen enough

        feeder = threading.Thread(target=feed)
        feeder.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        feeder.join()
        output.seek(0)
        text = output.read().decode()
    used = usage.ru_maxrss / 1024
    print(f"{' '.join(argv[1:])}: exit {process.returncode}, {used:.0f} MB, {usage.ru_utime + usage.ru_stime:.1f} s")
    assert used < max_mb, f"{used:.0f} MB"
    return process.returncode, text


def write_block(block, size):
    def write(pipe):
        for _ in range(size // len(block)):
            pipe.write(block)
    return write


def one_line(stapgen):
    """A line of 256 MB, of letters and of NULs; and one inside a recording, which counts as one that was not understood."""
    for byte in (b"x", b"\0", b"\t", b"\xff"):
        code, text = run([stapgen, "report", "-"], write_block(byte * MB, LONG), 64)
        assert code == 2 and "no known format" in text, text

    def inside(pipe):
        pipe.write(HEADER + b"rx\t17\t1\t2\tmc\t101\t103\n")
        write_block(b"y" * MB, LONG)(pipe)
        pipe.write(b"\nrx\t19\t1\t2\tmc\t107\t109\nend\t23\tseen=2\treported=2\n")

    code, text = run([stapgen, "report", "-", "--format", "json"], inside, 64)
    report = json.loads(text)
    assert code == 0 and report["input"]["unrecognised"] == 1, report["input"]
    assert {stage["n"] for stage in report["stages"] if not stage["group"]} == {2}


def packed(stapgen):
    """A file that unpacks to 256 MB; and one that unpacks to the file that does."""
    with tempfile.TemporaryDirectory() as folder:
        bomb = pathlib.Path(folder) / "bomb.gz"
        with gzip.open(bomb, "wb", compresslevel=1) as out:
            write_block(b"\0" * MB, LONG)(out)
        code, text = run([stapgen, "report", str(bomb)], write_block(b"x", 0), 64)
        # Zeros unpack to 229 times their size, which is allowed.
        assert code == 2 and "no known format" in text, text
        for option in ("--map", "--recording"):
            code, text = run([stapgen, "resolve", option, str(bomb), "ffffffff81000000"], write_block(b"x", 0), 150)
            assert code == 2, text
        code, text = run([stapgen, "resolve", "--annotate", "--map", str(bomb)], write_block(b"x", 0), 150)
        assert code == 2, text
        nested = pathlib.Path(folder) / "nested.gz"
        nested.write_bytes(gzip.compress(bomb.read_bytes()))
        code, text = run([stapgen, "report", str(nested)], write_block(b"x", 0), 64)
        assert code == 2, text


def many_groups(stapgen):
    """As many threads as there are packets: the sums are whole, and the groups that had no room are said to be."""
    def write(pipe):
        pipe.write(HEADER)
        for begin in range(0, GROUPS, 10_000):
            pipe.write("".join(f"rx\t{n}\t{n}\t{n}\tc{n}\t101\t103\n"
                               for n in range(begin, min(begin + 10_000, GROUPS))).encode())
        pipe.write(f"end\t{GROUPS}\tseen={GROUPS}\treported={GROUPS}\n".encode())

    code, text = run([stapgen, "report", "-", "--format", "json"], write, 64)
    assert code == 0, text[:2000]
    report = json.loads(text)
    stages = [stage for stage in report["stages"] if stage["stage"] == "a-b"]
    whole = [stage["n"] for stage in stages if not stage["group"]]
    groups = [stage["n"] for stage in stages if stage["group"]]
    print(f"  {len(groups)} groups")
    assert whole == [GROUPS] and sum(groups) == GROUPS and max(groups) > GROUPS // 2, (whole, sum(groups), max(groups))


CASES = {"one-line": one_line, "packed": packed, "many-groups": many_groups}


def main():
    stapgen = os.path.abspath(sys.argv[1])
    for name in sys.argv[2:] or CASES:
        CASES[name](stapgen)


main()
