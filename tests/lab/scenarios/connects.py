# SPDX-License-Identifier: GPL-2.0-or-later
"""connect-latency against each way that a connection can end, a known number of times, as the programs saw it themselves."""

import collections
import json
import statistics

from lablib.connects import (BEFORE, LATE_MS, NETEM_MS, PENDING, PROGRAM_MS, PROGRAMS, QUEUED_MS, REFUSED, RIGHT, RIGHT6, ROWS,
                             RULES_LEFT, RULES_RIGHT, SERVERS, UNDER_WAY, UNIX)
from lablib.events import Trace, read_report
from lablib.scenario import load

DESCRIPTION = "connections of each kind, each cause of failure, none judged wrong; 9 ms are 9 ms; aggregated and served, the same"
LIVE = True
IN_CI = ("trixie",)
BUILD = {"connect": ["connect-latency"], "failed": ["connect-latency", "--failed", "--by", "netns"],
         "slow": ["connect-latency", "--slower-than", "20ms"],
         "sums": ["connect-latency", "--aggregate", load("aggregate").EVERY]}

SERVED = (7701, 7703, 7711, 7713, 7727)   # ports of what serve sees
BURST = 10007              # connections that fail as fast as they can
ROUNDS, ROUND = 17, 23     # of connections, one after the other, for compare
FAILING = 3                # of each round afterwards

# burst.py COUNT: so many are refused.
BURST_PROGRAM = """
import socket, sys
for _ in range(int(sys.argv[1])):
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.1", 7703)) == 111
"""

# steady.py COUNT: rounds of connections, COUNT of each refused, 40 ms apart.
STEADY = f"""
import socket, sys, time
server = socket.create_server(("127.0.0.1", 7761))
for i in range({ROUNDS * ROUND}):
    with socket.socket() as s:
        is_refused = i % {ROUND} < int(sys.argv[1])
        assert s.connect_ex(("127.0.0.1", 7703 if is_refused else 7761)) == ({REFUSED} if is_refused else 0)
        if not is_refused:
            server.accept()[0].close()
    time.sleep(0.04)
"""

GUEST = f"""
make_pair || exit 1
ip netns exec left tc qdisc replace dev left0 root netem delay {NETEM_MS}ms || exit 1
ip -n right link add void type dummy && ip -n right link set void up || exit 1
ip netns exec right nft -f right.nft && ip netns exec left nft -f left.nft || exit 1
ip netns exec right sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 'net.ipv4.ip_local_port_range=40000 40003' || exit 1
ip netns exec left sysctl -qw net.ipv4.tcp_syn_retries=1 net.ipv4.tcp_fastopen=3 net.ipv4.neigh.left0.mcast_solicit=1 \\
    net.ipv4.neigh.left0.retrans_time_ms=100 || exit 1
ip netns exec left sysctl -qw net.ipv4.tcp_syn_linear_timeouts=0   # from 6.5 on
ip -n left route add unreachable 192.0.2.64 && ip -n left route add prohibit 192.0.2.65 && ip -n left route add blackhole 192.0.2.66 || exit 1
NETNS=right start_ready python3 servers.py 7701 7723 7724 7731 || exit 1
NETNS=left start_ready python3 servers.py 7702 7729 7741:fast-open 7751:mptcp || exit 1
# Neighbours are known: to look one up takes as long again, an answer is delayed, too.
knows() {{
    local device=$(ip netns exec $2 cat /sys/class/net/${{2}}0/address) address
    for address in $3 $4; do ip -n $1 neighbour replace $address lladdr $device dev ${{1}}0 || exit 1; done
}}
knows left right {RIGHT} {RIGHT6}
knows right left 10.9.0.1 fd09::1
NETNS=left start_ready python3 pending.py {BEFORE} 3 || exit 1
record all connect || exit 1
record sums sums || exit 1
ip netns exec left python3 programs.py left || exit 1
ip netns exec right python3 programs.py right || exit 1
python3 programs.py unix || exit 1
sleep 20
NETNS=left start_ready python3 pending.py {UNDER_WAY} 6 || exit 1
end_records all sums
record failed failed --port 7703 || exit 1
ip netns exec left python3 programs.py left 7702 7703 || exit 1
end_records failed
record slow slow --comm wanted || exit 1
for comm in wanted other; do COMM=$comm ip netns exec left python3 programs.py left 7702 7741 || exit 1; done
end_records slow

record burst sums --filter 'tcp port 7703' || exit 1
ip netns exec left python3 burst.py {BURST} || exit 1
end_records burst

for side in before:connect:0 after:sums:{FAILING}; do
    IFS=: read -r name module failing <<<"$side"
    record $name $module --filter 'tcp portrange 7700-7799' || exit 1
    ip netns exec left python3 steady.py $failing || exit 1
    end_records $name
done

stapgen serve "sums.ko --filter 'tcp portrange 7700-7799'" 2>serve.err &
SERVE=$!
wait_for 'python3 scrape.py /-/ready text ready' || {{ cat serve.err; exit 1; }}
ip netns exec left python3 programs.py left {" ".join(map(str, SERVED))} || exit 1
wait_for 'python3 scrape.py /metrics om served.om && grep -qF "fate=\\"reported\\",cause=\\"\\"}} {sum(row.count for row in ROWS if row.place == 'left' and row.port in SERVED)}" served.om' || exit 1
kill -TERM $SERVE
wait $SERVE || exit 1
finish
"""


