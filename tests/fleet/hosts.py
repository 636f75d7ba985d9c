# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts that are none, in whose PATH what they need is stood in for. Some have a real sshd, which ssh starts by itself; what
is asked of the others is run as their sshd would."""

import pathlib
import subprocess
import textwrap

# What fleet asks a host, and what it starts there. A fault is a file of its name in the host's folder.
PROGRAMS = {
    "uname": """
        case $1 in -n) echo "$HOST" ;; -r) cat "$ROOM/release" ;; *) cat "$ROOM/machine" ;; esac
    """,
    "stap": "",
    "staprun": "",
    "stapgen": """
        echo "$*" >>"$ROOM/calls"
        if [ "$1" = build ]; then
            [ -e "$ROOM/cannot-build" ] && echo "stapgen: there are no headers" >&2 && exit 4
            while [ "$1" != -o ]; do shift; done
            echo "a module for $(cat "$ROOM/release")" >"$2"
            exit
        fi
        [ -e "$ROOM/cannot" ] && echo "stapgen: the module loader is not installed" >&2 && exit 4
        echo "@stapgen ready" >&2
        # Its patience is counted in looks: a machine that stands still takes none of it.
        for look in {1..307}; do read -r -t 0.1 go && break; done
        [ "$go" ] || exit 1
        echo "@stapgen 5 0" >&2
        [ -e "$ROOM/over-budget" ] && echo "stapgen: the measurement failed: SystemTap pulled the brake" >&2 && exit 6
        # The connection is gone, both of its processes.
        if [ -e "$ROOM/lost" ]; then
            head -c 300 "$RECORDING"
            until [ -s "$(cat "$ROOM/lost")" ]; do sleep 0.05; done
            kill -9 $(ps -o ppid= -p $PPID) $PPID
            exit 1
        fi
        [ -e "$ROOM/waits" ] && touch "$ROOM/measures" && cat
        cat "$RECORDING"
    """,
}

# The last words are "--", a host, and what it is to run.
SSH = """
    #!/bin/bash
    host=${*: -2:1} room=$folder/${*: -2:1}
    if [ ! -d "$room" ] || [ -e "$room/sshd_config" ]; then
        exec ssh -F $folder/config "$@"
    fi
    exec env -i HOME="$HOME" $(cat "$room/environment") bash -c "${*: -1}"
"""


class Hosts:
    """Hosts in FOLDER; each has RECORDING to send."""

    def __init__(self, folder, recording):
        self.folder, self.recording = folder, recording
        # sshd refuses to start where this is not there.
        pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        self.key = folder / "key"
        for key in (self.key, folder / "host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        (folder / "authorized_keys").write_text(key_of(self.key))
        self.ssh = folder / "ssh"
        self.ssh.write_text(textwrap.dedent(SSH).strip().replace("$folder", str(folder)) + "\n")
        self.ssh.chmod(0o755)
        (folder / "config").write_text(textwrap.dedent(f"""
            Host *
                IdentityFile {self.key}
                StrictHostKeyChecking no
                UserKnownHostsFile /dev/null
                LogLevel ERROR
            """))

    def add(self, name, release, *faults, machine="x86_64", has_sshd=False):
        """Add a host with a kernel. FAULTS: what the stapgen in PROGRAMS looks for."""
        room = self.folder / name
        (room / "bin").mkdir(parents=True)
        (room / "release").write_text(release + "\n")
        (room / "machine").write_text(machine + "\n")
        for program, script in PROGRAMS.items():
            file = room / "bin" / program
            file.write_text("#!/bin/bash\n" + textwrap.dedent(script))
            file.chmod(0o755)
        for fault in faults:
            (room / fault).touch()
        environment = f"PATH={room}/bin:/usr/bin:/bin ROOM={room} HOST={name} RECORDING={self.recording} XDG_CACHE_HOME={room}/cache"
        (room / "environment").write_text(environment)
        if not has_sshd:
            return room
        (room / "sshd_config").write_text(textwrap.dedent(f"""
            HostKey {self.folder}/host_key
            AuthorizedKeysFile {self.folder}/authorized_keys
            StrictModes no
            PermitRootLogin yes
            UsePAM no
            LoginGraceTime 0
            SetEnv {environment}
            """))
        with open(self.folder / "config", "a", encoding="utf-8") as config:
            config.write(f"Host {name}\n    ProxyCommand /usr/sbin/sshd -i -f {room}/sshd_config\n")
        return room


def key_of(file):
    return file.with_suffix(".pub").read_text()
