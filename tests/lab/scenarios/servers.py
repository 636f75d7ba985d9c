# SPDX-License-Identifier: GPL-2.0-or-later
"""Real servers: the requests that they count themselves are sock-latency's."""

import collections
import re

from lablib.events import Trace, check_sums

DESCRIPTION = "memcached, redis (seven clients, pipelines, I/O threads) and nginx counted as many requests as sock-latency"
IN_CI = ("trixie",)
BUILD = {"sock": ["sock-latency"]}

REQUESTS, MEMCACHED_REQUESTS = 1009, 10007

GUEST = r"""
redis() {
    local name=$1
    shift
    redis-cli config resetstat >/dev/null
    record $name sock -p $REDIS_PID || exit 1
    redis-benchmark -q -n 1009 -t set "$@" || exit 1
    end_records $name
    redis-cli info commandstats | tr -d '\r' >$name.stats
}
requests() { printf 'GET /status HTTP/1.0\r\n\r\n' | nc 127.0.0.1 8080 | awk '/server accepts/ {getline; print $3}'; }
ask_nginx() {
    local before=$(requests)
    record $1 sock --comm nginx || exit 1
    ab -q -k -n 1009 -c 1 http://127.0.0.1:8080/$2 >$1.ab || exit 1
    end_records $1
    echo $(($(requests) - before - 1)) >$1.stats
}

start_memcached || exit 1
record memcached sock --comm mc-worker || exit 1
memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=10007 --test=set || exit 1
end_records memcached
printf 'stats\r\nquit\r\n' | nc 127.0.0.1 11211 | tr -d '\r' >memcached.stats
kill $MC_PID

start_redis || exit 1
redis redis -c 1
redis redis-7 -c 7
redis redis-pipelined -c 1 -P 16
kill $REDIS_PID
wait $REDIS_PID
start_redis --io-threads 2 --io-threads-do-reads yes || exit 1
redis redis-threads -c 7
kill $REDIS_PID

start_nginx || exit 1
ask_nginx nginx-small small
ask_nginx nginx-file file
kill $NGINX_MASTER
finish
"""


def load(lab, name):
    """Return the trace NAME. None of these clients sends a request before the last one's reply."""
    trace = Trace(lab, name)
    check_sums(trace.events)
    comms = dict(collections.Counter(event["comm"] for event in trace.events))
    print(f"  by thread {comms}, by connection {trace.by_connection()}")
    assert trace.accounting["other"]["joined-before-reply"] == 0
    return trace


def check_memcached(lab):
    trace = load(lab, "memcached")
    assert f"STAT cmd_set {MEMCACHED_REQUESTS}\n" in lab.read("memcached.stats"), lab.read("memcached.stats")
    trace.expect(len(trace.events), MEMCACHED_REQUESTS)
    # memcslap's "quit" is read and not answered.
    trace.expect(trace.accounting["incomplete_by"]["no-reply"], 1)


def check_redis(lab):
    for name, connections, pipeline in (("redis", 1, 1), ("redis-7", 7, 1), ("redis-pipelined", 1, 16),
                                        ("redis-threads", 7, 1)):
        trace = load(lab, name)
        stats = dict(re.findall(r"^cmdstat_([^:]+):calls=(\d+)", lab.read(f"{name}.stats"), re.M))
        sets = int(stats["set"])
        print(f"  redis counted {sets} sets, which came {pipeline} at a time")
        # What comes together, is read together and is answered together is one request.
        assert sets == -(-REQUESTS // pipeline) * pipeline, sets
        # Before it measures, redis-benchmark asks for two settings at once, in a connection of its own.
        settings, *others = trace.by_connection()
        assert settings == 1 and stats["config|get"] == "2" and len(others) == connections
        trace.expect(sum(others), sets // pipeline)


def check_nginx(lab):
    for name in ("nginx-small", "nginx-file"):
        trace = load(lab, name)
        counted = int(lab.read(f"{name}.stats"))
        print(f"  nginx counted {counted}")
        assert counted == REQUESTS and re.search(rf"Complete requests: +{REQUESTS}$", lab.read(f"{name}.ab"), re.M)
        trace.expect(len(trace.events), counted)


def check(lab):
    check_memcached(lab)
    check_redis(lab)
    check_nginx(lab)
    assert lab.read("modules-left").strip() == "0"
