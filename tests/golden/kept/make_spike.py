#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes what spike.rec beside it unpacks to: a kept recording that was never measured.

40 connections, a packet of each every 397 ms for 35 s; packets of two of them wait 4.1 ms longer for a CPU from 30 s to
33 s, and the condition is met at 31 s. One connection is behind the other, as rings of several CPUs are printed.

    tests/golden/kept/make_spike.py | zstd -19 -o tests/golden/kept/spike.rec
"""

import json

SECOND, EVERY = 10**9, 397_000_003
EPOCH, MONOTONIC = 1795904767 * SECOND, 40_009 * SECOND + 7
SLOW = (11, 29)

state = 7


def jitter(most):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % most


def main():
    kept = {"condition": "tcp-app.run-queue p99 > 3ms over 1s", "value": "4.10 ms", "at_epoch_ns": EPOCH + 31 * SECOND,
            "before_ns": 30 * SECOND, "after_ns": 4 * SECOND, "unkept": 0}
    command = ["stapgen", "rx-latency", "--keep", "30s", "--after", "4s", "--when", "tcp-app.run-queue p99 > 3ms"]
    header = {"run": "00000000000000000000000000000017", "recipe": "rx-latency", "command": command, "host": "web1",
              "release": "6.12.118+deb13-amd64", "start_epoch_ns": EPOCH + 31 * SECOND, "kept": kept}
    print("recording\t1\t" + json.dumps(header))
    print("stapgen\t5\trx-latency\trx\ttime:time\tcpu:int\tpid:int\ttid:int\tcomm:text\tlocal:endpoint\tremote:endpoint\tdev:text\tbytes:int\t"
          "drv-ip:stage\tip-tcp:stage\ttcp-app:stage\ttcp-app.wake-up:stage\ttcp-app.run-queue:stage\ttcp-app.recv-call:stage")
    print(f"ready\t{EPOCH}\t{MONOTONIC}")
    n = 0
    for connection in range(40):
        at = jitter(EVERY)
        while at < 35 * SECOND:
            spike = 4_100_000 if connection in SLOW and 30 * SECOND <= at < 33 * SECOND else 0
            parts = 8_009 + jitter(1_709), 2_003 + jitter(401) + spike, 3_001 + jitter(503)
            cpu = connection % 4
            print(f"rx\t{MONOTONIC + at}\t{cpu}\t231\t{233 + cpu}\tworker\t0.ffff0a000001:6379\t0.ffff0a000007:{50_000 + connection}\teth0\t97\t"
                  f"{1_103 + jitter(307)}\t{907 + jitter(211)}\t{sum(parts)}\t" + "\t".join(map(str, parts)))
            at += EVERY
            n += 1
    print(f"end\t{EPOCH + 35 * SECOND}\tseen={n}\treported={n}")
    print("recording-end\t" + json.dumps({"end_epoch_ns": EPOCH + 36 * SECOND, "continued": False, "lines": n + 3}))


main()
