# SPDX-License-Identifier: GPL-2.0-or-later
"""A client, a server in the middle, and the server that it asks, each of them a namespace that is recorded by itself."""

import collections
import json
import sys
from statistics import median

from lablib.common import SOURCE
from lablib.ends import between_files
from lablib.events import check_ended, check_report

sys.path.append(str(SOURCE.parent / "formats" / "perfetto"))
from read_trace import Trace as Drawn  # noqa: E402

DESCRIPTION = "both-ends and between over three hosts: which question is for which request, by a thread, loops, and a pool that hands over"
IN_CI = ("trixie",)
BUILD = {"ends": ["both-ends", "--port", "7301", "--behind", "7302"]}

FIRST, SECOND, ITSELF, AWAY = 5_000_000, 11_000_000, 3_000_000, 2_000_000
LITTLE = 1_500_000  # what hosts and veth take of a request beside these, with its Python
CLIENTS, ALONE, EACH = 3, 53, 31

# chain.py behind PORT | middle KIND PORT ADDRESS PORT | ask ADDRESS PORT CLIENTS REQUESTS: all messages have 64 bytes. The
# middle says of each question "its port, the client's port, the number of the request on that connection".
CHAIN = f"""
import asyncio, select, socket, sys, threading, time
SIZE = 64
STEPS = [{FIRST // 1000}, {SECOND // 1000}]
def connect(address, port):
    peer = socket.create_connection((address, int(port)))
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer
def listen(port):
    listener = socket.create_server(("0.0.0.0", int(port)))
    print("ready", flush=True)
    return listener
def behind(peer):
    while True:
        got = peer.recv(SIZE)
        if not got:
            return
        time.sleep(int(got) / 1e6)
        peer.sendall(b"x" * SIZE)
def question(us):
    return str(us).encode().ljust(SIZE)
def run_itself():
    until = time.monotonic_ns() + {ITSELF}
    while time.monotonic_ns() < until:
        pass
class Client:
    def __init__(self, peer):
        self.peer, self.port, self.number = peer, peer.getpeername()[1], 0
    def asks(self, server, us, send=None):
        log.append((server.getsockname()[1], self.port, self.number))
        (send or server.sendall)(question(us))
    def replies(self, send=None):
        run_itself()
        self.number += 1
        (send or self.peer.sendall)(b"y" * SIZE)
log = []
def ask_both(client, server):
    for us in STEPS:
        client.asks(server, us)
        assert len(server.recv(SIZE)) == SIZE
    client.replies()
def thread(listener, address, port):
    server = connect(address, port)
    client = Client(listener.accept()[0])
    while client.peer.recv(SIZE):
        ask_both(client, server)
def loop(listener, address, port):
    # The server's connections are anyone's: whoever asks takes the one that was last free.
    free = [connect(address, port) for _ in range(2 * {CLIENTS})]
    clients = [Client(listener.accept()[0]) for _ in range({CLIENTS})]
    epoll, of, busy = select.epoll(), {{client.peer.fileno(): client for client in clients}}, {{}}
    for fd in [*of, *(server.fileno() for server in free)]:
        epoll.register(fd, select.EPOLLIN)
    def ask(client, step):
        server = free.pop()
        busy[server.fileno()] = (server, client, step)
        client.asks(server, STEPS[step])
    while of:
        for fd, _ in epoll.poll():
            if fd in of:
                if of[fd].peer.recv(SIZE):
                    ask(of[fd], 0)
                else:
                    epoll.unregister(fd)
                    del of[fd]
                continue
            server, client, step = busy.pop(fd)
            assert len(server.recv(SIZE)) == SIZE
            free.insert(0, server)
            if step:
                client.replies()
            else:
                ask(client, 1)
def tasks(listener, address, port):
    # A loop of tasks: what is read now is worked for in a later turn.
    left = [{CLIENTS}]
    async def serve(reader, writer):
        client = Client(writer.get_extra_info("socket"))
        server_reader, server_writer = await asyncio.open_connection(address, int(port))
        try:
            while True:
                await reader.readexactly(SIZE)
                for us in STEPS:
                    await asyncio.sleep(0)
                    client.asks(server_writer.get_extra_info("socket"), us, server_writer.write)
                    await server_reader.readexactly(SIZE)
                client.replies(writer.write)
        except asyncio.IncompleteReadError:
            left[0] -= 1
            if not left[0]:
                done.set()
    async def run():
        global done
        done = asyncio.Event()
        await asyncio.start_server(serve, sock=listener)
        await done.wait()
    asyncio.run(run())
def pool(listener, address, port):
    # Each thread reads its client's requests; in every second round it works for the next one's.
    clients = [Client(listener.accept()[0]) for _ in range({CLIENTS})]
    barrier = threading.Barrier({CLIENTS})
    def work(number):
        server = connect(address, port)
        for round in range({EACH}):
            assert len(clients[number].peer.recv(SIZE)) == SIZE
            barrier.wait()
            ask_both(clients[(number + round % 2) % {CLIENTS}], server)
            barrier.wait()
    threads = [threading.Thread(target=work, args=(number,)) for number in range({CLIENTS})]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
if sys.argv[1] == "behind":
    listener = listen(sys.argv[2])
    while True:
        threading.Thread(target=behind, args=(listener.accept()[0],), daemon=True).start()
elif sys.argv[1] == "middle":
    kind, port, address, server_port = sys.argv[2:]
    {{"thread": thread, "loop": loop, "tasks": tasks, "pool": pool}}[kind](listen(port), address, server_port)
    for entry in log:
        print(*entry)
else:
    address, port, clients, requests = sys.argv[2:]
    def ask(peer):
        for _ in range(int(requests)):
            peer.sendall(b"z" * SIZE)
            assert len(peer.recv(SIZE)) == SIZE
        peer.close()
    threads = [threading.Thread(target=ask, args=(connect(address, port),)) for _ in range(int(clients))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
"""

