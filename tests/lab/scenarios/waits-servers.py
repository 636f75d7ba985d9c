# SPDX-License-Identifier: GPL-2.0-or-later
"""What the packets of Debian's own servers wait for: how many are not divided, and that all add up."""

import collections

from lablib.waits import Waits, check_aggregated

DESCRIPTION = "memcached, redis and nginx under load: each packet's waits add up, and next to all are divided"
IN_CI = ()
TIMEOUT = 1200
WAYS = {"received": ("rx-latency", ("tcp-app", "udp-app")), "sent": ("tx-latency", ("app-tcp",))}
BUILD = {f"{way}{more}": [recipe, *options] for way, (recipe, _) in WAYS.items()
         for more, options in {"": [], "-sums": ["--aggregate"]}.items()} | {"both-sums": ["net-latency", "--aggregate"]}
SERVERS = {11211: "memcached", 6379: "redis", 8080: "nginx"}
UNDIVIDED = 0.02

GUEST = r"""
start_memcached -t 4 || exit 1
start_redis || exit 1
start_nginx || exit 1
traffic() {
    memcslap --servers=127.0.0.1:11211 --concurrency=7 --execute-number=151 --test=get || exit 1
    redis-benchmark -c 11 -n 1009 -t set,get -q || exit 1
    redis-benchmark -c 3 -P 16 -n 1009 -t get -q || exit 1
    ab -q -k -n 503 -c 5 http://127.0.0.1:8080/file >/dev/null || exit 1
    ab -q -n 101 -c 5 http://127.0.0.1:8080/small >/dev/null || exit 1
}
for way in received sent received-sums sent-sums both-sums; do
    record $way $way || exit 1
    traffic
    end_records $way
done
finish
"""


def check(lab):
    for way, (_, stages) in WAYS.items():
        waits = Waits(lab, way, "local", stages)
        groups = collections.defaultdict(list)
        for events in waits.of_port.values():
            for event in events:
                ports = [int(event[end].rsplit(":", 1)[1]) for end in ("local", "remote")]
                name = SERVERS.get(ports[0]) or f"client of {SERVERS[ports[1]]}"
                groups[name].append(event)
        for name, events in sorted(groups.items()):
            waits.say(f"{way} by {name}", events)
            undivided = sum("undivided" in event["waits"] for event in events)
            connections = len({event["remote"] for event in events} | {event["local"] for event in events}) - 1
            print(f"  not divided: {undivided} of {len(events)}, {connections} connections")
            # The first packet of a connection, where its thread has read nothing before.
            assert undivided <= UNDIVIDED * len(events), f"{name}: {undivided} of {len(events)} are not divided"
    for way, stages in {**{way: stages for way, (_, stages) in WAYS.items()}, "both": ("tcp-app", "udp-app", "app-tcp")}.items():
        sums = check_aggregated(lab.read_recording(f"{way}-sums.rec"), stages)
        print(f"{lab.suite} {way}, aggregated: " + " ".join(f"{field} {ns / 1e6:.3f}" for field, ns in sums.most_common()))
        assert all(sums[stage] for stage in stages if stage != "udp-app"), sums
    assert lab.read("modules-left").strip() == "0"
