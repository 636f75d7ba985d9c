# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests and replies of many shapes between two namespaces: large, in parts, early, late, several in flight."""

from lablib.ends import OFFSET, RECORDED, between
from lablib.events import check_ended, check_report

DESCRIPTION = "both-ends and between: 1 MB each way with and without offloads, jitter, 100-continue, streams, several in flight, MPTCP, kTLS"
IN_CI = ("trixie",)
BUILD = {"ends": ["both-ends", "--port", "7301"]}

FORTH, BACK, SERVED = 5_000_000, 2_000_000, 3_000_000
LITTLE = 600_000  # what hosts and veth take of a request beside these
LARGE, FEW, SOME, MORE = 1_048_573, 23, 53, 307
PIECES, GAP, LATE, PART_GAP = 5, 20_000_000, 4_000_000, 7_000_000
AT_ONCE = 5

# talk.py serve PORT | ask ADDRESS PORT KIND ROUNDS SIZE REPLY-SIZE: a request is a header of 64 bytes and a body, a reply is
# of zeros. It says how long its rounds took, by its own clock.
TALK = f"""
import os, socket, sys, threading, time
HEADER, SERVED = 64, {SERVED / 1e9}
def receive(peer, size):
    while size:
        got = len(peer.recv(min(size, 1 << 20)))
        if not got:
            return False
        size -= got
    return True
def header(kind, size, reply_size):
    return f"{{kind}} {{size}} {{reply_size}}".encode().ljust(HEADER)
def answer_later(peer, size):
    time.sleep(SERVED)
    peer.sendall(bytes(size))
def serve(peer):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while True:
        got = peer.recv(HEADER)
        if not got:
            return
        assert len(got) == HEADER, got
        kind, size, reply_size = got.decode().split()
        size, reply_size = int(size), int(reply_size)
        if kind == "flight":
            threading.Thread(target=answer_later, args=(peer, reply_size)).start()
            continue
        if kind in ("interim", "early"):
            peer.sendall(bytes(25))
        receive(peer, size - HEADER)
        time.sleep(SERVED)
        for piece in range({PIECES} if kind == "pieces" else 1):
            if piece:
                time.sleep({GAP / 1e9})
            peer.sendall(bytes(reply_size))
def ask(peer, kind, number, head, body, reply_size):
    if kind == "interim":
        peer.sendall(head)
        receive(peer, 25)
        peer.sendall(body)
    elif kind == "early":
        # The body is on its way before the interim line comes.
        peer.sendall(head)
        time.sleep({FORTH / 1e9} - 0.001)
        peer.sendall(body)
        receive(peer, 25)
    elif kind == "flight":
        # One alone, and several in flight by turns.
        count = {AT_ONCE} if number % 2 else 1
        for i in range(count):
            if i:
                time.sleep(0.002)
            peer.sendall(head)
        receive(peer, count * reply_size)
        return
    else:
        peer.sendall(whole)
    if kind == "late":
        time.sleep({(FORTH + SERVED + BACK + LATE) / 1e9})
    receive(peer, reply_size * ({PIECES} if kind == "pieces" else 1))
if sys.argv[1] == "serve":
    listener = socket.create_server(("::", int(sys.argv[2])), family=socket.AF_INET6, dualstack_ipv6=True)
    print("ready", flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
address, port, kind, rounds, size, reply_size = sys.argv[2:]
peer = socket.create_connection((address, int(port)))
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
times, size, reply_size = [], int(size), int(reply_size)
head, body = header(kind, size, reply_size), bytes(size - HEADER)
whole = head + body
for number in range(int(rounds)):
    began = time.monotonic_ns()
    ask(peer, kind, number, head, body, reply_size)
    times.append(time.monotonic_ns() - began)
peer.close()
print(sum(times) // len(times))
"""