def prepare(lab):
    for name, text in (("programs.py", PROGRAMS), ("servers.py", SERVERS), ("pending.py", PENDING), ("right.nft", RULES_RIGHT),
                       ("left.nft", RULES_LEFT), ("burst.py", BURST_PROGRAM), ("steady.py", STEADY), ("scrape.py", load("serve").SCRAPE), ("rows.json", json.dumps([row._asdict() for row in ROWS + UNIX]))):
        (lab.work / name).write_text(text)


def remote(row):
    return f"[{row.address}]:{row.port}" if ":" in row.address else f"{row.address}:{row.port}"


def described(event):
    """Return what is known of it beside its times."""
    return event["remote"] if event["kind"] != "unix" else event["path"], event["kind"], event["mode"], event["result"], \
        event["errno"], event["syns"], event["syns-dropped"]


def check_times(events):
    """The stages are those that there must be, each as long as it must be, and mostly no longer: the guest's CPUs may be away."""
    waits = collections.defaultdict(list)
    for event in events:
        call, program, answer, failure = (event[f"{stage}_ns"] for stage in ("call", "program", "answer", "failure"))
        assert (answer is None) == (event["result"] != "established") and (failure is None) == (answer is not None), event
        assert (call is None) == (event["syns"] is None), event
        if call is not None:
            waits["call", 0, 5].append(call)
        if event["remote"].endswith(":7741") and event["mode"] == "blocking":
            waits["program", PROGRAM_MS, 5].append(program)
        else:
            assert program is None, event
        if event["remote"].endswith(":7701") and answer is not None:
            waits["delayed", NETEM_MS, 4].append(answer)
        if (event["path"], event["mode"]) == ("full", "blocking"):
            waits["queued", QUEUED_MS, 20].append(answer)
        if event["syns"] and event["syns"] > 1:
            assert (answer or failure) >= LATE_MS * 1_000_000, event
        if event["syns"] is None and event["kind"] != "unix":
            waits["at once", 0, 5].append(failure)
    assert len(waits) == 5, waits.keys()
    for (name, truth_ms, slack_ms), times in waits.items():
        assert min(times) >= truth_ms * 1_000_000, (name, sorted(times)[:3])
        assert statistics.median(times) < (truth_ms + slack_ms) * 1_000_000, (name, sorted(times))


def number(port, how=None):
    """Return how many connections to a port there are in the namespace left."""
    return sum(row.count for row in ROWS if row.port == port and how in (None, row.how))


def failures_of(rows):
    """Return {(cause, destination, path): how many}."""
    found = collections.Counter()
    for row in rows:
        if row.result != "established":
            is_unix = row.kind == "unix"
            found[row.result, "[::]:0" if is_unix else remote(row), row.address if is_unix else "-"] += row.count
    return found


def failures_in(report):
    """Return the same of a report, whose intervals are added up."""
    found = collections.Counter()
    for row in report["counts"]:
        found[row["group"]["result"], row["group"]["remote"], row["group"]["path"]] += row["count"]
    return found


def check_sums(lab, trace):
    """What was aggregated of the same connections: as many of each cause, and the percentiles of all that it saw itself."""
    aggregate = load("aggregate")
    report, records = read_report(lab, "sums"), lab.read_recording("sums.rec")
    assert report["aggregated"] and report["accounting"]["reported"] == len(trace.events), report["accounting"]
    assert report["accounting"]["other"].get("failures-evicted") == 0, report["accounting"]
    assert failures_in(report) == failures_in(trace.report), failures_in(report)
    rows = [(row["stage"], row, "_ns") for row in report["stages"]] + [(row["value"], row, "") for row in report["values"]]
    values = aggregate.records(records, [name for name, _, _ in rows])
    for name, row, suffix in rows:
        single = [event[name + suffix] for event in trace.events if event[name + suffix] is not None]
        assert len(values[name]) == len(single), (name, len(values[name]), len(single))
        aggregate.check_measure(f"sums {name}", row, values[name], suffix)
    print(f"{lab.suite} sums: {', '.join(f'{name} {len(values[name])}' for name, _, _ in rows)}")


