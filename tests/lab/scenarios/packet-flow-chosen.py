# SPDX-License-Identifier: GPL-2.0-or-later
"""What packet-flow tells one packet from others by: a thread that does not get its CPU, a mark, the first of all."""

import re

from lablib.common import SOURCE
from lablib.events import FLOW_IN, FLOW_OUT, Trace, check_sums, in_ms, median, stage

DESCRIPTION = "packet-flow: a reader kept off its CPU for 40 ms; one packet of 10,008 by its mark, with and without --one"
IN_CI = ("trixie",)
APPEND = "threadirqs maxcpus=1"  # the reader must not run beside the sender
BUILD = {"flow": ["packet-flow"], "one": ["packet-flow", "--way", "rx", "--one"],
         "slow": ["packet-flow", "--way", "rx", "--slower-than", "40ms"]}

SPIN = 40_000_000
LITTLE = 2_000_000  # what the sender's shell does beside
MESSAGES = 23
LATE, MARKED = 7701, 7703
OTHERS = 10_007
SIZE = 17
# What docs/guide/one-packet.md says to type; its rule is for other ports than those here.
DOCUMENTED = "\n".join(f"{command} || exit 1" for command in
                       re.findall(r"^nft .*", (SOURCE.parents[1] / "docs/guide/one-packet.md").read_text(), re.M))

GUEST = f"""
# receiver PORT COUNT: take so many datagrams, each in a call of its own.
receiver() {{
    start_ready perl -e 'use Socket; socket(S, PF_INET, SOCK_DGRAM, 0); setsockopt(S, SOL_SOCKET, SO_RCVBUF, 1 << 20);
        bind(S, sockaddr_in($ARGV[0], INADDR_ANY)) or die; $| = 1; print "ready\\n"; recv(S, $_, 99, 0) for 1..$ARGV[1]' $1 $2
}}

# The sender is of a class above the reader's and stays on the only CPU after sending; it sends when the reader sleeps, who
# would else not be woken. No share of a second is kept for others: an emulated CPU is so slow that the sender would come
# to it.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us || exit 1
record late flow --port {LATE} || exit 1
record slow slow --port {LATE} || exit 1
receiver {LATE} {MESSAGES} || exit 1
chrt -f 50 bash -c '
    exec 9>/dev/udp/127.0.0.1/{LATE}
    for i in $(seq {MESSAGES}); do
        state=
        until [ "$state" = S ]; do
            sleep 0.03
            read -r _ _ state _ <"/proc/$0/stat" || exit 1
        done
        echo -n x >&9
        end=$((${{EPOCHREALTIME/./}} + {SPIN // 1000}))
        while ((${{EPOCHREALTIME/./}} < end)); do :; done
    done' $READY_PID || exit 1
wait $READY_PID || exit 1
end_records late slow

nft -f - <<'END' || exit 1
table ip lab {{
    chain arriving {{
        type filter hook prerouting priority 0
        udp dport {MARKED} udp length {8 + SIZE} meta mark set 0x9999
    }}
    chain leaving {{
        type filter hook output priority 0
        udp dport {MARKED} udp length {8 + SIZE} meta mark set 0x1700
    }}
}}
END
record rx flow --mark 0x9999 --port {MARKED} || exit 1
record tx flow --mark 0x1000/0xf000 --port {MARKED} || exit 1
record one one --mark 0x9999 --port {MARKED} || exit 1
receiver {MARKED} {OTHERS + 1} || exit 1
exec 9>/dev/udp/127.0.0.1/{MARKED}
for i in $(seq {OTHERS}); do echo -n x >&9; done
printf '%{SIZE}s' x >&9
# It ends by itself.
wait ${{TRACERS[one]}}
echo $? >one.exit
end_records rx tx
modules_left >one.modules
{DOCUMENTED}
nft list table ip t >documented || exit 1
finish
"""


def check_late(lab):
    # SystemTap's own printing wakes its reader: a wake-up's probe inside of a probe is skipped. No packet is missing for it.
    trace = Trace(lab, "late", skips=True)
    received = [event for event in trace.events if event["way"] == "rx"]
    trace.expect(len(received), MESSAGES, "datagrams")
    check_sums(trace.events, FLOW_IN + FLOW_OUT)
    medians = {name: median(stage(received, name)) for name in FLOW_IN}
    shortest = min(stage(received, "wake-run"))
    print(f"{lab.suite}: wake-run min {shortest / 1e6:.2f} ms; medians {in_ms(medians)} ms")
    trace.expect(len(stage(received, "wake-run")), MESSAGES, "waits for the CPU")
    assert SPIN <= shortest <= medians["wake-run"] < SPIN + LITTLE
    for name, value in medians.items():
        assert name == "wake-run" or value is None or value < LITTLE, f"{name} shows a delay that is not its own"
    slow = Trace(lab, "slow", skips=True)
    slow.expect(len(slow.events), MESSAGES, "slow datagrams")
    assert min(stage(slow.events, "total")) >= SPIN


def check_marked(lab):
    both = 2 * OTHERS + 1  # the one packet has two directions, of which a mark chooses one
    for name, way, mark, others in (("rx", "rx", 0x9999, both), ("tx", "tx", 0x1700, both), ("one", "rx", 0x9999, OTHERS)):
        trace = Trace(lab, name, skips=True)
        account = trace.accounting
        trace.expect(account["filtered"], others, "others")
        assert account["reported"] == 1, trace.account()
        (event,) = trace.events
        assert (event["way"], event["mark"], event["bytes"]) == (way, mark, SIZE), event


def check(lab):
    check_late(lab)
    check_marked(lab)
    assert "udp length 1208" in lab.read("documented"), lab.read("documented")
    assert lab.read("modules-left").strip() == "0"
