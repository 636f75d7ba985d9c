#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_run.py STAPGEN RECORDING MODULE: fleet run, to hosts whose stapgen is stood in for, to some over real ssh.

Faults of hosts are here; what is measured on real kernels the lab's fleet shows.
"""

import contextlib
import json
import os
import pathlib
import platform
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

from hosts import Hosts

for folder in (".", "formats"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
from documents import checked  # noqa: E402
from waiting import HANGS, wait_for  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "STAPGEN_STAP": "/no/stap"}


class Fleet:
    def __init__(self, stapgen, folder, recording):
        self.stapgen, self.folder, self.hosts = stapgen, folder, Hosts(folder, recording)

    def command(self, names, *words, output="out", recipe=("rx-latency", "--no-workaround", "kept-module"), duration="3"):
        return [self.stapgen, "fleet", "run", *recipe, "--hosts", names, "-d", duration, "-o", self.folder / output, "--ssh",
                self.hosts.ssh, "--connect-timeout", f"{HANGS}s", *words]

    def run(self, names, *words, code=0, output="out", **recipe):
        """Return {host: row of fleet.json} and what it printed on stdout and stderr."""
        done = subprocess.run(self.command(names, *words, output=output, **recipe), env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=HANGS, check=False)
        assert done.returncode == code, f"{done.returncode}: {done.stdout}{done.stderr}"
        file = self.folder / output / "fleet.json"
        rows = {row["host"]: row for row in checked(json.loads(file.read_text()))["hosts"]} if file.exists() else {}
        return rows, done.stdout, done.stderr


def calls(room, verb):
    file = room / "calls"
    return [line for line in file.read_text().splitlines() if line.startswith(verb)] if file.exists() else []


def check_a_module_for_each_kernel(fleet):
    rooms = [fleet.hosts.add(name, release, has_sshd=True) for name, release in
             (("web1", "6.1.0-a"), ("web2", "6.12.0-b"), ("web3", "6.12.0-b"), ("web4", "7.2.0-c"))]
    rows, table, _ = fleet.run("web1,web2,web3,web4", "--port", "443", "--aggregate", "--compile-on", "web2", output="kernels")
    assert {row["state"] for row in rows.values()} == {"done"}, rows
    built = [calls(room, "build") for room in rooms]
    assert [len(each) for each in built] == [1, 1, 0, 1], built
    assert "--aggregate" in built[0][0]
    # The second kernel has two hosts: one of them is tried first.
    measured = [[call.split(" -d ")[1] for call in calls(room, "exec")] for room in rooms]
    assert [len(each) for each in measured] == [1, 2, 1, 1], measured
    assert measured[1] == ["1000ms --port 443", "3000ms --port 443"], measured
    for row in rows.values():
        content = (fleet.folder / "kernels" / row["recording"]).read_bytes()
        assert content == pathlib.Path(fleet.hosts.recording).read_bytes()
    lines = table.splitlines()
    assert lines[0].split() == ["HOST", "KERNEL", "STATE", "PACKETS", "LOST", "P99", "STAGE"], lines[0]
    assert lines[2].split()[:4] == ["web2", "6.12.0-b", "done", lines[1].split()[3]], lines


def check_each_fault_is_a_row(fleet):
    add = fleet.hosts.add
    add("good", "6.1.0-g")
    add("no-compiler", "6.1.0-n", "cannot-build")
    add("cannot", "6.1.0-x", "cannot")
    add("dear", "6.1.0-o", "over-budget")
    gone = add("gone", "6.1.0-u", has_sshd=True)
    (gone / "lost").write_text(str(fleet.folder / "faults/gone.rec"))
    hosts = fleet.folder / "hosts"
    hosts.write_text("# the fleet\ngood\n\nno-compiler  # of them\ncannot\ndear\ngone\nnowhere.invalid\n")
    rows, table, said = fleet.run(str(hosts), code=5, output="faults")
    expected = {
        "good": ("done", None),
        "no-compiler": ("cannot", "no module: "),
        "cannot": ("cannot", "the module loader is not installed"),
        "dear": ("over budget", "the measurement failed: SystemTap pulled the brake"),
        "gone": ("lost", "the connection was lost"),
        "nowhere.invalid": ("unreachable", ""),
    }
    for name, (state, why) in expected.items():
        row = rows[name]
        assert row["state"] == state and row.get("why", "").startswith(why or ""), row
    assert rows["good"].get("why") is None and rows["gone"]["recording"] == "gone.rec", rows
    assert "over budget" in table and "5 of 6 hosts did not complete" in said, table + said


def check_two_of_a_kernel_spare_the_others(fleet):
    fleet.hosts.add("first", "6.9.0-z", "cannot")
    second = fleet.hosts.add("second", "6.9.0-z")
    fleet.hosts.add("last", "6.9.0-z", "cannot")
    third = fleet.hosts.add("third", "6.9.0-z")
    rows, _, _ = fleet.run("first,second,last", "--compile-on", "second", code=1, output="canary")
    why = "the module loader is not installed"
    assert rows["second"]["why"] == f"first, the first of this kernel: {why}; last, the last of this kernel: {why}", rows
    assert not calls(second, "exec"), "the second was not spared"
    # One that fails alone keeps nobody from being measured.
    rows, _, _ = fleet.run("first,second,third", "--compile-on", "second", code=5, output="opinion")
    assert [rows[host]["state"] for host in ("first", "second", "third")] == ["cannot", "done", "done"], rows


def check_what_a_host_keeps_is_bounded_and_not_trusted(fleet):
    room = fleet.hosts.add("keeper", "6.1.0-k")
    cache = room / "cache/stapgen/fleet"
    cache.mkdir(parents=True)
    for number in range(40):
        (cache / f"old-{number}.ko").write_text("old")
        os.utime(cache / f"old-{number}.ko", (number, number))
    fleet.run("keeper", output="keeps-1")
    kept = {file.name for file in cache.iterdir()}
    module = next(name for name in kept if name.startswith("rx-latency-"))
    assert len(kept) <= 17 and "old-39.ko" in kept and "old-0.ko" not in kept, kept
    assert not [name for name in kept if "built" in name or name.startswith("build.")], kept
    whole = (cache / module).read_bytes()
    assert (cache / module).stat().st_mode & 0o777 == 0o700
    # A file that was changed there is sent again.
    (cache / module).write_text("changed")
    fleet.run("keeper", output="keeps-2")
    assert (cache / module).read_bytes() == whole


def static_program(file, machine):
    """Write what begins as a statically linked program of a machine, by its number in elf.h."""
    file.write_bytes(b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0))
    return file


def check_programs_and_modules_go_to_hosts_of_their_architecture(fleet, module):
    x86, arm = (static_program(fleet.folder / name, machine) for name, machine in (("for-x86", 62), ("for-arm", 183)))
    rooms = {machine: fleet.hosts.add(f"on-{machine}", "6.1.0-m", machine=machine) for machine in ("x86_64", "aarch64")}
    (rooms["aarch64"] / "bin/stapgen").unlink()
    names = ",".join(f"on-{machine}" for machine in rooms)
    rows, _, _ = fleet.run(names, "--program", x86, code=1, output="no-arm")
    assert rows["on-aarch64"]["why"] == "no stapgen, and no statically linked one for aarch64 here: give --program FILE", rows
    fleet.run(names, "--program", arm, code=5, output="arm")
    sent = {machine: [file.read_bytes() for file in (room / "cache/stapgen/fleet").glob("stapgen-*")] for machine, room in rooms.items()}
    assert sent == {"x86_64": [x86.read_bytes()], "aarch64": [arm.read_bytes()]}, sent
    _, _, said = fleet.run(names, "--program", arm, "--program", arm, code=2, output="two-arm")
    assert f"--program {arm}: the second one for aarch64" in said, said
    # Two kernels of one release; the module is for one of them.
    here, other = platform.machine(), "x86_64" if platform.machine() == "aarch64" else "aarch64"
    fleet.hosts.add("here", "0.0.0-nowhere", "cannot-build", machine=here)
    fleet.hosts.add("other", "0.0.0-nowhere", "cannot-build", machine=other)
    rows, _, _ = fleet.run("here,other", "--ready-made", module, code=5, output="ready-made")
    assert rows["here"]["state"] == "done" and rows["other"]["why"].startswith("no module: "), rows


@contextlib.contextmanager
def datagrams_to_nobody():
    """Send some in each second."""
    done = threading.Event()

    def send():
        while not done.wait(0.1):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.sendto(b"x", ("127.0.0.1", 9))

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        done.set()
        sender.join()


def check_softnet_needs_no_module(fleet):
    """By the real program: hosts have neither SystemTap nor a compiler."""
    for name in ("plain1", "plain2"):
        room = fleet.hosts.add(name, "5.4.0-p", has_sshd=name == "plain2")
        for program in ("stap", "staprun", "stapgen"):
            (room / "bin" / program).unlink()
        (room / "bin/stapgen").symlink_to(os.path.abspath(fleet.stapgen))
    with datagrams_to_nobody():
        rows, table, _ = fleet.run("plain1,plain2", "-i", "1", output="plain", recipe=("softnet",))
    assert [row["state"] for row in rows.values()] == ["done", "done"], (rows, table)
    done = subprocess.run([fleet.stapgen, "fleet", "report", fleet.folder / "plain", "--format", "json"], env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=HANGS, check=True)
    report = checked(json.loads(done.stdout))
    assert [host["host"] for host in report["hosts"]] == ["plain1", "plain2"], report
    lost = {row["group"]["name"]: row["count"] for row in report["counts"] if row["loss"]}
    assert report["recipe"] == "softnet" and lost.get("Udp.NoPorts", 0) > 0, report
    done = subprocess.run(fleet.command("plain1", "--dry-run", output="dry", recipe=("softnet",)), env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=HANGS, check=True)
    assert "stapgen softnet --remote -d 3000ms" in done.stdout and "compile" not in done.stdout + done.stderr, done


# In a network of its own, so that nobody else's datagrams count: 307 to nobody once it is asked for.
BURST = r"""
import fcntl, os, pathlib, socket, struct, subprocess, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP: netdevice(7)
    while not (pathlib.Path(os.environ["ROOM"]) / "burst").exists():
        time.sleep(0.05)
    for _ in range(307):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as each:
            each.sendto(b"x", ("127.0.0.1", 9))
