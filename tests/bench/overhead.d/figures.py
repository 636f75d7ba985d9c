"""From the guest's lines of results to the table."""

import statistics

# Records that a run of N requests has, where both ends are followed, and where only the server's thread is.
EXPECTED = {"rx": lambda n: 2 * n, "tx": lambda n: 2 * n, "sock": lambda n: 2 * n - 1}


def parse(text):
    """Return {run: {"traffic": ..., number by name}} of lines as "run=NAME traffic=ask units=1009 us=1234"."""
    results = {}
    for line in text.splitlines():
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        results[fields.pop("run")] = {key: int(value) if value.isdigit() else value for key, value in fields.items()}
    return results


def per_unit(run):
    """Nanoseconds (or instructions) per request or packet."""
    return run["us"] * 1000 / run["units"]


def expected(run, target):
    """Return how many records there were to report, or None where the traffic has no known number."""
    if run["traffic"] not in ("ask", "memcached"):
        return None
    return run["units"] if target else EXPECTED[run["recipe"]](run["units"])


def lost(run, target):
    """Return how many of the requests made were not reported: None if that cannot be told."""
    made, reported = expected(run, target), run["account"].get("reported")
    return None if made is None or reported is None else made - reported


def names(runs):
    """Return the tracers of RUNS in their order."""
    return list(dict.fromkeys(run["tracer"] for run in runs))


def instructions_table(part, target):
    """Return the table of a part of kind "instructions"."""
    lines = []
    for traffic in dict.fromkeys(run["traffic"] for run in part["runs"]):
        runs = [run for run in part["runs"] if run["traffic"] == traffic]
        free = statistics.median(per_unit(run) for run in runs if run["tracer"] == "untraced")
        unit = {"ask": "request", "memcached": "request"}.get(traffic, "packet")
        lines += [f"{traffic}, instructions per {unit} (untraced: {free:,.0f})", "",
                  "| tracer | more | in all | seen | reported | not reported | skipped |", "|---|---|---|---|---|---|---|"]
        for run in runs:
            if run["tracer"] == "untraced":
                continue
            if "failed" in run:
                lines.append(f"| {run['tracer']} | failed | | | | | |")
                continue
            account, cost = run["account"], per_unit(run)
            missing = lost(run, target)
            cells = [f"{cost - free:,.0f}", f"{cost / free:.2f}", account.get("seen", ""), account.get("reported", ""),
                     "" if missing is None else missing, account["missed"]]
            lines.append(f"| {run['tracer']} | {' | '.join(map(str, cells))} |")
        lines.append("")
    return lines


def table(document):
    """Return the document as markdown."""
    lines = [f"Linux {document['kernel']}, SystemTap {document['stap']}", ""]
    for part in document["parts"]:
        lines += instructions_table(part, document["target"])
    return "\n".join(lines) + "\n"
