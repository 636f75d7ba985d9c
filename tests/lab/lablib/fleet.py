# SPDX-License-Identifier: GPL-2.0-or-later
"""Several machines at once, each with a real sshd that the host reaches."""

import contextlib
import os
import pathlib
import socket
import subprocess
import threading
import time

from . import chroot, machine, roots, scenario
from .common import LabError, say, tail
from .guest import Guest

ADDRESS = "192.168.76.15"
WIRED = "10.7.0."
# One CPU: the emulator has a race between CPUs where modules come and go. The host's clock: who is at the other end of ssh
# is on the host.
CPUS = "1"
HOURS = 2
SSHD_CONFIG = """
HostKey /lab/boot/host_key
AuthorizedKeysFile /lab/boot/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin yes
PidFile none
SetEnv {environment}
"""
GUEST = f"""
hostname $LAB_HOST
ip link set eth2 up && ip address add {ADDRESS}/24 dev eth2 || exit 1
[ -z "$LAB_WIRED" ] || {{ ip link set eth3 up && ip address add $LAB_WIRED dev eth3; }} || exit 1
mkdir -p /run/sshd
cp /lab/boot/host_key /lab/boot/sshd_config /run && chmod 600 /run/host_key
sed -i 's=/lab/boot/host_key=/run/host_key=' /run/sshd_config
/usr/sbin/sshd -f /run/sshd_config || exit 1
[ ! -d /lab/traffic ] || start_ready serve --port 7000 --threads per-connection || exit 1
touch /lab/boot/up
until [ -e /lab/boot/end ]; do sleep 1; done
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Host:
    """A machine of the fleet, booted by boot() and reached by ssh()."""

    def __init__(self, name, root, run, options, ssh):
        self.name, self.ssh_program, self.port = name, ssh, free_port()
        self.lab = scenario.Lab(root, run, scenario.Options(options.stapgen, options.traffic), wants_traffic=options.traffic is not False)
        self.lab.fill()
        self.guest = Guest(root, run, net=True, cache=self.lab.cache, real_time=True, cpus=CPUS, env={"LAB_HOST": name})
        self.process = self.log = self.limit = None
        self.has_none = bool(options.program)
        self.wire = ()

    def boot(self, key, host_key):
        self.guest.prepare(scenario.HEAD + GUEST)
        boot = self.guest.boot
        lacks = "/lab/stapgen/bin:" if self.has_none else ""
        environment = " ".join(f"{name}={value.removeprefix(lacks)}" for name, value in chroot.ENVIRONMENT.items() if name != "HOME")
        (boot / "sshd_config").write_text(SSHD_CONFIG.format(environment=environment))
        (boot / "host_key").write_bytes(host_key.read_bytes())
        (boot / "authorized_keys").write_text(key.with_suffix(".pub").read_text())
        forward = f"hostfwd=tcp:127.0.0.1:{self.port}-{ADDRESS}:22"
        command = [*self.guest.command(f"file:{self.guest.console}"), "-netdev",
                   f"user,id=ssh,restrict=on,net=192.168.76.0/24,{forward}", "-device", "virtio-net-pci,netdev=ssh,romfile=", *self.wire]
        self.log = open(boot / "qemu.log", "wb")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        preexec_fn=machine.die_with_parent)
        # Only for one that hangs.
        self.limit = threading.Timer(HOURS * 3600, self.process.kill)
        self.limit.start()

    def wait_until_up(self):
        deadline = time.monotonic() + machine.BOOT_TIMEOUT
        while not (self.guest.boot / "up").exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise LabError(f"{self.name} did not boot\n{tail(self.guest.boot / 'output', 10)}\n"
                               + tail(self.guest.console, 30))
            time.sleep(0.2)

    def ssh(self, command, check=True):
        done = subprocess.run([self.ssh_program, self.name, command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=600, check=False)
        if check and done.returncode:
            raise LabError(f"{self.name}: {command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def modules_left(self):
        return self.ssh("grep -c ^stap_ /proc/modules || true").strip()

    def kill(self):
        """As a power cut would."""
        self.process.kill()
        self.process.wait()

    def end(self):
        (self.guest.boot / "end").touch()
        self.limit.cancel()
        machine.stop(self.process)
        self.log.close()


def join(one, two):
    """Two hosts that are not booted yet have a wire of their own between them: WIRED + 1 and 2."""
    ports = free_port(), free_port()
    for number, host in enumerate((one, two)):
        here, there = ports[number], ports[1 - number]
        host.wire = ("-netdev", f"socket,id=wire,udp=127.0.0.1:{there},localaddr=127.0.0.1:{here}", "-device",
                     f"virtio-net-pci,netdev=wire,mac=52:54:00:00:01:0{number + 1},romfile=")
        host.guest.env["LAB_WIRED"] = f"{WIRED}{number + 1}/24"


@contextlib.contextmanager
def hosts(suites, run, options, wired=(), meanwhile=None):
    """Yield {name: Host}, all up, and the ssh program that knows their names. SUITES: name -> suite; two WIRED ones are joined.

    With the traffic programs, unless they are False, each has a server on port 7000. MEANWHILE is called while they boot.
    """
    run.mkdir(parents=True, exist_ok=True)
    key, host_key, ssh = run / "key", run / "host_key", run / "ssh"
    for each in (key, host_key):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", each], check=True)
    ssh.write_text(f'#!/bin/sh\nexec ssh -F {run}/config "$@"\n')
    ssh.chmod(0o755)
    with contextlib.ExitStack() as held:
        found = {}
        for name, suite in suites.items():
            root = held.enter_context(roots.use_root(suite))
            found[name] = Host(name, root, run / name, options, ssh)
        (run / "config").write_text("Host *\n" + "".join(f"    {line}\n" for line in (
            "User root", f"IdentityFile {key}", "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "LogLevel ERROR"))
            + "".join(f"Host {host.name}\n    HostName 127.0.0.1\n    Port {host.port}\n" for host in found.values()))
        if wired:
            join(*map(found.get, wired))
        for host in found.values():
            held.callback(host.end)
            host.boot(key, host_key)
        if meanwhile:
            meanwhile(found)
        for host in found.values():
            host.wait_until_up()
            say(f"{host.name} is up: {host.lab.release}")
        yield found, pathlib.Path(os.fspath(ssh))
