# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a test waits: for the event, and never for a time. A machine may stand still for minutes."""

import signal
import time

HANGS = 600  # seconds: what has not ended by then never will

# Under nohup, or behind a shell's &, a test begins with signals that its programs would ignore as well.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def wait_for(what):
    """Return what WHAT returns once that is true."""
    until = time.monotonic() + HANGS
    while not (found := what()):
        assert time.monotonic() < until, f"waited for it in vain: {what}"
        time.sleep(0.05)
    return found
