#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/inside/benchmarks.md, made from the lab's golden/cost.toml and figures.json:
cost_tables.py [OVERHEAD.json...]

OVERHEAD.json is what tests/bench/overhead --json wrote: its figures are kept in figures.json first, those of several runs
together. bench.overhead-figures tells where the document is not what is made here.
"""

import datetime
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "overhead.d"), str(HERE.parent / "lab")]

import figures  # noqa: E402 pylint: disable=wrong-import-position
from lablib import cost  # noqa: E402 pylint: disable=wrong-import-position

DOCUMENT = HERE.parent.parent / "docs/inside/benchmarks.md"
KEPT = HERE / "figures.json"


def recipes(golden):
    """Return the golden as a table."""
    lines = [f"Linux {golden['kernel']}.", "",
             "| a request and its reply | empty handlers | aggregating | printing |", "|---|---|---|---|"]
    for recipe, traffic, modes in cost.rows(golden["cost"]):
        cells = [f"{modes[mode]['instructions']:+,}, {modes[mode]['to-empty']:.2f}" for mode in ("aggregating", "printing")]
        name = recipe.replace(cost.WITHOUT_PARTS, f" {cost.NO_PARTS}")
        lines.append(f"| {name}, {traffic.upper()} | {modes['empty']['instructions']:+,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def keep(files):
    """Write the figures of what overhead --json wrote, of one kernel."""
    documents = [json.loads(file.read_text()) for file in files]
    if len({(document["kernel"], document["stap"]) for document in documents}) > 1:
        sys.exit("cost_tables: runs of several kernels or of several SystemTap")
    parts = [part for document in documents for part in document["parts"]]
    kept = figures.condensed({"measured": datetime.date.today().isoformat(), **documents[0], "parts": parts})
    # A line for each tracer.
    text = re.sub(r"\{\s+([^{}]*?)\s+\}", lambda body: "{" + re.sub(r"\s*\n\s*", " ", body[1]) + "}",
                  json.dumps(kept, indent=1))
    KEPT.write_text(text + "\n")


def made():
    """Return the document with its tables as they should be."""
    kept = json.loads(KEPT.read_text())
    kept["parts"] = [part for part in kept["parts"] if part["kind"] == "instructions"]  # times spread too much to say more
    tables = {"recipes": recipes(cost.read_golden()), "overhead": figures.table(kept)}
    return re.sub(r"(<!-- cost_tables\.py: (\w+) -->\n).*?(<!-- end -->)",
                  lambda block: f"{block[1]}\n{tables[block[2]]}\n{block[3]}", DOCUMENT.read_text(), flags=re.S)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep([pathlib.Path(name) for name in sys.argv[1:]])
    DOCUMENT.write_text(made())
