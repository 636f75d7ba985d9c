# SPDX-License-Identifier: GPL-2.0-or-later
"""Ten million records of one run, each a line that its program reads: the kernel's own count of datagrams is the truth.

A client has 16 requests on their way and then waits for the replies, so that no socket's buffer overruns.
"""

import os

from lablib.counters import rises
from lablib.events import read_printed

DESCRIPTION = "STAPGEN_LAB_RECORDS (10 million) datagrams printed by rx-latency: each reported, none evicted or lost"
LIVE = True
IN_CI = ()  # half an hour
# A request and its reply.
REQUESTS = int(os.environ.get("STAPGEN_LAB_RECORDS", "10000000")) // 2
TIMEOUT = 900 + REQUESTS // 500
BUILD = {"rx": ["rx-latency"]}

GUEST = f"""
start_ready serve --udp --write sendto --port 7001 || exit 1
report rx json rx --format json -s 64MiB || exit 1
cat /proc/net/snmp >before
ask --udp --port 7001 --pipeline 16 --requests {REQUESTS} || exit 1
cat /proc/net/snmp >after
end_records rx
finish
"""


def check(lab):
    account, rose = read_printed(lab, "rx")["accounting"], rises(lab, "before", "after")
    print(f"{lab.suite}: {rose['Udp.InDatagrams']} datagrams read, by the kernel's count; {account['seen']} seen = {account['reported']} "
          f"reported + {account['incomplete']} incomplete + {account['lost']} lost; {account['other']}")
    assert account["reported"] == account["seen"] == rose["Udp.InDatagrams"] == 2 * REQUESTS, account
    assert account["closed"] and not rose["Udp.RcvbufErrors"] and not rose["Udp.InErrors"], rose
    assert lab.read("modules-left").strip() == "0"
