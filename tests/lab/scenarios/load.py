# SPDX-License-Identifier: GPL-2.0-or-later
"""The heaviest trace, for as long as you say: packet-flow of every packet, recorded, while requests follow each other.

One CPU, all of it: a minute is a CPU-minute. Memory is looked at every ten seconds: stapgen's, staprun's, and what the
kernel has left. Each round's client is a process of its own: by process there would be ever more groups, up to 512.
"""

import os

from lablib.events import read_printed

DESCRIPTION = "STAPGEN_LAB_MINUTES (24) CPU-minutes of packet-flow under load: memory flat, every packet accounted for"
LIVE = True
IN_CI = ()  # half an hour
MINUTES = int(os.environ.get("STAPGEN_LAB_MINUTES", "24"))
TIMEOUT = 900 + MINUTES * 180
BUILD = {"flow": ["packet-flow", "-i", "10"]}
PORT = 7801

GUEST = r"""
start_ready serve --udp --write sendto --port PORT || exit 1
# busy: the hundredths of a second that the CPU was not idle.
busy() { awk '/^cpu / {print $2 + $3 + $4 + $7 + $8}' /proc/stat; }
rss() { awk '/^VmRSS:/ {print $2}' /proc/$1/status 2>/dev/null || echo 0; }
report load json flow --port PORT --by comm -o /tmp/load.rec --rotate 8MB,3 --format json || exit 1
TRACER=${TRACERS[load]}
(while sleep 10; do
    echo "$(busy) $(rss $TRACER) $(rss $(pgrep -x stapio | head -1)) $(awk '/^MemAvailable:|^Slab:/ {print $2}' /proc/meminfo | xargs)"
done) >memory &
WATCHER=$!
BEGIN=$(busy) ROUNDS=0
while [ $(($(busy) - BEGIN)) -lt $((MINUTES * 6000)) ]; do
    ask --udp --port PORT --requests 1009 >asked || exit 1
    ROUNDS=$((ROUNDS + 1))
done
kill $WATCHER
echo $ROUNDS $(($(busy) - BEGIN)) >rounds
end_records load
ls -l /tmp/load.rec* >files
# The newest part of what was kept is readable.
stapgen report /tmp/load.rec* --format json >kept.json 2>kept.err
echo $? >kept.exit
finish
""".replace("PORT", str(PORT)).replace("MINUTES", str(MINUTES))


def check_flat(lab, name, values, slack):
    """The second half of the run needs no more than the first had, but for SLACK kB."""
    settled = values[len(values) // 6:]
    first, second = settled[:len(settled) // 2], settled[len(settled) // 2:]
    print(f"{lab.suite} {name}: {min(settled)} to {max(settled)} kB; first half up to {max(first)}, second {max(second)}")
    assert max(second) <= max(first) + slack, f"{name} grows: {values}"


def check(lab):
    rounds, busy = map(int, lab.read("rounds").split())
    samples = [list(map(int, line.split())) for line in lab.read("memory").splitlines()]
    report = read_printed(lab, "load")
    account = report["accounting"]
    packets = 4 * 1009 * rounds  # a request and its reply, each sent and received
    mine = account["reported"] + account["incomplete"] + account["lost"]
    print(f"{lab.suite} {busy / 6000:.1f} CPU-minutes, {rounds} rounds, {packets} packets: {account['seen']} seen = "
          f"{account['reported']} reported + {account['filtered']} filtered + {account['incomplete']} incomplete + "
          f"{account['lost']} lost")
    print(lab.read("files"))
    assert mine == packets, f"{mine} of {packets} packets"
    check_flat(lab, "stapgen", [sample[1] for sample in samples], 512)
    check_flat(lab, "stapio", [sample[2] for sample in samples], 512)
    check_flat(lab, "memory in use", [-sample[3] for sample in samples], 16384)
    assert lab.read("kept.exit").strip() == "0", lab.read("kept.err")
    assert lab.read("modules-left").strip() == "0"
