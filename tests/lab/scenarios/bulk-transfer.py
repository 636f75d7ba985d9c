# SPDX-License-Identifier: GPL-2.0-or-later
"""1,000,003 bytes over TCP, of which no byte may be missing or counted twice: sent, cut, lost, overtaken, merged, read.

The qdiscs hold only packets with 1024 in their length, so that the handshake, the last segment and the FIN arrive. The
sockets there have room for all bytes: where one is full TCP sends what it has, which may be less than a segment. So it may
where nothing is under way as a write call ends.
"""

from lablib.counters import rises
from lablib.events import Trace, total_bytes

DESCRIPTION = "1,000,003 bytes by several write calls and readers; with losses and reordering: the bytes add up"
IN_CI = ("trixie",)
BUILD = {"tx": ["tx-latency"], "rx": ["rx-latency"]}

BYTES = 1000003
SEGMENT = 1448  # of an Ethernet frame with TCP's timestamps
SEND_BUFFER = 8 << 20
WRITES = ("send", "writev", "sendfile", "io_uring")
READERS = {"small": "101", "waitall": "1000000 MSG_WAITALL"}
# set -> port -> how it is written and over what, or how it is read
SETS = {
    "clean": {7401 + i: ("lo", write) for i, write in enumerate(WRITES)}
             | {7411 + i: ("veth", write) for i, write in enumerate(WRITES)}
             | {7421 + i: ("veth", reader) for i, reader in enumerate(READERS)},
    "loss": {7431: ("veth", "send"), 7432: ("veth", "small"), 7433: ("veth", "waitall")},
    "loss-gso": {7441: ("veth", "send"), 7442: ("veth", "waitall")},
    "reorder": {7451: ("veth", "send"), 7452: ("veth", "small"), 7453: ("veth", "waitall")},
}
QDISCS = {"loss": "netem loss 2% $(seeded 11)", "loss-gso": "netem loss 31% $(seeded 13)", "reorder": "netem delay 3ms reorder 25% 50% rate 10mbit $(seeded 17)"}

RECEIVER = """
import socket, sys
port, size, flags = int(sys.argv[1]), int(sys.argv[2]), sum(getattr(socket, name) for name in sys.argv[3:])
listener = socket.create_server(("", port))
print("ready", flush=True)
connection, _ = listener.accept()
count = calls = 0
while data := connection.recv(size, flags):
    count += len(data)
    calls += 1
print(count, "bytes in", calls, "calls")
"""

SENDER = """
import socket, struct, sys
server = socket.create_connection((sys.argv[1], int(sys.argv[2])))
server.sendall(bytes(int(sys.argv[3])))
server.shutdown(socket.SHUT_WR)
assert server.recv(1) == b""
info = server.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
print("sent", sys.argv[3], "retransmitted", struct.unpack_from("I", info, 100)[0],
      "bytes-retransmitted", struct.unpack_from("Q", info, 208)[0])
"""

SETUP = """
make_pair || exit 1
in_left() { ip netns exec left "$@"; }
qdisc() {
    in_left tc qdisc del dev left0 root 2>/dev/null
    in_left tc qdisc add dev left0 root handle 1: prio priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 &&
        in_left tc qdisc add dev left0 parent 1:1 handle 2: "$@" &&
        in_left tc filter add dev left0 parent 1: protocol ip u32 match u16 0x0400 0x0400 at 2 flowid 1:1
}
send_buffers() { in_left sh -c "echo $* >/proc/sys/net/ipv4/tcp_wmem"; }
usual_buffers=$(in_left cat /proc/sys/net/ipv4/tcp_wmem)
counters() {
    in_left cat /proc/net/snmp >$1.left
    ip netns exec right cat /proc/net/snmp /proc/net/netstat >$1.right
}
"""


