# SPDX-License-Identifier: GPL-2.0-or-later
"""From the guest's lines of results to figures, which are kept in ../figures.json, and from these to the tables."""

import statistics

# Records of a run of N requests: how many for each request, and how many beside them. Where both ends are in the guest
# and followed, a request and its reply are a packet each, and the client's last reply is a request that it does not
# answer. memcslap ends with a "quit".
BOTH_ENDS = {"rx": (2, {"memcached": 1}), "tx": (2, {"memcached": 1}), "sock": (2, {"memcached": -1, "ask": -1})}
SERVER = {"rx": (1, {"memcached": 1}), "tx": (1, {}), "sock": (1, {})}
UNITS = {"ask": "request", "memcached": "request", "bulk": "1000 bytes", "flood": "datagram"}


def parse(text):
    """Return {run: {"traffic": ..., number by name}} of lines as "run=NAME traffic=ask units=1009 us=1234"."""
    results = {}
    for line in text.splitlines():
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        run = fields.pop("run")
        results[run] = {key: int(value) if value.isdigit() else value for key, value in fields.items()}
    return results


def cost(run):
    """Return the nanoseconds, or instructions, per request, 1000 bytes, or datagram that the application received."""
    count = run["bytes"] / 1000 if "bytes" in run else run.get("received", run["units"])
    return run["us"] * 1000 / count


def made(run, part, target):
    """Return how many records there were to report; None where the traffic has no known number of them."""
    if (run["traffic"], run["recipe"]) == ("flood", "rx") and run["tracer"] != "seed-stages":   # which is of TCP only
        return run["received"] + 1   # the one that ends it
    if run["traffic"] not in ("ask", "memcached"):
        return None
    one_end = target or part["link"] != "lo" or run["tracer"] == "seed-tracker"
    per_request, beside = (SERVER if one_end else BOTH_ENDS)[run["recipe"]]
    return per_request * run["units"] + beside.get(run["traffic"], 0)


def neighbours(runs, index):
    """Return the untraced runs of the same traffic right before and behind a run."""
    same = [i for i, run in enumerate(runs) if run["tracer"] == "untraced" and run["traffic"] == runs[index]["traffic"]]
    before = [i for i in same if i < index][-1:]
    behind = [i for i in same if i > index][:1]
    return [runs[i] for i in before + behind]


def slowdown(runs, index):
    """Return how many times as long as its untraced neighbours a run took."""
    return cost(runs[index]) / statistics.mean(cost(run) for run in neighbours(runs, index))


def more(runs, index):
    """Return by how much a run's cost is above that of its untraced neighbours."""
    return cost(runs[index]) - statistics.mean(cost(run) for run in neighbours(runs, index))


def free(part, traffic):
    """Return the median cost of the untraced runs."""
    return statistics.median(cost(run) for run in part["runs"] if (run["tracer"], run["traffic"]) == ("untraced", traffic))


def flood(run):
    """Return how many datagrams were sent, received by the application, and dropped by the kernel as it counts."""
    before, after = ([int(number) for number in run[when].split(",")] for when in ("before", "after"))
    return run["units"], run["received"], after[1] - before[1]


def spread(values):
    """Return a median, and with several values what it lies between."""
    known = [statistics.median(values), min(values), max(values)] if len(values) > 1 else values
    return [round(value, 3) for value in known]


def figures_of(part, traffic, tracer, target):
    """Return what is kept of one tracer: its cost, and what it lost."""
    runs = part["runs"]
    found = [i for i, run in enumerate(runs) if (run["tracer"], run["traffic"]) == (tracer, traffic)]
    whole = [i for i in found if "failed" not in runs[i]]
    if len(whole) < len(found):
        return {"failed": len(found) - len(whole)}
    accounts = [runs[i]["account"] for i in found]
    kept = {"skipped": sum(account["missed"] for account in accounts)}
    if "hits" in accounts[0]:
        return {"hits": spread([runs[i]["account"]["hits"] / runs[i]["units"] for i in found]), **kept}
    kept = {"more": spread([more(runs, i) for i in found]), "times": spread([slowdown(runs, i) for i in found]), **kept}
    reported = [account.get("reported") for account in accounts]
    there = [made(runs[i], part, target) for i in found]
    if None not in reported and None not in there:
        return {**kept, "lost": sum(there) - sum(reported), "of": sum(there)}
    return kept if None in reported else {**kept, "reported": sum(reported)}


def figures_of_traffic(part, traffic, target):
    runs = [run for run in part["runs"] if run["traffic"] == traffic]
    tracers = [name for name in dict.fromkeys(run["tracer"] for run in runs) if name != "untraced"]
    kept = {"untraced": round(free(part, traffic)), "tracers": {name: figures_of(part, traffic, name, target) for name in tracers}}
    floods = [run for run in runs if "received" in run]
    if floods:
        kept["flood"] = dict(zip(("sent", "received", "dropped"), (sum(numbers) for numbers in zip(*map(flood, floods)))))
    return kept


