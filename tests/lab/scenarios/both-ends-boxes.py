# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests between two namespaces with a third between them: a router with IPVS, NAT, a tunnel, SYNPROXY, or a proxy."""

from lablib.ends import RECORDED, between, between_files
from lablib.server_files import NGINX_HEAD

DESCRIPTION = "both-ends and between with what stands between: IPVS (NAT, DR, TUN), SNAT and DNAT, VXLAN, SYNPROXY, a proxy"
IN_CI = ("trixie",)
BUILD = {"ends": ["both-ends", "--port", "7301"]}

REQUESTS, PROXIED = 101, 53
FORTH, BACK, SERVED = 5_000_000, 2_000_000, 3_000_000
LITTLE = 600_000  # what hosts and the box take of a request beside these
# What the client asks, and what the server sees of it.
SEEN = {
    "routed": ("10.9.1.2", "10.9.2.2:7301", ""),
    "nat": ("10.9.1.2", "10.9.7.1:7301", "10.9.2.1 that asks 10.9.2.2:7301"),
    "nat6": ("[fd01::2]", "[fd07::1]:7301", "[fd02::1] that asks [fd02::2]:7301"),
    "vxlan": ("10.8.0.1", "10.8.0.2:7301", ""),
    "vxlan6": ("[fd08::1]", "[fd08::2]:7301", ""),
    "ipvs": ("10.9.1.2", "10.9.7.2:7301", "10.9.1.2 that asks 10.9.2.2:7301"),
    "ipvs-dr": ("10.9.1.2", "10.9.7.3:7301", ""),
    "ipvs-tun": ("10.9.1.2", "10.9.7.4:7301", ""),
    "synproxy": ("10.9.1.2", "10.9.2.5:7301", ""),
}

GUEST = f"""
modprobe -a vxlan ip_vs ip_vs_rr ipip nft_synproxy || exit 1
make_router || exit 1
in_left() {{ ip netns exec left "$@"; }}
in_right() {{ ip netns exec right "$@"; }}
in_left tc qdisc add dev net0 root netem delay 5ms limit 30000 &&
    in_right tc qdisc add dev net0 root netem delay 2ms limit 30000 || exit 1
NETNS=right start_ready serve --port 7301 --family mapped --delay-ms 3 || exit 1

# SNAT and DNAT on the router.
nft -f - <<EOF || exit 1
table ip nat {{
    chain pre {{
        type nat hook prerouting priority -100
        ip daddr 10.9.7.1 dnat to 10.9.2.2
    }}
    chain post {{
        type nat hook postrouting priority 100
        ct original ip daddr 10.9.7.1 snat to 10.9.2.1
    }}
}}
table ip6 nat {{
    chain pre {{
        type nat hook prerouting priority -100
        ip6 daddr fd07::1 dnat to fd02::2
    }}
    chain post {{
        type nat hook postrouting priority 100
        ct original ip6 daddr fd07::1 snat to fd02::1
    }}
}}
EOF

# A tunnel from host to host.
for side in "left 1 10.9.1.2 10.9.2.2" "right 2 10.9.2.2 10.9.1.2"; do
    read -r name number here there <<<"$side"
    ip -n $name link add vx0 type vxlan id 9 local $here remote $there dstport 4789 dev net0 &&
        ip -n $name link set vx0 addrgenmode none && ip -n $name address add 10.8.0.$number/24 dev vx0 &&
        ip -n $name address add fd08::$number/64 dev vx0 nodad && ip -n $name link set vx0 up || exit 1
done

# IPVS on the router; what it hands over by DR and TUN is for an address that the server has, too.
sysctl -qw net.ipv4.conf.all.accept_local=1 || exit 1
for address in 10.9.7.2 10.9.7.3 10.9.7.4; do ip address add $address/32 dev lo || exit 1; done
for address in 10.9.7.3 10.9.7.4 10.9.2.5; do ip -n right address add $address/32 dev lo || exit 1; done
ip -n right link set tunl0 up || exit 1
virtual() {{ ipvsadm -A -t $1:7301 -s rr && ipvsadm -a -t $1:7301 -r 10.9.2.2:7301 $2; }}
virtual 10.9.7.2 -m && virtual 10.9.7.3 -g && virtual 10.9.7.4 -i || exit 1

# The router answers SYNs in front of the server.
ip route add 10.9.2.5/32 via 10.9.2.2 || exit 1
sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0 net.ipv4.tcp_syncookies=1 net.ipv4.tcp_timestamps=1 || exit 1
nft -f - <<EOF || exit 1
table ip proxy {{
    chain pre {{
        type filter hook prerouting priority -300
        iif l0 ip daddr 10.9.2.5 tcp dport 7301 tcp flags syn notrack
    }}
    chain forward {{
        type filter hook forward priority 0
        ip daddr 10.9.2.5 tcp dport 7301 ct state invalid,untracked synproxy mss 1460 wscale 7 timestamp sack-perm
        ip daddr 10.9.2.5 ct state invalid drop
    }}
}}
EOF
{RECORDED}
run() {{
    local name=$1
    begin_ends $name left right
    in_left ask --port 7301 --requests {REQUESTS} --address $2 || exit 1
    end_ends $name
}}
run routed 10.9.2.2
run nat 10.9.7.1
run nat6 fd07::1
run vxlan 10.8.0.2
run vxlan6 fd08::2
run ipvs 10.9.7.2
run ipvs-dr 10.9.7.3
run ipvs-tun 10.9.7.4
run synproxy 10.9.2.5
ipvsadm -L -n --stats >ipvs
nft list ruleset >rules

# A proxy on the router, recorded beside both ends. Not HAProxy: it needs cmpxchg16b (lablib/machine.py).
cat >/tmp/nginx.conf <<EOF
load_module /usr/lib/nginx/modules/ngx_stream_module.so;{NGINX_HEAD}stream {{
    server {{
        listen 10.9.1.1:7301;
        proxy_pass 10.9.2.2:7301;
    }}
}}
EOF
nginx -e stderr -c /tmp/nginx.conf >proxy.said 2>&1 &
PROXY=$!
wait_for "nc -z 10.9.1.1 7301 || ! kill -0 $PROXY" && kill -0 $PROXY || {{ cat proxy.said; exit 1; }}
begin_ends proxied left right
hostname proxy1
record proxied-proxy ends --netns $$ || exit 1
in_left ask --port 7301 --requests {PROXIED} --address 10.9.1.1 || exit 1
end_ends proxied proxied-proxy
kill $PROXY
finish
"""


