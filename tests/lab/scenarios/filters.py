# SPDX-License-Identifier: GPL-2.0-or-later
"""Every filter of the three latency recipes, by traffic of which each packet is known.

All filters of a recipe measure the same traffic at the same time, each in a module of its own. left0 holds packets for
3 ms and a loop keeps the CPU busy, so that packets arrive while something else runs: its name must not show.
"""

import collections

from lablib.events import Trace

DESCRIPTION = "each filter of rx-, tx- and sock-latency: exactly what matches is reported, with its device, the rest filtered"
IN_CI = ("trixie",)
APPEND = "threadirqs maxcpus=1"
BUILD = {"rx": ["rx-latency"], "tx": ["tx-latency"], "sock": ["sock-latency"]}

Flow = collections.namedtuple("Flow", "address requests connections options reader sender program netns",
                              defaults=("", "serve", "serve", "serve", ""))
# A name that would end a field, a text or an escape, and the program of that name as the shell has it.
HOSTILE = 'h "\t\\é'
HOSTILE_PROGRAM = r"""$'/tmp/h "\t\\\303\251'"""

# by port
FLOWS = {
    7501: Flow("127.0.0.1", 11, 1),
    7502: Flow("127.0.0.2", 17, 3, "--threads per-connection", "serve-conn", "serve-conn"),
    7503: Flow("::1", 13, 2, "--family 6"),
    7504: Flow("10.9.0.2", 7, 1, netns="right"),
    7505: Flow("fd09::2", 5, 1, "--family 6", netns="right"),
    7506: Flow("127.0.0.1", 19, 2, "--udp --write sendto"),
    7507: Flow("127.0.0.1", 23, 1, "", "two words", "two words", "/tmp/two\\ words"),
    7508: Flow("127.0.0.1", 29, 1, "", "fifteen-letters", "fifteen-letters", "/tmp/fifteen-letters"),
    7509: Flow("127.0.0.1", 31, 1, "--reply-thread", "serve", "replier"),
    7510: Flow("127.0.0.1", 37, 1, "", HOSTILE, HOSTILE, HOSTILE_PROGRAM),
}
CLIENT = "ask-conn"


def thread_of(recipe, port, side):
    """Return the name of the thread whose call a packet of a flow is told of."""
    if side == "client":
        return CLIENT
    return FLOWS[port].sender if recipe == "tx" else FLOWS[port].reader


def device_of(port, side):
    """Return the device by which a side of a flow receives and sends."""
    if not FLOWS[port].netns:
        return "lo"
    return "right0" if side == "server" else "left0"


def named(name):
    return lambda recipe, port, side: thread_of(recipe, port, side) == name


def of_server(wanted, name=None):
    return lambda recipe, port, side: (
        side == "server" and port == wanted and name in (None, thread_of(recipe, port, side)))


def addressed(*starts):
    return lambda recipe, port, side: FLOWS[port].address.startswith(starts)


def over_lo(recipe, port, side):
    return not FLOWS[port].netns


def at_left0(recipe, port, side):
    """The clients' end of the veth."""
    return FLOWS[port].netns and side == "client"


def nothing(recipe, port, side):
    return False


# name -> options, and what matches them
THREADS = {
    "tid": ("-x $SERVER_7501", of_server(7501)),
    "tid-second": ("-x $REPLIER", of_server(7509, "replier")),
    "tid-other": ("-x $SERVER_7502", nothing),  # it accepts, and its threads do the rest
    "pid": ("-p $SERVER_7502", of_server(7502)),
    "pid-other": ("-p 1", nothing),
    "comm": ("--comm serve", named("serve")),
    "comm-later": ("--comm serve-conn", named("serve-conn")),
    "comm-client": (f"--comm {CLIENT}", named(CLIENT)),
    "comm-blank": ("--comm 'two words'", named("two words")),
    "comm-15": ("--comm fifteen-letters", named("fifteen-letters")),
    "comm-14": ("--comm fifteen-letter", nothing),
}
PACKETS = {
    "port": ("--port 7508", lambda recipe, port, side: port == 7508),
    "port-other": ("--port 7599", nothing),
    "filter": ("--filter 'tcp port 7508 or udp'", lambda recipe, port, side: port in (7506, 7508)),
    "filter-not": ("--filter 'not portrange 7501-7509'", lambda recipe, port, side: port == 7510),
    "filter-net": ("--filter 'net 127.0.0.0/8 or host ::1' --port 7503", lambda recipe, port, side: port == 7503),
    "addr": ("--addr 127.0.0.2", addressed("127.0.0.2")),
    "addr-other": ("--addr 127.0.0.3", nothing),
    "addr-range": ("--addr 10.9.0.0/30", addressed("10.9.")),
    "addr-range-other": ("--addr 10.9.0.4/30", nothing),
    "addr6": ("--addr ::1", addressed("::1")),
    "addr6-other": ("--addr ::2", nothing),
    "addr6-range": ("--addr fd09::/64", addressed("fd09:")),
    "addr6-range-other": ("--addr fd09:0:0:1::/64", nothing),
    "dev-lo": ("--dev lo", over_lo),
    "dev-veth": ("--dev left0", at_left0),
    "dev-other": ("--dev left", nothing),
    # Each of the two alone matches more.
    "both": ("--port 7502 --comm ask-conn", lambda recipe, port, side: (port, side) == (7502, "client")),
    "none": ("", lambda recipe, port, side: True),
}
FILTERS = THREADS | PACKETS


