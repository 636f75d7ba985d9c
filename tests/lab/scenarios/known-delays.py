"""A server that sleeps where we told it to: the time shows in that stage and nowhere else."""

import json

DESCRIPTION = "a server sleeps 20 ms before reading and 30 ms before replying: wait, app and tcp-app show it"
IN_CI = ("bookworm", "forky")

BUILD = {"rx": ["rx-latency"], "sock": ["sock-latency"]}
REQUESTS = 103
BEFORE_READ, BEFORE_REPLY = 20_000_000, 30_000_000

SERVER = """
import select, socket, sys, time
listener = socket.create_server(("127.0.0.1", 7007))
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    poller = select.epoll()
    poller.register(connection, select.EPOLLIN)
    while True:
        poller.poll()
        time.sleep(0.020)
        request = connection.recv(100)
        if not request:
            break
        time.sleep(0.030)
        connection.sendall(request)
"""

CLIENT = """
import socket
server = socket.create_connection(("127.0.0.1", 7007))
for i in range(103):
    server.sendall(b"%d" % i)
    assert server.recv(100) == b"%d" % i
"""

GUEST = r"""
python3 server.py >server.out &
server=$!
wait_for 'grep -q ready server.out' || exit 1
for recipe in rx sock; do
    stapgen exec $recipe.ko -p $server --format json >$recipe.json 2>$recipe.err &
    tracer=$!
    wait_traced $recipe.err || { cat $recipe.err; exit 1; }
    python3 client.py || exit 1
    sleep 0.5
    kill -INT $tracer
    wait $tracer || { cat $recipe.err; exit 1; }
done
finish
"""


def prepare(lab):
    (lab.work / "server.py").write_text(SERVER)
    (lab.work / "client.py").write_text(CLIENT)


def check(lab):
    for recipe, expected in (("rx", {"tcp-app": BEFORE_READ}),
                             ("sock", {"wait": BEFORE_READ, "app": BEFORE_REPLY})):
        report = json.loads(lab.read(f"{recipe}.json"))
        accounting = report["accounting"]
        print(f"{lab.suite} {recipe}: {accounting}")
        assert accounting["unaccounted"] == 0
        for stage in report["stages"]:
            if stage["group"] or "udp" in stage["stage"]:
                continue
            name, median = stage["stage"], stage["percentiles_ns"]["50"]
            print(f"  {name:9} n {stage['n']:4}  min {stage['min_ns']}  p50 {median}")
            # epoll_wait may find the data before the kernel says that it is there: then it is no stage.
            missing = accounting["skipped_probes"] + (3 if name == "epoll" else 0)
            assert REQUESTS - missing <= stage["n"] <= REQUESTS, f"{name}: {stage['n']}"
            if name in expected:
                assert stage["min_ns"] >= expected[name], f"{name} is shorter than the server slept"
            elif name != "total":
                assert median < BEFORE_READ, f"{name} shows a delay that is not its own"
    assert lab.read("modules-left").strip() == "0"