def check_served(lab):
    """Of the ports that serve saw: established ones in a histogram, the others by cause and destination."""
    serve, rows = load("serve"), [row for row in ROWS if row.place == "left" and row.port in SERVED]
    found = serve.samples(lab, "served")
    failed = collections.Counter({tuple(dict(of)[name] for name in ("result", "remote", "path")): int(n)
                                  for (name, of), n in found.items() if name == "stapgen_counted_total"})
    assert failed == failures_of(rows), failed
    established = sum(row.count for row in rows if row.result == "established")
    for stage, n in (("answer", established), ("failure", sum(failed.values()))):
        assert serve.value(found, "stapgen_stage_seconds_count", stage=stage) == n, (stage, n)
    print(f"{lab.suite} served: {established} established, {dict(failed)}")


def check_compared(lab):
    """Printed before, aggregated after: the rise of failures is a regression, by cause."""
    before, after = ([f"{name}.rec"] for name in ("before", "after"))
    done = lab.analyse(["compare", *before, *after, "--format", "json"], check=False)
    compared = json.loads(done.stdout)
    failures = [(row["cause"], row["before"], row["after"], row["regression"]) for row in compared["failures"]]
    assert failures == [(None, 0, ROUNDS * FAILING, True), ("refused", 0, ROUNDS * FAILING, False)], failures
    assert compared["failures"][0]["after_share"] == FAILING / ROUND and compared["result"] == "regression", compared
    assert done.returncode == 3, done
    again = lab.analyse(["compare", *after, *after, "--format", "json"], check=False)
    assert again.returncode == 0 and json.loads(again.stdout)["failures"][0]["p"] == 1, again


def check(lab):
    trace = Trace(lab, "all")
    for place in ("left", "right", "unix"):
        rows = [row for row in ROWS + UNIX if row.place == place]
        for row, errors in zip(rows, json.loads(lab.read(f"{place}.truth")), strict=True):
            assert errors == [row.errno] * row.count, (row, errors)
    expected = collections.Counter()
    for row in ROWS:
        expected[remote(row), row.kind, row.mode, row.result, row.errno, row.syns, row.dropped] += row.count
    for row in UNIX:
        expected[row.address, row.kind, row.mode, row.result, row.errno, None, None] += row.count
    ours = [event for event in trace.events if event["kind"] != "unix" or event["path"] in {row.address for row in UNIX}]
    found = collections.Counter(described(event) for event in ours)
    for key in sorted(expected.keys() | found.keys(), key=str):
        if expected[key] != found[key]:
            print(f"{key}: {found[key]} of {expected[key]}")
    assert found == expected
    check_times(ours)
    account = trace.accounting
    assert account["incomplete_by"]["began-before"] == BEFORE and account["incomplete_by"]["under-way"] == UNDER_WAY, account
    assert account["incomplete"] == BEFORE + UNDER_WAY and account["lost"] == account["filtered"] == 0, account
    others = [event for event in trace.events if event not in ours and event["result"] != "established"]
    assert sum(failures_in(trace.report).values()) == sum(failures_of(ROWS + UNIX).values()) + len(others)
    assert failures_in(trace.report) >= failures_of(ROWS + UNIX), failures_in(trace.report)
    check_sums(lab, trace)
    burst = read_report(lab, "burst")
    assert burst["accounting"]["reported"] == BURST and burst["accounting"]["lost"] == 0, burst["accounting"]
    assert failures_in(burst) == {("refused", "127.0.0.1:7703", "-"): BURST}, burst["counts"]
    check_compared(lab)
    check_served(lab)
    print(f"{lab.suite}: {len(ours)} connections, none judged wrong; {len(trace.events) - len(ours)} of others")
    failed = Trace(lab, "failed")
    failed.expect(len(failed.events), number(7703))
    assert {event["result"] for event in failed.events} == {"refused"} and len({event["netns"] for event in failed.events}) == 1
    # A unix socket has no port: what others may connect is filtered, too.
    assert failed.accounting["filtered"] >= number(7702), failed.accounting
    slow = Trace(lab, "slow")
    slow.expect(len(slow.events), number(7741, "deferred"))
    assert {event["comm"] for event in slow.events} == {"wanted"}
    assert slow.accounting["filtered"] >= 2 * (number(7702) + number(7741)) - len(slow.events), slow.accounting
    assert lab.read("modules-left").strip() == "0"
