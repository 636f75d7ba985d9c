"""From the guest's lines of results to the table."""

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


def spread(values, form):
    """Return a median with what it lies between."""
    text = form.format(statistics.median(values))
    return f"{text} ({form.format(min(values))}..{form.format(max(values))})" if len(values) > 1 else text


def row(part, traffic, tracer, target):
    """Return the cells of one tracer: its cost, and what it lost."""
    runs = part["runs"]
    found = [i for i, run in enumerate(runs) if (run["tracer"], run["traffic"]) == (tracer, traffic)]
    if not found:
        return None
    whole = [i for i in found if "failed" not in runs[i]]
    if len(whole) < len(found):
        return ["failed", "", "", ""]
    accounts = [runs[i]["account"] for i in found]
    if "hits" in accounts[0]:
        hits = [runs[i]["account"]["hits"] / runs[i]["units"] for i in found]
        return ["", "", spread(hits, "{:,.1f} hits"), f"{sum(account['missed'] for account in accounts):,}"]
    reported = [account.get("reported") for account in accounts]
    there = [made(runs[i], part, target) for i in found]
    if None in reported:
        lost = ""
    elif None in there:
        lost = f"{sum(reported):,} reported"
    else:
        lost = f"{sum(there) - sum(reported):,} of {sum(there):,}"
    return [spread([more(runs, i) for i in found], "{:,.0f}"), spread([slowdown(runs, i) for i in found], "{:.2f}"), lost,
            f"{sum(account['missed'] for account in accounts):,}"]


def table_of(part, traffic, target):
    """Return the lines of one traffic's table."""
    what = "instructions" if part["kind"] == "instructions" else "ns"
    runs = [run for run in part["runs"] if run["traffic"] == traffic]
    lines = [f"{traffic} over {part['link']}, {part['cpus']} CPU, {part['rounds']} in turn; untraced "
             f"{free(part, traffic):,.0f} {what} per {UNITS[traffic]}", "",
             f"| tracer | {what} more | times | records lost, or probe hits | skipped |", "|---|---|---|---|---|"]
    for tracer in dict.fromkeys(run["tracer"] for run in runs):
        if tracer != "untraced":
            lines.append(f"| {tracer} | {' | '.join(row(part, traffic, tracer, target))} |")
    for run in runs:
        probes = run.get("account", {}).get("probes", [])
        if probes and part["kind"] == "instructions":
            lines += ["", f"{run['tracer']}, instructions of the handlers:", "", "| probe | hits | mean | per request |",
                      "|---|---|---|---|"]
            lines += [f"| {probe} | {hits:,} | {mean:,} | {hits * mean / run['units']:,.0f} |"
                      for probe, hits, mean in probes if hits * 100 > run["units"]]
    floods = [run for run in runs if "received" in run]
    if floods:
        shares = [run["received"] / run["units"] for run in floods if run["tracer"] == "untraced"]
        sent, received, dropped = (sum(numbers) for numbers in zip(*map(flood, floods)))
        lines += ["", f"Untraced, the application received {statistics.median(shares):.0%} of what was sent (median). In all "
                      f"runs {sent:,} were sent, {received:,} received, and {dropped:,} dropped by the kernel's count "
                      f"(RcvbufErrors): {sent - received - dropped:,} of which nothing is known."]
    return [*lines, ""]


def table(document):
    """Return the document as markdown."""
    lines = [f"Linux {document['kernel']}, SystemTap {document['stap']}", ""]
    for part in document["parts"]:
        for traffic in dict.fromkeys(run["traffic"] for run in part["runs"]):
            lines += table_of(part, traffic, document["target"])
    return "\n".join(lines).rstrip() + "\n"
