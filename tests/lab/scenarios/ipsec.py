# SPDX-License-Identifier: GPL-2.0-or-later
"""IPsec between two namespaces beside plain traffic: no packet gets another one's times.

What is encrypted reaches the device as another packet. The row that its head has is nobody's then, and the next packet
with that head is one of those that are not encrypted, or an ACK: a time of seconds, if it were taken for it.
"""

import re

from lablib.events import SEND_STAGES, Trace, stage

DESCRIPTION = "ESP over IPv4 and IPv6: what is encrypted is not followed and is counted; what is not is exact, no time is another's"
IN_CI = ("trixie",)
BUILD = {"tx": ["tx-latency"]}

# port -> family, requests, whether IPsec has it
SERVERS = {7401: (4, 101, True), 7402: (6, 103, True), 7403: (4, 211, False), 7404: (6, 223, False)}
ADDRESS = {4: "10.9.0.2", 6: "fd09::2"}
ROUNDS = 5
LITTLE = 5_000_000  # more than any packet's way takes here, and less than the gap between two rounds
GAP = 0.5  # s

GUEST = r"""
make_pair || exit 1
modprobe -a esp4 esp6 xfrm_user || exit 1
state() {
    ip -n $1 xfrm state add src $2 dst $3 proto esp spi $4 mode transport reqid $4 \
        enc 'cbc(aes)' 0x0123456789abcdef0123456789abcdef auth 'hmac(sha1)' 0x0123456789abcdef0123456789abcdef01234567 || exit 1
}
policy() {
    ip -n $1 xfrm policy add src $2 dst $3 proto tcp $4 $5 dir $6 tmpl src $2 dst $3 proto esp mode transport reqid $7 || exit 1
}
# protect PORT LEFT RIGHT THERE BACK: addresses, and numbers of the states of both ways.
protect() {
    for side in left right; do
        state $side $2 $3 $4
        state $side $3 $2 $5
    done
    policy left $2 $3 dport $1 out $4
    policy left $3 $2 sport $1 in $5
    policy right $3 $2 sport $1 out $5
    policy right $2 $3 dport $1 in $4
}
protect 7401 10.9.0.1 10.9.0.2 0x101 0x102
protect 7402 fd09::1 fd09::2 0x601 0x602
""" + "\n".join(f"NETNS=right start_ready serve --port {port} --family {family} || exit 1"
                for port, (family, _, _) in SERVERS.items()) + f"""
record all tx || exit 1
for round in {' '.join(map(str, range(ROUNDS)))}; do
""" + "\n".join(f"    ip netns exec left ask --port {port} --address {ADDRESS[family]} --requests {requests} || exit 1"
                for port, (family, requests, _) in SERVERS.items()) + f"""
    sleep {GAP}
done
end_records all
for side in left right; do ip -n $side -s xfrm state; done >xfrm
finish
"""


def check(lab):
    trace = Trace(lab, "all")
    for port, (family, requests, is_protected) in SERVERS.items():
        for end, side in (("remote", "left"), ("local", "right")):
            events = trace.of_port(port, end)
            print(f"{lab.suite} IPv{family} {'ESP' if is_protected else 'plain'} {side}: {len(events)} of {ROUNDS * requests}")
            # What is encrypted is another packet behind IP.
            trace.expect(len(events), 0 if is_protected else ROUNDS * requests)
    slowest = {name: max(stage(trace.events, name), default=0) for name in SEND_STAGES}
    assert max(slowest.values()) < LITTLE, slowest
    encrypted = 2 * ROUNDS * sum(requests for _, requests, is_protected in SERVERS.values() if is_protected)
    missing = trace.accounting["incomplete_by"]
    assert missing["mismatched"] + missing["no-device"] + missing["no-ip-output"] == encrypted, missing
    assert trace.accounting["incomplete"] == encrypted and len(trace.events) == trace.accounting["reported"], trace.accounting
    # Of each state, on both sides.
    packets = [int(n) for n in re.findall(r"\(bytes\), (\d+)\(packets\)", lab.read("xfrm"))]
    assert len([n for n in packets if n >= ROUNDS * 101]) == 8, lab.read("xfrm")
    assert lab.read("modules-left").strip() == "0"
