"""What guest_lib.sh's trace has recorded: events one by one, and the report that adds them up."""

import json
import statistics

from .common import LabError


class Trace:
    """NAME.events of a scenario's work folder. Fails where stapgen failed or left a module behind."""

    def __init__(self, lab, name):
        self.name = name
        if lab.read(f"{name}.exit").strip() != "0":
            raise LabError(f"{name} ended with {lab.read(f'{name}.exit')}{lab.read(f'{name}.err')}")
        assert lab.read(f"{name}.modules").strip() == "0", f"{name} left a module behind"
        lines = [json.loads(line) for line in lab.read(f"{name}.events").splitlines()]
        self.events = [line for line in lines if "event" in line]
        self.report = lines[-1]
        assert self.report["schema"] == "stapgen.report/1", self.report
        self.accounting = self.report["accounting"]
        print(f"{lab.suite} {name}: {self.account()}")
        assert self.accounting["unaccounted"] == 0 and self.accounting["closed"], self.accounting
        assert self.report["input"]["unrecognised"] == 0, self.report["input"]
        parts = ("reported", "filtered", "incomplete", "lost")
        assert self.accounting["seen"] == sum(self.accounting[part] for part in parts), self.accounting
        assert self.accounting["reported"] == len(self.events)

    def account(self):
        """Return the account in one line, without what is 0."""
        account = self.accounting
        causes = {**account["incomplete_by"], **account["lost_by"], **account["other"]}
        causes["skipped"] = account["skipped_probes"]
        more = ", ".join(f"{name} {count}" for name, count in causes.items() if count)
        return (f"{account['seen']} seen = {account['reported']} reported + {account['filtered']} filtered + "
                f"{account['incomplete']} incomplete + {account['lost']} lost" + (f" ({more})" if more else ""))

    @property
    def skipped(self):
        """How many probes SystemTap skipped: so many events may be missing."""
        return self.accounting["skipped_probes"]

    def of_port(self, port, end="local"):
        """Return the events of a port of one end, local or remote."""
        return [event for event in self.events if event[end].endswith(f":{port}")]


def stage(events, name):
    """Return the values of a stage in ns, without those where it was passed over."""
    return [event[f"{name}_ns"] for event in events if event[f"{name}_ns"] is not None]


def median(values):
    return statistics.median(values) if values else None
