# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose packets: network namespaces with the same addresses and ports, and containers as four runtimes lay them out.

The containers are processes in cgroups and namespaces as docker, podman, containerd and CRI-O make them, with these runtimes'
files in their places; no runtime runs. All send to 127.0.0.1 and to the same ports.
"""

import json

from lablib.events import read_printed, read_report
from lablib.talk import CLOSED_PORT, TALK, by_group, dropped

DESCRIPTION = "--netns, --cgroup, --container, --pod and --by in four recipes: same addresses and ports, told apart, and named later elsewhere"
LIVE = True
ALONE = "it tells of the host's own network namespace"
IN_CI = ("trixie",)
TIMEOUT = 1800
BUILD = {"drops": ["dropwatch", "--by", "netns,container,cgroup,port,dev,protocol"], "rx": ["rx-latency", "--by", "netns,container,cgroup"],
         "tx": ["tx-latency", "--by", "container"], "accept": ["accept-latency", "--by", "netns,container"]}

POD = "0f2c4b9a_1d3e_4f5a_8b7c_9d0e1f2a3b4c"
AGENTS_POD = "77777777_1d3e_4f5a_8b7c_9d0e1f2a3b4c"
IDS = {name: digit * 64 for name, digit in zip(("web", "cache", "nginx", "agent"), "abcd")}
CGROUPS = {
    "web": f"/system.slice/docker-{IDS['web']}.scope",
    "cache": f"/machine.slice/libpod-{IDS['cache']}.scope/container",
    "nginx": f"/kubepods.slice/kubepods-pod{POD}.slice/cri-containerd-{IDS['nginx']}.scope",
    "agent": f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{AGENTS_POD}.slice/crio-{IDS['agent']}.scope",
    "plain": "/system.slice/plain.service",
}
SHOWN = {"web": "web", "cache": "cache", "nginx": "prod/shop-7/nginx", "agent": "ops/agent-1/agent", "plain": CGROUPS["plain"]}
NETNS = {"web": "red", "cache": "blue", "nginx": "cni-4f2a", "agent": "host", "plain": "host"}
NETNS_SHOWN = {"red": "red", "blue": "blue", "cni-4f2a": "prod/shop-7", "host": "host"}
FILES = {
    f"/var/lib/docker/containers/{IDS['web']}/config.v2.json": '{"Name":"/web"}',
    "/var/lib/containers/storage/overlay-containers/volatile-containers.json":
        f'[{{"id":"{IDS["cache"]}","names":["cache"]}}]',
    f"/run/containerd/io.containerd.runtime.v2.task/k8s.io/{IDS['nginx']}/config.json":
        '{"annotations":{"io.kubernetes.cri.container-name":"nginx","io.kubernetes.cri.sandbox-name":"shop-7",'
        '"io.kubernetes.cri.sandbox-namespace":"prod"}}',
    f"/var/log/containers/agent-1_ops_agent-{IDS['agent']}.log": "",
}

# Datagrams that each receives, that each sends to a port where nobody listens, and connections that each accepts.
RECEIVED = {"web": 101, "cache": 103, "nginx": 107, "agent": 109, "plain": 113}
CLOSED = {"web": 211, "cache": 223, "nginx": 227, "agent": 229, "plain": 233}
ACCEPTED = {"web": 13, "cache": 17, "nginx": 19, "agent": 23, "plain": 29}
HOSTS = ("agent", "plain")

# Each of the host's has a port of its own; the others have the same.
PORTS = {"web": 7300, "cache": 7300, "nginx": 7300, "agent": 7301, "plain": 7302}
RUNS = {
    # name -> module, options
    "drops-all": ("drops", "--by netns"),
    "drops-of": ("drops", "--by container,port,protocol,dev"),
    "drops-red": ("drops", "--by none --netns red"),
    "drops-web": ("drops", "--by none --container web"),
    "drops-pod": ("drops", "--by none --pod shop-7"),
    "drops-agent": ("drops", f"--by none --cgroup {CGROUPS['agent']}"),
    "rx-netns": ("rx", "--by netns"),
    "rx-container": ("rx", "--by container"),
    "rx-cgroup": ("rx", "--by cgroup"),
    "rx-blue": ("rx", "--by none --netns blue"),
    "rx-agent": ("rx", "--by none --container agent"),
    "rx-plain": ("rx", f"--by none --cgroup {CGROUPS['plain']}"),
    "rx-pod": ("rx", "--by none --pod prod/shop-7"),
    "rx-inside": ("rx", "--by none --container web -p 1"),
    "tx-container": ("tx", "--by container"),
    "tx-cache": ("tx", f"--by none --container {IDS['cache'][:12]}"),
    "accept-container": ("accept", "--by container"),
    "accept-web": ("accept", "--by none --container web"),
}
GROUP = 9
# What the run itself says of this one is what its recording says.
LIVE = "rx-container"


def guest():
    script = [r"""
