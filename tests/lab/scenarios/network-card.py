# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of packets over a real driver: virtio-net with NAPI, GRO, lists and segments that software cuts."""

from lablib.events import Trace, total_bytes

DESCRIPTION = "requests and bulk transfers over virtio-net, GRO on and off: exact counts and bytes"
IN_CI = ("trixie",)
NET = True
BUILD = {"rx": ["rx-latency"], "tx": ["tx-latency"]}

REQUESTS = 101
BYTES = 1000003
FRAME = 1460  # bytes of data at most
PORT, SINK = 7001, 7002
RUNS = ("on", "off")  # GRO

SETUP = """
frames() { cat /sys/class/net/$LAB_NIC/statistics/$1_packets; }
"""

RUN = """
ethtool -K $LAB_NIC gro {gro} || exit 1
record rx.{gro} rx --dev $LAB_NIC || exit 1
record tx.{gro} tx --dev $LAB_NIC || exit 1
start_ready serve --port {port} || exit 1
outside ask --address 10.0.2.15 --port {port} --requests {requests} || exit 1
kill $READY_PID
wait $READY_PID
start_ready bulk --receive --port {port} || exit 1
frames rx >rx-frames.{gro}
outside bulk --send --address 10.0.2.15 --port {port} --bytes {bytes} || exit 1
wait $READY_PID || exit 1
frames rx >>rx-frames.{gro}
frames tx >tx-frames.{gro}
NETNS=outside start_ready bulk --receive --port {sink} || exit 1
bulk --send --address 10.0.2.2 --port {sink} --bytes {bytes} >downloaded.{gro} || exit 1
wait $READY_PID || exit 1
frames tx >>tx-frames.{gro}
end_records rx.{gro} tx.{gro}
"""

GUEST = "\n".join([SETUP, *(RUN.format(gro=gro, port=PORT, sink=SINK, requests=REQUESTS, bytes=BYTES) for gro in RUNS), "finish"])


def frames(lab, way, gro):
    before, after = map(int, lab.read(f"{way}-frames.{gro}").split())
    return after - before


def check_run(lab, gro):
    received, sent = Trace(lab, f"rx.{gro}"), Trace(lab, f"tx.{gro}")
    for trace in (received, sent):
        requests = [event for event in trace.of_port(PORT) if event["comm"] == "serve"]
        trace.expect(len(requests), REQUESTS)
        assert {event["bytes"] for event in requests} == {64}
        assert {event["dev"] for event in trace.events} == {"eth0"}
    upload = [event for event in received.of_port(PORT) if event["comm"] == "bulk"]
    download = sent.of_port(SINK, "remote")
    most = max(event["bytes"] for event in upload)
    print(f"{lab.suite} GRO {gro}: {total_bytes(upload)} bytes up in {frames(lab, 'rx', gro)} frames and {len(upload)} packets "
          f"of {most} at most; {total_bytes(download)} bytes down in {len(download)} packets and {frames(lab, 'tx', gro)} frames; "
          f"bulk: {lab.read(f'downloaded.{gro}').strip()}")
    received.expect_bytes(upload, BYTES)
    sent.expect_bytes(download, BYTES)
    assert received.accounting["seen"] == received.accounting["reported"] + received.accounting["filtered"]
    assert frames(lab, "tx", gro) > 1.5 * len(download), "nothing was cut in software"
    assert (most > FRAME) == (gro == "on"), "GRO is not as it should be"


def check(lab):
    for gro in RUNS:
        check_run(lab, gro)
    assert lab.read("modules-left").strip() == "0"