def check_times(result, forth=FORTH, back=BACK, served=SERVED):
    parts = result["by"]
    assert 0 <= parts["between"]["p50_ns"] - forth - back < LITTLE, result
    assert 0 <= parts["server"]["p50_ns"] - served < LITTLE, result
    assert parts["client"]["p50_ns"] < LITTLE, result
    assert "reply" not in parts, result


def check(lab):
    for name, (client, server, seen) in SEEN.items():
        (result,), missing = between(lab, f"{name}-app", f"{name}-db")
        assert (result["client"], result["server"]) == ("app1", "db1") and not missing, result
        assert result["requests"] == REQUESTS, result
        assert not result["client_only"] + result["server_only"] + result["ambiguous"] + result["impossible"], result
        assert result["seen_as"] == f"{client} asks {server}" + (f"; to the server it is {seen}" if seen else ""), result
        # SYNPROXY changes the reply's numbers.
        assert (result["by_difference"], result["by_position"]) == (REQUESTS if name == "synproxy" else 0, 0), result
        check_times(result)
    # A proxy ends the connections: nothing is at both ends, and the answer says what to do. The clocks are 100 s apart.
    answer, code = between_files(lab, "proxied-app.rec", "proxied-db.rec")
    assert code == 7 and answer["results"] == [], answer
    assert answer["missing"] == [f"of app1's {PROXIED} requests none is in another recording: does a proxy end the connections? "
                                 "It is a client and a server: record it, too. Or start both earlier: by the hosts' clocks, which may "
                                 "differ, no server's recording is of the same time"], answer
    # The proxy's own recording is the server's for one, and the client's for the other.
    results, missing = between(lab, "proxied-app", "proxied-proxy", "proxied-db")
    assert not missing and len(results) == 2, results
    by_client = {(result["client"], result["server"]): result for result in results}
    front, behind = by_client["app1", "proxy1"], by_client["proxy1", "db1"]
    for result in results:
        assert result["requests"] == PROXIED and not result["client_only"] + result["server_only"], result
    check_times(front, FORTH, 0, SERVED + BACK)
    check_times(behind, 0, BACK, SERVED)
