# SPDX-License-Identifier: GPL-2.0-or-later
"""Losses whose numbers the kernel's own counters confirm: dropwatch has them, by reason, and no loss beside them.

Packets that wait in a socket when it is closed are unread to rx-latency, datagrams as segments; others it calls not queued.
"""

import collections

from lablib.events import read_report

DESCRIPTION = "full buffer, nft, bad checksums, refused connections: dropwatch's numbers are exact; a full accept queue; unread packets"
IN_CI = ("trixie",)
ALSO_ON = ("trixie-arm64",)
BUILD = {"drops": ["dropwatch"], "rx": ["rx-latency"]}

DATAGRAMS, BY_RULE, BAD_CHECKSUMS, REFUSED, CONNECTIONS = 211, 103, 107, 109, 23
UNREAD_DATAGRAMS, UNREAD_SEGMENTS = 13, 11

GUEST = r"""
# watch NAME MODULE COMMAND: run it while the module measures.
watch() {
    record $1 $2 || exit 1
    $3 >$1.traffic || exit 1
    end_records $1
}
losses() {
    drops full-buffer 211 && drops bad-checksum 107 && drops refused 109 || return
    for i in $(seq 103); do echo x >/dev/udp/127.0.0.1/7013; done
    nft list table ip lab
}
overflow() { drops listen-overflow 23; }
unread() { drops full-buffer 211 && python3 unread.py; }

drop_by_rule 7013 || exit 1
watch losses drops losses
watch overflow drops overflow
watch unread rx unread
finish
"""

# Sockets that are closed with what was sent to them. What is left of one of UDP is freed after a grace period of RCU.
UNREAD = f"""
import socket, time
reader, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for end in range(2))
reader.bind(("127.0.0.1", 0))
for i in range({UNREAD_DATAGRAMS}):
    sender.sendto(b"x", reader.getsockname())
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
server = listener.accept()[0]
for i in range({UNREAD_SEGMENTS}):
    client.send(b"x" * 64)
    time.sleep(0.01)
reader.close()
server.close()
time.sleep(0.5)
"""


def prepare(lab):
    (lab.work / "unread.py").write_text(UNREAD)


def load(lab, name):
    """Return NAME's report and its drops: {reason: {place: count}}."""
    report = read_report(lab, name)
    drops = collections.defaultdict(collections.Counter)
    for drop in report["drops"]:
        drops[drop["reason"]][drop["symbol"]] += drop["count"]
    accounting = report["accounting"]
    print(f"{lab.suite} {name}: {accounting['seen']} seen, {accounting['reported']} reported; the kernel: {lab.read(f'{name}.traffic').strip()}")
    for reason, places in drops.items():
        print(f"  {sum(places.values()):4} {reason}: " + ", ".join(f"{n} in {place}" for place, n in places.items()))
    risen = {counter["name"]: counter["count"] for counter in report["counters"] if counter["count"]}
    print(f"  counters that rose: {risen}")
    assert accounting["closed"]
    assert accounting["seen"] == accounting["reported"] == sum(sum(places.values()) for places in drops.values())
    return drops, risen


def take_benign(drops):
    """Take away what is no loss: what a closed connection leaves, and programs that ask a name service."""
    drops.pop("QUEUE_PURGE", None)
    for place in ("unix_stream_connect", "tcp_disconnect"):  # the latter is QUEUE_PURGE from 6.4 on
        drops["NOT_SPECIFIED"].pop(place, None)
    return {reason: places for reason, places in drops.items() if places}


def words_of(lab, name, kind):
    """Return the line of the program drops as {word: the numbers behind it}."""
    line = next(line for line in lab.read(f"{name}.traffic").splitlines() if line.startswith(kind))
    words = collections.defaultdict(list)
    for word in line.split():
        if word.isdecimal():
            words[last].append(int(word))
        else:
            last = word
    return words


def check(lab):
    drops, risen = load(lab, "losses")
    full = words_of(lab, "losses", "full-buffer")
    lost, (before, after) = full["dropped"][0], full["RcvbufErrors"]
    assert 0 < lost < DATAGRAMS and lost == after - before, full
    assert f"counter packets {BY_RULE} " in lab.read("losses.traffic"), "nft's own count"
    found = {reason: sum(places.values()) for reason, places in take_benign(drops).items()}
    assert found == {"SOCKET_RCVBUFF": lost, "NETFILTER_DROP": BY_RULE, "UDP_CSUM": BAD_CHECKSUMS,
                     "NO_SOCKET": REFUSED}, found
    assert not risen, "none of these losses is told by counters alone"

    drops, risen = load(lab, "overflow")
    line = words_of(lab, "overflow", "listen-overflow")
    refused = CONNECTIONS - line["connected"][0]
    (before, after), (drops_before, drops_after) = line["ListenOverflows"], line["ListenDrops"]
    assert 0 < refused <= after - before
    assert not take_benign(drops), drops
    assert risen == {"TcpExt.ListenOverflows": after - before, "TcpExt.ListenDrops": drops_after - drops_before}, risen

    report = read_report(lab, "unread")
    lost = words_of(lab, "unread", "full-buffer")["dropped"][0]
    missing = {cause: count for cause, count in report["accounting"]["incomplete_by"].items() if count}
    print(f"{lab.suite} unread: {lost} datagrams found a full buffer; {report['accounting']}")
    assert missing == {"not-queued": lost, "unread": UNREAD_DATAGRAMS + UNREAD_SEGMENTS}, missing
    assert report["accounting"]["reported"] == DATAGRAMS - lost, "those that were read"
    assert lab.read("modules-left").strip() == "0"
