# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes samples/own-*: what the modules of three recipes print, as staprun hands it on."""

from lablib.captures import keep

DESCRIPTION = "makes samples/own-*.txt: raw recordings of rx-latency, sock-latency and dropwatch"
BUILD = {"rx": ["rx-latency"], "sock": ["sock-latency"], "drops": ["dropwatch", "--interval", "3"]}

GUEST = r"""
# record NAME MODULE COMMAND...: keep what MODULE prints while COMMAND runs. staprun wants a module's own name.
record() {
    local name=$1 module=/tmp/$(modinfo -F name $2.ko).ko
    cp $2.ko $module
    shift 2
    staprun -R $module >/tmp/$name.txt 2>$name.err &
    local tracer=$!
    wait_for "grep -q ^ready /tmp/$name.txt" || exit 1
    "$@" >$name.traffic || exit 1
    sleep 1
    kill -INT $tracer
    wait $tracer
}
gets() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=$1 --test=get; }
losses() {
    drops full-buffer 211 || return
    sleep 4
    drops bad-checksum 107 && drops refused 109 || return
    sleep 4
    drops unreachable 61
}
start_memcached || exit 1
record own-rx-latency rx gets 127
record own-sock-latency sock gets 101
record own-dropwatch drops losses
finish /tmp/own-*.txt
"""


def check(lab):
    keep(lab, ["own-rx-latency.txt", "own-sock-latency.txt", "own-dropwatch.txt"])
