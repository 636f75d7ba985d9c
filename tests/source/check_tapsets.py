#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What neither stap nor a compiler says of tapsets: check_tapsets.py SOURCES

- The counters that scripts name are in the list of c/counters.h, and each of that list is named by one.
- Each file has a function, a variable or an alias that another text names: stap takes in a file of a tapset only for that,
  and one of which only the probes are wanted is left out without a word.
- Each recipe's handlers run with interrupts off: what an interrupt does inside one is not seen, and c/lock.h is for these.
- The parts of a stage in each recipe are the causes of c/causes.h, in their order, and behind all stages of its direction.
- What the tapset says of connections is what connect-latency explains.
- What docs/reference/recipes.md names is there, and an alias sets the variables that its row has: to SystemTap another is a new one.
"""

import pathlib
import re
import sys
import tomllib


def counters_in_c(text):
    return set(re.findall(r"^    counter\((\w+)\) ", text, re.MULTILINE))


def counters_in_scripts(texts):
    return {name for text in texts for name in re.findall(r'stapgen_(?:set_)?counted\("(\w+)"', text)}


def causes(name, text):
    """Return the fields of the causes of c/causes.h in one of its lists."""
    words = re.search(rf"^#define STAPGEN_{name}_CAUSES_LIST\(wait\)(.*?[^\\])$", text, re.M | re.S)[1]
    return [cause.replace("_", "-") for cause in re.findall(r"\bwait\((\w+)\)", words)]


def check_parts(recipe, in_c):
    """The parts of a stage are those that the C prints, in its order."""
    of_udp = causes("UDP_APP", in_c)
    known = {"tcp-app": causes("TCP_APP", in_c) + of_udp, "udp-app": of_udp, "app-tcp": causes("TX", in_c), "app": causes("APP", in_c)}
    divided = [stage for stage in recipe.get("stages", []) if "parts" in stage]
    for stage in divided:
        assert stage["parts"] == known[stage["name"]], f"{recipe['name']} has parts {stage}, and c/causes.h {known[stage['name']]}"
    return len(divided)


def results(text):
    """What the functions of stapgen_connect.stp return that say how a connection has ended."""
    functions = re.findall(r"^function stapgen_(?:connect|call|unix|icmp)_result.*?^}", text, re.M | re.S)
    return {word for function in functions for word in re.findall(r'"([a-z][a-z-]+)"', function)}


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
    # Of an alias with a section in its name, all of it.
    texts = {file: re.sub(r"<%[#/^]\w+%>", "", text) for file, text in texts.items()}
    of_c, of_scripts = counters_in_c((tapsets / "c/counters.h").read_text()), counters_in_scripts(texts.values())
    assert len(of_c) > 1 and of_c == of_scripts, sorted(of_c ^ of_scripts)

    in_c = (tapsets / "c/causes.h").read_text()
    divided = [check_parts(tomllib.loads(file.read_text()), in_c) for file in (sources / "templates").glob("*/recipe.toml")]
    assert sum(divided) == 4, divided  # those of rx-, tx- and sock-latency; net-latency includes two

    said = results(texts[tapsets / "stapgen_connect.stp"])
    explained = {meaning["of"] for meaning in tomllib.loads((sources / "templates/connect-latency/recipe.toml").read_text())["meanings"]}
    assert len(said) > 10 and said == explained, said ^ explained

    # What <%by_packet%> and <%by_socket%> stand for.
    for_by = re.compile("|".join(name.replace("{}", r"\w+") for name in
                                 re.findall(r"stapgen_by_\{\}_of_\w+", (sources / "src/render/script.cpp").read_text())))
    for file, text in texts.items():
        if file.parent != tapsets or file.suffix != ".stp":
            continue
        others = "\n".join(other for name, other in texts.items() if name != file)
        assert any(for_by.fullmatch(name) or re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", others) for name in names_in(text)), \
            f"nothing in {file.name} is named elsewhere: stap will not take it in"

    assert all("INTERRUPTIBLE" not in file.read_text() for file in (sources / "templates").glob("*/recipe.toml")), "locks are taken with it at 0"

    library = "\n".join(text for file, text in texts.items() if file.is_relative_to(tapsets))
    documented = set(re.findall(r"`@?(stapgen[._]\w[\w.]*\w)(?=[`(,])", (sources / "docs/reference/recipes.md").read_text()))
    documented -= {file.name for file in texts}
    assert len(documented) > 50, documented
    missing = [name for name in documented if not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", library)]
    assert not missing, f"docs/reference/recipes.md names what is not there: {', '.join(sorted(missing))}"

    rows = re.findall(r"^\| (`stapgen\..*?) \|.*\| (`[^|]*) \|$", (sources / "docs/reference/recipes.md").read_text(), re.M)
    assert len(rows) > 15, rows
    for aliases, promised in rows:
        for alias in re.findall(r"`(stapgen\.[\w.]+)`", aliases):
            unset = set(re.findall(r"`(\w+)`", promised)) - variables(alias, library)
            assert not unset, f"{alias} does not set {', '.join(sorted(unset))}, which docs/reference/recipes.md promises"


main()
