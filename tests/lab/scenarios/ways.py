# SPDX-License-Identifier: GPL-2.0-or-later
"""The matrix: ways to send and to read, over paths, each with its truth, and what each recipe says of it.

A row is a kind of traffic. A recipe follows all of it, or counts all of it under the name of what it is; nothing else is
incomplete. The rows are in lablib/ways.py.
"""

from lablib.ways import RECIPES, check_path, guest

DESCRIPTION = "each way to send and to read, over loopback and a pair with generic XDP: followed, or counted by name"
IN_CI = ("trixie",)
BUILD = {name: [f"{name}-latency"] for name in RECIPES if name != "forward"}
PATHS = ("loopback", "loopback6", "xdp")
GUEST = guest(PATHS)


def check(lab):
    for path in PATHS:
        check_path(lab, path)
    assert lab.read("modules-left").strip() == "0"
