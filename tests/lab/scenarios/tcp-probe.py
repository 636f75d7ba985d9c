# SPDX-License-Identifier: GPL-2.0-or-later
"""tcp-probe against what the sender's own kernel says of the connection at its end (TCP_INFO), without and with loss."""

from lablib.events import Trace

DESCRIPTION = "a connection over 30 ms: no round trip is below; the last record is TCP_INFO, also after losses"
IN_CI = ("trixie",)
ALSO_ON = ("trixie-cloud", "trixie-rt")
BUILD = {"probe": ["tcp-probe"], "seldom": ["tcp-probe", "--every", "200ms"]}

DELAY = 30_000_000
BYTES = 1000003
# name -> module, port
RUNS = {"clean": ("probe", 7501), "loss": ("probe", 7502), "seldom": ("seldom", 7503)}
# Of what arrives: netem's loss is by chance, and may be none of 80.
LOSS = f"tcp dport {RUNS['loss'][1]} numgen inc mod 17 == 11 drop"
INFINITE = 0x7FFFFFFF


def guest():
    script = ["make_pair || exit 1", 'in_left() { ip netns exec left "$@"; }',
              "in_left sysctl -qw net.ipv4.tcp_no_metrics_save=1 || exit 1",
              "in_left tc qdisc replace dev left0 root netem delay 30ms limit 10000 || exit 1",
              "ip netns exec right nft 'add table ip lab; add chain ip lab input { type filter hook input priority 0; }; "
              f"add rule ip lab input {LOSS}' || exit 1"]
    for name, (module, port) in RUNS.items():
        script += [f"NETNS=right start_ready bulk --receive --port {port} || exit 1",
                   f"record {name} {module} --port {port} || exit 1",
                   f"in_left bulk --send --address 10.9.0.2 --port {port} --bytes {BYTES} >{name}.sent || exit 1",
                   "wait $READY_PID || exit 1", f"end_records {name}"]
    return "\n".join([*script, "finish"])


GUEST = guest()


def check_last(lab, trace, sender):
    """The record at the sender's end is what TCP_INFO said when all was acknowledged."""
    words = lab.read(f"{trace.name}.sent").split()
    said = dict(zip(words[::2], map(int, words[1::2])))
    last = sender[-1]
    print(f"  TCP_INFO: {' '.join(words)}")
    print(f"  last: {last}")
    assert (last["cwnd"], last["retransmits"], last["in-flight"]) == (said["cwnd"], said["retransmitted"], 0)
    assert (INFINITE if last["ssthresh"] is None else last["ssthresh"]) == said["ssthresh"]
    assert last["srtt_ns"] // 1000 == said["srtt-us"]
    for field in ("rttvar-us", "rto-us"):
        assert last[field] == said[field], field
    return said


def check(lab):
    for name, (_, port) in RUNS.items():
        trace = Trace(lab, name)
        sender, receiver = trace.of_port(port, "remote"), trace.of_port(port)
        assert len(sender) + len(receiver) == len(trace.events)
        assert len({event["local"] for event in sender}) == 1
        cwnd = [event["cwnd"] for event in sender]
        print(f"{lab.suite} {name}: {len(sender)} records of the sender, {len(receiver)} of the receiver, cwnd "
              f"{cwnd[0]} to {max(cwnd)}, at the end {cwnd[-1]}")
        said = check_last(lab, trace, sender)
        for event in trace.events:
            assert event["srtt_ns"] >= DELAY, f"a round trip is {DELAY} ns or more: {event}"
        assert [event["retransmits"] for event in sender] == sorted(event["retransmits"] for event in sender)
        if name == "loss":
            assert said["retransmitted"] > 0 and sender[-1]["ssthresh"] is not None and min(cwnd) < max(cwnd)
        else:
            # TCP may send the last segment again where the guest's clock leaps, while the host is late.
            assert cwnd[0] == 10 < cwnd[-1] and (said["retransmitted"] or cwnd == sorted(cwnd))
        if name == "seldom":
            times = [event["time_ns"] for event in sender[:-1]]
            assert all(later - earlier >= 200_000_000 for earlier, later in zip(times, times[1:]))
            assert trace.accounting["filtered"] > 0
    assert lab.read("modules-left").strip() == "0"
