# SPDX-License-Identifier: GPL-2.0-or-later
"""What each packet has waited for: the parts of a stage, which add up to it."""

import collections

from .events import Trace


class Waits:
    """The records of a trace by the port of one end (remote or local), each of which has one of the stages and its parts."""

    def __init__(self, lab, name, end, stages):
        self.suite, self.trace = lab.suite, Trace(lab, name)
        self.of_port = collections.defaultdict(list)
        for event in self.trace.events:
            for stage in stages:
                parts = parts_of(event, stage)
                assert all(ns > 0 for ns in parts.values()), f"not above 0: {event}"
                assert sum(parts.values()) == (event[f"{stage}_ns"] or 0), f"does not add up: {event}"
                if event[f"{stage}_ns"] is not None:
                    event["stage"], event["waits"] = event[f"{stage}_ns"], parts
            self.of_port[int(event[end].rsplit(":", 1)[1])].append(event)

    def say(self, what, events):
        """Print what they waited for in all."""
        sums = collections.Counter()
        for event in events:
            sums.update(event["waits"])
        print(f"{self.suite} {what}: n {len(events)} ms {sum(event['stage'] for event in events) / 1e6:.3f}; "
              + " ".join(f"{cause} {ns / 1e6:.3f}" for cause, ns in sums.most_common()))
        return sums


def parts_of(event, stage):
    """Return {cause: ns} of an event's stage."""
    return {name.removeprefix(f"{stage}.").removesuffix("_ns"): ns for name, ns in event.items() if name.startswith(f"{stage}.")}


def parts_of_app(event):
    """Return those of a request that took time."""
    return {cause: ns for cause, ns in parts_of(event, "app").items() if ns}


def check_aggregated(text, stages):
    """In what an aggregating script printed, the parts of each stage add up to it, in all and in each split; return
    {field: ns}."""
    sums, fields = collections.Counter(), []
    for line in text.splitlines():
        words = line.split("\t")
        if words[0] == "stapgen":
            fields = [word.split(":")[0] for word in words if word.endswith(":stage") and word != "total:stage"]
        elif words[0] == "sum":
            sums[words[2]] += int(words[4])
        elif words[0] == "split":
            check_sums(line, dict(zip(fields, map(int, words[5:]), strict=True)), stages)
    check_sums("in all", sums, stages)
    return sums


def check_sums(what, sums, stages):
    for stage in stages:
        parts = sum(ns for field, ns in sums.items() if field.startswith(f"{stage}."))
        assert parts == sums.get(stage, 0), f"{what}: {stage} {sums.get(stage, 0)}, its parts {parts}"


def most_of(event):
    """Return the cause that it waited for longest."""
    return max(event["waits"], key=event["waits"].get, default=None)


def sent_at(event, clock):
    """Return when its send call began, by the clock of the programs in the guest."""
    return event["time_ns"] - clock - sum(event[f"{name}_ns"] or 0 for name in ("app-tcp", "tcp-ip", "ip-drv", "qdisc"))
