# SPDX-License-Identifier: GPL-2.0-or-later
"""Thousands of records a second all arrive; and measurements that lose something say that, and how much."""

import math
import shutil

from lablib.events import Trace

DESCRIPTION = "missed returns and full buffers, made on purpose: each is counted, and the account adds up"
IN_CI = ("trixie",)
BUILD = {"net": ["net-latency"]}

REQUESTS, FLOOD, MORE = 331, 5003, 2 * 11
PER_REQUEST = 4   # records of net-latency: the request and the reply are sent and received
CPUS = 2

GUEST = r"""
# Threads that sleep in a receiving call whose return only one of them can have probed.
sleepers() { ask --port 7031 --connections 32 --requests 331 --gap-ms 11; }
# Nobody takes the records away until all but some are made. The last one that fits into a CPU's buffer is cut short,
# and with it the one that follows: that should not be the script's last line.
flood() {
    local reader=$(pgrep -x stapio)
    kill -STOP $reader
    ask --port 7032 --requests 5003 || return
    kill -CONT $reader
    sleep 1
    taskset -c 0 ask --port 7032 --requests 11 && taskset -c 1 ask --port 7032 --requests 11
}

start_ready serve --port 7031 --wait none || exit 1
start_ready serve --port 7032 || exit 1
record whole net --port 7032 && ask --port 7032 --connections 7 --requests 5003 || exit 1
end_records whole
record missed one-return --comm serve-conn && sleepers || exit 1
end_records missed
record full net -s 1MiB --port 7032 && flood || exit 1
end_records full
# The buffer that it names holds the same flood.
size=$(sed -n 's/.*-s \([0-9]*\)MiB$/\1/p' full.err)
record enough net -s ${size}MiB --port 7032 && flood || exit 1
end_records enough
finish
"""


def prepare(lab):
    """Build a sock-latency that follows one return of each function at a time."""
    recipe = lab.work / "recipes/sock-latency"
    shutil.copytree(lab.installed / "share/stapgen/templates/sock-latency", recipe)
    text = (recipe / "recipe.toml").read_text()
    assert "KRETACTIVE=1024" in text
    (recipe / "recipe.toml").write_text(text.replace("KRETACTIVE=1024", "KRETACTIVE=1"))
    lab.stapgen(["--recipe-path", "/lab/work/recipes", "build", "sock-latency", "-r", lab.release,
                 "--symbols", lab.symbols, "-o", "/lab/work/one-return.ko"])


def check(lab):
    missed = Trace(lab, "missed", skips=True)
    skipped = missed.accounting["skipped_probes"]
    print(f"  {len(missed.events)} of {REQUESTS} requests reported, {skipped} probes skipped")
    assert REQUESTS - skipped <= len(missed.events) < REQUESTS, "nothing was missed, though returns were"
    by_function = missed.accounting["skipped_by"]
    print(f"  by function: {by_function}")
    assert sum(by_function.values()) == skipped and all(name.startswith("return of ") for name in by_function)

    whole = Trace(lab, "whole")
    assert whole.accounting["lost"] == 0 and whole.accounting["transport_failures"] == 0
    whole.expect(len(whole.events), PER_REQUEST * FLOOD, "packets")

    full = Trace(lab, "full", cut=2 * CPUS)
    lost, failures = full.accounting["lost"], full.accounting["transport_failures"]
    packets = PER_REQUEST * (FLOOD + MORE)
    print(f"  {len(full.events)} of {packets} packets reported, {lost} lost on their way, {failures} transport failures"
          + ("" if full.accounting["closed"] else ", the last line among them"))
    assert 0 < failures <= lost == full.accounting["lost_by"]["transport"] < packets
    if full.accounting["closed"]:
        full.expect(len(full.events) + lost, packets, "packets")
    size = full.accounting["enough_buffer_mb"]
    print(f"  named: -s {size}MiB")
    # What a message had that was lost with the script's own count is not known: a page at most.
    most = lost * 400 if full.accounting["closed"] else failures * 5200
    assert 1 < size <= 1 + math.ceil(most / 2**20), "no more than that takes"
    assert f"-s {size}MiB" in lab.read("full.err")
    enough = Trace(lab, "enough")
    assert enough.accounting["lost"] == 0 and enough.accounting["transport_failures"] == 0
    enough.expect(len(enough.events), packets, "packets")
    assert lab.read("modules-left").strip() == "0"
