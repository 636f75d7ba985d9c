#!/usr/bin/env python3
"""Run the function of tapsets/stapgen_recording.stp that reads the wall clock as C, with clocks that do what they are told.

    check_wall_clock.py CC
"""

import pathlib
import re
import subprocess
import sys
import tempfile

TAPSET = pathlib.Path(__file__).resolve().parents[2] / "tapsets/stapgen_recording.stp"

PROGRAM = r"""
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
typedef int64_t s64;
enum { MS = 1000000 };
static const s64 SET = 3600LL * 1000 * MS;
static s64 now = 17, at_0 = 1795000000000000000;
/* How long it takes from each reading to the next one; behind the last: 100 ns. */
static const s64 *delays, usual[] = { 0 };
static s64 passes(void) { s64 read = now; now += *delays ? *delays++ : 100; return read; }
static s64 ktime_get_ns(void) { return passes(); }
static s64 gettimeofday_ns(void) { return at_0 + passes(); }
static s64 GLOBALS;
static s64 read_wall_clock(s64 pairs)
{
    s64 i, before, wall, gap, moved;
BODY
}
#define EXPECT(pairs, error, within) do { \
    s64 wrong = read_wall_clock(pairs) - at_0 - (error); \
    printf("line %d: %lld ns off\n", __LINE__, (long long)wrong); \
    assert(-(within) <= wrong && wrong <= (within)); } while (0)
int main(void)
{
    static const s64 first[] = { 7 * MS, 100, 100, 0 }, all[] = { 100, 7 * MS, 50, 2 * MS, 100, 50, 0 };
    delays = all;
    EXPECT(2, 0, MS + 100);        /* each pair was interrupted: the middle of the better one */
    delays = usual;
    EXPECT(1, 0, 100);             /* a tick's pair was not */
    stapgen_wall_gap = -1;
    delays = first;
    EXPECT(10, 0, 100);            /* it was the first pair only */
    at_0 += SET;
    now += 1000;
    delays = usual;
    EXPECT(10, -SET, 100);         /* the wall clock is set: times go on by what it said */
    return 0;
}
"""


def main():
    text = TAPSET.read_text()
    names = re.search(r"^global (stapgen_wall_at_0, .*)$", text, re.M)[1]
    body = re.search(r"^function stapgen_epoch:long\(pairs:long\) \{\n(.*?)^\}", text, re.M | re.S)[1]
    # Without the lines that choose by the kernel; the others are C but for what ends them.
    body = re.sub(r"^%.*\n", "", body, flags=re.M)
    body = re.sub(r"(?<![{}])$(?=\n)", ";", body, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "clocks.c"), pathlib.Path(folder, "clocks")
        source.write_text(PROGRAM.replace("GLOBALS", names).replace("BODY", body))
        subprocess.run([sys.argv[1], "-Wall", "-Werror", "-o", program, source], check=True)
        subprocess.run([program], check=True)


main()
