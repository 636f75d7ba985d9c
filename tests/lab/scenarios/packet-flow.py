# SPDX-License-Identifier: GPL-2.0-or-later
"""Each step of packets over a network card and over a veth, TCP and UDP."""

import collections
import sys

from lablib.common import SOURCE
from lablib.events import FLOW_IN, FLOW_OUT, Trace, check_sums, median, stage

sys.path.append(str(SOURCE.parent / "formats" / "perfetto"))
from check_perfetto import check_against_text, plain  # noqa: E402
from read_trace import Trace as Drawn  # noqa: E402

DESCRIPTION = "packet-flow over virtio-net and veth: exact counts, each step in its place, the steps add up"
IN_CI = ("trixie",)
# With PREEMPT_RT it does not see the steps before a card's packet left the driver: docs/inside/kernel-quirks.md.
ALSO_ON = ("trixie-cloud", "trixie-arm64")
NET = True
APPEND = "maxcpus=1"  # interrupts bring their softirq themselves
BUILD = {"flow": ["packet-flow"]}

SEGMENTS, DATAGRAMS = 103, 101
CARD, CARD_UDP, PAIR, PAIR_UDP = 7603, 7604, 7601, 7602
SIZE = 64

GUEST = f"""
make_pair || exit 1
record flow flow || exit 1
start_ready serve --port {CARD} || exit 1
outside ask --address 10.0.2.15 --port {CARD} --requests {SEGMENTS} || exit 1
NETNS=outside start_ready serve --udp --port {CARD_UDP} || exit 1
ask --udp --address 10.0.2.2 --port {CARD_UDP} --requests {DATAGRAMS} || exit 1
NETNS=right start_ready serve --port {PAIR} || exit 1
ip netns exec left ask --address 10.9.0.2 --port {PAIR} --requests {SEGMENTS} || exit 1
NETNS=right start_ready serve --udp --port {PAIR_UDP} || exit 1
ip netns exec left ask --udp --address 10.9.0.2 --port {PAIR_UDP} --requests {DATAGRAMS} || exit 1
end_records flow
finish
"""

# What each packet passes; beside it a reader that was asleep is woken and runs, and a card has interrupts.
SOFTIRQ = ["softirq-poll", "poll-drv", "drv-ip"]
STEPS = {
    ("rx", "tcp"): [*SOFTIRQ, "ip-tcp", "tcp-queue", "run-copy", "copy-return"],
    ("rx", "udp"): [*SOFTIRQ, "ip-udp", "udp-queue", "run-copy", "copy-return"],
    ("tx", "tcp"): ["app-tcp", "tcp-ip", "ip-drv", "qdisc"],
    ("tx", "udp"): ["app-udp", "udp-ip", "ip-drv", "qdisc"],
}
OF_CARD = {"rx": ["irq-raise", "raise-softirq"], "tx": ["drv-done"]}
MAY_BE = {"raise-softirq", "queue-wake", "wake-run"}


def check_packets(lab, trace, events, way, protocol, count, card):
    """Check COUNT packets of one way, protocol and device."""
    name = f"{'card' if card else 'veth'} {way} {protocol}"
    trace.expect(len(events), count, name)
    assert {event["bytes"] for event in events} == {SIZE}, name
    always = STEPS[way, protocol]
    seen = collections.Counter(step for event in events for step in FLOW_IN + FLOW_OUT if event[f"{step}_ns"] is not None)
    print(f"{lab.suite} {name}: " + " ".join(f"{step} {seen[step]} x {median(stage(events, step)) / 1e3:.0f} us"
                                             for step in FLOW_IN + FLOW_OUT if seen[step])
          + f", total {median(stage(events, 'total')) / 1e3:.0f} us")
    for step in always:
        assert seen[step] == len(events), f"{name}: {step} in {seen[step]} of {len(events)}"
    allowed = MAY_BE | set(always) | set(OF_CARD[way] if card else [])
    assert set(seen) <= allowed, f"{name}: {set(seen) - allowed} cannot be"
    for event in events:
        assert (event["irq"] >= 0) == (event["irq-raise_ns"] is not None), event
    if card:
        for step in OF_CARD[way]:
            assert seen[step] == len(events), f"{name}: {step} in {seen[step]} of {len(events)}"


def check(lab):
    # SystemTap's own printing wakes its reader: a wake-up's probe inside of a probe is skipped. No packet is missing for it.
    trace = Trace(lab, "flow", skips=True)
    check_sums(trace.events, FLOW_IN + FLOW_OUT)
    traffic = ((CARD, "tcp", SEGMENTS, "local", "eth0", "eth0"), (CARD, "tcp", SEGMENTS, "remote", "eth1", "eth1"),
               (CARD_UDP, "udp", DATAGRAMS, "local", "eth1", "eth1"), (CARD_UDP, "udp", DATAGRAMS, "remote", "eth0", "eth0"),
               (PAIR, "tcp", SEGMENTS, "local", "right0", "right0"), (PAIR, "tcp", SEGMENTS, "remote", "left0", "left0"),
               (PAIR_UDP, "udp", DATAGRAMS, "local", "right0", "right0"),
               (PAIR_UDP, "udp", DATAGRAMS, "remote", "left0", "left0"))
    for port, protocol, count, end, received_by, sent_by in traffic:
        for way, device in (("rx", received_by), ("tx", sent_by)):
            events = [event for event in trace.of_port(port, end) if event["way"] == way]
            assert {event["dev"] for event in events} == {device}, (port, way, device)
            check_packets(lab, trace, events, way, protocol, count, device.startswith("eth"))
    # The same packets as a picture, slice by slice.
    drawn = Drawn(lab.report("flow", "--format", "perfetto", text=False))
    check_against_text(drawn, plain(lab.work / "flow.rec"))
    print(f"{lab.suite}: {len(drawn.slices)} slices, {len(drawn.flows)} flows")
    account = trace.accounting
    assert account["incomplete"] == 0 and account["lost"] == 0, trace.account()
    assert lab.read("modules-left").strip() == "0"
