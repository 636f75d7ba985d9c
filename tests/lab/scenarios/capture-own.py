"""Makes samples/own-*: what the modules of three recipes print, as staprun hands it on."""

from lablib.captures import keep

DESCRIPTION = "makes samples/own-*.txt: raw recordings of rx-latency, sock-latency and dropwatch"
BUILD = {"rx": ["rx-latency"], "sock": ["sock-latency"], "drops": ["dropwatch", "--interval", "3"]}

GUEST = r"""
# record NAME MODULE COMMAND...: keep what MODULE prints while COMMAND runs.
record() {
    local name=$1 module=$2
    shift 2
    staprun -R $module.ko >$name.txt 2>$name.err &
    local tracer=$!
    wait_for "grep -q ^ready $name.txt" || exit 1
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
record own-rx-latency rx gets 307
record own-sock-latency sock gets 211
record own-dropwatch drops losses
finish
"""


def check(lab):
    keep(lab, ["own-rx-latency.txt", "own-sock-latency.txt", "own-dropwatch.txt"])
