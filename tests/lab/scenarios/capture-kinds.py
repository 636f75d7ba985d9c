# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the recordings of samples/ of kinds that no other there is: counts, counters of the kernel, what probes cost."""

from lablib.common import say

DESCRIPTION = "makes samples/softnet.rec, losses.rec and rx-latency-cost.rec"
BUILD = {"drops": ["dropwatch", "-i", "2"], "rx": ["rx-latency", "--aggregate", "--cost"]}

GUEST = r"""
start_memcached || exit 1
stapgen softnet -i 1 -o softnet.rec >/tmp/softnet.txt 2>softnet.err &
TRACERS[softnet]=$!
wait_traced softnet.err || exit 1
for i in $(seq 109); do echo x >/dev/udp/127.0.0.1/9; done
sleep 1.5
drops full-buffer 211 >softnet.traffic || exit 1
end_records softnet

report losses txt drops -o losses.rec || exit 1
drops refused 61 >losses.traffic || exit 1
sleep 3
drops listen-overflow 23 >>losses.traffic || exit 1
end_records losses

report cost txt rx -x $MC_TID -o rx-latency-cost.rec || exit 1
memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=503 --test=get >/tmp/slap 2>&1
end_records cost
finish
"""


def check(lab):
    for name in ("softnet.rec", "losses.rec", "rx-latency-cost.rec"):
        size = (lab.work / name).stat().st_size
        assert size, f"{name} is empty"
        say(f"{lab.work / name}: {size} bytes")
