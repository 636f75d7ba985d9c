# SPDX-License-Identifier: GPL-2.0-or-later
"""dropwatch --resets against resets of known kinds and numbers, and against the kernel's own count of them."""

import collections

from lablib.counters import rises
from lablib.events import read_report

DESCRIPTION = "each reset that TCP sends by reason, ends and thread: as many as were made, in all as many as OutRsts says"
IN_CI = ("trixie",)
BUILD = {"resets": ["dropwatch", "--resets", "--stacks"]}

# port -> how many
CLOSED, CLOSED6, UNREAD, LINGER, TIME_WAIT, AFTER_CLOSE, NOT_ACCEPTED = 7701, 7702, 7703, 7704, 7705, 7706, 7707
COUNTS = {CLOSED: 101, CLOSED6: 17, UNREAD: 23, LINGER: 19, TIME_WAIT: 13, AFTER_CLOSE: 11, NOT_ACCEPTED: 7}
# Of each port: the kernel's reason from 6.10 on, and the class before.
REASONS = {CLOSED: ("NO_SOCKET", "no-socket"), CLOSED6: ("NO_SOCKET", "no-socket"),
           UNREAD: ("TCP_ABORT_ON_CLOSE", "closed-unread"), LINGER: ("TCP_STATE", "linger"),
           TIME_WAIT: ("TCP_TIMEWAIT_SOCKET", "time-wait"), AFTER_CLOSE: ("TCP_ABORT_ON_DATA", "after-close"),
           NOT_ACCEPTED: ("TCP_STATE", "other")}
BY_THREAD = (UNREAD, LINGER, NOT_ACCEPTED)
# Functions on the path of each.
PATHS = {CLOSED: ("tcp_v4_rcv",), CLOSED6: ("tcp_v6_rcv",), UNREAD: ("__tcp_close",), LINGER: ("tcp_disconnect",),
         TIME_WAIT: ("tcp_v4_rcv",), AFTER_CLOSE: ("tcp_v4_rcv",), NOT_ACCEPTED: ("tcp_disconnect", "inet_csk_listen_stop")}

TRAFFIC = f"""
import os, socket, struct, time
print(os.getpid(), flush=True)

def refuse(address, port, count):
    for _ in range(count):
        try:
            socket.create_connection((address, port))
        except ConnectionRefusedError:
            continue
        raise SystemExit("somebody listens")

def pairs(port, count):
    with socket.create_server(("127.0.0.1", port)) as listener:
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port))
            yield client, listener.accept()[0]

def send_after_close(client, server):
    server.close()
    time.sleep(0.01)
    client.send(b"x")
    time.sleep(0.01)
    client.close()

refuse("127.0.0.1", {CLOSED}, {COUNTS[CLOSED]})
refuse("::1", {CLOSED6}, {COUNTS[CLOSED6]})
for client, server in pairs({UNREAD}, {COUNTS[UNREAD]}):
    client.send(b"x")
    time.sleep(0.01)
    server.close()
    client.close()
for client, server in pairs({LINGER}, {COUNTS[LINGER]}):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    server.close()
# What is left of a closed socket is in FIN_WAIT2 as one in TIME_WAIT, unless it may stay there for more than a minute.
for client, server in pairs({TIME_WAIT}, {COUNTS[TIME_WAIT]}):
    send_after_close(client, server)
for client, server in pairs({AFTER_CLOSE}, {COUNTS[AFTER_CLOSE]}):
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, 100)
    send_after_close(client, server)
listener = socket.create_server(("127.0.0.1", {NOT_ACCEPTED}))
clients = [socket.create_connection(("127.0.0.1", {NOT_ACCEPTED})) for _ in range({COUNTS[NOT_ACCEPTED]})]
time.sleep(0.05)
listener.close()
time.sleep(0.05)
"""

GUEST = f"""
ip link set lo up
counters() {{ grep -h ^Tcp: /proc/net/snmp >$1; }}
record all resets || exit 1
record some resets --port {UNREAD} || exit 1
counters before
python3 traffic.py >pid || exit 1
counters after
end_records all some
finish
"""


def prepare(lab):
    (lab.work / "traffic.py").write_text(TRAFFIC)


def port_of(endpoint):
    return int(endpoint.rpartition(":")[2])


def check(lab):
    report, some = read_report(lab, "all"), read_report(lab, "some")
    pid, has_reasons = int(lab.read("pid")), not lab.release.startswith("6.1.")
    found, threads = collections.Counter(), set()
    for row in report["counts"]:
        group = row["group"]
        local, remote = port_of(group["local"]), port_of(group["remote"])
        assert not local or not remote, row
        found[local or remote, group["reason"]] += row["count"]
        threads.add((local or remote, group["comm"], group["tid"]))
        # It is the server's, the lower one: of a client's reset that of the other end.
        assert bool(remote) == ((local or remote) == LINGER), row
    print(f"{lab.suite}: {dict(found)}")
    assert found == {(port, REASONS[port][0 if has_reasons else 1]): count for port, count in COUNTS.items()}, found
    assert threads == {(port, "python3", pid) if port in BY_THREAD else (port, "-", 0) for port in COUNTS}, threads
    sent = rises(lab, "before", "after")["Tcp.OutRsts"]
    other = report["accounting"]["other"]
    assert sent == sum(COUNTS.values()) == other["resets"], (sent, other)
    assert other["resets-evicted"] == other["resets-filtered"] == 0

    paths, expected = (collections.defaultdict(collections.Counter) for _ in range(2))
    for stack in report["stacks"]:
        for frame in {frame["symbol"] for frame in stack["frames"]}:
            paths[stack["reason"]][frame] += stack["count"]
    for port, functions in PATHS.items():
        for function in functions:
            expected["reset " + REASONS[port][0 if has_reasons else 1]][function] += COUNTS[port]
    for reason, counts in expected.items():
        assert {function: paths[reason][function] for function in counts} == counts, (reason, paths[reason])
    assert [(port_of(row["group"]["local"]), row["count"]) for row in some["counts"]] == [(UNREAD, COUNTS[UNREAD])], some["counts"]
    assert some["accounting"]["other"]["resets-filtered"] == sent - COUNTS[UNREAD]
    assert lab.read("modules-left").strip() == "0"
