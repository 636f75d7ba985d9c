# SPDX-License-Identifier: GPL-2.0-or-later
"""More than 100,000 packets of the kinds that are no plain traffic: each is followed, or counted under its name."""

from lablib.ways import RECIPES, ROWS, check_path, guest

DESCRIPTION = "100,000 packets of Fast Open, kTLS, MPTCP, zero copy, UDP GSO, fragments and groups: nothing unaccounted"
IN_CI = ()
BUILD = {name: [f"{name}-latency"] for name in RECIPES if name != "forward"}
TIMEOUT = 3600
MESSAGES = 5003
KINDS = [row for row in ROWS if row.counted or row.size or "zero" in row.write or row.kind in ("gso", "gro", "group") or
         row.served_by != row.kind]
GUEST = guest(("veth",), KINDS, MESSAGES)


def check(lab):
    packets = sum(row.truth("rx", MESSAGES) for row in KINDS)
    print(f"{lab.suite} {packets} packets of {len(KINDS)} kinds")
    assert packets > 100_000
    check_path(lab, "veth", KINDS, MESSAGES)
    assert lab.read("modules-left").strip() == "0"
