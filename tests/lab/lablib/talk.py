# SPDX-License-Identifier: GPL-2.0-or-later
"""What the containers of scenarios do: receive, send to where nobody listens, and connect, so many times each."""

import collections

CLOSED_PORT = 7013

# talk.py PORT RECEIVED CLOSED ACCEPTED: "ready", and once there is a file "go", "done".
TALK = f"""
import os, socket, sys, time
port, received, closed, accepted = map(int, sys.argv[1:])
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", port))
listener = socket.create_server(("127.0.0.1", port))
print("ready", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(received):
    sender.sendto(b"x", ("127.0.0.1", port))
    datagrams.recv(9)
for i in range(closed):
    sender.sendto(b"y", ("127.0.0.1", {CLOSED_PORT}))
for i in range(accepted):
    client = socket.create_connection(("127.0.0.1", port))
    listener.accept()
print("done", flush=True)
time.sleep(3600)
"""


def by_group(report, key, stage):
    """Return {value of KEY: n} of the groups of a stage."""
    return {str(row["group"][key]): row["n"] for row in report["stages"] if row["stage"] == stage and row["group"] and row["n"]}


def dropped(report, **wanted):
    """Return how many of the datagrams to the closed port were dropped, by what is not WANTED."""
    drops = collections.Counter()
    for drop in report["drops"]:
        if drop["reason"] == "NO_SOCKET" and all(drop["group"][key] == value for key, value in wanted.items()):
            drops[tuple(value for key, value in sorted(drop["group"].items()) if key not in wanted)] += drop["count"]
    return {key[0] if len(key) == 1 else key: n for key, n in drops.items()}
