# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that a table and a page have in common: the account, warnings, notes, sums."""

import re
import shlex

from known import DURATION, loss_of, printable, second_of, values_needed

COUNTERS = re.compile(r"(?:(\d+) of (\d+) counters|(\d+) counters?) rose; (\d+) of them count losses(?:; (\d+) fell)?"
                      r"|(\d+) of (\d+) counters count losses and are not 0")
COUNTS = r"(?: \(([^()]*)\))?"


def compare_causes(compared, kind, shown, known):
    """SHOWN is like 'evicted 3, other 1', or None."""
    causes = dict(cause.rsplit(" ", 1) for cause in shown.split(", ")) if shown else {}
    compared.same(kind, causes, {printable(name): str(count) for name, count in known.items() if count})


def filters_of(origins):
    """Return the options of each measurement, those that are alike once."""
    words = [[word for option, value in origin["filters"].items() for word in ("--" + option, value)] for origin in origins]
    return list(dict.fromkeys(printable(shlex.join(each)) for each in words if each))


def compare_origins(compared, text, report):
    """TEXT is what stands below the title."""
    origins = report.known["origins"]
    lines = list(dict.fromkeys(printable(f"on {origin['host']}, Linux {origin['kernel']}: {shlex.join(origin['command'])}")
                               for origin in origins if origin["host"]))
    more = [f"and {len(lines) - 4} more"] if len(lines) > 4 else []
    compared.same("origins", " ".join(text.split()), " ".join(lines[:4] + more))


def compare_account(compared, line, report):
    known = report.accounting
    found = re.fullmatch(rf"(\d+) seen = (\d+) reported \+ (\d+) filtered(?: \((.*)\))? \+ (\d+) incomplete{COUNTS} \+ (\d+) lost{COUNTS}"
                         r"(?: ([+-]) (\d+) unaccounted)?", line)
    seen, reported, filtered, filters, incomplete, incomplete_by, lost, lost_by, sign, unaccounted = found.groups()
    for key, shown in (("seen", seen), ("reported", reported), ("filtered", filtered), ("incomplete", incomplete),
                       ("lost", lost), ("unaccounted", f"{sign}{unaccounted}" if sign else "0")):
        compared.same(f"account {key}", int(shown), known[key])
    if int(filtered) > 0:
        compared.same("account filters", filters or "", " or ".join(filters_of(report.known["origins"])))
    compare_causes(compared, "account incomplete_by", incomplete_by, known["incomplete_by"])
    compare_causes(compared, "account lost_by", lost_by, known["lost_by"])


def compare_counters(compared, found, report):
    """How many counters rose, tell losses, fell, and were read at all."""
    some, read, rose, losses, fell, levels, read_once = found.groups()
    totals = report.total_counts()
    resets = sum(str(next(iter(tally["group"].values()), "")).startswith("reset.") for tally in totals)
    known = report.known.get("counters_read")
    if levels:
        compared.same("count counters", [int(levels), int(read_once)], [len(totals), known])
        return
    compared.same("count counters", int(some or rose), len(totals) - resets)
    compared.same("count read", int(read) if read else None, known)
    compared.same("count losses", int(losses), sum(bool(loss_of(tally)) for tally in totals))
    compared.same("count fallen", int(fell or 0), resets)


def compare_warning(compared, text, report):
    known, document = report.accounting, report.known
    counts = [(r"(\d+) of (\d+) seen were lost", [known["lost"], known["seen"]]),
              (r"SystemTap skipped (\d+) probes(?: \([^()]*\))?: at most that many records are missing or lack a step; "
               r"measure less \(--port, -x\)(?:, or run with --cost to see which ones)?", [known["skipped_probes"]]),
              (r"(\d+) probes ended in an error", [known["probe_errors"]]),
              (r"the buffer to user space was full (\d+) times(?:; (\d+) MiB per CPU \(-s \2MiB\) would have been enough)?",
               [known["transport_failures"], known.get("enough_buffer_mb")])]
    for pattern, numbers in counts:
        if found := re.fullmatch(pattern, text):
            for shown, number in zip(found.groups(), numbers, strict=True):
                compared.same("loss count", shown and int(shown), number)
            return
    if text == "the script's counts do not add up":
        compared.same("loss unaccounted", known["unaccounted"] != 0, True)
    elif text.startswith("the input ends without its last line; "):
        compared.same("loss closed", known["closed"], False)
    elif found := re.fullmatch(f"the wall clock was set (forward|back) by ({DURATION}) during the run; .*", text):
        compared.duration("loss clock", found[2], abs(document["clock_set_ns"]))
        compared.same("loss clock", found[1] == "back", document["clock_set_ns"] < 0)
    elif found := re.fullmatch(f"the machine was suspended for ({DURATION}) during the run; .*", text):
        compared.duration("loss suspended", found[1], document["suspended_ns"])
    else:
        compared.same("loss broke_off", text, f"the run broke off: {printable(document.get('broke_off', ''))}")


def warnings_expected(report):
    """Return how many warnings there must be."""
    known, document = report.accounting, report.known
    return sum(map(bool, (known["lost"], known["unaccounted"], not known["closed"] and known["seen"],
                          known["skipped_probes"], known["probe_errors"], known["transport_failures"],
                          document.get("broke_off"), document.get("clock_set_ns"), document.get("suspended_ns"))))


def compare_needs(compared, text, measures):
    """'-: not enough samples; P99 needs 368': just those percentiles that one of the measures does not have."""
    shown = dict(re.findall(r"P([\d.]+) needs (\d+)", text))
    missing = {percent for measure in measures for key in measure if key in ("percentiles", "percentiles_ns")
               for percent, value in measure[key].items() if value is None}
    compared.same("needed percentiles", set(shown), missing)
    for percent, n in shown.items():
        compared.same("needed values", int(n), values_needed(percent))


