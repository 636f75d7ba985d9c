# SPDX-License-Identifier: GPL-2.0-or-later
"""The difference of two cases in words: which rows, keys and lines came, went and changed, from what to what."""

import csv
import difflib
import json
import re

MOST_LINES, MOST_EXAMPLES = 10, 3
# What names a row of JSON among others, the first that it has.
NAMES = ("stage", "value", "entry", "symbol", "address", "name", "recipe", "host", "function", "reason", "statistic", "event", "kind",
         "waited", "cause")


def blocks_of(case):
    """Return the commands with what they print."""
    found = {}
    for block in re.split(r"^(?=\$ )", case, flags=re.MULTILINE):
        command, _, text = block.partition("\n")
        if command:
            found[command[2:]] = text
    return found


def documents_of(text):
    """Return the documents of JSON with which a text begins a line, and the text without them."""
    found, rest, decoder = [], "", json.JSONDecoder()
    while start := re.search(r"^\{(?=\s*\")", text, re.MULTILINE):
        try:
            document, end = decoder.raw_decode(text, start.start())
        except ValueError:
            break
        found.append(document)
        rest, text = rest + text[:start.start()], text[end:].lstrip("\n")
    return found, rest + text


def row_name(row, place):
    if not isinstance(row, dict):
        return str(place)
    names = [str(row[key]) for key in NAMES if isinstance(row.get(key), (str, int))][:2]
    names += [f"{key} {part}" for key, part in row.get("group", {}).items()] if isinstance(row.get("group"), dict) else []
    return ", ".join(names) or str(place)


def leaves(value, path=()):
    """Yield (path, value); of a row of a list the path has its name, in brackets."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        seen = {}
        for place, part in enumerate(value):
            name = row_name(part, place)
            seen[name] = seen.get(name, 0) + 1
            yield from leaves(part, (*path, f"[{name}]" if seen[name] == 1 else f"[{name} #{seen[name]}]"))
    else:
        yield path, json.dumps(value)


CSV_COLUMNS = "report,recipe,kind,name,module,reason,time_ns,statistic,value,benign"


def cells(text):
    """Return the numbers of a CSV, in rows as views.py has them, by what they are of; None: it is none."""
    lines = text.splitlines()
    start = next((place for place, line in enumerate(lines) if line.startswith(CSV_COLUMNS)), None)
    if start is None:
        return None
    found = {}
    for line in lines[start + 1:]:
        row, statistics = line, [("", "")]
        if match := re.fullmatch(r"(.*,)\{(.*)\},(.*)", line):
            row, statistics = match[1] + match[3], [part.split(",") for part in match[2].split(" ")]
        _, _, kind, *names = [*next(csv.reader([row])), "", "", ""]
        for statistic, value in statistics:
            found[kind, "[" + ", ".join(filter(None, names)) + "]", statistic] = value
    return found


def of_values(before, after):
    """Yield (what, of what, example): values by their path."""
    def shown(path):
        return " ".join(path)

    rows = {side: {path[:at + 1] for path in values for at, part in enumerate(path) if part.startswith("[")}
            for side, values in (("gone", before), ("new", after))}
    for what, mine, others in (("gone", before, after), ("new", after, before)):
        told = set()
        for path in mine:
            if path in others:
                continue
            row = next((path[:at + 1] for at, part in enumerate(path) if part.startswith("[") and
                        path[:at + 1] not in rows["new" if what == "gone" else "gone"]), None)
            if row is None:
                yield what, "key " + shown([part for part in path if not part.startswith("[")]), \
                    f"{' '.join(part for part in path if part.startswith('['))} {mine[path]}".strip()
            elif row not in told:
                told.add(row)
                yield what, "row of " + shown(row[:-1]), row[-1]
    for path, value in before.items():
        if path in after and after[path] != value:
            yield "changed", shown([part for part in path if not part.startswith("[")]), \
                f"{' '.join(part for part in path if part.startswith('['))} {value} -> {after[path]}".strip()


def shortened(text, length=70):
    text = text.strip()
    return text if len(text) <= length else text[:length - 3] + "..."


def of_line(before, after):
    """Return which words of a line changed."""
    old, new = (re.findall(r"\s+|[<>|]|[^\s<>|]+", line) for line in (before, after))
    changes = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            changes.append(f"{shortened(''.join(old[a:b]), 40) or repr(''.join(old[a:b]))} -> "
                           f"{shortened(''.join(new[c:d]), 40) or repr(''.join(new[c:d]))}")
    return ", ".join(changes[:4]) + (f", and {len(changes) - 4} more" if len(changes) > 4 else "")


def of_lines(before, after):
    old, new = before.splitlines(), after.splitlines()
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        both = min(b - a, d - c) if b - a == d - c else 0
        for one, other in zip(old[a:a + both], new[c:c + both]):
            yield "changed", "line", f"{shortened(one, 40)!r}: {of_line(one, other)}"
        yield from (("gone", "line", repr(shortened(line))) for line in old[a + both:b])
        yield from (("new", "line", repr(shortened(line))) for line in new[c + both:d])


def of_command(before, after):
    """Yield each difference of what one command prints."""
    (old, before), (new, after) = documents_of(before), documents_of(after)
    if old or new:
        yield from of_values(dict(leaves(old[0] if len(old) == 1 else old)), dict(leaves(new[0] if len(new) == 1 else new)))
        if list(map(json.dumps, old)) != list(map(json.dumps, new)) and old == new:
            yield "changed", "order", "of keys"
    elif (old := cells(before)) and (new := cells(after)):
        yield from of_values(old, new)
        if old == new and before != after:
            yield from of_lines(before, after)
        return
    yield from of_lines(before, after)


def told(differences):
    """One line for all that is alike."""
    groups = {}
    for what, of, example in differences:
        groups.setdefault((what, of), []).append(example)
    for (what, of), examples in groups.items():
        more = f"; {len(examples)} in all" if len(examples) > MOST_EXAMPLES else ""
        yield f"  {of} {what}: {'; '.join(examples[:MOST_EXAMPLES])}{more}"


def difference(before, after):
    """Return the lines; none: the cases are alike."""
    old, new, lines = blocks_of(before), blocks_of(after), []
    for command, text in new.items():
        if old.get(command) == text:
            continue
        lines.append(f"$ {command}")
        if not old.get(command, "").strip():
            lines.append(f"  is new, {text.count(chr(10))} lines")
            continue
        lines += list(told(of_command(old[command], text))) or ["  differs in blanks or the order of lines"]
    lines += [f"$ {command}\n  is gone" for command in old if command not in new]
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES - 1], f"  and {len(lines) - MOST_LINES + 1} more lines like these"]