mount -t cgroup2 none /sys/fs/cgroup || exit 1
in_cgroup() { exec bash -c 'echo $$ >/sys/fs/cgroup$0/cgroup.procs && exec "$@"' "$@"; }
"""]
    script += [f"ip netns add {netns} && ip -n {netns} link set lo up || exit 1" for netns in sorted(set(NETNS.values()) - {"host"})]
    for path, text in FILES.items():
        script.append(f"mkdir -p {path.rsplit('/', 1)[0]} && echo '{text}' >{path} || exit 1")
    script += [f"mkdir -p /sys/fs/cgroup{path} || exit 1" for path in CGROUPS.values()]
    every = list(RUNS)
    for at in range(0, len(every), GROUP):
        script.append("rm -f go; TALKERS=")
        for name, cgroup in CGROUPS.items():
            where = "" if NETNS[name] == "host" else f"ip netns exec {NETNS[name]} "
            unshare = "unshare -pf --kill-child " if name == "web" else ""
            script.append(f"start_ready in_cgroup {cgroup} {where}{unshare}python3 talk.py {PORTS[name]} {RECEIVED[name]} "
                          f"{CLOSED[name]} {ACCEPTED[name]} || exit 1\nTALKERS=\"$TALKERS $READY_PID\"; OUT_{name}=$READY_OUTPUT")
        group = every[at:at + GROUP]
        for name in group:
            module, options = RUNS[name]
            if name == LIVE:
                script.append(f"begin_report {name} json {module} {options} -s 1MiB --format json -o {name}.rec")
            else:
                script.append(f"begin_record {name} {module} {options} -s 1MiB")
        script.append(f"for name in {' '.join(group)}; do wait_traced $name.err || exit 1; done\ntouch go")
        script += [f"wait_for 'grep -q done $OUT_{name}' || {{ cat $OUT_{name}; exit 1; }}" for name in CGROUPS]
        script += [f"end_records {' '.join(group)}", "kill -KILL $TALKERS; wait $TALKERS"]
    script += ["for netns in red blue cni-4f2a; do ip netns delete $netns; done",
               "rm -rf /var/lib/docker /var/lib/containers /run/containerd /var/log/containers",
               "umount /sys/fs/cgroup",
               "stapgen exec drops.ko --container wbe >wrong.txt 2>&1", "echo $? >>wrong.txt", "finish"]
    return "\n".join(script)


GUEST = guest()


def prepare(lab):
    (lab.work / "talk.py").write_text(TALK)


def check(lab):
    def expect(name, found, expected):
        assert found == expected, f"{name}: {found}, expected {expected}"

    def of(name):
        # All are asked for what the run was asked for.
        report = read_report(lab, name, *RUNS[name][1].split()[:2])
        account = report["accounting"]
        print(f"{lab.suite} {name}: {account['seen']} seen = {account['reported']} reported + {account['filtered']} filtered + "
              f"{account['incomplete']} incomplete")
        assert account["lost"] == 0, account
        return report

    hosts_closed = sum(CLOSED[name] for name in HOSTS)
    expect("drops-all", dropped(of("drops-all")),
           {**{NETNS_SHOWN[NETNS[name]]: n for name, n in CLOSED.items() if name not in HOSTS}, "host": hosts_closed})
    # A datagram that nobody wants has no socket: its container is known by its namespace alone.
    by_container = {"web": CLOSED["web"], "cache": CLOSED["cache"], "prod/shop-7": CLOSED["nginx"], "host": hosts_closed}
    alone = {"port": CLOSED_PORT, "protocol": "udp", "dev": "lo"}
    expect("drops-of", dropped(of("drops-of"), **alone), by_container)
    for name, n in (("drops-red", CLOSED["web"]), ("drops-web", CLOSED["web"]), ("drops-pod", CLOSED["nginx"]), ("drops-agent", 0)):
        expect(name, sum(dropped(of(name)).values()), n)

    def received(name, key):
        return {value: n for value, n in by_group(of(name), key, "udp-app").items()}

    hosts_received = sum(RECEIVED[name] for name in HOSTS)
    expect("rx-netns", received("rx-netns", "netns"),
           {**{NETNS_SHOWN[NETNS[name]]: n for name, n in RECEIVED.items() if name not in HOSTS}, "host": hosts_received})
    expect("rx-container", received("rx-container", "container"), {SHOWN[name]: n for name, n in RECEIVED.items()})
    expect("rx-cgroup", received("rx-cgroup", "cgroup"), {CGROUPS[name]: n for name, n in RECEIVED.items()})
    for name, who in (("rx-blue", "cache"), ("rx-agent", "agent"), ("rx-plain", "plain"), ("rx-pod", "nginx"), ("rx-inside", "web")):
        report = of(name)
        whole = next(row for row in report["stages"] if row["stage"] == "udp-app" and not row["group"])
        expect(name, whole["n"], RECEIVED[who])
        others = sum(RECEIVED.values()) - RECEIVED[who]
        assert report["accounting"]["filtered"] >= others, report["accounting"]
    sent = {SHOWN[name]: RECEIVED[name] + CLOSED[name] for name in CGROUPS}
    expect("tx-container", by_group(of("tx-container"), "container", "app-udp"), sent)
    cache = next(row for row in of("tx-cache")["stages"] if row["stage"] == "app-udp" and not row["group"])
    expect("tx-cache", cache["n"], sent["cache"])
    expect("accept-container", by_group(of("accept-container"), "container", "handshake"), {SHOWN[name]: n for name, n in ACCEPTED.items()})
    web = next(row for row in of("accept-web")["stages"] if row["stage"] == "handshake" and not row["group"])
    expect("accept-web", web["n"], ACCEPTED["web"])

    assert read_printed(lab, LIVE) == of(LIVE)
    by_container_alone = read_report(lab, "drops-of", "--by", "container")
    expect("drops-of --by container", dropped(by_container_alone), by_container)
    wrong = lab.read("wrong.txt")
    assert "--container wbe: no such container runs here" in wrong and wrong.rstrip().endswith("2"), wrong
    assert lab.read("modules-left").strip() == "0"
