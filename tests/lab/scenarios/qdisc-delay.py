# SPDX-License-Identifier: GPL-2.0-or-later
"""A queueing discipline that holds packets for 30 ms, between two namespaces.

netem is on left0, and a qdisc works on what its device sends: the kernel holds a packet between net_dev_queue and
net_dev_start_xmit, in stage qdisc of what left sends. Right's device has none, so what right sends does not wait. The
receive path begins behind the wire, when right's end of the veth hands the packet over, so no packet that is received
shows the delay. Right's VLAN device is in a bridge, which hands what it receives over once more. At last an ifb holds what
right receives for 30 ms: that is in stage drv-drv of these packets.
"""

import collections

from lablib.events import RECEIVE_STAGES, SEND_STAGES, Trace, in_ms, median, stage, total_bytes

DESCRIPTION = "30 ms in a qdisc show in stage qdisc of the side that has it: TCP, UDP, IPv4, IPv6, VLAN, bridge; software GSO"
IN_CI = ("trixie",)
BUILD = {"net": ["net-latency"]}

DELAY = 30_000_000
LITTLE = 100_000  # more than a packet's way takes, and than a timer is late
ONCE = 10_000_000  # in one of them: another thread's system call may keep the CPU
REQUESTS = 13
BYTES = 1000003
# port -> what is asked there, by left in right
SERVERS = {7201: ("tcp", 4), 7202: ("tcp", 6), 7203: ("udp", 4), 7204: ("udp", 6)}
BULK = {"gso-on": 7205, "gso-off": 7206}
RIGHT = {"delay": {4: "10.9.0.2", 6: "fd09::2"}, "vlan": {4: "10.9.5.2", 6: "fd05::2"}}

SETUP = """
make_pair || exit 1
number=0
for side in left right; do
    number=$((number + 1))
    ip -n $side link add link ${side}0 name ${side}0.5 type vlan id 5 || exit 1
    ip -n $side link set ${side}0.5 addrgenmode none
    ip -n $side link set ${side}0.5 up
    on=${side}0.5
    if [ $side = right ]; then
        on=right-bridge
        ip -n right link add $on type bridge || exit 1
        ip -n right link set $on addrgenmode none
        ip -n right link set right0.5 master $on || exit 1
        ip -n right link set $on up
    fi
    ip -n $side address add 10.9.5.$number/24 dev $on
    ip -n $side address add fd05::$number/64 dev $on nodad
done
in_left() { ip netns exec left "$@"; }
in_left tc qdisc add dev left0 root netem delay 30ms || exit 1
"""

BULK_RUN = """
in_left ethtool -K left0 tso off gso {gso} || exit 1
NETNS=right start_ready bulk --receive --port {port} || exit 1
record {name} net --port {port} || exit 1
in_left cat /sys/class/net/left0/statistics/tx_packets >{name}.frames
in_left bulk --send --port {port} --address 10.9.0.2 --bytes {bytes} >{name}.sent || exit 1
end_records {name}
in_left cat /sys/class/net/left0/statistics/tx_packets >>{name}.frames
"""


IFB = """
in_left tc qdisc del dev left0 root || exit 1
ip -n right link add ifb0 type ifb && ip -n right link set ifb0 up &&
    ip netns exec right tc qdisc add dev ifb0 root netem delay 30ms &&
    ip netns exec right tc qdisc add dev right0 clsact &&
    ip netns exec right tc filter add dev right0 ingress matchall action mirred egress redirect dev ifb0 || exit 1
record ifb net || exit 1
"""


def asks(addresses):
    """Return what left asks of each server, at the address of its family."""
    return [f"in_left ask --port {port} --address {addresses[family]} --requests {REQUESTS}{' --udp' * (protocol == 'udp')} || exit 1"
            for port, (protocol, family) in SERVERS.items()]


def guest():
    script = [SETUP]
    for port, (protocol, family) in SERVERS.items():
        udp = "--udp --write sendto" if protocol == "udp" else ""
        script.append(f"NETNS=right start_ready serve --port {port} --family {family} {udp} || exit 1")
    for name, run, option in (("delay", "delay", ""), ("upper", "vlan", "--dev left0.5"),
                              ("lower", "vlan", "--dev left0"), ("bridge", "vlan", "")):
        script += [f"record {name} net {option} || exit 1", *asks(RIGHT[run]), f"end_records {name}"]
    script.append("in_left tc qdisc replace dev left0 root tbf rate 8mbit burst 32kb limit 4mb || exit 1")
    for name, port in BULK.items():
        script.append(BULK_RUN.format(name=name, port=port, gso=name[4:], bytes=BYTES))
    return "\n".join([*script, IFB, *asks(RIGHT["delay"]), "end_records ifb", "finish"])


GUEST = guest()


