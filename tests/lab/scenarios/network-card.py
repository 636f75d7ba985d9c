"""The way of packets over a real driver: virtio-net with NAPI, GRO, lists and segments that software cuts."""

import socket
import struct

from lablib.events import Trace, total_bytes

DESCRIPTION = "requests and bulk transfers over virtio-net, GRO on and off: exact counts and bytes"
IN_CI = ("trixie",)
NET = True
BUILD = {"rx": ["rx-latency"], "tx": ["tx-latency"]}

REQUESTS = 101
BYTES = 1000003
FRAME = 1460  # bytes of data at most
PORT = 11211
RUNS = ("on", "off")  # GRO

SETUP = """
frames() { cat /sys/class/net/$LAB_NIC/statistics/$1_packets; }
wait_for '[ -e sink ]' 60 || exit 1
. ./sink
echo $LAB_NIC >nic
"""

RUN = """
ethtool -K $LAB_NIC gro {gro} || exit 1
trace rx.{gro} rx --dev $LAB_NIC || exit 1
trace tx.{gro} tx --dev $LAB_NIC || exit 1
start_ready serve --port {port} || exit 1
touch serve.{gro}
wait_for '[ -e asked.{gro} ]' || exit 1
kill $READY_PID
wait $READY_PID
start_ready bulk --receive --port {port} || exit 1
frames rx >rx-frames.{gro}
touch upload.{gro}
wait $READY_PID || exit 1
frames rx >>rx-frames.{gro}
frames tx >tx-frames.{gro}
bulk --send --address 10.0.2.2 --port $SINK --bytes {bytes} >downloaded.{gro} || exit 1
frames tx >>tx-frames.{gro}
end_trace rx.{gro} tx.{gro}
"""

GUEST = "\n".join([SETUP, *(RUN.format(gro=gro, port=PORT, bytes=BYTES) for gro in RUNS), "finish"])


def receive(listener):
    """Do what bulk --receive does."""
    connection, _ = listener.accept()
    with connection:
        count, checksum = 0, 0xCBF29CE484222325
        while data := connection.recv(65536):
            count += len(data)
            for byte in data:
                checksum = (checksum ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        connection.sendall(struct.pack("QQ", count, checksum))


def host(lab):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(300)
        (lab.work / "sink.new").write_text(f"SINK={listener.getsockname()[1]}\n")
        (lab.work / "sink.new").rename(lab.work / "sink")
        for gro in RUNS:
            lab.wait_for_file(f"serve.{gro}")
            lab.chroot(["ask", "--port", str(lab.port), "--requests", str(REQUESTS)])
            (lab.work / f"asked.{gro}").touch()
            lab.wait_for_file(f"upload.{gro}")
            lab.chroot(["bulk", "--send", "--port", str(lab.port), "--bytes", str(BYTES)])
            receive(listener)


def frames(lab, way, gro):
    before, after = map(int, lab.read(f"{way}-frames.{gro}").split())
    return after - before


def check_run(lab, gro):
    received, sent = Trace(lab, f"rx.{gro}"), Trace(lab, f"tx.{gro}")
    sink = int(lab.read("sink").split("=")[1])
    for trace in (received, sent):
        requests = [event for event in trace.of_port(PORT) if event["comm"] == "serve"]
        assert REQUESTS - trace.skipped <= len(requests) <= REQUESTS, f"{len(requests)} of {REQUESTS}"
        assert {event["bytes"] for event in requests} == {64}
        assert {event["dev"] for event in trace.events} == {lab.read("nic").strip()}
    upload = [event for event in received.of_port(PORT) if event["comm"] == "bulk"]
    download = sent.of_port(sink, "remote")
    most = max(event["bytes"] for event in upload)
    print(f"{lab.suite} GRO {gro}: {total_bytes(upload)} bytes up in {frames(lab, 'rx', gro)} frames and {len(upload)} packets "
          f"of {most} at most; {total_bytes(download)} bytes down in {len(download)} packets and {frames(lab, 'tx', gro)} frames; "
          f"bulk: {lab.read(f'downloaded.{gro}').strip()}")
    received.expect_bytes(upload, BYTES)
    sent.expect_bytes(download, BYTES)
    if not received.skipped:
        assert received.accounting["seen"] == received.accounting["reported"] + received.accounting["filtered"]
    assert frames(lab, "tx", gro) > 1.5 * len(download), "nothing was cut in software"
    assert (most > FRAME) == (gro == "on"), "GRO is not as it should be"


def check(lab):
    for gro in RUNS:
        check_run(lab, gro)
    assert lab.read("modules-left").strip() == "0"