GUEST = f"""
make_pair || exit 1
ip netns add behind && ip -n behind link set lo up || exit 1
ip -n right link add middle0 type veth peer name behind0 netns behind || exit 1
ip -n right address add 10.9.1.1/24 dev middle0 && ip -n right link set middle0 up || exit 1
ip -n behind address add 10.9.1.2/24 dev behind0 && ip -n behind link set behind0 up || exit 1
ip netns exec right tc qdisc add dev middle0 root netem delay {AWAY // 1_000_000}ms limit 30000 || exit 1
NETNS=behind start_ready python3 chain.py behind 7302 || exit 1
# run KIND CLIENTS REQUESTS: of three hosts, whose clocks are 100 s apart.
run() {{
    local host netns hosts="app1:left web1:right db1:behind"
    for host in $hosts; do
        hostname ${{host%:*}}
        record $1-${{host%:*}} ends --netns ${{host#*:}} || exit 1
        date -s '+100 seconds' >/dev/null
    done
    date -s '-300 seconds' >/dev/null
    hostname lab
    NETNS=right start_ready python3 chain.py middle $1 7301 10.9.1.2 7302 || exit 1
    ip netns exec left python3 chain.py ask 10.9.0.2 7301 $2 $3 || exit 1
    wait $READY_PID || {{ cat $READY_OUTPUT; exit 1; }}
    end_records $1-app1 $1-web1 $1-db1
    grep -v ready $READY_OUTPUT >$1.log
}}
run thread 1 {ALONE}
run loop {CLIENTS} {EACH}
run tasks {CLIENTS} {EACH}
run pool {CLIENTS} {EACH}
finish
"""


def prepare(lab):
    (lab.work / "chain.py").write_text(CHAIN)


def port_of(endpoint):
    return int(endpoint.rsplit(":", 1)[1])


def claims(lab, kind):
    """Return for whom the questions are: as the recording says, or None, and as the program does, each in its connection's order."""
    check_ended(lab, f"{kind}-web1")
    lines = lab.report(f"{kind}-web1", "--events", "--format", "ndjson").splitlines()
    check_report(lines[-1])
    events = [event for event in map(json.loads, lines) if event.get("event") == "ends"]
    requests, numbers = {}, collections.Counter()
    for event in sorted((event for event in events if event["way"] == "server"), key=lambda event: event["time_ns"]):
        client = port_of(event["remote"])
        stream = event["reply_seq"] - event["reply_position"] & 0xFFFFFFFF
        requests[event["seq"], stream] = (client, numbers[client])
        numbers[client] += 1
    asked, said = collections.defaultdict(list), collections.defaultdict(list)
    for event in sorted((event for event in events if event["way"] == "client"), key=lambda event: event["time_ns"]):
        is_known = event["for_seq"] >= 0
        asked[port_of(event["local"])].append(requests[event["for_seq"], event["for_stream"]] if is_known else None)
    for line in lab.read(f"{kind}.log").splitlines():
        port, client, number = map(int, line.split())
        said[port].append((client, number))
    assert {port: len(each) for port, each in asked.items()} == {port: len(each) for port, each in said.items()}, kind
    return [pair for port, each in asked.items() for pair in zip(each, said[port])]


