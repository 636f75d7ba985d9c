"""What ./run-demo shows: stapgen on a machine with its own SystemTap, a real memcached under memcslap."""

import re

DESCRIPTION = "./run-demo: the main job on a real memcached, as a user would type it"
IN_CI = ("trixie",)

GUEST = r"""
start_memcached || exit 1
load() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=1009 --test=get; }
refused() {
    for i in $(seq 17); do nc -z -w1 127.0.0.1 9; done
    for i in $(seq 23); do echo x >/dev/udp/127.0.0.1/9; done
}

# show TRAFFIC COMMAND...: run the command as typed, with the traffic once it measures, then Ctrl-C.
show() {
    local traffic=$1
    shift
    rm -f err   # or wait_traced might read the last one's
    echo "\$ $*" >>shown
    "$@" >out 2>err &
    local tracer=$!
    wait_traced err || { cat err; exit 1; }
    $traffic >traffic 2>&1
    sleep 1
    kill -INT $tracer
    wait $tracer || { cat err; exit 1; }
    cat err out >>shown
    echo >>shown
}

show load stapgen rx-latency --target-tid $MC_TID
show load stapgen sock-latency --comm mc-worker
show refused stapgen dropwatch --interval 5
finish
"""


def prepare(lab):
    # Emulated compiling takes minutes: what the guest's stap will ask for is put into its cache here.
    for recipe in (["rx-latency"], ["sock-latency"], ["dropwatch", "--interval", "5"]):
        print(f"compiling {recipe[0]} for {lab.release} with SystemTap {lab.stap} ...", flush=True)
        lab.stapgen(["build", *recipe, "-r", lab.release, "--symbols", lab.symbols, "-o", "/lab/work/warm.ko"])
    print("booting a virtual machine and measuring in it (about a minute) ...", flush=True)


def check(lab):
    shown = lab.read("shown")
    print("\n" + shown)
    stages = re.findall(r"^([a-z_-]+) +(\d+) +[\d.]+", shown, re.M)
    names = [name for name, _ in stages]
    for stage in ("drv-ip", "ip-tcp", "tcp-app", "rx", "tcpip_rx", "epoll", "wait", "read", "app", "tx", "total"):
        assert stage in names, f"no stage {stage}"
    assert all(int(n) > 1000 for name, n in stages if name != "epoll_events"), stages
    assert re.search(r"^ *17 tcp_v4_rcv\S* +NO_SOCKET", shown, re.M), "17 refused connections"
    assert re.search(r"^ *23 \S*udp\S* +NO_SOCKET", shown, re.M), "23 datagrams to a closed port"
    assert lab.read("modules-left").strip() == "0"
