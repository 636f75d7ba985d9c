# SPDX-License-Identifier: GPL-2.0-or-later
"""What stapgen report says of archives that the real sos makes, each of a host with one planted problem, or with none."""

import json

DESCRIPTION = "archives of the real sos, each of a host with one problem: it is named, and nothing else is"
# Not in CI: sos runs a hundred programs in each guest.
IN_CI = ()
TIMEOUT = 1800

PACKAGES = ("sos", "sosreport", "python3-pexpect", "python3-ptyprocess", "python3-magic", "python3-packaging", "python3-setuptools",
            "python3-pkg-resources", "python3-yaml", "libmagic1t64", "libmagic-mgc", "libyaml-0-2", "python3")
CONNECTIONS, DATAGRAMS, BURST = 23, 107, 20011
ROOMY, TIGHT = 1 << 28, 2304
# One more card on the wire, whose ring has room for 64 frames. What is sent to it arrives at once, each 0.3 s.
CARD = ("-netdev", "hubport,id=ring,hubid=0", "-device", "rtl8139,netdev=ring,romfile=",
        "-object", "filter-buffer,id=held,netdev=ring,interval=300000")
# problem -> how it is made, and the findings of it. Of those in EXACT the file "lost" has how many packets were lost, by
# what was sent and what arrived.
PROBLEMS = {
    "none": ("", set()),
    "listen": (f"python3 never.py {CONNECTIONS} || exit 1", {"listen-overflow"}),
    "firewall": (f"drop_by_rule 7001; python3 send.py 127.0.0.1 7001 {DATAGRAMS} {ROOMY} >lost || exit 1", {"firewall"}),
    "conntrack": (f"""modprobe nf_conntrack && nft 'table ip t {{ chain o {{ type filter hook output priority 0; ct state new counter accept; }}; }}' || exit 1
sysctl -qw net.netfilter.nf_conntrack_max=13; python3 refused.py {DATAGRAMS} 127.0.0.1 >lost || exit 1""", {"conntrack-full"}),
    "backlog": (f"""sysctl -qw net.core.netdev_max_backlog=1; echo 2 >/sys/class/net/lo/queues/rx-0/rps_cpus
taskset -c 0 python3 send.py 127.0.0.1 7003 {BURST} {ROOMY} >lost || exit 1""", {"backlog-full"}),
    "buffer": (f"python3 send.py 127.0.0.1 7004 {DATAGRAMS} {TIGHT} >lost || exit 1", {"receive-buffer-full"}),
    "mtu": (f"""make_router && ip link set r0 mtu 1300 || exit 1
ip netns exec right python3 send.py 10.9.2.2 7005 {DATAGRAMS} {ROOMY} left >lost || exit 1""", {"mtu"}),
    "neighbours": (f"""ip link add near0 type veth peer name far0 && ip address add 10.8.0.1/24 dev near0 && ip link set near0 up || exit 1
ip link set far0 up; sysctl -qw net.ipv4.neigh.default.gc_thresh{{1,2,3}}=5
python3 refused.py {DATAGRAMS} 10.8.0.2 >lost || exit 1""", {"neighbour-table-full"}),
    "ring": (f"""modprobe virtio_net && modprobe 8139cp && wait_for "ip link show eth2" && ip netns add outside &&
    ip link set eth1 netns outside && ip address add 10.0.2.15/24 dev eth2 && ip link set eth2 up &&
    ip -n outside address add 10.0.2.2/24 dev eth1 && ip -n outside link set eth1 up &&
    ip -n outside neighbour add 10.0.2.15 lladdr $(cat /sys/class/net/eth2/address) dev eth1 &&
    wait_for "grep -q 1 /sys/class/net/eth2/carrier" || exit 1
python3 send.py 10.0.2.15 7006 {DATAGRAMS} {ROOMY} outside >lost || exit 1""", {"ring-full"}),
}
EXACT = set(PROBLEMS) - {"none", "listen"}

