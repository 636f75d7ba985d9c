# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests between two namespaces, each recorded by a run of its own whose clock is 100 s off the other's; and both by one."""

from lablib.ends import OFFSET, between, between_files

DESCRIPTION = "both-ends and between: 5 ms forth, 2 ms back, 3 ms served and clocks 100 s apart; IPv6, NAT, loss, samples, pipelines"
IN_CI = ("trixie",)
BUILD = {"ends": ["both-ends", "--port", "7301"], "sampled": ["both-ends", "--port", "7301", "--one-in", "8"],
         "briefly": ["both-ends", "--port", "7301", "--slower-than", "100ms"]}

REQUESTS, MORE, LOSSY, PIPELINED = 1009, 101, 503, 7
FORTH, BACK, SERVED = 5_000_000, 2_000_000, 3_000_000
LITTLE = 400_000  # what hosts and veth take of a request beside these

GUEST = f"""
make_pair || exit 1
in_left() {{ ip netns exec left "$@"; }}
in_right() {{ ip netns exec right "$@"; }}
delay_left() {{ in_left tc qdisc replace dev left0 root netem delay 5ms limit 30000 "$@"; }}
delay_left && in_right tc qdisc add dev right0 root netem delay 2ms limit 30000 || exit 1
NETNS=right start_ready serve --port 7301 --family mapped --delay-ms 3 || exit 1
# In front of the server another address is its.
in_left ip route add 10.9.7.0/24 via 10.9.0.2 || exit 1
in_right nft -f - <<EOF || exit 1
table ip nat {{
    chain pre {{
        type nat hook prerouting priority -100
        ip daddr 10.9.7.1 dnat to 10.9.0.2
    }}
}}
EOF
run() {{
    local name=$1
    shift
    hostname app1
    record $name-app ends --netns left || exit 1
    hostname db1
    date -s '+100 seconds' >/dev/null
    record $name-db ends --netns right || exit 1
    in_left ask --port 7301 "$@" || exit 1
    end_records $name-app $name-db
    hostname lab
    date -s '-100 seconds' >/dev/null
}}
run plain --address 10.9.0.2 --requests {REQUESTS} --connections 3
run six --address fd09::2 --requests {MORE}
run nat --address 10.9.7.1 --requests {MORE}
run pipelined --address 10.9.0.2 --requests {7 * PIPELINED} --pipeline {PIPELINED}
# The same by tcpdump, behind both queueing disciplines.
in_left tcpdump -i left0 -s 128 -U -w app.pcap tcp port 7301 2>app.said &
DUMPS=$!
in_right tcpdump -i right0 -s 128 -U -w db.pcap tcp port 7301 2>db.said &
DUMPS+=" $!"
wait_for "grep -q listening app.said && grep -q listening db.said" || exit 1
run dumped --address 10.9.0.2 --requests {MORE}
pkill tcpdump
wait $DUMPS
delay_left loss 2% $(seeded 11)
run lossy --address 10.9.0.2 --requests {LOSSY}
delay_left
record one ends || exit 1
record some sampled || exit 1
record brief briefly || exit 1
in_left ask --port 7301 --address 10.9.0.2 --requests {REQUESTS} || exit 1
end_records one some brief
finish
"""


def only(results):
    """Return the one of these results."""
    (result,) = results
    return result


def check_pair(lab, name, requests):
    result = only(between(lab, f"{name}-app", f"{name}-db")[0])
    assert (result["client"], result["server"]) == ("app1", "db1"), result
    assert result["requests"] == requests and not result["client_only"] + result["server_only"], result
    parts = result["by"]
    assert 0 <= parts["between"]["p50_ns"] - FORTH - BACK < LITTLE, parts
    assert 0 <= parts["server"]["p50_ns"] - SERVED < LITTLE, parts
    assert parts["client"]["p50_ns"] < LITTLE, parts
    # What takes 7 ms there and back says no more than that: 100 s lie within.
    assert 0 <= result["fastest_ns"] - FORTH - BACK < LITTLE, result
    assert abs(result["offset_ns"] - OFFSET) <= result["offset_error_ns"], result
    assert abs(result["offset_error_ns"] - (FORTH + BACK) / 2) < LITTLE, result
    assert abs(result["drift_ppm"]) <= result["drift_error_ppm"] + 20, result
    return result


def check(lab):
    check_pair(lab, "plain", REQUESTS)
    check_pair(lab, "six", MORE)
    assert "10.9.7.1:7301; to the server it is 10.9.0.1 that asks 10.9.0.2:7301" in check_pair(lab, "nat", MORE)["seen_as"]
    lossy = only(between(lab, "lossy-app", "lossy-db")[0])
    assert lossy["requests"] == LOSSY and lossy["ways"][0]["resent"] > 0 and lossy["by"]["between"]["excess_share"] > 0.9, lossy
    # A capture has the queueing discipline's wait on its host's side.
    for names, among, served in ((("dumped-app.rec", "db.pcap"), FORTH, SERVED + BACK), (("app.pcap", "dumped-db.rec"), BACK, SERVED),
                                 (("app.pcap", "db.pcap"), 0, SERVED + BACK)):
        dumped = only(between_files(lab, *names)[0]["results"])
        assert dumped["requests"] == MORE, dumped
        assert 0 <= dumped["by"]["between"]["p50_ns"] - among < LITTLE, dumped
        assert 0 <= dumped["by"]["server"]["p50_ns"] - served < LITTLE, dumped
        assert dumped["knows_client"] == names[0].endswith(".rec"), dumped
    # Of seven at once the first has the question's numbers; what the server takes for the others is the rest of its reply.
    pipelined = only(between(lab, "pipelined-app", "pipelined-db")[0])
    assert pipelined["requests"] == PIPELINED and pipelined["server_only"] == 6 * PIPELINED, pipelined
    assert pipelined["by"]["client"]["p50_ns"] < LITTLE, pipelined
    assert 0 <= pipelined["by"]["reply"]["p50_ns"] - 6 * SERVED < 3 * LITTLE, pipelined
    one = only(between(lab, "one")[0])
    assert one["requests"] == REQUESTS and one["one_clock"], one
    assert 0 <= one["ways"][0]["p50_ns"] - FORTH < LITTLE and 0 <= one["ways"][1]["p50_ns"] - BACK < LITTLE, one
    # Of those that are not slow there is only what joins them, and it joins as many.
    brief = only(between(lab, "brief")[0])
    assert brief["requests"] == REQUESTS and brief["seen_as"] == "" != one["seen_as"], brief
    for where in ("client", "between", "server"):
        assert abs(brief["by"][where]["mean_ns"] - one["by"][where]["mean_ns"]) < LITTLE, (where, brief["by"], one["by"])
    some = only(between(lab, "some")[0])
    assert 0 < some["requests"] < REQUESTS / 4 and not some["client_only"] + some["server_only"], some
