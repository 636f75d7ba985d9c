# SPDX-License-Identifier: GPL-2.0-or-later
"""A pseudo-terminal with a program in it, and the screen that it paints (by pyte, Debian's python3-pyte)."""

import fcntl
import os
import pathlib
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import HANGS  # noqa: E402

LEAVES_SCREEN = b"\x1b[?1049l"
LAST = b"<nothing comes behind this>"


class Screen(pyte.Screen):
    """pyte's, with what xterm's terminfo promises and pyte 0.8 lacks: CSI b repeats a character."""

    def draw(self, data):
        super().draw(data)
        self.last = data[-1:]

    def repeat(self, count=1):
        self.draw(self.last * count)


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, b="repeat")
    events = pyte.ByteStream.events | {"repeat"}


class Terminal:
    """Runs ARGV as a session of its own, ROWS x COLUMNS."""

    def __init__(self, argv, rows=24, columns=80, environment=(), stdout=None):
        self.master, self.slave = os.openpty()
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        self._set_size(rows, columns)
        self.modes = termios.tcgetattr(self.slave)
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TERM": "xterm-256color",
                       "LANG": "C.UTF-8", "TZ": "UTC", **dict(environment)}
        self.process = subprocess.Popen(argv, env={name: value for name, value in environment.items() if value},
                                        preexec_fn=self._take_terminal, stdin=self.slave,
                                        stdout=stdout or self.slave, stderr=self.slave)

    def _take_terminal(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def _set_size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        """As a window does: the program gets SIGWINCH from the kernel."""
        self.screen.resize(rows, columns)
        self._set_size(rows, columns)

    def pump(self, seconds):
        """Paint what comes in that time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self._read()

    def _read(self):
        data = os.read(self.master, 65536)
        self.raw += data
        self.stream.feed(data)

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, what):
        """Paint until WHAT, a text or a function, is there."""
        is_there = what if callable(what) else lambda: what in self.text
        deadline = time.monotonic() + HANGS
        while not is_there():
            assert time.monotonic() < deadline, f"never came: {what}\n{self.text}"
            if select.select([self.master], [], [], 0.1)[0]:
                self._read()

    def press(self, keys):
        os.write(self.master, keys.encode())

    def kill(self, number):
        os.kill(self.process.pid, number)

    def end(self):
        """Wait for its end; return its exit code, and what it printed after it had left the screen."""
        deadline = time.monotonic() + HANGS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"does not end\n{self.text}"
            if select.select([self.master], [], [], 0.05)[0]:
                self._read()
        # What it wrote last is before this.
        os.write(self.slave, LAST)
        self.wait_for(lambda: LAST in self.raw)
        self.raw = self.raw.replace(LAST, b"")
        return self.process.returncode, self.raw.rpartition(LEAVES_SCREEN)[2].decode(errors="replace").replace("\r\n", "\n")

    def is_as_before(self):
        """Whether its modes are those it had, and the screen was left as often as it was taken."""
        return (termios.tcgetattr(self.slave) == self.modes
                and self.raw.count(b"\x1b[?1049h") == self.raw.count(LEAVES_SCREEN)
                and self.raw.count(b"\x1b[?25l") <= self.raw.count(b"\x1b[?12l\x1b[?25h") + self.raw.count(b"\x1b[34h\x1b[?25h"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)
