#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_hostile.py STAPGEN FAKE_SSH: hosts of a fleet that lie, hang, flood, break off and send bombs harm nobody else.

The hosts are stand-ins (fake_ssh): a thousand on 1,024 descriptors, or two hundred on 224, which take turns as well. What each
good one sends is known, and the sums are compared with it.
"""

import json
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

for folder in (".", "formats", "security"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
from documents import checked  # noqa: E402
from sessions import left_of  # noqa: E402
from waiting import HANGS, wait_for  # noqa: E402

SKIPPED = 77
HEADER = b"stapgen\t3\trx-latency\trx\ttime:time\tpid:int\ttid:int\tcomm:text\tip-tcp:stage\ttcp-app:stage\n"
# What becomes of a host of each kind: its state and what its reason has in it.
EXPECTED = {
    "liar": ("cannot", "its release is not valid"),
    "escapes": ("cannot", r"its release is not valid: '6.1\x1b[2J\xc2\x9b'"),
    "endless": ("failed", "it wrote more than the 64 KiB allowed here"),
    "scolds": ("failed", "it wrote more than the 64 KiB allowed here"),
    "floods": ("lost", "its recording is larger than the"),
    "noisy": ("lost", "KiB allowed to stderr"),
    "mutters": ("failed", "it wrote more than the 64 KiB allowed here"),
    "drones": ("lost", "KiB allowed to stderr"),
    "status": ("lost", "KiB allowed to stderr"),
    "complains": ("failed", "wwww"),
    "breaks": ("lost", "the connection was lost"),
    "deep": None,
    "bomb": None,
}
# And of those that are given up after a while.
GIVEN_UP = {
    "silent": ("unreachable", "no answer within"),
    "slow": ("unreachable", "no answer within"),
    "unready": ("failed", "it was not ready within"),
    "stays": ("lost", "it did not end"),
    "stuck": ("cannot", "stuck-1: no answer within"),
}
TOO_SLOW = ("no answer within", "it was not ready within", "it did not end")


def zstd_bomb(begin, size):
    """Return a frame of BEGIN and then SIZE times a line's end: four bytes for each 128 KiB (RFC 8878)."""
    block = 128 << 10
    frame = struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3)  # no content size, a window of 128 KiB
    frame += struct.pack("<I", len(begin) << 3)[:3] + begin
    rle = struct.pack("<I", block << 3 | 1 << 1)[:3] + b"\n"
    return frame + rle * (size // block - 1) + struct.pack("<I", block << 3 | 1 << 1 | 1)[:3] + b"\n"


class Fleet:
    def __init__(self, stapgen, fake_ssh, folder):
        self.stapgen, self.folder = stapgen, folder
        self.ssh = folder / "ssh"
        shutil.copy(fake_ssh, self.ssh)
        good = HEADER + b"rx\t1000\t1\t2\tmc\t101\t103\n" * 3
        (folder / "breaks.rec").write_bytes(good)
        for kind in ("stays", "waits", "rebuilt"):
            (folder / f"{kind}.rec").write_bytes(good + b"end\t2000\tseen=3\treported=3\n")
        (folder / "deep.rec").write_bytes(b'recording\t1\t{"labels":' + b"[" * 65_000 + b"\n")
        (folder / "bomb.rec").write_bytes(zstd_bomb(good, 34 << 30))
        (folder / "release").write_text("/nowhere")

    def command(self, hosts, *words, output="out", recipe="rx-latency", connect_timeout=HANGS):
        file = self.folder / f"{output}.hosts"
        file.write_text("\n".join(hosts) + "\n")
        return [self.stapgen, "fleet", "run", recipe, "--hosts", file, "-d", "1", "-o", self.folder / output,
                "--ssh", self.ssh, "--connect-timeout", f"{connect_timeout}s", "--no-workaround", "kept-module", *words]

    def start(self, command, stap="/no/stap", limit=1024):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8",
                       "STAPGEN_STAP": stap}

        def fewer_descriptors():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=fewer_descriptors, start_new_session=True)

    def run(self, hosts, *words, output="out", recipe="rx-latency", connect_timeout=HANGS, **more):
        """Return its exit code, {host: row of fleet.json}, and what it printed on stderr."""
        process = self.start(self.command(hosts, *words, output=output, recipe=recipe, connect_timeout=connect_timeout), **more)
        _, error = process.communicate(timeout=2 * HANGS)
        return process.returncode, self.rows(output), error

    def rows(self, output):
        file = self.folder / output / "fleet.json"
        return {row["host"]: row for row in checked(json.loads(file.read_text()))["hosts"]}

    def calls(self, verb=""):
        """Return the hosts that were called for that, in turn."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line.split()[0] for line in lines if line.endswith(" " + verb) or not verb]

    def report(self, output):
        done = subprocess.run([self.stapgen, "fleet", "report", self.folder / output, "--json"], capture_output=True,
                              text=True, check=False, timeout=HANGS)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)


def packets_of(number):
    return 3 + number % 13


def check_a_crowd(fleet, count=200, descriptors=224, max_mb=100):
    numbers = list(range(count - len(EXPECTED)))
    hosts = [f"good-{number}" for number in numbers]
    # One of them is the first of its kernel, which is tried before the others.
    random.Random(20261125).shuffle(hosts)
    for kind in EXPECTED:
        hosts.insert(random.Random(kind).randrange(len(hosts) - 1), f"{kind}-1")
    hosts.remove("complains-1")
    hosts.insert(0, "complains-1")
    code, rows, error = fleet.run(hosts, "--compile-on", "good-100", output="crowd", limit=descriptors)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    assert used < max_mb, f"{used:.0f} MB"
    assert code == 5 and len(rows) == count, (code, len(rows), error[-2000:])
    states = {host: row["state"] for host, row in rows.items() if row["host"].startswith("good-") and row["state"] != "done"}
    assert not states, dict(list(states.items())[:5])
    for kind, expected in EXPECTED.items():
        row = rows[f"{kind}-1"]
        if expected is not None:
            assert row["state"] == expected[0] and expected[1] in row["why"], row
        assert len(row.get("why", "")) < 1000 and row.get("why", "").isprintable(), row
    assert rows["bomb-1"]["state"] == "lost", rows["bomb-1"]
    assert set(fleet.calls("build")) == {"good-100"}, fleet.calls("build")
    assert f"{fleet.calls('exec').count('good-100')}" == "1", "measured more than once"
    assert "hosts at a time: there are no more file descriptors" in error, error[-2000:]
    # Nothing of the others is in the sums of the good ones.
    for kind in EXPECTED:
        (fleet.folder / "crowd" / f"{kind}-1.rec").unlink(missing_ok=True)
    report = fleet.report("crowd")
    stages = {stage["stage"]: stage for stage in report["stages"] if not stage["group"]}
    packets = sum(packets_of(number) for number in numbers)
    sums = {"ip-tcp": sum(packets_of(number) * (101 + number) for number in numbers),
            "tcp-app": sum(packets_of(number) * (10007 + 3 * number) for number in numbers)}
    for stage, total in sums.items():
        assert (stages[stage]["n"], stages[stage]["sum_ns"]) == (packets, total), (stages[stage], packets, total)
    assert report["accounting"]["reported"] == packets, report["accounting"]
    print(f"{count} hosts, {len(EXPECTED)} of them hostile, on {descriptors} descriptors: {packets} packets, {used:.0f} MB")


def check_those_that_are_given_up(fleet):
    """They cost the others the time of --connect-timeout, and nothing else. On a machine that is too slow for that time it is
    tried again with a longer one."""
    expected = GIVEN_UP | {f"good-{number}": ("done", "") for number in range(5)}
    # The first of a kernel is tried before the others: that is a good one.
    hosts = [host if "-" in host else f"{host}-1" for host in sorted(expected)]
    for timeout in (1, 2, 4, 8, 16, 64, 256):
        _, rows, error = fleet.run(hosts, "--compile-on", "good-1", output=f"given-up-{timeout}", connect_timeout=timeout)
        wrong = [row for host, (state, why) in expected.items()
                 if (row := rows[host if "-" in host else f"{host}-1"])["state"] != state or why not in row.get("why", "")]
        if not wrong:
            return
        print(f"{timeout} s: {wrong}", flush=True)
        assert all(any(slow in row.get("why", "") for slow in TOO_SLOW) for row in wrong), (wrong, error[-2000:])
    raise AssertionError("no machine is that slow")


def build_tree(folder, makefile):
    """Make what stap takes for the build tree of a kernel, so far that it starts make there."""
    for name in ("include/config", "include/generated", "include/linux", "include/trace/events"):
        (folder / name).mkdir(parents=True)
    for name in ("Module.symvers", "include/config/auto.conf", "include/generated/autoconf.h"):
        (folder / name).touch()
    (folder / "Makefile").write_text(makefile)
    options = ("MODULES", "MODULE_UNLOAD", "KALLSYMS", "KPROBES", "TRACEPOINTS", "DEBUG_FS", "RELAY")
    (folder / ".config").write_text("# a kernel\n" + "".join(f"CONFIG_{option}=y\n" for option in options))
    (folder / "include/config/kernel.release").write_text("6.1.0-0-hostile\n")
    (folder / "include/trace/events/skb.h").write_text("/* */\n")
    (folder / "System.map").write_text("".join(f"{0xffffffff81000000 + 64 * i:x} T f{i}\n" for i in range(2003)))


def check_a_release_runs_nothing(fleet):
    """A release that is a folder makes no Makefile of it run here, as root: with a real stap, which does where it is asked."""
    stap = shutil.which("stap")
    if not stap:
        print("no stap on this machine")
        return SKIPPED
    ran = fleet.folder / "ran"
    build_tree(fleet.folder / "tree", f"$(shell touch {ran})\nall modules:\n\ttouch {ran}\n")
    (fleet.folder / "release").write_text(str(fleet.folder / "tree"))
    _, rows, _ = fleet.run(["liar-1"], recipe="dropwatch", output="liar", stap=stap)
    assert rows["liar-1"]["state"] == "cannot" and "is not valid: '/" in rows["liar-1"]["why"], rows
    assert not ran.exists(), "its Makefile was run"
    fleet.start([fleet.stapgen, "build", "dropwatch", "-r", fleet.folder / "tree", "-o", fleet.folder / "x.ko", "--no-workaround", "all"],
                stap=stap).communicate(timeout=HANGS)
    assert ran.exists(), "this test's Makefile is one that stap does not run"
    return 0


def check_nobody_compiles_for_others_unasked(fleet):
    before = len(fleet.calls("build"))
    code, rows, _ = fleet.run(["good-1", "good-2"], output="unasked")
    assert code == 1 and len(fleet.calls("build")) == before, rows
    assert all("--compile-on HOST" in row["why"] for row in rows.values()), rows
    process = fleet.start(fleet.command(["good-1"], "--compile-on", "good-2", output="other"))
    _, error = process.communicate(timeout=HANGS)
    assert process.returncode == 2 and "--compile-on good-2: not one of the hosts" in error, error
    # For itself alone it may, and so may one of the same release with another kernel.
    code, rows, _ = fleet.run(["good-3", "rebuilt-1"], output="itself")
    assert code == 0 and {row["state"] for row in rows.values()} == {"done"}, rows
    assert sorted(fleet.calls("build")[before:]) == ["good-3", "rebuilt-1"], fleet.calls("build")


def kept_line(moment, packets, end=True):
    """Return the lines of a recording that is kept, as they come within another one."""
    lines = b'recording\t1\t{"kept":{"condition":"x\\u001b[2J","value":"7","at_epoch_ns":-9223372036854775808,"moment":%d}}\n' % moment
    lines += HEADER + b"rx\t1000\t1\t2\tmc\t101\t103\n" * packets
    if end:
        lines += b"end\t2000\tseen=%d\treported=%d\nrecording-end\t{}\n" % (packets, packets)
    return b"".join(b"kept\t" + line for line in lines.splitlines(keepends=True))


def check_one_that_shouts(fleet):
    """It has all keep the seconds before once, and its files are those that were asked for: nobody is told what it says."""
    whole = HEADER + b"rx\t1000\t1\t2\tmc\t101\t103\n" * 3 + b"%send\t2000\tseen=3\treported=3\n"
    (fleet.folder / "keeps.rec").write_bytes(whole % kept_line(1, 7))
    (fleet.folder / "shouts.rec").write_bytes(whole % b"".join(
        [kept_line(1, 5, end=False), *(kept_line(moment, 1) for moment in (-1, 0, 1, 2, 2**63 - 1) for _ in range(101)), b"kept\t\x1b\n"]))
    code, rows, error = fleet.run(["good-1", "keeps-1", "shouts-1", "keeps-2"], "--compile-on", "good-1", "--keep", "2s", "--when",
                                  "tcp-app p99 > 5ms", "--when", "lost rise > 0", output="shouts")
    assert code == 0 and {row["state"] for row in rows.values()} == {"done"}, (rows, error[-2000:])
    orders = (fleet.folder / "orders").read_text().splitlines()
    assert sorted(orders) == ["keeps-1 keep 1 1 shouts-1", "keeps-2 keep 1 1 shouts-1"], orders
    files = {host: [(kept["file"].split("/")[1], kept["whole"]) for kept in row["kept"]] for host, row in rows.items()}
    assert files == {"good-1": [], "keeps-1": [("keeps-1.rec", True)], "keeps-2": [("keeps-2.rec", True)], "shouts-1": [("shouts-1.rec", False)]}, rows
    assert rows["shouts-1"]["kept_why"] == "505 recordings that nobody had asked for were passed over", rows
    assert all(kept["condition"].isprintable() for row in rows.values() for kept in row["kept"]), rows
    assert "conditions held 10007 more times" in error and "\x1b" not in error, error[-2000:]
    # What is kept is in no sum, and can be read by itself.
    (folder,) = (fleet.folder / "shouts").glob("kept-1-*")
    assert fleet.report("shouts")["accounting"]["reported"] == 9 + packets_of(1)
    assert fleet.report(folder.relative_to(fleet.folder))["accounting"]["reported"] == 7 + 7 + 5


def check_modules_of_many_hosts(fleet, max_mb=400):
    """Each compiles for itself and sends what one may send: together there is a limit, and those that are within it measure."""
    hosts = [f"huge-{number}" for number in range(24)]
    code, rows, error = fleet.run([*hosts, "good-1"], output="modules")
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    assert used < max_mb, f"{used:.0f} MB"
    whys = [rows[host].get("why", "") for host in hosts]
    refused = [why for why in whys if "the modules of all hosts take more than the 128 MiB" in why]
    assert code == 5 and rows["good-1"]["state"] == "done" and len(refused) >= 24 - 128 // 15, (code, rows, error[-2000:])
    print(f"{len(hosts)} modules of 15 MiB: {len(refused)} refused, {used:.0f} MB")


def check_ctrl_c_at_any_moment(fleet):
    """While it asks, compiles, sends and measures: a fleet.json, recordings that are whole or none, and nobody left running."""
    hosts = [f"good-{i}" for i in range(20)] + [f"waits-{i}" for i in range(3)]
    whole = 1 + len(hosts)  # calls: a module is made, one host is tried before the others
    for turn, moment in enumerate((0, 0, 1, 2, 2, 3, whole // 2, whole - 1, whole)):
        output = f"ctrl-c-{turn}"
        before = len(fleet.calls())
        asked = [*hosts, "silent-1"] if moment == 0 else hosts
        process = fleet.start(fleet.command(asked, "--compile-on", "good-7", output=output))
        folder = fleet.folder / output
        wait_for(folder.exists)
        wait_for(lambda: len(fleet.calls()) - before >= moment)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=2 * HANGS)
        # Where it was already reading what it had measured it ends at once.
        assert process.returncode in (0, 1, 5, -signal.SIGINT), (turn, process.returncode, error[-2000:])
        rows = fleet.rows(output)
        assert len(rows) == len(asked), rows
        for row in rows.values():
            assert row["state"] in ("done", "failed", "lost", "unreachable", "cannot"), row
            if row["state"] == "done":
                assert (folder / row["recording"]).read_bytes().rstrip().endswith(b"reported=" + str(
                    packets_of(int(row["host"].split("-")[1])) if row["host"].startswith("good") else 3).encode()), row
        wait_for(lambda: not left_of(process.pid))


def check_a_thousand_hosts(fleet):
    check_a_crowd(fleet, 1000, 1024, 200)


CASES = {"crowd": check_a_crowd, "thousand": check_a_thousand_hosts, "given-up": check_those_that_are_given_up, "release": check_a_release_runs_nothing,
         "compile": check_nobody_compiles_for_others_unasked, "shouts": check_one_that_shouts, "modules": check_modules_of_many_hosts, "ctrl-c": check_ctrl_c_at_any_moment}


def main():
    ended = []
    for name in sys.argv[3:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            ended.append(CASES[name](Fleet(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(folder))))
    return max(code or 0 for code in ended)


sys.exit(main())
