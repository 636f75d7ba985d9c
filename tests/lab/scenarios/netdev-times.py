# SPDX-License-Identifier: GPL-2.0-or-later
"""packet-flow beside perf's netdev-times, which knows the network card's packets from tracepoints alone."""

import re

from lablib.captures import unpack_packages
from lablib.events import FLOW_IN, FLOW_OUT, Trace, check_sums

DESCRIPTION = "perf script netdev-times and packet-flow on the same datagrams: as many, and in the same order"
IN_CI = ("trixie",)
NET = True
APPEND = "maxcpus=1"
BUILD = {"flow": ["packet-flow"]}

PORT = 7007
# Told apart by their sizes.
SIZES = [101 + 7 * number for number in range(61)]
HEADERS = 28  # IP and UDP
ETHERNET = 14

GUEST = r"""
export LD_LIBRARY_PATH=/lab/work/tools/usr/lib/x86_64-linux-gnu PATH=$PATH:/lab/work/tools/usr/bin
export PERF_EXEC_PATH=$(dirname $(find /lab/work/tools -type d -path '*perf-core/scripts' | head -1))
outside perl -e 'use Socket; socket(S, PF_INET, SOCK_DGRAM, 0); bind(S, sockaddr_in(PORT, INADDR_ANY)) or die;
    while (my $from = recv(S, $_, 9999, 0)) { send(S, $_, 0, $from) }' &
ECHO=$!
wait_for "outside ss -Hlun sport = :PORT | grep -q ." || exit 1
record flow flow --addr 10.0.2.2 --dev $LAB_NIC || exit 1
cat >/tmp/send <<'EOF'
use Socket;
socket(S, PF_INET, SOCK_DGRAM, 0);
connect(S, sockaddr_in(PORT, inet_aton("10.0.2.2"))) or die;
for (@ARGV) { send(S, "x" x $_, 0); recv(S, $b, 9999, 0); length($b) == $_ or die }
EOF
# Without skb:kfree_skb, of which the netdev-times of 6.12 takes one argument less than its kernel has. perf begins
# the program when all events are on.
perf record -q -a -o /tmp/times.data $(printf -- '-e %s ' net:net_dev_xmit net:net_dev_queue net:netif_receive_skb \
    net:netif_rx skb:consume_skb skb:skb_copy_datagram_iovec napi:napi_poll irq:irq_handler_entry irq:irq_handler_exit \
    irq:softirq_entry irq:softirq_exit irq:softirq_raise) perl /tmp/send SIZES 2>record.err || exit 1
end_records flow
kill $ECHO
# Of net_dev_queue, too, 7.2 has an argument more than its perf knows of.
sed 's/dev_name):$/dev_name, *more):/' $PERF_EXEC_PATH/scripts/python/netdev-times.py >/tmp/netdev-times.py
perf script -i /tmp/times.data -s /tmp/netdev-times.py >netdev-times 2>netdev-times.err || exit 1
finish
""".replace("SIZES", " ".join(map(str, SIZES))).replace("PORT", str(PORT))


def prepare(lab):
    unpack_packages(lab, "linux-perf")


def check(lab):
    # SystemTap's own printing wakes its reader: a wake-up's probe inside of a probe is skipped. No packet is missing for it.
    trace = Trace(lab, "flow", skips=True)
    check_sums(trace.events, FLOW_IN + FLOW_OUT)
    text = lab.read("netdev-times")
    # Beside them perf sees ARP and whatever else the card has. Of what is received it does not tell the card, and sees the
    # other end of the wire first.
    received = [int(size) - HEADERS for size in re.findall(r"netif_receive_skb\(.* len=(\d+)\)", text)]
    sent = [int(size) - HEADERS - ETHERNET for size in re.findall(r"^ +eth0 +(\d+) +[\d.]+sec", text, re.MULTILINE)]
    for way, by_perf, expected in (("rx", received, [size for size in SIZES for _ in range(2)]), ("tx", sent, SIZES)):
        by_perf = [size for size in by_perf if size in SIZES]
        events = sorted((event for event in trace.of_port(PORT, "remote") if event["way"] == way),
                        key=lambda event: event["time_ns"])
        ours = [event["bytes"] for event in events]
        print(f"{lab.suite} {way}: {len(by_perf)} by netdev-times, {len(ours)} by packet-flow")
        assert by_perf == expected, f"netdev-times has {by_perf}"
        assert ours == SIZES, f"packet-flow has {ours}"
    assert lab.read("modules-left").strip() == "0"
