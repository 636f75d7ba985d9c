# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe softnet, as nobody: what it says rose is what the kernel's files, ip and ethtool say, and what was done."""

import collections
import json
import tomllib

from lablib.counters import read_pairs

DESCRIPTION = "softnet without root, module or stap: its rises are the kernel's, to the last counter"
LIVE = True
IN_CI = ("trixie",)

PACKETS, NO_PORTS, DATAGRAMS, CONNECTIONS, AGAIN = 1009, 109, 211, 23, 7
# Not counters but settings and states.
STATES = {"Ip.Forwarding", "Ip.DefaultTTL", "Tcp.RtoAlgorithm", "Tcp.RtoMin", "Tcp.RtoMax", "Tcp.MaxConn",
          "Tcp.CurrEstab", "MPTcpExt.MPCurrEstab"}

GUEST = r"""
# Two ends of a cable, both here; frames are for another host's address, so that nobody answers.
cable() {
    ip link add soft0 type veth peer name soft1 || return
    for end in soft0 soft1; do
        echo 1 >/proc/sys/net/ipv6/conf/$end/disable_ipv6
        ip link set $end arp off
        ip link set $end up || return
    done
    # So veth receives by NAPI, and counts it in ethtool -S.
    ethtool -K soft0 tso off && ethtool -K soft1 gro on || return
    ip address add 10.11.0.1/24 dev soft0
    wait_for '[ "$(cat /sys/class/net/soft0/operstate)" = up ]'
}
frames() { for i in $(seq $1); do echo x >/dev/udp/10.11.0.2/7001; done; }
files() {
    cat /proc/net/snmp /proc/net/netstat >$1.pairs
    cat /proc/net/snmp6 >$1.snmp6
    ip -s -s -j link >$1.link
    for end in soft0 soft1; do ethtool -S $end >$1.$end; done
    cat /proc/net/softnet_stat >$1.softnet
}
measure() {
    local name=$1
    shift
    setpriv --reuid=65534 --regid=65534 --clear-groups stapgen softnet "$@" --format json >$name.json 2>$name.err &
    TRACER=$!
    wait_traced $name.err || exit 1
}
finished() {
    kill -INT $TRACER
    wait $TRACER
    echo $? >$1.exit
}

cable || exit 1
sleep 1
files before
measure whole -i 1 -o /tmp/whole.rec
frames 1009
sleep 1.2
for i in $(seq 109); do echo x >/dev/udp/127.0.0.1/9; done
drops full-buffer 211 >whole.traffic && drops listen-overflow 23 >>whole.traffic || exit 1
sleep 1.2
finished whole
files after

measure reset
ip link del soft0 && cable && frames 7
finished reset
stapgen report /tmp/whole.rec --format json >again.json || exit 1
stapgen report /tmp/whole.rec --top 30 >whole.txt || exit 1
for format in csv openmetrics html; do stapgen report /tmp/whole.rec --format $format >whole.$format || exit 1; done
stapgen softnet -d 1 -q --by of >by.txt || exit 1
finish
"""


def of_namespace(lab, when):
    counters = read_pairs(lab.read(f"{when}.pairs"))
    for line in lab.read(f"{when}.snmp6").splitlines():
        name, value = line.split()
        counters[name.replace("6", "6.", 1)] = int(value)
    return counters


def of_driver(lab, when, device):
    """What ethtool -S says."""
    lines = [line.rsplit(":", 1) for line in lab.read(f"{when}.{device}").splitlines()[1:]]
    return {"ethtool." + name.strip(): int(value) for name, value in lines}


def difference(before, after):
    rises = {name: value - before.get(name, 0) for name, value in after.items()}
    return {name: rise for name, rise in rises.items() if rise and name not in STATES}


def load(lab, name):
    """Return the report and {(name, of): rise} of all its intervals."""
    assert lab.read(f"{name}.exit").strip() == "0", lab.read(f"{name}.err")
    report = json.loads(lab.read(f"{name}.json"))
    rises = collections.Counter()
    for row in report["counts"]:
        rises[row["group"]["name"], row["group"]["of"]] += row["count"]
    account = report["accounting"]
    assert account["closed"] and account["seen"] == account["reported"] == sum(rises.values()), account
    return report, rises


def words(lab, kind):
    """Return what the program drops says of a kind: {word: the numbers behind it}."""
    found = collections.defaultdict(list)
    for word in next(line for line in lab.read("whole.traffic").splitlines() if line.startswith(kind)).split():
        if word.isdecimal():
            found[last].append(int(word))
        else:
            last = word
    return found


