# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests and replies in parts, replies by another thread, and pipelines: what sock-latency counts as one request."""

from lablib.events import Trace, check_sums, median, stage

DESCRIPTION = "sock-latency of requests in parts, replies in parts, replies by another thread, and pipelines"
IN_CI = ("trixie",)
BUILD = {"sock": ["sock-latency"]}

REQUESTS, IN_PARTS = 1009, 211
DATAGRAMS, UNANSWERED = 40, 5
GAP = 5_000_000

GUEST = r"""
# calls PID: how often it has called read().
calls() { awk '$1 == "syscr:" {print $2}' /proc/$1/io; }
# asks NAME "SERVE-OPTIONS" ASK-OPTION...: the server's main thread is the target.
asks() {
    local name=$1
    start_ready serve --port 7007 --read read $2 || exit 1
    local server=$READY_PID
    shift 2
    record $name sock -x $server || exit 1
    local before=$(calls $server)
    ask --port 7007 "$@" || exit 1
    end_records $name
    # One of them finds the connection's end.
    echo $(($(calls $server) - before - 1)) >$name.reads
    kill $server
    wait $server
    mv $READY_OUTPUT $name.served
}

asks reply-parts "--reply-parts 3" --requests 1009
asks reply-thread "--reply-thread" --requests 1009
asks request-parts "" --requests 211 --request-parts 3 --part-gap-ms 5
asks pipeline "" --requests 1009 --pipeline 7
start_ready python3 answers.py || exit 1
record udp sock -x $READY_PID || exit 1
python3 queries.py || exit 1
end_records udp
finish
"""

# Each eighth datagram is not answered.
ANSWERS = """
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 7008))
print("ready", flush=True)
i = 0
while True:
    query, client = server.recvfrom(100)
    if i % 8 != 5:
        server.sendto(query, client)
    i += 1
"""
QUERIES = f"""
import socket, time
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.connect(("127.0.0.1", 7008))
client.settimeout(0.05)
for i in range({DATAGRAMS}):
    client.send(b"q")
    try:
        client.recv(100)
    except TimeoutError:
        assert i % 8 == 5
"""


def prepare(lab):
    (lab.work / "answers.py").write_text(ANSWERS)
    (lab.work / "queries.py").write_text(QUERIES)


def check_shape(lab, name, served, reported, reads=None):
    """The server has served so many requests, and so many are reported; each reads one call unless READS says more."""
    trace = Trace(lab, name)
    check_sums(trace.events)
    calls, joined = int(lab.read(f"{name}.reads")), trace.accounting["other"]["joined-before-reply"]
    print(f"  served {served} by {calls} reads; reported {len(trace.events)}, joined before the reply {joined}")
    assert f"served {served}\n" in lab.read(f"{name}.served")
    assert {event["comm"] for event in trace.events} == {"serve"}
    assert served <= calls <= (reads or served), f"{calls} reads"
    trace.expect(len(trace.events), reported)
    trace.expect(joined, calls - served, "segments that joined")
    return trace


def check(lab):
    # The reply's first part ends the request.
    check_shape(lab, "reply-parts", REQUESTS, REQUESTS)
    # The thread is the one that reads.
    check_shape(lab, "reply-thread", REQUESTS, REQUESTS)
    # Each part that is read by itself joins the request; two that wait are read at once.
    trace = check_shape(lab, "request-parts", IN_PARTS, IN_PARTS, 3 * IN_PARTS)
    until_read = [event["total_ns"] - event["app_ns"] - event["tx_ns"] for event in trace.events]
    print(f"  until the last part is read: min {min(until_read) / 1e6:.2f} ms; medians: "
          f"read {median(stage(trace.events, 'read')) / 1e6:.2f}, app {median(stage(trace.events, 'app')) / 1e6:.2f} ms")
    assert 2 * GAP <= min(until_read) <= median(until_read) < 2 * GAP + 1_000_000, "two pauses are between the first part and the last"
    # What arrives in one segment and is read and answered one by one is one request each.
    check_shape(lab, "pipeline", REQUESTS, REQUESTS)
    # Which one is answered behind one that is not is ambiguous; all others have their own times.
    trace = Trace(lab, "udp")
    check_sums(trace.events)
    print(f"  udp: {len(trace.events)} of {DATAGRAMS}, {trace.accounting['incomplete_by']}")
    trace.expect(len(trace.events), DATAGRAMS - 2 * UNANSWERED)
    trace.expect(trace.accounting["incomplete_by"]["ambiguous"], 2 * UNANSWERED, "ambiguous")
    assert max(event["total_ns"] for event in trace.events) < 20_000_000, max(event["total_ns"] for event in trace.events)
    assert lab.read("modules-left").strip() == "0"