SCRIPT = """
mkdir -p {name} && cd {name} && cp ../*.py . || exit 1
{plant}
sleep 1
export PYTHONPATH=/lab/work/sos/usr/lib/python3/dist-packages LD_LIBRARY_PATH=/lab/work/sos/usr/lib/x86_64-linux-gnu
mkdir -p /etc/sos /tmp/out
python3 /lab/work/sos/usr/bin/sos report --batch --quiet --tmp-dir /tmp/out -z gzip \\
    -o networking,firewall_tables,kernel,host,logs,process >sos.out 2>&1 || {{ tail sos.out; exit 1; }}
mv /tmp/out/sosreport*.tar.gz sos.tar.gz
"""

# Accepts nobody.
NEVER = """
import socket, sys
server = socket.socket()
server.bind(("127.0.0.1", 7000))
server.listen(1)
clients = []
for _ in range(int(sys.argv[1])):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", 7000))
    clients.append(client)
"""
# Sends datagrams that must not be fragmented, from another namespace if one is named, to a socket that is read when all are
# sent; says how many it did not get.
SEND = """
import ctypes, os, socket, sys, time
address, port, count, buffer = sys.argv[1], *map(int, sys.argv[2:5])
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
SO_RCVBUFFORCE = 33
receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer)
receiver.bind((address, port))
if len(sys.argv) > 5:
    ctypes.CDLL(None).setns(os.open("/run/netns/" + sys.argv[5], os.O_RDONLY), 0)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
IP_MTU_DISCOVER, IP_PMTUDISC_PROBE = 10, 3
sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
for _ in range(count):
    sender.sendto(b"x" * 1400, (address, port))
time.sleep(1)
try:
    while receiver.recv(2000):
        count -= 1
except BlockingIOError:
    print(count)
"""
# Each datagram is of a connection and to an address of its own; says how many the kernel did not take.
REFUSED = """
import ipaddress, socket, sys
IP_RECVERR = 11
lost = 0
for number in range(int(sys.argv[1])):
    try:
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)  # else a neighbour that could not be added is no error
        sender.sendto(b"x", (str(ipaddress.ip_address(sys.argv[2]) + number), 8000))
    except OSError:
        lost += 1
print(lost)
"""

def prepare(lab):
    for name, text in {"never.py": NEVER, "send.py": SEND, "refused.py": REFUSED}.items():
        (lab.work / name).write_text(text)
    lab.chroot(["sh", "-c", "mkdir -p /lab/work/debs/partial /lab/work/sos && apt-get -qq update && cd /lab/work/debs && "
                f"for package in {' '.join(PACKAGES)}; do apt-get -qq download $package || true; done && "
                "for package in *.deb; do dpkg -x $package ../sos; done && cd .. && rm -r debs && "
                "python3 -m compileall -q sos/usr/lib/python3/dist-packages"], scratch=True)
    for name, (plant, _) in PROBLEMS.items():
        lab.boot(SCRIPT.format(name=name, plant=plant), TIMEOUT, devices=CARD if name == "ring" else ())


def check(lab):
    reports = {name: json.loads(lab.stapgen(["report", f"/lab/work/{name}/sos.tar.gz", "--json"]).stdout) for name in PROBLEMS}
    for name, report in reports.items():
        found = {finding["name"]: finding["count"] for finding in report["findings"]}
        lost = f"{lab.read(f'{name}/lost').strip()} lost, " if name in EXACT else ""
        print(f"{lab.suite} {name}: {lost}found {found}, {report['files']}")
    for name, (_, expected) in PROBLEMS.items():
        found = {finding["name"]: finding["count"] for finding in reports[name]["findings"]}
        assert set(found) == expected, name
        assert name not in EXACT or set(found.values()) == {int(lab.read(f"{name}/lost"))}, name
        assert reports[name]["release"] == lab.release, reports[name]["release"]
