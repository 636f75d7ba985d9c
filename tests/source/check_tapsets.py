#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What neither stap nor a compiler says of tapsets: check_tapsets.py SOURCES

- The counters that scripts name are in the list of c/counters.h, and each of that list is named by one.
- Each file has a function, a variable or an alias that another text names: stap takes in a file of a tapset only for that,
  and one of which only the probes are wanted is left out without a word.
- Each recipe's handlers run with interrupts off: what an interrupt does inside one is not seen, and c/lock.h is for these.
- What docs/reference/recipes.md names is there, and an alias sets the variables that its row has: to SystemTap another is a new one.
"""

import pathlib
import re
import sys


def counters_in_c(text):
    return set(re.findall(r"^    counter\((\w+)\) ", text, re.MULTILINE))


def counters_in_scripts(texts):
    return {name for text in texts for name in re.findall(r'stapgen_(?:set_)?counted\("(\w+)"', text)}


def names_in(text):
    return [name for names in re.findall(r"^(?:(?:function|global) (\w+)|probe ([\w.]+) \+?=)", text, re.MULTILINE)
            for name in names if name]


def variables(alias, library):
    """Return what ALIAS sets, in itself and in those that it is made of."""
    found = set()
    for head, body in re.findall(rf"^probe {re.escape(alias)} = ([^{{]*)\{{(\}}$|.*?^\}})", library, re.M | re.S):
        found |= set(re.findall(r"\b(\w+) = ", body))
        for part in re.findall(r"stapgen\.[\w.]+", head):
            found |= variables(part, library)
    return found


def main():
    sources = pathlib.Path(sys.argv[1])
    tapsets = sources / "tapsets"
    texts = {file: file.read_text() for folder in ("tapsets", "templates") for file in (sources / folder).rglob("*.stp*")}
    of_c, of_scripts = counters_in_c((tapsets / "c/counters.h").read_text()), counters_in_scripts(texts.values())
    assert len(of_c) > 1 and of_c == of_scripts, sorted(of_c ^ of_scripts)

    # What <%by_packet%> and <%by_socket%> stand for.
    for_by = re.compile("|".join(name.replace("{}", r"\w+") for name in
                                 re.findall(r"stapgen_by_\{\}_of_\w+", (sources / "src/render/script.cpp").read_text())))
    for file, text in texts.items():
        if file.parent != tapsets or file.suffix != ".stp":
            continue
        others = "\n".join(other for name, other in texts.items() if name != file)
        assert any(for_by.fullmatch(name) or re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", others) for name in names_in(text)), \
            f"nothing in {file.name} is named elsewhere: stap will not take it in"

    for script in (sources / "templates").glob("*/script.stp"):
        assert '"INTERRUPTIBLE=0"' in (script.parent / "recipe.toml").read_text(), f"{script.parent.name} has no INTERRUPTIBLE=0"

    library = "\n".join(text for file, text in texts.items() if file.is_relative_to(tapsets))
    documented = set(re.findall(r"`@?(stapgen[._]\w[\w.]*\w)(?=[`(,])", (sources / "docs/reference/recipes.md").read_text()))
    documented -= {file.name for file in texts}
    assert len(documented) > 50, documented
    missing = [name for name in documented if not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", library)]
    assert not missing, f"docs/reference/recipes.md names what is not there: {', '.join(sorted(missing))}"

    rows = re.findall(r"^\| (`stapgen\..*?) \|.*\| (`[^|]*) \|$", (sources / "docs/reference/recipes.md").read_text(), re.M)
    assert len(rows) > 20, rows
    for aliases, promised in rows:
        for alias in re.findall(r"`(stapgen\.[\w.]+)`", aliases):
            unset = set(re.findall(r"`(\w+)`", promised)) - variables(alias, library)
            assert not unset, f"{alias} does not set {', '.join(sorted(unset))}, which docs/reference/recipes.md promises"


main()
