# SPDX-License-Identifier: GPL-2.0-or-later
"""A program on a terminal of a given width."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def on_terminal(columns, command, environment, stderr=None):
    """Return its exit code and what it prints, stderr too unless that goes elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=theirs if stderr is None else stderr) as process:
        os.close(theirs)
        text = b""
        try:
            while more := os.read(ours, 65536):
                text += more
        except OSError:  # it has been closed
            pass
    os.close(ours)
    return process.returncode, text.decode().replace("\r\n", "\n")
