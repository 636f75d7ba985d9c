# SPDX-License-Identifier: GPL-2.0-or-later
"""What was recorded in a guest: events one by one, and the report that adds them up."""

import collections
import json
import pathlib
import statistics
import sys

from .common import LabError

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "formats"))
try:
    from documents import checked  # pylint: disable=wrong-import-position
except ModuleNotFoundError:  # a Python without jsonschema: formats.schemas has Debian's
    def checked(document):
        return document

SOCK_STAGES = ("rx", "tcpip_rx", "epoll", "wait", "read", "app", "tx")
RECEIVE_STAGES = ("drv-drv", "drv-ip", "ip-tcp", "tcp-app", "ip-udp", "udp-app")
SEND_STAGES = ("app-tcp", "tcp-ip", "app-udp", "udp-ip", "ip-drv", "qdisc")
FLOW_IN = ("irq-raise", "raise-softirq", "softirq-poll", "poll-drv", "drv-drv", "drv-ip", "ip-tcp", "ip-udp", "tcp-queue",
           "udp-queue",
           "queue-wake", "wake-run", "run-copy", "copy-return")
FLOW_OUT = (*SEND_STAGES, "drv-done")


def check_ended(lab, name):
    """Fail where stapgen failed or left a module behind."""
    if lab.read(f"{name}.exit").strip() != "0":
        raise LabError(f"{name} ended with {lab.read(f'{name}.exit')}{lab.read(f'{name}.err')}")
    assert lab.read(f"{name}.modules").strip() == "0", f"{name} left a module behind"


def read_report(lab, name, *options, skips=False):
    """Return what stapgen reports of NAME.rec, the account of which adds up. SKIPS: as Trace has it."""
    check_ended(lab, name)
    return check_report(lab.report(name, "--format", "json", *options), skips)


def read_printed(lab, name):
    """Likewise what the run itself has printed: NAME.json."""
    check_ended(lab, name)
    return check_report(lab.read(f"{name}.json"))


def check_report(text, skips=False):
    document = checked(json.loads(text))
    check_account(document["accounting"])
    assert document["accounting"]["skipped_probes"] <= (2 if skips else 0), "probes were skipped"
    return document


def check_account(account):
    parts = ("reported", "filtered", "incomplete", "lost")
    assert account["unaccounted"] == 0 and account["seen"] == sum(account[part] for part in parts), account


class Trace:
    """The recording NAME.rec of a scenario's work folder. Fails as check_ended and check_account do.

    CUT is how many lines SystemTap may have cut short, which it does where its buffers are full. SKIPS: probes may be
    skipped, as they are on the host's clock only.
    """

    def __init__(self, lab, name, cut=0, skips=False):
        self.name = name
        check_ended(lab, name)
        lines = [json.loads(line) for line in lab.report(name, "--events", "--format", "ndjson").splitlines()]
        # Each CPU hands its records over by itself: those of a thread that moved come in no order.
        self.events = sorted((line for line in lines if "event" in line), key=lambda event: event.get("time_ns") or 0)
        self.report = checked(lines[-1])
        assert self.report["schema"] == "stapgen.report/1", self.report
        self.accounting = self.report["accounting"]
        print(f"{lab.suite} {name}: {self.account()}")
        # A full buffer may take the script's last line too, and the report says so.
        assert self.accounting["closed"] or cut, self.accounting
        check_account(self.accounting)
        assert self.report["input"]["unrecognised"] <= cut, self.report["input"]
        assert self.accounting["reported"] == len(self.events)
        assert skips or not self.accounting["skipped_probes"], "probes were skipped"

    def account(self):
        """Return the account in one line, without what is 0."""
        account = self.accounting
        causes = {**account["incomplete_by"], **account["lost_by"], **account["other"]}
        causes["skipped"] = account["skipped_probes"]
        more = ", ".join(f"{name} {count}" for name, count in causes.items() if count)
        return (f"{account['seen']} seen = {account['reported']} reported + {account['filtered']} filtered + "
                f"{account['incomplete']} incomplete + {account['lost']} lost" + (f" ({more})" if more else ""))

    def expect(self, found, expected, what="requests"):
        assert found == expected, f"{self.name}: {found} of {expected} {what}"

    def expect_bytes(self, events, expected):
        """Each byte is in one packet."""
        self.expect(total_bytes(events), expected, "bytes")

    def of_port(self, port, end="local"):
        """Return the events of a port of one end, local or remote."""
        return [event for event in self.events if event[end].endswith(f":{port}")]

    def by_connection(self):
        """Return how many events each connection has, in ascending order."""
        return sorted(collections.Counter(event["remote"] for event in self.events).values())


def stage(events, name):
    """Return the values of a stage in ns, without those where it was passed over."""
    return [event[f"{name}_ns"] for event in events if event[f"{name}_ns"] is not None]


def total_bytes(events):
    return sum(event["bytes"] for event in events)


def median(values):
    return statistics.median(values) if values else None


def in_ms(medians):
    """Return {stage: ns or None} as text, without what is None."""
    return " ".join(f"{name} {value / 1e6:.2f}" for name, value in medians.items() if value is not None)


def check_sums(events, stages=SOCK_STAGES):
    """Each event's stages are its total to the nanosecond; sock-latency's, if not said."""
    for event in events:
        parts = sum(event[f"{name}_ns"] or 0 for name in stages)
        assert parts == event["total_ns"], f"the stages add up to {parts}: {event}"
