# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the traffic programs with each other: check.py FOLDER matrix|shapes|drops."""

import collections
import contextlib
import itertools
import os
import pathlib
import re
import socket
import subprocess
import sys
from multiprocessing.pool import ThreadPool

READS = "read readv recv recvfrom recvmsg recvmmsg io_uring".split()
WRITES = "write writev send sendto sendmsg sendmmsg sendfile io_uring".split()
WAITS = "epoll_wait epoll_pwait epoll_pwait2 poll select none io_uring".split()
SKIPPED = 77
TIMEOUT = 60

programs = pathlib.Path(sys.argv[1])
skipped = collections.Counter()


class Unpermitted(Exception):
    """A program ended with 77."""


def run(program, *arguments, expected=0):
    done = subprocess.run([programs / program, *map(str, arguments)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
    if done.returncode == SKIPPED:
        raise Unpermitted(done.stderr.strip())
    assert done.returncode == expected, f"{done.args} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip() if expected == 0 else done.stderr.strip()


@contextlib.contextmanager
def started(program, *arguments, last, stop=False):
    """Yield the port of a program that says "ready"; what else it says has to match LAST."""
    with subprocess.Popen([programs / program, *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            ready = re.fullmatch(r"ready (\d+) (\d+)\n", process.stdout.readline())
            if not ready and process.wait(TIMEOUT) == SKIPPED:
                raise Unpermitted(process.stderr.read().strip())
            assert ready, f"{process.args}: {process.stderr.read()}"
            assert int(ready[1]) == process.pid
            yield ready[2]
            if stop:
                process.terminate()
            output, errors = process.communicate(timeout=TIMEOUT)
        except AssertionError as failure:
            process.kill()
            said = process.stderr.read()
            raise AssertionError(f"{failure}\n{' '.join(map(str, process.args))}: {said}") from failure
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "") and re.fullmatch(last + "\n", output), (
        f"{process.args} ended with {process.returncode}: {output!r} instead of {last!r}. {errors}")


def exchange(requests, serve=(), ask=(), both=()):
    """Run ask against serve; returns the least and the median round trip in microseconds."""
    kept = r"kept median-us \d+\n" if "--delay-ms" in serve else ""
    with started("serve", *serve, *both, last=f"{kept}served {requests}", stop=True) as port:
        said = run("ask", "--port", port, "--requests", requests, *ask, *both)
    numbers = re.fullmatch(rf"asked {requests} min-us (\d+) median-us (\d+) usual-ns (\d+)", said)
    assert numbers, said
    least, median, usual = map(int, numbers.groups())
    assert least * 1000 <= usual, said
    return least, median


def families():
    """Return pairs of options: the server's and the client's."""
    pairs = [("4", "4")]
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return pairs + [("6", "6"), ("mapped", "4")]
    except OSError as reason:
        print(f"skipped: IPv6, which this machine's loopback does not have: {reason}")
        return pairs


def transports():
    for (server, client), protocol in itertools.product(families(), ([], ["--udp"])):
        yield ["--family", server, *protocol], ["--family", client, *protocol]


def matrix():
    """Every call that reads, with every call that writes and every wait, over every transport."""
    def combine(combination):
        (server, client), read, write, wait = combination
        try:
            exchange(11, ["--read", read, "--write", write, "--wait", wait, *server], client)
        except Unpermitted as reason:
            skipped[str(reason)] += 1

    combinations = list(itertools.product(transports(), READS, WRITES, WAITS))
    with ThreadPool(os.cpu_count()) as pool:
        pool.map(combine, combinations)
    assert skipped.total() < len(combinations)
    print(f"{len(combinations) - skipped.total()} combinations")


def shapes():
    """Ways to ask and to reply whose effect is known."""
    for wait in WAITS:
        try:
            shapes_of_wait(wait)
        except Unpermitted as reason:
            skipped[f"--wait {wait}: {reason}"] += 1
    for server, client in transports():
        sleepy(server, client)
    for write in WRITES:
        try:
            bulk(write)
        except Unpermitted as reason:
            skipped[f"bulk --write {write}: {reason}"] += 1
    strictness()


def shapes_of_wait(wait):
    serve = ["--wait", wait]
    models = ["per-connection"] if wait == "none" else ["one", "per-connection"]
    for model, client in itertools.product(models, ([], ["--one-thread"])):
        exchange(1009, serve + ["--threads", model], ["--connections", 64, *client])
    exchange(1009, serve, ["--pipeline", 7])
    exchange(101, serve, ["--pipeline", 7], both=["--udp"])
    exchange(101, serve, ["--request-parts", 3])
    exchange(3, serve, ["--request-parts", 3, "--part-gap-ms", 2])
    for reply_thread in ([], ["--reply-thread"]):
        exchange(101, serve + ["--reply-parts", 3, *reply_thread], ["--connections", 3])
        exchange(101, serve + ["--reply-parts", 3, *reply_thread], ["--pipeline", 7], both=["--reply-size", 9001])
    least, _ = exchange(5, serve + ["--delay-ms", 3])
    assert least >= 3000, least
    least, _ = exchange(5, serve + ["--delay-from-request"], ["--delay-us", "4000"])
    assert least >= 4000, least
    # The first and third connection are slow, so that three of five requests are.
    least, median = exchange(5, serve + ["--delay-from-request"], ["--connections", 3, "--delay-us", "4000,0"])
    assert median >= 4000, (least, median)
    if wait != "none":
        least, _ = exchange(5, serve + ["--read-delay-ms", 3])
        assert least >= 3000, least


def sleepy(server, client):
    protocol = ["--udp"] if "--udp" in server else ["--tcp"]
    for before_data in ([], ["--before-data"]):
        reader = [*server, *protocol, "--count", 5, "--sleep-ms", 4, *before_data]
        with started("sleepy", *reader, last="read 5") as port:
            assert run("sleepy", "--send", *client, *protocol, "--count", 5, "--port", port) == "sent 5"


def bulk(write):
    for family, amount, chunk in itertools.product(families(), (1, 1000003), (1000, 16384, 1000003)):
        with started("bulk", "--receive", "--family", family[0], last=f"received {amount}") as port:
            said = run("bulk", "--send", "--port", port, "--family", family[1], "--write", write,
                       "--bytes", amount, "--chunk", chunk)
        assert re.fullmatch(rf"sent {amount} segments [1-9]\d* retransmitted \d+ bytes-retransmitted \d+ cwnd [1-9]\d* ssthresh .*", said), said


def strictness():
    """What is not as it should be ends a program with 1."""
    with started("serve", "--reply-size", 65, last="served 1", stop=True) as port:
        said = run("ask", "--port", port, expected=1)
        assert "more than the replies" in said, said
    with started("serve", "--udp", "--reply-size", 63, last="served 1", stop=True) as port:
        said = run("ask", "--udp", "--port", port, expected=1)
        assert "63 bytes for 64" in said, said
    assert "Connection refused" in run("ask", "--port", port, expected=1)


def drops():
    def figures(what, count, pattern):
        said = run("drops", what, count)
        print(said)
        found = re.fullmatch(f"{what} {count}{pattern}", said)
        assert found, said
        return [int(number) for number in found.groups()]

    dropped, before, after = figures("full-buffer", 101, r" dropped (\d+) RcvbufErrors (\d+) (\d+)")
    assert 90 < dropped < 101 and after - before >= dropped
    for what, counter, count in (("refused", "OutRsts", 17), ("unreachable", "NoPorts", 23),
                                 ("bad-checksum", "InCsumErrors", 29)):
        try:
            before, after = figures(what, count, rf" {counter} (\d+) (\d+)")
            assert after - before >= count
        except Unpermitted as reason:
            skipped[f"{what}: {reason}"] += 1
    connected, before, after, _, _ = figures(
        "listen-overflow", 31, r" connected (\d+) ListenOverflows (\d+) (\d+) ListenDrops (\d+) (\d+)")
    assert connected == 1 and after - before >= 30


try:
    {"matrix": matrix, "shapes": shapes, "drops": drops}[sys.argv[2]]()
except AssertionError as failure:
    sys.exit(f"FAILED: {failure}")
for what, times in skipped.items():
    print(f"skipped {times} times: {what}")