GUEST = f"""
modprobe tls && make_pair || exit 1
in_left() {{ ip netns exec left "$@"; }}
in_right() {{ ip netns exec right "$@"; }}
delay_left() {{ in_left tc qdisc replace dev left0 root netem delay 5ms limit 30000 "$@"; }}
jitter_left() {{ in_left tc qdisc replace dev left0 root netem delay 5ms 1ms limit 30000; }}
offloads() {{
    for side in left right; do ip netns exec $side ethtool -K ${{side}}0 tso $1 gso $1 gro $1 || exit 1; done
    in_right ethtool -k right0 >offloads-$1
}}
delay_left && in_right tc qdisc add dev right0 root netem delay 2ms limit 30000 || exit 1
{RECORDED}
# run NAME COMMAND...: the client's, whose output is kept.
run() {{
    local name=$1
    shift
    begin_ends $name left right
    in_left "$@" >$name.said || {{ cat $name.said; exit 1; }}
    end_ends $name
}}
ask_python() {{ run $1 python3 talk.py ask ${{6:-10.9.0.2}} 7301 $2 $3 $4 $5; }}

NETNS=right start_ready serve --port 7301 --family mapped --delay-ms 3 || exit 1
run parts4 ask --port 7301 --address 10.9.0.2 --requests {SOME} --request-parts 2 --part-gap-ms {PART_GAP // 1_000_000}
run parts6 ask --port 7301 --address fd09::2 --requests {SOME} --request-parts 2 --part-gap-ms {PART_GAP // 1_000_000}
jitter_left || exit 1
run jitter ask --port 7301 --address 10.9.0.2 --requests {MORE}
delay_left || exit 1
kill $READY_PID
wait $READY_PID

NETNS=right start_ready python3 talk.py serve 7301 || exit 1
for offload in on off; do
    offloads $offload
    ask_python large-$offload-4 whole {FEW} {LARGE} {LARGE}
    ask_python large-$offload-6 whole {FEW} {LARGE} {LARGE} fd09::2
done
offloads on
ask_python late late {SOME} 101 211
ask_python pieces pieces {SOME} 101 211
ask_python interim interim {SOME} 1009 211
ask_python early early {SOME} 1009 211
ask_python early-large early {SOME} 200003 211 fd09::2
ask_python flight flight {2 * SOME} 64 211
kill $READY_PID
wait $READY_PID

for kind in mptcp ktls; do
    NETNS=right start_ready ways serve $kind read 0.0.0.0 7301 {SOME} || exit 1
    run $kind ways send $kind write 10.9.0.2 7301 {SOME}
    wait $READY_PID
done
finish
"""


def prepare(lab):
    (lab.work / "talk.py").write_text(TALK)


def counted(lab, name):
    """Return how many requests a recording has, and why not the others."""
    check_ended(lab, name)
    account = check_report(lab.report(name, "--format", "json"))["accounting"]
    named = {cause: count for cause, count in account["incomplete_by"].items() if count}
    print(f"    {name}: {account['seen']} seen, {account['reported']} reported, {named}")
    return account["reported"], named


def check_parts(lab, name, requests, little=LITTLE, **expected):
    """All requests are joined, each part takes as long as EXPECTED says, or LITTLE longer; all parts are the client's own time."""
    (result,), missing = between(lab, f"{name}-app", f"{name}-db")
    assert result["requests"] == requests and not missing, result
    assert not any(result[cause] for cause in ("client_only", "server_only", "ambiguous", "impossible")), result
    check_times(result, little, **expected)
    said = lab.read(f"{name}.said").split()
    if len(said) == 1:
        assert 0 <= int(said[0]) - sum(part["mean_ns"] for part in result["parts"]) < LITTLE, (said, result)
    return result


def check_times(result, little=LITTLE, client=0, among=FORTH + BACK, server=SERVED, reply=0):
    for where, time in (("client", client), ("between", among), ("server", server), ("reply", reply)):
        p50 = result["by"][where]["p50_ns"] if where in result["by"] else 0
        assert time is None or 0 <= p50 - time < little, (where, result)
    assert abs(result["offset_ns"] - OFFSET) <= result["offset_error_ns"], result


def check(lab):
    for version in 4, 6:
        check_parts(lab, f"parts{version}", SOME, client=PART_GAP)
        # The last segment's times, whether or not it has many of them: the rest of each message is the client's and the reply's.
        check_parts(lab, f"large-on-{version}", FEW, client=None, reply=None)
        check_parts(lab, f"large-off-{version}", FEW, 12_000_000, client=None, reply=None)
    jitter = check_parts(lab, "jitter", MORE, 2_000_000, among=FORTH - 1_000_000 + BACK)
    forth, back = (way["p50_ns"] for way in jitter["ways"])
    assert 500_000 < forth < 1_500_000 and back < 100_000, jitter
    # The sleep ends late at times, never early.
    check_parts(lab, "late", SOME, client=LATE - 200_000)
    check_parts(lab, "pieces", SOME, reply=(PIECES - 1) * GAP)
    # An interim line is a reply, and the body a request.
    interim, _ = between(lab, "interim-app", "interim-db")
    assert len(interim) == 1 and interim[0]["requests"] == 2 * SOME, interim
    check_times(interim[0], server=None)
    assert abs(interim[0]["by"]["server"]["mean_ns"] - SERVED / 2) < LITTLE, interim
    # Where the server replies before it has all of the question there is nothing to be joined.
    for name in "early", "early-large":
        assert counted(lab, f"{name}-app") == (0, {"overlapping": SOME}), name
        assert counted(lab, f"{name}-db") == (2 * SOME, {}), name
    # Nor of several in flight, which to the server may be one: those that go alone are joined.
    assert counted(lab, "flight-app")[0] == SOME, "flight"
    (flight,), _ = between(lab, "flight-app", "flight-db")
    assert flight["requests"] == SOME and not flight["client_only"] and SOME <= flight["server_only"] <= AT_ONCE * SOME, flight
    check_times(flight)
    # What programs read and write elsewhere is counted by name.
    assert counted(lab, "mptcp-app") == counted(lab, "mptcp-db") == (0, {"mptcp": SOME}), "mptcp"
    assert counted(lab, "ktls-app") == counted(lab, "ktls-db") == (0, {"ktls": SOME}), "ktls"
