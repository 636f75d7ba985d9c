#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_real.py STAPGEN MODULE: the whole program with recipes that need no kernel of a lab.

softnet counts in a network namespace of its own, where nobody else sends: what is sent is what /metrics has, to the
datagram. dropwatch meets a machine without SystemTap; MODULE aggregates and is for no kernel that there is.
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from daemon import HANGS, Daemon, wait_for  # noqa: E402

FIRST, SECOND = 1009, 211


def datagrams(count):
    """To a port where nobody listens; a refusal is told at the next send."""
    for _ in range(count):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(b"x", ("127.0.0.1", 9))


def rises(serve, name):
    return serve.value("stapgen_counted_total", recipe="softnet", name=name) or 0


def check_known_datagrams(stapgen, environment):
    with Daemon([stapgen, "serve", "softnet -i 250ms", "--listen", "127.0.0.1:0"], environment) as serve:
        wait_for(lambda: serve.state("softnet") == "measuring" and
                 serve.value("stapgen_recipe_last_interval_timestamp_seconds"))
        # What counts losses is there before the first, so that this is a rise.
        assert serve.value("stapgen_counted_total", name="Udp.NoPorts", loss="true") == 0
        datagrams(FIRST)
        wait_for(lambda: rises(serve, "Udp.NoPorts") >= FIRST)
        assert rises(serve, "Udp.NoPorts") == FIRST
        assert serve.value("stapgen_counted_bytes_total", name="IpExt.InOctets") > FIRST
        # Its process is killed; what was sent while nobody measured is nobody's.
        child = int(subprocess.run(["pgrep", "-P", str(serve.process.pid)], capture_output=True, check=True).stdout)
        os.kill(child, signal.SIGKILL)
        wait_for(lambda: serve.value("stapgen_recipe_starts_total") == 2 and serve.state("softnet") == "measuring")
        last = serve.value("stapgen_recipe_last_interval_timestamp_seconds")
        wait_for(lambda: serve.value("stapgen_recipe_last_interval_timestamp_seconds") > last)
        assert rises(serve, "Udp.NoPorts") == FIRST
        datagrams(SECOND)
        wait_for(lambda: rises(serve, "Udp.NoPorts") >= FIRST + SECOND)
        assert rises(serve, "Udp.NoPorts") == FIRST + SECOND
        assert 0 < serve.value("stapgen_recipe_memory_bytes") < 200e6
        assert serve.value("stapgen_build_info", kernel=os.uname().release) == 1
        serve.stop()
        assert not pathlib.Path(f"/proc/{child}").exists()


def check_its_end_is_the_children_s(stapgen, environment):
    """Killed, it asks nobody to end: their stdin ends."""
    with Daemon([stapgen, "serve", "softnet", "--listen", "127.0.0.1:0"], environment) as serve:
        wait_for(lambda: serve.state("softnet") == "measuring")
        child = int(subprocess.run(["pgrep", "-P", str(serve.process.pid)], capture_output=True, check=True).stdout)
        serve.process.kill()
        wait_for(lambda: not pathlib.Path(f"/proc/{child}").exists() or
                 " Z " in pathlib.Path(f"/proc/{child}/stat").read_text())


def check_a_machine_that_cannot(stapgen, environment):
    """A state with a reason, no crash loop, and it goes on serving."""
    environment = {**environment, "STAPGEN_STAP": "/no/stap"}
    with Daemon([stapgen, "serve", "dropwatch", "softnet", "--listen", "127.0.0.1:0"], environment) as serve:
        wait_for(lambda: serve.state("dropwatch") == "waiting" and serve.state("softnet") == "measuring")
        assert serve.value("stapgen_recipe_last_error", recipe="dropwatch", stapgen_recipe_last_error="cannot") == 1
        # It is tried again now and then, and says nothing meanwhile.
        status, _, body = wait_for(lambda: re.search(rb"^dropwatch: waiting, .*\nsoftnet: measuring$",
                                                     (answer := serve.get("/-/ready"))[2], re.M) and answer)
        assert status == 503, body
        serve.stop()


def check_modules(stapgen, environment):
    """A module stands for the recipe that its script says it is of, if its output does not grow with the packets."""
    module = pathlib.Path(environment["HOME"]) / "my module.ko"
    content = pathlib.Path(sys.argv[2]).read_bytes()
    module.write_bytes(content)

    def serve(*words):
        done = subprocess.run([stapgen, "serve", *words], env=environment, capture_output=True, text=True, timeout=HANGS, check=False)
        return done.returncode, done.stdout + done.stderr

    asked = f"'{module}' --port 80"
    assert serve(asked, "--dry-run") == (0, "# listens on 127.0.0.1:9752, and keeps running\n"
                                            f"{stapgen} exec '{module}' --port 80 --remote --quiet\n")
    code, said = serve(asked, f"'{module}'")
    assert code == 2 and "x is given twice" in said, said
    code, said = serve(asked, "--listen", "127.0.0.1:0")
    assert code == 4 and "\nstapgen: x: " in said and "stapgen: no recipe can be measured here\n" in said, said
    begins, each = b"stapgen\t4\tx,aggregated\tr\t", b"stapgen\t4\tx\tr\t"
    assert content.count(begins) == 1
    for other, why in ((each + b"time:time", "it prints each record"), (b"stapgen of another kind", "was not built from a recipe")):
        module.write_bytes(content.replace(begins + b"time:time", other.ljust(len(begins) + 9, b"\0")))
        code, said = serve(asked)
        assert code == 2 and why in said, said


def check_a_port_that_is_taken(stapgen, environment):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run([stapgen, "serve", "softnet", "--listen", listen], env=environment, capture_output=True,
                              text=True, timeout=HANGS, check=False)
    assert done.returncode == 1 and f"cannot listen on {listen}: Address already in use" in done.stderr, done.stderr


def main():
    stapgen = str(pathlib.Path(sys.argv[1]).resolve())
    if "--inside" not in sys.argv:
        words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
            print("skipped: this machine allows no network namespace")
            return
        script = 'ip link set lo up && exec "$0" "$@"'
        sys.exit(subprocess.run([*words, "sh", "-c", script, sys.executable, *sys.argv, "--inside"], check=False).returncode)
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LC_ALL": "C.UTF-8"}
        for check in (check_known_datagrams, check_its_end_is_the_children_s, check_a_machine_that_cannot,
                      check_modules, check_a_port_that_is_taken):
            check(stapgen, environment)
            print(check.__name__)


main()