def check_group(lab, what, events, stages, delayed):
    """Stage qdisc has the delay if it should, and no other stage has."""
    medians = {name: median(stage(events, name)) for name in stages}
    least = min(stage(events, "qdisc"), default=None)
    print(f"{lab.suite} {what}: n {len(events)}" + (f" qdisc min {least / 1e6:.2f}" if least is not None else "")
          + f" medians {in_ms(medians)}")
    if delayed:
        assert DELAY <= least <= medians["qdisc"] <= DELAY + LITTLE, f"{what}: in the qdisc {least} ns"
        assert max(stage(events, "qdisc")) < DELAY + ONCE, f"{what}: {stage(events, 'qdisc')}"
    for name, value in medians.items():
        assert value is None or value < LITTLE or (delayed and name == "qdisc"), f"{what}: {name} has {value} ns"


def check_delay(lab):
    trace = Trace(lab, "delay")
    for port, (protocol, family) in SERVERS.items():
        for way, end, side, stages in (("tx", "remote", "left", SEND_STAGES), ("rx", "local", "right", RECEIVE_STAGES),
                                       ("tx", "local", "right", SEND_STAGES), ("rx", "remote", "left", RECEIVE_STAGES)):
            events = [event for event in trace.of_port(port, end) if event["way"] == way]
            trace.expect(len(events), REQUESTS)
            assert {event["dev"] for event in events} <= {f"{side}0"}
            check_group(lab, f"{protocol} IPv{family} {way} {side}", events, stages, (way, side) == ("tx", "left"))


def check_vlan(lab, name):
    """The packets that left sends are followed through the VLAN's device, whichever of both devices is asked for."""
    trace = Trace(lab, name)
    for port, (protocol, family) in SERVERS.items():
        for way, end in (("tx", "remote"), ("rx", "remote")):
            events = [event for event in trace.of_port(port, end) if event["way"] == way]
            trace.expect(len(events), REQUESTS)
            assert {event["dev"] for event in events} <= {"left0"}
            check_group(lab, f"{name} device, {protocol} IPv{family} {way} left", events,
                        SEND_STAGES if way == "tx" else RECEIVE_STAGES, way == "tx")
    assert trace.accounting["filtered"] > 0, "nothing was filtered, but right is no device of left's"


def check_bridge(lab):
    """Each record has the device at the driver's end, and not the VLAN's or the bridge's, which hands it over again."""
    trace = Trace(lab, "bridge")
    counts = collections.Counter((event["way"], event["dev"]) for event in trace.events)
    print(f"{lab.suite} through a VLAN and a bridge: {dict(counts)}")
    assert set(counts) <= {("tx", "left0"), ("rx", "right0"), ("tx", "right0"), ("rx", "left0")}, counts
    for count in counts.values():
        trace.expect(count, REQUESTS * len(SERVERS), "packets")
    again = {event["dev"] for event in trace.events if event["drv-drv_ns"] is not None}
    assert again == {"right0"}, again


def check_ifb(lab):
    """What an ifb holds is in one stage of what is received behind it, and begins with the device's own hand-over."""
    trace = Trace(lab, "ifb")
    for port, (protocol, family) in SERVERS.items():
        events = [event for event in trace.of_port(port, "local") if event["way"] == "rx"]
        trace.expect(len(events), REQUESTS)
        assert {event["dev"] for event in events} == {"right0"}
        medians = {name: median(stage(events, name)) for name in RECEIVE_STAGES}
        print(f"{lab.suite} ifb {protocol} IPv{family}: {in_ms(medians)}")
        assert DELAY <= medians["drv-drv"] <= DELAY + LITTLE, medians
        assert all(value is None or value < LITTLE for name, value in medians.items() if name != "drv-drv"), medians


def check_bulk(lab, name, port):
    """Each segment is one packet, however many frames software makes of it."""
    trace = Trace(lab, name)
    sent = [event for event in trace.of_port(port, "remote") if event["way"] == "tx"]
    received = [event for event in trace.of_port(port) if event["way"] == "rx"]
    before, after = map(int, lab.read(f"{name}.frames").split())
    print(f"{lab.suite} {name}: {total_bytes(sent)} bytes in {len(sent)} packets sent, in "
          f"{after - before} frames, received in {len(received)}; bulk: {lab.read(f'{name}.sent').strip()}")
    assert after - before > 1.5 * len(sent), "nothing was cut in software"
    trace.expect_bytes(sent, BYTES)
    trace.expect_bytes(received, BYTES)


def check(lab):
    check_delay(lab)
    for name in ("upper", "lower"):
        check_vlan(lab, name)
    check_bridge(lab)
    check_ifb(lab)
    for name, port in BULK.items():
        check_bulk(lab, name, port)
    assert lab.read("modules-left").strip() == "0"
