#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_http.py SERVE_FAKE: whoever comes to the port is served or refused, and nothing of what is measured is lost by it."""

import collections
import concurrent.futures
import contextlib
import pathlib
import platform
import random
import socket
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from daemon import HANGS, Recipe, serve_fake, wait_for  # noqa: E402

STAGES = ["time:time", "drv-ip:stage"]
# What is answered to who did not ask, or did not read, in time.
TOO_SLOW = {408, 503, None}
CROWD = 200  # there is room for 64


def connect(serve):
    return socket.create_connection(("127.0.0.1", serve.port), timeout=HANGS)


def ask(serve, request):
    """Return the status of the answer to these bytes; nothing where there is none."""
    with connect(serve) as connection:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(request)
        return status_of(connection)


def is_answered(serve, request, expected):
    """Whether it is answered as EXPECTED; who was too slow asks again."""
    status = wait_for(lambda: (status,) if (status := ask(serve, request)) not in TOO_SLOW - {expected} else None)[0]
    assert status == expected, (request[:60], status, expected)


def status_of(connection):
    """Return the status of what it is answered until its end; nothing where there is none."""
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while data := connection.recv(65536):
            answer += data
    return int(answer.split()[1]) if answer else None


def check_requests(serve):
    for request, status in (
            (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
            (b"GET /metrics?name=x HTTP/1.0\r\n\r\n", 200),
            (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
            (b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
            (b"GET /metrics/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
            (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
            (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\nx=1&y=2", 405),
            (b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
            (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12345", 200),
            (b"GET /metrics HTTP/1.1\r\nA: " + b"x" * 9000 + b"\r\n\r\n", 431),
            (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", 431),
            (b"GET /metrics HTTP/9.9\r\n\r\n", 400),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x07" * 200, 400),
            (b"garbage\r\n\r\n", 400)):
        is_answered(serve, request, status)
    for host, status in ((b"127.0.0.1:9752", 200), (b"[::1]", 200), (platform.node().encode(), 200), (b"LOCALHOST:1", 200),
                         (b"evil.example", 421), (b"127.0.0.1.evil.example:9752", 421), (b"localhost.evil.example", 421),
                         (platform.node().encode() + b".evil.example", 421), (b"localhost\r\nHost: evil.example", 421)):
        is_answered(serve, b"GET /metrics HTTP/1.1\r\nHost: " + host + b"\r\n\r\n", status)
    status, headers, body = serve.get(method="HEAD")
    assert (status, body) == (200, b"") and int(headers["Content-Length"]) > 1000, headers
    assert headers["Connection"] == "close" and headers["X-Content-Type-Options"] == "nosniff"
    chosen = random.Random(11)
    for _ in range(100):
        assert ask(serve, chosen.randbytes(chosen.randrange(1, 12000)) + b"\r\n\r\n") in {400, 405, 431, *TOO_SLOW}


def check_many_at_once(serve):
    """Several times as many as there is room for: each is served, if not at once."""
    gate = threading.Barrier(CROWD)

    def scrape(_):
        gate.wait()
        return serve.get()

    with concurrent.futures.ThreadPoolExecutor(CROWD) as pool:
        answers = list(pool.map(scrape, range(CROWD)))
    assert all(status == 200 and len(body) == int(headers["Content-Length"]) and b"stapgen_seen_total" in body
               for status, headers, body in answers)


def check_those_that_hang(serve):
    """More than there is room for say nothing, half of a request, or never read: the next ones wait, and one is served."""
    with contextlib.ExitStack() as hanging:
        for number in range(200):
            connection = hanging.enter_context(connect(serve))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            connection.sendall((b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")[number % 3])
        assert serve.get()[0] == 200


def check_those_that_say_nothing(serve):
    """Hundreds are there and say nothing: each is told so, and the next one is served before they go by themselves."""
    def came_fast():
        with contextlib.ExitStack() as idle:
            connections = [idle.enter_context(connect(serve)) for _ in range(CROWD)]
            assert serve.get()[0] == 200
            answers = collections.Counter(status_of(connection) for connection in connections[:CROWD // 2])
        # Where others wait one is told 503; where they come slowly, 408.
        assert set(answers) <= {408, 503}, answers
        return answers[503]

    wait_for(came_fast)


def check_one_that_says_nothing(serve):
    """Nobody waits for its room, not even those that were answered and stay: it has as long as a request may take."""
    with contextlib.ExitStack() as answered:
        for _ in range(CROWD):
            connection = answered.enter_context(connect(serve))
            connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert status_of(connection) == 200
        with connect(serve) as connection:
            assert status_of(connection) == 408


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        rx = Recipe(pathlib.Path(folder), "rx", STAGES)
        with serve_fake(program, rx) as serve:
            rx.begin()
            sent, done = 0, threading.Event()

            def send():
                nonlocal sent
                while not done.wait(0.05):
                    sent += 7
                    rx.send_values(**{"drv-ip": [1009] * 7})
                    rx.tick(sent, sent)

            sender = threading.Thread(target=send)
            sender.start()
            try:
                wait_for(lambda: serve.state("rx") == "measuring")
                before = serve.resident_bytes()
                for check in (check_requests, check_many_at_once, check_those_that_hang, check_those_that_say_nothing,
                              check_one_that_says_nothing, check_many_at_once):
                    check(serve)
                    print(check.__name__)
            finally:
                done.set()
                sender.join()
            wait_for(lambda: serve.value("stapgen_seen_total") == sent)
            assert serve.value("stapgen_stage_seconds_count", stage="drv-ip") == sent
            assert serve.value("stapgen_recipe_starts_total") == 1
            grown = serve.resident_bytes() - before
            print(f"{sent} of {sent}; {grown / 1e6:.1f} MB more")
            assert grown < 64e6
            serve.stop()


main()
