#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the lines of tapsets/stapgen_recording.stp that read the wall clock as C, with clocks that do what they are told.

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
static s64 now = 17, at_0 = 1795000000000000000;
/* How long it takes from each reading to the next one; behind the last: 100 ns. */
static const s64 *delays, usual[] = { 0 };
static s64 passes(void) { s64 read = now; now += *delays ? *delays++ : 100; return read; }
static s64 monotonic(void) { return passes(); }
static s64 gettimeofday_ns(void) { return at_0 + passes(); }
static s64 read_wall_clock(void)
{
    s64 i, before, wall, gap, shortest = 0, stapgen_epoch = 0;
BODY
    return stapgen_epoch;
}
static void expect(const char *when, const s64 *of, s64 within)
{
    s64 wrong;
    delays = of;
    wrong = read_wall_clock() - at_0;
    printf("%s: %lld ns off\n", when, (long long)wrong);
    assert(-within <= wrong && wrong <= within);
}
int main(void)
{
    enum { PAIRS = 20, READINGS = 3 };
    static const s64 first[] = { 7 * MS, 100, 100, 0 };
    static s64 all[PAIRS * READINGS + 1], all_but_one[PAIRS * READINGS + 1];
    int i;
    for (i = 0; i < PAIRS * READINGS; i++) {
        all[i] = i % READINGS ? 50 : (i == 30 ? 2 : 7) * MS;
        all_but_one[i] = i % READINGS != 1 ? 50 : i == 40 ? 100 : 7 * MS;
    }
    expect("no pair was interrupted", usual, 100);
    expect("the first was", first, 100);
    expect("all but one were", all_but_one, 100);
    expect("all were: the middle of the best one", all, MS + 100);
    return 0;
}
"""


def main():
    text = TAPSET.read_text()
    body = re.search(r"^    for .*?^    \}\n", text, re.M | re.S)[0].replace("@stapgen_now", "monotonic()")
    # It is C but for what ends the lines.
    body = re.sub(r"(?<![{}])$(?=\n)", ";", body, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "clocks.c"), pathlib.Path(folder, "clocks")
        source.write_text(PROGRAM.replace("BODY", body))
        subprocess.run([sys.argv[1], "-Wall", "-Werror", "-o", program, source], check=True)
        subprocess.run([program], check=True)


main()