# A load takes a second: what an option means is tried with one recipe, and with the others that each has it.
IN_EACH = ("tid-second", "pid", "comm-later", "filter-net", "dev-veth", "both", "none")


def filters(recipe):
    """Return the filters to try with RECIPE."""
    return {name: filter_ for name, filter_ in FILTERS.items() if recipe == "rx" or name in IN_EACH}


SETUP = f"""
make_pair || exit 1
ip netns exec left tc qdisc add dev left0 root netem delay 3ms || exit 1
cp /lab/traffic/serve '/tmp/two words'
cp /lab/traffic/serve /tmp/fifteen-letters
cp /lab/traffic/serve {HOSTILE_PROGRAM}
cp /bin/bash /tmp/busy-loop
"""

BUSY = """
nice -n 19 /tmp/busy-loop -c 'while :; do :; done' &
BUSY=$!
"""


def guest():
    script = [SETUP]
    for port, flow in FLOWS.items():
        netns = "NETNS=right" if flow.netns else ""
        script += [f"{netns} start_ready {flow.program} --port {port} {flow.options} || exit 1",
                   f"SERVER_{port}=$READY_PID"]
    script.append("REPLIER=$(thread_id $SERVER_7509 replier) || exit 1")
    for recipe in BUILD:
        names = [f"{recipe}.{name}" for name in filters(recipe)]
        script += [f"begin_record {recipe}.{name} {recipe} {options}" for name, (options, _) in filters(recipe).items()]
        script += [f"for name in {' '.join(names)}; do wait_traced $name.err || exit 1; done", BUSY]
        for port, flow in FLOWS.items():
            netns, udp = "ip netns exec left" if flow.netns else "", " --udp" * ("--udp" in flow.options)
            script.append(f"{netns} ask --port {port} --address {flow.address} --requests {flow.requests} "
                          f"--connections {flow.connections}{udp} || exit 1")
        script += ["kill $BUSY", f"end_records {' '.join(names)}"]
    return "\n".join([*script, "finish"])


GUEST = guest()


def traffic(recipe):
    """Return what there is to report, by port and side."""
    known = {}
    for port, flow in FLOWS.items():
        known[port, "server"] = known[port, "client"] = flow.requests
        if recipe == "sock":
            known[port, "client"] -= flow.connections  # nothing is sent after the last reply
    return known


def check_filter(lab, recipe, name, matches):
    trace = Trace(lab, f"{recipe}.{name}")
    expected = {key: count for key, count in traffic(recipe).items() if count and matches(recipe, *key)}
    counts = collections.Counter()
    for event in trace.events:
        local, remote = (int(event[end].rsplit(":")[-1]) for end in ("local", "remote"))
        key = (local, "server") if local in FLOWS else (remote, "client")
        assert event["comm"] == thread_of(recipe, *key), event
        assert event["dev"] == device_of(*key), event
        counts[key] += 1
    assert counts == expected, f"{trace.name}: {counts}, expected {expected}"
    if name == "none":
        return
    account = trace.accounting
    if recipe == "sock" and name in PACKETS:
        assert account["other"]["segments-filtered"] > 0
    else:
        assert account["filtered"] > 0
    if not expected:
        assert account["seen"] == account["filtered"]
    elif recipe != "sock":
        assert account["incomplete"] == 0


def check(lab):
    for recipe in BUILD:
        for name, (_, matches) in filters(recipe).items():
            check_filter(lab, recipe, name, matches)
    assert lab.read("modules-left").strip() == "0"
