# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes samples/stage-timing* and memcached-tracker*: two old scripts on a kernel of today."""

import re
from collections import Counter

from lablib.captures import compile_script, keep

DESCRIPTION = "makes samples/stage-timing* and memcached-tracker*: DWARF needed (trixie only)"

GUEST = r"""
# begin NAME MODULE [OPTION]...: run it until end; what it and staprun print is NAME.txt and NAME.err.
begin() {
    local name=$1 module=$2
    shift 2
    staprun -R $module.ko "$@" >$name.txt 2>$name.err &
    tracer=$!
    wait_for "grep -qE 'tcp_v4_rcv|dev_hard_start_xmit' /sys/kernel/debug/kprobes/list" || exit 1
    sleep 1
}
end() {
    sleep 1
    kill -INT $tracer
    wait $tracer
}

start_memcached || exit 1
start_nginx || exit 1
start_ready serve --port 7021 || exit 1

begin stage-timing stage
ask --port 7021 --requests 127 >traffic
ab -q -k -n 31 -c 1 http://127.0.0.1:8080/file >ab
end
begin stage-timing-zones stage_zones
ask --port 7021 --requests 61 >>traffic
end

for name in tracker tracker_100us; do
    begin memcached-$name $name -x $MC_TID
    for n in 307 503 211; do
        memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=$n --test=get >>memcslap
        (sleep 0.2; printf 'stats\r\nquit\r\n') | nc 127.0.0.1 11211 | grep -E 'cmd_(get|set)' >>memcslap
        sleep 2
    done
    end
done
finish
"""


def prepare(lab):
    dwarf = [lab.debuginfo()]
    compile_script(lab, "stage-timing", "stage", [0, 0], binds=dwarf)
    # An hour between the two, as in the script's own sample output.
    compile_script(lab, "stage-timing", "stage_zones", [0, 3600], binds=dwarf)
    compile_script(lab, "memcached-tracker", "tracker_100us", [100000], binds=dwarf)
    compile_script(lab, "memcached-tracker", "tracker", [1000000], binds=dwarf)


def check(lab):
    keep(lab, ["stage-timing.txt", "stage-timing-zones.txt", "memcached-tracker.txt"])
    received = Counter(re.findall(r"\|I\| .*Proc (\S+),", lab.read("stage-timing.txt")))
    print(received)
    assert received["serve"] == received["ask-conn"] == 127 and received["nginx"] == 31, received
    received = Counter(re.findall(r"\|I\| .*Proc (\S+),", lab.read("stage-timing-zones.txt")))
    assert received["serve"] == received["ask-conn"] == 61, received
    counts = [int(count) for count in re.findall(r" count=(\d+)$", lab.read("memcached-tracker.txt"), re.M)]
    requests = int(re.findall(r"cmd_get (\d+)", lab.read("memcslap"))[2]) * 2   # memcslap sets what it gets
    print(f"{counts[-1]} of {requests} requests took less than the cut")
    assert counts == sorted(counts) and 0 < counts[-1] < requests
    assert not lab.read("memcached-tracker_100us.txt"), "none is as fast as the original's cut"
