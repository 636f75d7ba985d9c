"""Makes samples of what needs no stap: dropwatch(1), perf script, perf script netdev-times, ftrace's trace file."""

import socket
import time

from lablib.captures import keep, unpack_packages

DESCRIPTION = "makes samples/ of dropwatch(1), perf script, netdev-times and ftrace"
NET = True
REQUESTS = 61

GUEST = r"""
export LD_LIBRARY_PATH=/lab/work/tools/usr/lib/x86_64-linux-gnu
export PATH=$PATH:/lab/work/tools/usr/bin:/lab/work/tools/usr/sbin
export PERF_EXEC_PATH=$(dirname $(find /lab/work/tools -type d -path '*perf-core/scripts' | head -1))
nft -f - <<'END' || exit 1
table ip lab {
    chain input {
        type filter hook input priority 0
        udp dport 7013 counter drop
    }
}
END
modprobe drop_monitor || echo "no drop_monitor"
losses() {
    drops full-buffer 211 && for i in $(seq 103); do echo x >/dev/udp/127.0.0.1/7013; done
    drops bad-checksum 107 && drops refused 109
}

# dropwatch(1): its prompt wants a terminal.
(
    sleep 1; echo start; sleep 3
    losses >dropwatch-tool.traffic
    sleep 4; echo stop; sleep 2; echo exit; sleep 1
) | script -qec "dropwatch -l kas" /dev/null >dropwatch-tool.txt 2>&1

# ftrace
cd /sys/kernel/tracing
echo 1 >events/skb/kfree_skb/enable
drops full-buffer 211 >/lab/work/ftrace-drops.traffic
for i in $(seq 23); do echo x >/dev/udp/127.0.0.1/7013; done
drops refused 29 >>/lab/work/ftrace-drops.traffic
echo 0 >events/skb/kfree_skb/enable
cat trace >/lab/work/ftrace-drops.txt
echo >trace
for event in net/netif_rx net/netif_receive_skb net/net_dev_queue net/net_dev_start_xmit net/net_dev_xmit skb/skb_copy_datagram_iovec \
             skb/kfree_skb skb/consume_skb; do
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
perf record -q -a -g -o /tmp/stacks.data -e skb:kfree_skb sleep 8 2>perf-drops-stacks.err &
sleep 4
drops refused 29 >perf-drops-stacks.traffic
wait $!
perf script -i /tmp/stacks.data >perf-drops-stacks.txt 2>>perf-drops-stacks.err

start_memcached || exit 1
perf record -q -a -o /tmp/net.data -e net:net_dev_xmit -e net:net_dev_queue -e net:netif_receive_skb -e net:netif_rx \
    -e skb:consume_skb -e skb:kfree_skb -e skb:skb_copy_datagram_iovec -e napi:napi_poll -e irq:irq_handler_entry \
    -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit -e irq:softirq_raise sleep 12 2>perf-net.err &
recorder=$!
sleep 5
touch go
wait $recorder
perf script -i /tmp/net.data >perf-net.txt 2>>perf-net.err
# The script of 6.12 takes one argument less than this kernel's kfree_skb event has, and ends at the first: leave them out.
perf record -q -a -o /tmp/times.data -e net:net_dev_xmit -e net:net_dev_queue -e net:netif_receive_skb -e net:netif_rx -e skb:consume_skb -e skb:skb_copy_datagram_iovec -e napi:napi_poll -e irq:irq_handler_entry -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit -e irq:softirq_raise sleep 12 2>netdev-times-record.err &
recorder=$!
sleep 5
touch go-again
wait $recorder
perf script -i /tmp/times.data -s $PERF_EXEC_PATH/scripts/python/netdev-times.py >netdev-times.txt 2>netdev-times.err
echo "netdev-times ended with $?" >>netdev-times.err
perf script -i /tmp/net.data -s $PERF_EXEC_PATH/scripts/python/netdev-times.py >netdev-times-all.txt 2>netdev-times-all.err
nft list table ip lab >nft
finish
"""


def prepare(lab):
    unpack_packages(lab, "dropwatch", "linux-perf")


def host(lab):
    """Ask the guest's memcached through its network card, twice."""
    for signal in ("go", "go-again"):
        lab.wait_for_file(signal)
        with socket.create_connection(("127.0.0.1", lab.port)) as client:
            for number in range(REQUESTS):
                client.sendall(b"get key%d\r\n" % number)
                assert client.recv(100) == b"END\r\n"
                time.sleep(0.02)


def check(lab):
    keep(lab, ["dropwatch-tool.txt", "ftrace-drops.txt", "ftrace-net.txt", "perf-drops.txt", "perf-net.txt"])