def check_whole(lab, report, rises):
    namespace = {name: rise for (name, of), rise in rises.items() if of == "-"}
    truth = difference(of_namespace(lab, "before"), of_namespace(lab, "after"))
    print(f"{lab.suite} softnet: {len(rises)} counters rose, {len(namespace)} of them of the namespace")
    assert namespace == truth, set(namespace.items()) ^ set(truth.items())

    full, overflow = words(lab, "full-buffer"), words(lab, "listen-overflow")
    lost = full["dropped"][0]
    assert 0 < lost < DATAGRAMS and namespace["Udp.RcvbufErrors"] == lost
    assert namespace["Udp.NoPorts"] == NO_PORTS
    before, after = overflow["ListenOverflows"]
    assert 0 < namespace["TcpExt.ListenOverflows"] == after - before
    assert namespace["TcpExt.ListenDrops"] >= namespace["TcpExt.ListenOverflows"]

    assert rises["link.tx_packets", "soft0"] == rises["link.rx_packets", "soft1"] == PACKETS
    for device in ("soft0", "soft1"):
        for when in ("before", "after"):
            assert len(of_driver(lab, when, device)) > 1, "ethtool tells nothing"
        driver = {name: rise for (name, of), rise in rises.items() if of == device and name.startswith("ethtool.")}
        assert driver == difference(of_driver(lab, "before", device), of_driver(lab, "after", device)), driver
    assert rises["ethtool.rx_queue_0_xdp_packets", "soft1"] == PACKETS, rises

    processed = sum(rise for (name, of), rise in rises.items() if name == "softnet.processed")
    counted = [[int(line.split()[0], 16) for line in lab.read(f"{when}.softnet").splitlines()]
            for when in ("before", "after")]
    assert PACKETS + NO_PORTS + DATAGRAMS <= processed <= sum(counted[1]) - sum(counted[0]), (processed, counted)
    assert len({row["interval"] for row in report["counts"]}) > 1 and all(
        of.startswith("cpu") for name, of in rises if name.startswith("softnet."))


def check_meanings(lab, report):
    """What is said of counters of the namespace and of ip -s link is said of some that there are."""
    recipe = tomllib.loads((lab.installed / "share/stapgen/templates/softnet/recipe.toml").read_text())
    known = set(of_namespace(lab, "after"))
    # Newer or older kernels have them.
    known |= {"TcpExt.TCPReqQFullDrop"}
    link = next(link for link in json.loads(lab.read("after.link")) if link["ifname"] == "soft0")
    print(f"{lab.suite} ip: {sorted(link['stats64']['rx']) + sorted(link['stats64']['tx'])}")
    # A * is of names that nobody has looked up. Of the last ones are texts that `report` reads, and softnet does not.
    unknown = [meaning["of"] for meaning in recipe["meanings"]
               if not meaning["of"].startswith(("softnet.", "link.", "dev.", "ethtool.", "reset.", "conntrack.", "neigh.",
                                                "rt_cache.", "synproxy.", "qdisc.", "class.", "sockstat.", "Xfrm.", "ss.", "udp.", "tcpdump.")) and
               meaning["of"] not in known and "*" not in meaning["of"]]
    assert not unknown, f"this kernel has no counters {unknown}"
    order = [(row["interval"], not row["loss"]) for row in report["counts"]]
    assert order == sorted(order) and any(row["loss"] for row in report["counts"]), "losses do not come first"
    assert any(row["group"]["name"] == "Udp.NoPorts" and row["loss"] and "NO_SOCKET" in row["meaning"]
               for row in report["counts"])


def check(lab):
    report, rises = load(lab, "whole")
    check_whole(lab, report, rises)
    check_meanings(lab, report)
    print(lab.read("whole.txt"))
    again = json.loads(lab.read("again.json"))
    assert again["counts"] == report["counts"] and again["accounting"] == report["accounting"]
    assert "Udp.NoPorts" in lab.read("whole.txt") and "lost" in lab.read("whole.txt")
    for format in ("csv", "openmetrics", "html"):
        assert "Udp.NoPorts" in lab.read(f"whole.{format}"), format
    _, rises = load(lab, "reset")
    assert rises["reset.link.tx_packets", "soft0"] == 1 and ("link.tx_packets", "soft0") not in rises, rises
    assert lab.read("modules-left").strip() == "0"