"""


def check_what_holds_on_one_host_is_kept_on_all(fleet):
    """By the real program, on hosts with networks of their own: one has a burst, and two have no packet."""
    stapgen, condition = os.path.abspath(fleet.stapgen), "counter.Udp.NoPorts rise > 211 over 1s"
    rooms = {name: fleet.hosts.add(name, "5.4.0-k", has_sshd=name == "quiet2") for name in ("bursts", "quiet1", "quiet2")}
    for name, room in rooms.items():
        for program in ("stap", "staprun"):
            (room / "bin" / program).unlink()
        (room / "burst.py").write_text(BURST)
        burst = "python3 $ROOM/burst.py </dev/null >/dev/null 2>&1 &" if name == "bursts" else ":;"
        (room / "bin/stapgen").write_text(
            f"""#!/bin/sh\nexec unshare -n sh -c '{burst} exec {stapgen} "$@"' sh "$@"\n""")
    command = fleet.command(",".join(rooms), "--keep", "30s", "--after", "1s", "--when", "counter.Udp.InErrors rise > 0", "--when", condition,
                            output="kept", recipe=("softnet",), duration="1h")
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = []
    for line in process.stderr:
        said.append(line)
        if sum(line.endswith(": measuring\n") for line in said) == 3 and line.endswith(": measuring\n"):
            (rooms["bursts"] / "burst").touch()
        if sum(line.endswith(": kept 1\n") for line in said) == 3 and line.endswith(": kept 1\n"):
            process.send_signal(signal.SIGINT)
    table = process.stdout.read()
    assert process.wait(timeout=HANGS) == 0, table + "".join(said)
    rows = {row["host"]: row for row in checked(json.loads((fleet.folder / "kept/fleet.json").read_text()))["hosts"]}
    (folder,) = (fleet.folder / "kept").glob("kept-1-*")
    assert f"kept at bursts: {condition} (307): 3 hosts, {folder}\n" in table and "KEPT" in table, table + "".join(said)
    asked = {name: [(kept["condition"], kept["value"], kept["whole"]) for kept in row["kept"]] for name, row in rows.items()}
    assert asked == {"bursts": [(condition, "307", True)], "quiet1": [(f"bursts: {condition}", "", True)],
                     "quiet2": [(f"bursts: {condition}", "", True)]}, rows
    moments = [row["kept"][0]["at_epoch_ns"] for row in rows.values()]
    assert max(moments) - min(moments) < 30e9, moments

    def report(*words):
        done = subprocess.run([fleet.stapgen, *words, "--json"], env=ENVIRONMENT, capture_output=True, text=True, timeout=HANGS, check=True)
        return checked(json.loads(done.stdout))

    def refused(document):
        return sum(row["count"] for row in document["counts"] if row["group"]["name"] == "Udp.NoPorts")

    for name, expected in (("bursts", 307), ("quiet1", 0), ("quiet2", 0)):
        kept = report("report", folder / f"{name}.rec")
        assert refused(kept) == expected and kept["accounting"]["closed"] and kept["input"]["unrecognised"] == 0, kept
        (moment,) = kept["kept"]
        assert (moment["condition"], moment["before_ns"], moment["after_ns"]) == (asked[name][0][0], 30 * 10**9, 10**9), moment
    # It is counted once in the whole run, and is a fleet of its own.
    for place in (fleet.folder / "kept", folder):
        whole = report("fleet", "report", place)
        assert refused(whole) == 307 and [host["host"] for host in whole["hosts"]] == list(rows), whole