def condensed(document):
    """Return the figures of what overhead --json writes."""
    about = {key: document[key] for key in ("measured", "kernel", "stap", "bpftrace", "netstacklat") if key in document}
    return {**about, "parts": [
        {**{key: part[key] for key in ("measured", "kind", "link", "cpus", "rounds") if key in part},
         "traffic": {traffic: figures_of_traffic(part, traffic, document["target"])
                     for traffic in dict.fromkeys(run["traffic"] for run in part["runs"])}}
        for part in document["parts"]]}


def written(values, form):
    """Return a spread as text."""
    return form.format(values[0]) + (f" ({form.format(values[1])}..{form.format(values[2])})" if len(values) > 1 else "")


def cell(kept, kind):
    if kept is None:
        return ""
    if "failed" in kept:
        return "failed"
    if "hits" in kept:
        return written(kept["hits"], "{:,.1f} hits")
    times = written(kept["times"], "{:.2f}")
    return times if kind == "times" else f"{written(kept['more'], '{:+,.0f}')}, {times}"


def losses(part):
    """Yield what is to be said of a part's runs beside their cost."""
    rows = [(f"{traffic} {name}", kept) for traffic, of in part["traffic"].items() for name, kept in of["tracers"].items()]
    lost = [f"{name} {kept['lost']:,} of {kept['of']:,}" for name, kept in rows if kept.get("lost")]
    skipped = [f"{name} {kept['skipped']:,}" for name, kept in rows if kept.get("skipped")]
    if lost:
        yield f"Records lost: {', '.join(lost)}."
    if skipped:
        yield f"Probes skipped: {', '.join(skipped)}."
    for of in part["traffic"].values():
        if "flood" in of:
            sent, received, dropped = (of["flood"][key] for key in ("sent", "received", "dropped"))
            yield (f"Of {sent:,} datagrams {received:,} were received and {dropped:,} dropped by the kernel's count "
                   f"(RcvbufErrors): {sent - received - dropped:,} unaccounted for.")


def table_of(part):
    """Return the lines of one part."""
    kind, traffic = part["kind"], part["traffic"]
    title = ("Instructions more than untraced, and how many times as many" if kind == "instructions" else
             "Times as long as untraced")
    turns = f", {part['rounds']} in turn" if part["rounds"] > 1 else ""
    day = f", measured on {part['measured']}" if "measured" in part else ""
    lines = [f"{title}; {part['link']}, {part['cpus']} CPU{turns}{day}:", "",
             f"| | {' | '.join(f'{name}, per {UNITS[name]}' for name in traffic)} |", f"|---{'|---' * len(traffic)}|"]
    free_form = "{:,.0f}" if kind == "instructions" else "{:,.0f} ns"
    lines.append(f"| untraced | {' | '.join(free_form.format(of['untraced']) for of in traffic.values())} |")
    for name in dict.fromkeys(name for of in traffic.values() for name in of["tracers"]):
        lines.append(f"| {name} | {' | '.join(cell(of['tracers'].get(name), kind) for of in traffic.values())} |")
    return [*lines, "", *(line for said in losses(part) for line in (said, ""))]


def beside_bpftrace(part):
    """Return a table of what the aggregating recipes cost, divided by what bpftrace's scripts or netstacklat do."""
    rows = []
    compared = [(f"{recipe}-agg{parts}", f"bpf-{recipe}") for recipe in BOTH_ENDS for parts in ("", "-no-parts")]
    for mine, other in compared + [("rx-agg", "netstacklat"), ("rx-agg-no-parts", "netstacklat")]:
        pairs = [(of["tracers"].get(mine), of["tracers"].get(other)) for of in part["traffic"].values()]
        if all(kept and "more" in kept for pair in pairs for kept in pair):
            rows.append(f"| {mine} : {other} | "
                        + " | ".join(f"{ours['more'][0] / theirs['more'][0]:.2f}" for ours, theirs in pairs) + " |")
    return [f"| | {' | '.join(part['traffic'])} |", f"|---{'|---' * len(part['traffic'])}|", *rows, ""] if rows else []


def table(kept):
    """Return figures as markdown."""
    about = [f"{word} {kept[key]}" for word, key in (("Linux", "kernel"), ("SystemTap", "stap"), ("bpftrace", "bpftrace"),
                                                     ("netstacklat", "netstacklat"), ("measured on", "measured")) if key in kept]
    lines = [f"{', '.join(about)}.", ""]
    for part in kept["parts"]:
        lines += table_of(part)
        if part["kind"] == "instructions":
            lines += beside_bpftrace(part)
    return "\n".join(lines).rstrip() + "\n"


def probes(document):
    """Return what the handlers of the tracers that count hits take, probe by probe, as markdown."""
    lines = []
    for run in (run for part in document["parts"] if part["kind"] == "instructions" for run in part["runs"]):
        counted = run.get("account", {}).get("probes", [])
        if counted:
            lines += ["", f"{run['tracer']}, {run['traffic']}: instructions of the handlers:", "",
                      "| probe | hits | mean | per request |", "|---|---|---|---|"]
            lines += [f"| {probe} | {hits:,} | {mean:,} | {hits * mean / run['units']:,.0f} |"
                      for probe, hits, mean in counted if hits * 100 > run["units"]]
    return "\n".join([*lines, ""]) if lines else ""
