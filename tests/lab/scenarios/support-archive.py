# SPDX-License-Identifier: GPL-2.0-or-later
"""What stapgen report says of archives that the real sos makes, each of a host with one planted problem, or with none."""

import json

DESCRIPTION = "archives of the real sos, each of a host with one problem: it is named, and nothing else is"
# Not in CI: sos runs a hundred programs in each guest.
IN_CI = ()
TIMEOUT = 1800

PACKAGES = ("sos", "python3-pexpect", "python3-ptyprocess", "python3-magic", "python3-packaging", "python3-setuptools",
            "python3-pkg-resources", "python3-yaml", "libmagic1t64", "libmagic-mgc", "libyaml-0-2", "python3")
CONNECTIONS, DATAGRAMS, LARGE = 23, 107, 31
# problem -> how it is made, and the findings of it.
PROBLEMS = {
    "none": ("", set()),
    "listen": (f"python3 never.py {CONNECTIONS} || exit 1", {"listen-overflow"}),
    "firewall": (f"drop_by_rule 7001; python3 send.py 127.0.0.1 7001 {DATAGRAMS} 100 || exit 1", {"firewall"}),
    "conntrack": (f"""modprobe nf_conntrack; nft 'table ip t {{ chain o {{ type filter hook output priority 0; ct state new counter accept; }}; }}' || exit 1
sysctl -qw net.netfilter.nf_conntrack_max=13; python3 many.py {DATAGRAMS}""", {"conntrack-full"}),
    "backlog": (f"""sysctl -qw net.core.netdev_max_backlog=1; echo 2 >/sys/class/net/lo/queues/rx-0/rps_cpus
python3 send.py 127.0.0.1 7003 20011 100; cat /proc/net/softnet_stat >softnet""", {"backlog-full"}),
    "buffer": (f"python3 sleeper.py {DATAGRAMS} || exit 1", {"receive-buffer-full"}),
    "mtu": (f"""make_pair; ip link add out0 type veth peer name far0; ip netns exec left ip link set left0 netns 1 2>/dev/null
ip address add 10.8.0.1/24 dev out0; ip link set out0 mtu 1300 up; ip link set far0 up; sysctl -qw net.ipv4.ip_forward=1
ip neigh add 10.8.0.2 lladdr 02:00:00:00:00:02 dev out0; ip address add 10.9.0.1/24 dev left0; ip link set left0 up
ip netns exec right ip route add 10.8.0.0/24 via 10.9.0.1
ip netns exec right python3 large.py 10.8.0.2 {LARGE} || exit 1""", {"mtu"}),
}

SCRIPT = """
mkdir -p {name} && cd {name} && cp ../*.py . || exit 1
{plant}
sleep 1
export PYTHONPATH=/lab/work/sos/usr/lib/python3/dist-packages LD_LIBRARY_PATH=/lab/work/sos/usr/lib/x86_64-linux-gnu
mkdir -p /etc/sos out
python3 /lab/work/sos/usr/bin/sos report --batch --quiet --tmp-dir $PWD/out -o networking,kernel,host,logs,process -z gzip >sos.out 2>&1 ||
    {{ tail sos.out; exit 1; }}
mv out/sosreport*.tar.gz sos.tar.gz
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
SEND = """
import socket, sys
address, port, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
SO_RCVBUFFORCE = 33
receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
receiver.bind((address, port))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(count):
    sender.sendto(b"x" * size, (address, port))
"""
# To ports that nobody has: each is a connection of its own.
MANY = """
import socket, sys
for port in range(8000, 8000 + int(sys.argv[1])):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))
    except OSError:
        pass
"""
SLEEPER = """
import socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
receiver.bind(("127.0.0.1", 7004))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[1])):
    sender.sendto(b"x" * 1000, ("127.0.0.1", 7004))
"""
LARGE_PY = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
IP_MTU_DISCOVER, IP_PMTUDISC_PROBE = 10, 3
sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
for _ in range(int(sys.argv[2])):
    try:
        sender.sendto(b"x" * 1400, (sys.argv[1], 7005))
    except OSError:
        pass
"""


def prepare(lab):
    for name, text in {"never.py": NEVER, "send.py": SEND, "many.py": MANY, "sleeper.py": SLEEPER, "large.py": LARGE_PY}.items():
        (lab.work / name).write_text(text)
    lab.chroot(["sh", "-c", "mkdir -p /lab/work/debs/partial /lab/work/sos && apt-get -qq update && cd /lab/work/debs && "
                f"for package in {' '.join(PACKAGES)}; do apt-get -qq download $package || true; done && "
                "for package in *.deb; do dpkg -x $package ../sos; done && cd .. && rm -r debs"], scratch=True)
    for name, (plant, _) in PROBLEMS.items():
        lab.boot(SCRIPT.format(name=name, plant=plant), TIMEOUT, cpus=2 if name == "backlog" else None)


def check(lab):
    reports = {name: json.loads(lab.stapgen(["report", f"/lab/work/{name}/sos.tar.gz", "--json"]).stdout) for name in PROBLEMS}
    for name, report in reports.items():
        found = {finding["name"]: finding["count"] for finding in report["findings"]}
        print(f"{lab.suite} {name}: {found}, {report['files']}")
    for name, (_, expected) in PROBLEMS.items():
        assert {finding["name"] for finding in reports[name]["findings"]} == expected, name
        assert reports[name]["release"] == lab.release, reports[name]["release"]
