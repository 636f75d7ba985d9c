# SPDX-License-Identifier: GPL-2.0-or-later
"""The matrix of ways.py over the other paths: veth, VXLAN, a bridge, a router, the card."""

from lablib.ways import RECIPES, check_path, guest

DESCRIPTION = "each way to send and to read, over veth, VXLAN, bridge, router and the network card"
IN_CI = ()
NET = True
BUILD = {name: [f"{name}-latency"] for name in RECIPES}
TIMEOUT = 1800
PATHS = tuple(path + version for path in ("veth", "vxlan", "bridge", "router", "virtio") for version in ("", "6")) + ("xdp6",)
GUEST = guest(PATHS)


def check(lab):
    for path in PATHS:
        check_path(lab, path)
    assert lab.read("modules-left").strip() == "0"