def check_ctrl_c_ends_all_in_order(fleet):
    rooms = [fleet.hosts.add("slow1", "6.1.0-a", "waits", has_sshd=True), fleet.hosts.add("slow2", "6.2.0-b", "waits")]
    command = subprocess.Popen(fleet.command("slow1,slow2", output="ended"), env=ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_for(lambda: all((room / "measures").exists() for room in rooms))
    command.send_signal(signal.SIGINT)
    table, said = command.communicate(timeout=HANGS)
    assert command.returncode == 0, f"{command.returncode}: {table}{said}"
    assert [line.split()[2] for line in table.splitlines()[1:]] == ["done", "done"], table


def check_bad_input(fleet):
    hosts = fleet.folder / "bad"
    hosts.write_text("web1\n-oProxyCommand=x\n")
    _, _, said = fleet.run(str(hosts), code=2, output="bad-hosts")
    assert f"{hosts}:2: '-oProxyCommand=x' is not a host name" in said, said
    # A file of the working folder with a host's name takes no host's place.
    working = fleet.folder / "working"
    working.mkdir()
    (working / "web1").write_text("evil\n")
    for name, hosts in (("web1", "web1"), ("./web1", "evil")):
        command = fleet.command(name, "--dry-run", output=f"dry-{hosts}")
        done = subprocess.run(command, env=ENVIRONMENT, cwd=working, capture_output=True, text=True, timeout=HANGS, check=False)
        assert done.returncode == 0 and f"-- {hosts} " in done.stdout, done
        assert ("the file of that name is --hosts ./web1" in done.stderr) == (name == "web1"), done
    _, _, said = fleet.run("bad,-x", code=2, output="option")
    assert "'-x' is not a host name" in said, said
    _, _, said = fleet.run("web1,web1", code=2, output="twice")
    assert "web1 is given twice" in said, said
    _, _, said = fleet.run("web1", code=2, output="kernels")
    assert "it exists" in said, said
    _, _, said = fleet.run("web1", "--program", "/bin/true", code=2, output="program")
    assert "--program /bin/true: not a statically linked program" in said, said


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        fleet = Fleet(os.path.abspath(sys.argv[1]), pathlib.Path(folder), os.path.abspath(sys.argv[2]))
        check_a_module_for_each_kernel(fleet)
        check_each_fault_is_a_row(fleet)
        check_two_of_a_kernel_spare_the_others(fleet)
        check_what_a_host_keeps_is_bounded_and_not_trusted(fleet)
        check_programs_and_modules_go_to_hosts_of_their_architecture(fleet, os.path.abspath(sys.argv[3]))
        check_softnet_needs_no_module(fleet)
        check_what_holds_on_one_host_is_kept_on_all(fleet)
        check_ctrl_c_ends_all_in_order(fleet)
        check_bad_input(fleet)


main()