def compare_span(compared, text, report):
    """'2026-11-20 20:54:29 +0000, for 2.51 s', or less of it; of several: '5 recordings of 13.2 s together, within 113 s'."""
    several = rf"(\d+) recordings of ({DURATION}) together, within "
    found = re.fullmatch(rf"(?P<start>\S+ \S+ \+0000)(?:, (?:for |{several})(?P<length>{DURATION}))?", text)
    compared.same("time start", found["start"], second_of(report.start))
    if found[2]:
        compared.same("time recordings", int(found[2]), report.known["recordings"])
        compared.duration("time recorded", found[3], report.known["recorded_ns"])
    if found["length"]:
        compared.duration("time length", found["length"], report.end - report.start)
    else:
        compared.same("time end", report.end is None or report.end <= report.start, True)


def compare_line(compared, line, report):
    """Return whether it is one of these lines; then it is right."""
    known = report.known
    if re.match(r"\d+ seen = ", line):
        compare_account(compared, line, report)
    elif line == "aggregated in the kernel; percentiles within 0.2 %":
        compared.same("account aggregated", known["aggregated"], True)
        compared.share("account error", "0.2 %", known["relative_error"])
    elif found := re.fullmatch(r"beside them \((.*)\)", line):
        compare_causes(compared, "account other", found[1], report.accounting["other"])
    elif found := re.fullmatch(r"(\d+) of (\d+) lines not understood(?:|:|; the first:)", line):
        compared.same("input unrecognised", int(found[1]), known["input"]["unrecognised"])
        compared.same("input lines", int(found[2]), known["input"]["lines"])
    elif found := re.fullmatch(r"  line (\d+) \((.*?)\)(?:: (.*))?", line):
        flaw = {"line": int(found[1]), "why": found[2]} | ({"text": found[3]} if found[3] else {})
        first = [flaw | ({"text": printable(flaw["text"])} if "text" in flaw else {})
                 for flaw in known["input"]["first_unrecognised"]]
        compared.same("input flaw", flaw in first, True)
    elif line == "no drops in all":
        compared.same("drop total", known["drops"], [])
    elif found := re.fullmatch(r"total: (\d+) drops at (\d+) (?:place|places and reasons)", line):
        totals = report.total_drops()
        compared.same("drop total", int(found[1]), sum(drop["count"] for drop in totals))
        compared.same("drop places", int(found[2]), len(totals))
    elif line == "everything read is reported":
        compared.same("account units", [report.accounting[key] for key in ("lost", "unaccounted")], [0, 0])
    elif found := COUNTERS.fullmatch(line):
        compare_counters(compared, found, report)
    elif found := re.fullmatch(r"total: (\d+) (\S.*)", line):
        compared.same("count total", int(found[1]), sum(tally["count"] for tally in known["counts"]))
        compared.same("count what", found[2], known["counted"])
    elif found := re.fullmatch(r"(\d+) more calls are not shown; the tables count them", line):
        compared.same("call left_out", int(found[1]), known["calls_left_out"])
    else:
        return False
    return True


def compare_advice(compared, subject, text, report):
    """A line of what the reasons mean."""
    known = {(" in ".join(filter(None, (given["reason"], given["function"]))), given["text"]): given
             for given in report.known["advice"]}
    compared.same("advice text", (subject, text) in known, True)
    return known[subject, text]


def compare_sentence(compared, sentence, report):
    """Where the tail comes from: what JSON says, and its numbers are those of JSON's other keys."""
    known = next((tail for tail in report.known["tail"] if printable(tail["sentence"]) == sentence), None)
    if known is None:
        compared.fail("tail sentence", sentence, [tail["sentence"] for tail in report.known["tail"]])
    if found := re.match(r"The (?:([\d,]+) )?slowest of ([\d,]+) .*?\(above the p99 of (.*?)\)", sentence):
        compared.number("tail n_slow", found[1] or "1", known["n_slow"])
        compared.number("tail n", found[2], known["n_slow"] + known["n_rest"])
        compared.duration("tail threshold", found[3], known["threshold_ns"])
        means = re.search(rf"\(({DURATION}) against ({DURATION})", sentence)
        compared.duration("tail mean", means[1], known["slow_mean_ns"])
        compared.duration("tail mean", means[2], known["rest_mean_ns"])
    compared.same("tail way", known["way"] in sentence, True)


def compare_calls(compared, lines, calls):
    """A tree of calls, line by line."""
    begin, context, waiting = min(call["begin_ns"] for call in calls), None, iter(calls)
    for line in lines:
        if found := re.fullmatch(r" +AT us +TOOK us    in (softirq|thread)(?: on CPU)? (\d+)(?: (.*))?", line):
            context = found
        elif found := re.fullmatch(r" +([\d.]+) +([\d.]+) \|  ( *)(\S+?)\((.*)\)(?: \{|;)", line):
            call = next(waiting)
            compared.number("call begin", found[1], call["begin_ns"] - begin, 1e3)
            compared.number("call duration", found[2], call["duration_ns"], 1e3)
            compared.same("call depth", len(found[3]), 2 * call["depth"])
            compared.same("call function", found[4], printable(call["function"]))
            compared.same("call args", found[5], printable(call["args"]))
            compared.same("call context", context[1], call["context"])
            in_thread = call["context"] == "thread"
            compared.same("call where", int(context[2]), call["tid" if in_thread else "cpu"])
            compared.same("call comm", context[3], printable(call["comm"]) if in_thread else None)
        elif not re.fullmatch(r" +\|  *\}", line):
            compared.fail("call line", line, calls)
    compared.same("call number", next(waiting, None), None)