def chain(lab, kind, requests):
    answer, code = between_files(lab, *(f"{kind}-{host}.rec" for host in ("app1", "web1", "db1")))
    assert code == 0 and len(answer["results"]) == 2, answer
    by = {(result["client"], result["server"]): result for result in answer["results"]}
    front = by["app1", "web1"]
    assert front["requests"] == requests and by["web1", "db1"]["requests"] == 2 * requests, answer
    return front


def check_divided(front, requests, little=LITTLE):
    """What the server in the middle takes is what it asks, and the rest, to the ns; the server behind takes as long as it says."""
    mean = front["by"]["server"]["mean_ns"]  # of seven digits
    assert abs(front["behind_ns"] + front["rest_ns"] - mean * requests) < 10 * requests, front
    (behind,) = front["behind"]
    assert behind["server"] == "db1" and behind["questions"] == behind["joined"] == 2 * requests, behind
    assert behind["requests"] == requests and "not_placed" not in front, front
    assert (FIRST + SECOND) / 2 <= behind["served_ns"], behind
    assert 0 <= behind["between_ns"] - AWAY < LITTLE, behind
    for request in front["slowest"]:
        assert request["behind_ns"] + request["rest_ns"] == request["server_ns"], request
        (link,) = request["chain"]
        assert (link["depth"], link["host"], link["server"]) == (1, "web1", "db1"), link
        assert link["questions"] == link["joined"] == 2 and link["waiting_ns"] == request["behind_ns"], link
        assert FIRST + SECOND <= link["served_ns"], link
    assert median(request["chain"][0]["served_ns"] for request in front["slowest"]) - FIRST - SECOND < 2 * little, front


def check_arrows(lab, kind, requests, front):
    """From each request at the server in the middle an arrow goes to its first question, and from there to the second one.

    Returns what is said of the requests to it.
    """
    files = [f"{kind}-{host}.rec" for host in ("app1", "web1", "db1")]
    drawn = Drawn(lab.analyse(["between", *files, "--format", "perfetto"], text=False).stdout)
    arrows = [ends for flow, ends in drawn.flows.items() if flow >> 63]
    assert len(arrows) == requests and len(drawn.flows) == 4 * requests, (len(arrows), len(drawn.flows))
    for ends in arrows:
        assert [end["name"] for end in ends] == ["server", "ask", "ask"], ends
        first, second = (end["begin"] - ends[0]["begin"] for end in ends[1:])
        assert 0 < first < second < ends[0]["end"] - ends[0]["begin"], ends
    served = sum(ends[0]["end"] - ends[0]["begin"] for ends in arrows)
    assert front["behind_ns"] + front["rest_ns"] == served, (front, served)
    return [one["annotations"] for one in drawn.slices if "rest_ns" in one["annotations"]]


def check(lab):
    alone = claims(lab, "thread")
    assert len(alone) == 2 * ALONE and all(found == true for found, true in alone), alone
    front = chain(lab, "thread", ALONE)
    check_divided(front, ALONE)
    waits = check_arrows(lab, "thread", ALONE, front)
    assert 0 <= median(wait["rest_ns"] for wait in waits) - ITSELF < LITTLE, waits
    assert 0 <= median(wait["behind_ns"] for wait in waits) - FIRST - SECOND - 2 * AWAY < LITTLE, waits

    requests = CLIENTS * EACH
    loop = claims(lab, "loop")
    wrong = [pair for pair in loop if pair[0] not in (None, pair[1])]
    known = sum(found is not None for found, _ in loop)
    print(f"    loop: {known} of {len(loop)} questions known")
    assert len(loop) == 2 * requests == known and not wrong, (known, wrong)
    # All of it shares the guest's processors with the loop.
    check_divided(chain(lab, "loop", requests), requests, CLIENTS * ITSELF)

    tasks = claims(lab, "tasks")
    wrong = [pair for pair in tasks if pair[0] not in (None, pair[1])]
    print(f"    tasks: {sum(found is not None for found, _ in tasks)} of {len(tasks)} questions known")
    assert len(tasks) == 2 * requests and not wrong, wrong
    chain(lab, "tasks", requests)

    pool = claims(lab, "pool")
    claimed = sum(found is not None for found, _ in pool)
    wrong = sum(found not in (None, true) for found, true in pool)
    print(f"    pool: {claimed} of {len(pool)} questions are asked in a turn, {wrong} of these in another's")
    assert wrong > 0, "there is nothing here that could be wrong"
    front = chain(lab, "pool", requests)
    assert "behind" not in front and "behind_ns" not in front, front
    causes = {row["cause"]: row["count"] for row in front["not_placed"]}
    assert sum(causes.values()) == 2 * requests, causes
    assert causes["in programs that hand requests from thread to thread"] == claimed, causes
