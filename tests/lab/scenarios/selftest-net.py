# SPDX-License-Identifier: GPL-2.0-or-later
DESCRIPTION = "the lab's network cards: clients outside talk to memcached over the wire"
IN_CI = ()  # what it shows of the lab all others need, too

NET = True

GUEST = r"""
start_memcached || exit 1
outside memcslap --servers=10.0.2.15 --concurrency=2 --execute-number=500 --test=get || exit 1
cat "/sys/class/net/$LAB_NIC/statistics/rx_packets" >received
printf 'stats\r\nquit\r\n' | nc 127.0.0.1 11211 >stats
kill $MC_PID
finish
"""


def check(lab):
    assert "STAT cmd_get 1000" in lab.read("stats"), lab.read("stats")
    received = int(lab.read("received"))
    assert received >= 1000, f"only {received} packets came in by the network card"