def commands(port, over, how):
    """Return the script's lines of one transfer."""
    address, right, left = ("127.0.0.1", "", "") if over == "lo" else ("10.9.0.2", "NETNS=right", "in_left")
    if how in READERS:
        receiver, sender = f"python3 receiver.py {port} {READERS[how]}", f"python3 sender.py {address} {port} {BYTES}"
    else:
        receiver = f"bulk --receive --port {port}"
        sender = f"bulk --send --address {address} --port {port} --bytes {BYTES} --write {how}"
    return [f"{right} start_ready {receiver} || exit 1", f"{left} {sender} >sent.{port} || exit 1",
            "wait $READY_PID || exit 1"]


def guest():
    script = [SETUP]
    for name, transfers in SETS.items():
        if name in QDISCS:
            script.append(f"qdisc {QDISCS[name]} || exit 1")
            script.append(f"ip -n left link set left0 gso_max_segs {1 if name == 'loss' else 64} || exit 1")
        script.append(f"send_buffers 4096 {SEND_BUFFER} {SEND_BUFFER} || exit 1" if name == "loss" else
                      "send_buffers $usual_buffers || exit 1")
        script += [f"counters {name}-before", f"record {name}-tx tx || exit 1", f"record {name}-rx rx || exit 1"]
        for port, (over, how) in transfers.items():
            script += commands(port, over, how)
        script += [f"end_records {name}-tx {name}-rx", f"counters {name}-after",
                   f"in_left tc -s qdisc show dev left0 >{name}.qdisc"]
    return "\n".join([*script, "finish"])


GUEST = guest()


def prepare(lab):
    (lab.work / "receiver.py").write_text(RECEIVER)
    (lab.work / "sender.py").write_text(SENDER)


def counter(lab, name, side, key):
    """Return how far a counter of the kernel, as Tcp.RetransSegs, rose during a set."""
    return rises(lab, f"{name}-before.{side}", f"{name}-after.{side}")[key]


def check_set(lab, name, transfers):
    sent, received = Trace(lab, f"{name}-tx"), Trace(lab, f"{name}-rx")
    dropped = sent.accounting["incomplete_by"].get("dropped", 0)
    retransmits = sent.accounting["other"].get("retransmits", 0)
    by_info = bytes_again = missing = 0
    for port, (over, how) in transfers.items():
        tx, rx = sent.of_port(port, "remote"), received.of_port(port)
        said = lab.read(f"sent.{port}").split()
        by_info += int(said[said.index("retransmitted") + 1])
        bytes_again += int(said[said.index("bytes-retransmitted") + 1])
        missing += BYTES - total_bytes(tx)
        print(f"{lab.suite} {name} {over} {how}: {total_bytes(tx)} bytes in {len(tx)} packets sent, "
              f"{total_bytes(rx)} in {len(rx)} received; {' '.join(said)}")
        received.expect_bytes(rx, BYTES)
        if not dropped:
            sent.expect_bytes(tx, BYTES)
    overtaken = counter(lab, name, "right", "TcpExt.TCPOFOQueue")
    left, right = (counter(lab, name, side, "Tcp.RetransSegs") for side in ("left", "right"))
    print(f"{lab.suite} {name}: {missing} bytes in {dropped} packets dropped, {retransmits} retransmits, {by_info} of "
          f"{bytes_again} bytes by TCP_INFO, {left} and {right} by the namespaces' counters, {overtaken} segments out of order")
    if name.startswith("loss"):
        assert dropped > 0 and by_info > 0 and overtaken > 0
    if name == "reorder":
        assert dropped == 0 and overtaken > 0
    if name == "loss-gso":
        assert dropped * (1024 - 52) <= missing <= by_info * SEGMENT
    if name == "loss":
        assert dropped * (1024 - 52) <= missing <= dropped * SEGMENT
        assert retransmits == by_info
        if retransmits == dropped:  # each that was dropped, once
            assert missing == bytes_again


def check(lab):
    for name, transfers in SETS.items():
        check_set(lab, name, transfers)
    assert lab.read("modules-left").strip() == "0"
