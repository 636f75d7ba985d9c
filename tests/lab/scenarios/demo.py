# SPDX-License-Identifier: GPL-2.0-or-later
"""What ./run-demo shows: stapgen on a machine with its own SystemTap, a real memcached under memcslap."""

import concurrent.futures
import re

from lablib.common import doing

DESCRIPTION = "./run-demo: the main job on a real memcached, as a user would type it"
LIVE = True
ALONE = "it is shown as it runs"
IN_CI = ("trixie",)
# So that the kernel's table of symbols, by which stapgen knows a kept module, is that of the chroot.
APPEND = "nokaslr threadirqs"
ECHO = True  # tables are shown as they come
TRAFFIC = False
RECIPES = [["rx-latency"], ["sock-latency"], ["dropwatch", "--interval", "5"]]

GUEST = r"""
start_memcached || exit 1
load() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=1009 --test=get; }
refused() {
    for i in $(seq 17); do nc -z -w1 127.0.0.1 9; done
    for i in $(seq 23); do echo x >/dev/udp/127.0.0.1/9; done
}

# show TRAFFIC COMMAND...: run the command as typed, with the traffic once it measures, then Ctrl-C. A workaround that is
# already on the screen is not shown again.
touch workarounds
show() {
    local traffic=$1
    shift
    rm -f err   # or wait_traced might read the last one's
    printf '\n$ %s\n' "$*" | tee -a shown
    "$@" >out 2>err &
    local tracer=$!
    wait_traced err || exit 1
    $traffic >traffic 2>&1
    sleep 1
    kill -INT $tracer
    wait $tracer || { cat err; exit 1; }
    grep -vxFf workarounds err | cat - out | tee -a shown
    grep '^stapgen: workaround: ' err >>workarounds
}

show load stapgen rx-latency --target-tid $MC_TID
show load stapgen sock-latency --comm mc-worker
show refused stapgen dropwatch --interval 5
finish
"""


def prepare(lab):
    # Emulated, stap takes minutes: what the guest's stapgen will ask for is put into its cache here.
    def keep(recipe):
        lab.stapgen(["build", *recipe, "-r", lab.release, "--symbols", lab.symbols, "-o", f"/lab/work/{recipe[0]}.ko"])

    what = f"compiling {', '.join(recipe[0] for recipe in RECIPES)} for {lab.release} with SystemTap {lab.stap}"
    print(what, flush=True)
    with doing("compiling"), concurrent.futures.ThreadPoolExecutor() as pool:
        keep(RECIPES[0])  # and with it what all share
        list(pool.map(keep, RECIPES[1:]))
    print("booting a virtual machine and measuring in it; its clock advances 1 ns per instruction", flush=True)


def read_rows(shown):
    """Return {stage or value: {column: text}} of the tables; one that would be too wide leaves out MIN."""
    rows, columns = {}, []
    for words in map(str.split, shown.splitlines()):
        if words[:1] in (["STAGE"], ["VALUE"]):
            columns = words[words.index("N"):]
        elif columns and len(words) > len(columns):
            rows.setdefault(words[0], dict(zip(columns, words[1:])))
    return rows


def check(lab):
    shown = lab.read("shown")
    assert "stap pass" not in shown, "what was compiled for the guest is not what it asked for"
    told = re.findall("^stapgen: workaround: .*", shown, re.M)
    assert told and len(set(told)) == len(told), told
    rows = read_rows(shown)
    # memcslap writes what it will read, and says goodbye: so many packets, replies, and each segment of a reply is seen too.
    for stage in ("drv-ip", "ip-tcp", "tcp-app"):
        assert rows[stage]["N"] == "2019", rows[stage]
    for stage in ("rx", "tcpip_rx", "epoll", "wait", "read", "app", "tx", "total", "epoll_events"):
        assert rows[stage]["N"] == "2018", rows[stage]
    for stage in ("drv-ip", "ip-tcp", "rx"):
        # In the longest there may be a timer's interrupt, and while the guest waits for its disk its clock leaps.
        same = {rows[stage][column] for column in ("MIN", "P50", "P90", "P99") if column in rows[stage]}
        assert len(same) == 1, f"on the counting clock {stage} is the same for each packet: {rows[stage]}"
        assert 0.4 < float(rows[stage]["P50"]) < 1.3, rows[stage]
    accounts = [re.sub(r"tid \d+", "tid TID", account) for account in re.findall(r"^\d+ seen = .*$", shown, re.M)]
    assert accounts == ["4037 seen = 2019 reported + 2018 filtered (--target-tid TID) + 0 incomplete + 0 lost",
                        "4037 seen = 2018 reported + 2018 filtered (--comm mc-worker) + 1 incomplete (no-reply 1) + 0 lost",
                        "74 seen = 74 reported + 0 filtered + 0 incomplete + 0 lost"], accounts
    drops = {words[0]: words[2:] for words in map(str.split, shown.splitlines()) if len(words) > 2 and "+0x" in words[1]}
    assert sorted(drops) == ["17", "23", "34"] and drops["17"] == drops["23"] == ["NO_SOCKET"], drops
    assert lab.read("modules-left").strip() == "0"
