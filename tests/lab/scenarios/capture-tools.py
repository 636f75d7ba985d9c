# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes samples of what needs no stap: dropwatch(1), perf script, perf script netdev-times, ftrace's trace file."""

import re
from collections import Counter

from lablib.captures import keep, unpack_packages

DESCRIPTION = "makes samples/ of dropwatch(1), perf script, netdev-times and ftrace"
NET = True
# Through the network cards, with perf script and with netdev-times.
REQUESTS, AGAIN = 17, 61

GUEST = r"""
export LD_LIBRARY_PATH=/lab/work/tools/usr/lib/x86_64-linux-gnu
export PATH=$PATH:/lab/work/tools/usr/bin:/lab/work/tools/usr/sbin
export PERF_EXEC_PATH=$(dirname $(find /lab/work/tools -type d -path '*perf-core/scripts' | head -1))
drop_by_rule 7013 || exit 1
modprobe drop_monitor || echo "no drop_monitor"
losses() {
    drops full-buffer 211 && for i in $(seq 103); do echo x >/dev/udp/127.0.0.1/7013; done
    drops bad-checksum 107 && drops refused 109
}

# dropwatch(1): its prompt wants a terminal.
(
    sleep 1; echo start; sleep 3
    losses >dropwatch-tool.traffic
    sleep 4; printf '\003'; sleep 2; echo exit; sleep 1
) | timeout 60 script -qec "dropwatch -l kas" /dev/null >dropwatch-tool.txt 2>&1

# ftrace
cd /sys/kernel/tracing
echo 1 >events/skb/kfree_skb/enable
drops full-buffer 211 >/lab/work/ftrace-drops.traffic
for i in $(seq 23); do echo x >/dev/udp/127.0.0.1/7013; done
drops refused 29 >>/lab/work/ftrace-drops.traffic
echo 0 >events/skb/kfree_skb/enable
cat trace >/lab/work/ftrace-drops.txt
echo >trace
for event in net/netif_rx net/netif_receive_skb net/net_dev_queue net/net_dev_start_xmit net/net_dev_xmit \
             skb/skb_copy_datagram_iovec skb/kfree_skb skb/consume_skb; do
    echo 1 >events/$event/enable
done
start_ready serve --port 7021 || exit 1
ask --port 7021 --requests 17 >/lab/work/ftrace-net.traffic
echo 0 >events/enable
cat trace >/lab/work/ftrace-net.txt
cd /lab/work

# perf
perf record -q -a -o /tmp/drops.data -e skb:kfree_skb sleep 8 2>perf-drops.err &
sleep 4
drops full-buffer 211 >perf-drops.traffic && drops refused 29 >>perf-drops.traffic
wait $!
perf script -i /tmp/drops.data >perf-drops.txt 2>>perf-drops.err

start_memcached || exit 1
cat >/tmp/get <<'EOF'
use Socket;
socket(S, PF_INET, SOCK_STREAM, 0);
connect(S, sockaddr_in(11211, inet_aton("10.0.2.15"))) or die;
for (1..shift) { syswrite(S, "get key$_\r\n"); sysread(S, $_, 100) == 5 or die; select(undef, undef, undef, 0.02) }
EOF
# record_net NAME COUNT EVENT...: record them while memcached is asked.
record_net() {
    local name=$1 count=$2 recorder
    shift 2
    perf record -q -a -o /tmp/$name.data ${*/#/-e} sleep 12 2>$name.err &
    recorder=$!
    sleep 5
    outside perl /tmp/get $count || exit 1
    wait $recorder
}
events="net:net_dev_xmit net:net_dev_queue net:netif_receive_skb net:netif_rx skb:consume_skb
    skb:skb_copy_datagram_iovec napi:napi_poll irq:irq_handler_entry irq:irq_handler_exit irq:softirq_entry
    irq:softirq_exit irq:softirq_raise"
record_net net REQUESTS $events skb:kfree_skb
# Most of its lines are timers' and the scheduler's.
perf script -i /tmp/net.data 2>perf-net.err | grep -v ' irq:' >perf-net.txt
# The netdev-times of 6.12 takes one argument less than its kernel's kfree_skb event has (rx_sk): left out.
record_net times AGAIN $events
perf script -i /tmp/times.data -s $PERF_EXEC_PATH/scripts/python/netdev-times.py >netdev-times.txt 2>netdev-times.err
echo "netdev-times ended with $?" >>netdev-times.err
nft list table ip lab >nft
finish
""".replace("REQUESTS", str(REQUESTS)).replace("AGAIN", str(AGAIN))


def prepare(lab):
    unpack_packages(lab, "dropwatch", "linux-perf")


def check(lab):
    keep(lab, ["dropwatch-tool.txt", "ftrace-drops.txt", "ftrace-net.txt", "perf-drops.txt", "perf-net.txt",
               "netdev-times.txt"])
    for name in ("ftrace-drops", "perf-drops"):
        full = int(re.search(r"dropped (\d+)", lab.read(f"{name}.traffic"))[1])
        counts = Counter(re.findall(r"kfree_skb: .*reason: (\w+)", lab.read(f"{name}.txt")))
        print(name, dict(counts))
        assert counts["SOCKET_RCVBUFF"] == full and counts["NO_SOCKET"] == 29, counts
    print(lab.read("netdev-times.err"))
