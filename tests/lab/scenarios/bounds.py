"""More packets under way than the tables hold: the oldest go, exactly as many as there are too many, and are counted."""

from lablib.events import Trace

DESCRIPTION = "datagrams that nobody reads, and a queue that lets nothing out: what is evicted is counted to the packet"
IN_CI = ("trixie",)
SHARES_CPUS = True
BUILD = {"rx": ["rx-latency"], "sock": ["sock-latency"], "tx": ["tx-latency"]}

# The sizes of the tables: tapsets/stapgen_packets_in.stp, _requests.stp and _packets_out.stp.
HELD = {"rx": 16384, "sock": 4096, "tx": 8192}
SENT = {"rx": 17011, "sock": 4111, "tx": 8209}

FLOOD = """
import socket, sys
FORCE_SEND, FORCE_RECEIVE = 32, 33
server, client = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
server.setsockopt(socket.SOL_SOCKET, FORCE_RECEIVE, 1 << 27)
client.setsockopt(socket.SOL_SOCKET, FORCE_SEND, 1 << 27)
server.bind(("127.0.0.1", 7007))
for i in range(int(sys.argv[1])):
    client.sendto(b"x" * 11, ("127.0.0.1", 7007))
input()
"""

GUEST = r"""
# flood RECIPE COUNT: the sockets stay open until the trace has ended.
flood() {
    mkfifo /tmp/$1
    trace $1 $1 --port 7007 || exit 1
    python3 flood.py $2 </tmp/$1 &
    exec 9>/tmp/$1
    wait_for "[ \$(awk '\$1 == \"Udp:\" {n = \$5} END {print n}' /proc/net/snmp) -ge $((SENT + $2)) ]" 300 || exit 1
    end_trace $1
    exec 9>&-
    wait $!
}
sent() { awk '$1 == "Udp:" {n = $5} END {print n}' /proc/net/snmp; }

SENT=$(sent); flood rx 17011
SENT=$(sent); flood sock 4111
tc qdisc add dev lo root netem delay 100s limit 30000 || exit 1
SENT=$(sent); flood tx 8209
finish
"""


def prepare(lab):
    (lab.work / "flood.py").write_text(FLOOD)


def check(lab):
    for recipe, sent in SENT.items():
        trace = Trace(lab, recipe)
        account = trace.accounting
        assert sent - trace.skipped <= account["seen"] <= sent, account
        assert account["lost_by"]["evicted"] == account["seen"] - HELD[recipe], account
        assert account["incomplete"] == HELD[recipe] and not trace.events, account
    assert lab.read("modules-left").strip() == "0"
