# SPDX-License-Identifier: GPL-2.0-or-later
"""IPsec between two namespaces beside plain traffic: no packet gets another one's times.

What is encrypted reaches the device as another packet. The row that its head has is nobody's then, and the next packet
with that head is one of those that are not encrypted, or an ACK: a time of seconds, if it were taken for it.
"""

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
# state and policy of PORT, from FROM to TO, as SIDE has them.
protect() {
    local port=$1 from=$2 to=$3 side way
    for side in left right; do
        ip -n $side xfrm state add src $from dst $to proto esp spi $4 mode transport reqid $4 \
            enc 'cbc(aes)' 0x0123456789abcdef0123456789abcdef auth 'hmac(sha1)' 0x0123456789abcdef0123456789abcdef01234567 || exit 1
    done
}
policy() {
    ip -n $1 xfrm policy add src $2 dst $3 proto tcp $4 $5 dir $6 tmpl src $2 dst $3 proto esp mode transport reqid $7 || exit 1
}
protect 7401 10.9.0.1 10.9.0.2 0x101
protect 7401 10.9.0.2 10.9.0.1 0x102
policy left 10.9.0.1 10.9.0.2 dport 7401 out 0x101
policy left 10.9.0.2 10.9.0.1 sport 7401 in 0x102
policy right 10.9.0.2 10.9.0.1 sport 7401 out 0x102
policy right 10.9.0.1 10.9.0.2 dport 7401 in 0x101
protect 7402 fd09::1 fd09::2 0x601
protect 7402 fd09::2 fd09::1 0x602
policy left fd09::1 fd09::2 dport 7402 out 0x601
policy left fd09::2 fd09::1 sport 7402 in 0x602
policy right fd09::2 fd09::1 sport 7402 out 0x602
policy right fd09::1 fd09::2 dport 7402 in 0x601
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
    assert "current" in lab.read("xfrm"), lab.read("xfrm")
    assert lab.read("modules-left").strip() == "0"
