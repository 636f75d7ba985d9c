#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_words.py SOURCE: documents, messages, help, comments and identifiers have none of the words in glossary.toml.

It searches all of each document, recipe and page, the literals, comments and identifiers of C++, and the comments of
tapsets. A line that quotes another program, or that is part of a contract, is `allowed` in glossary.toml.
"""

import fnmatch
import pathlib
import re
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
from check_links import tracked  # noqa: E402

# What is searched of which files; the first that fits.
COMMENT = re.compile(r"//[^\n]*(?:\n\s*//[^\n]*)*|/\*.*?\*/", re.S)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
SOURCE = re.compile(f"{COMMENT.pattern}|{LITERAL.pattern}", re.S)
WHOLE = re.compile(r".*", re.S)
NOTHING = re.compile(r"(?!)")
SEARCHED = [
    ("tests/source/*", NOTHING), ("THIRD-PARTY-NOTICES.md", NOTHING),
    ("*.md", WHOLE), ("templates/*.toml", WHOLE), ("*/*.mustache", WHOLE), ("*/page.js", WHOLE), ("sql/*", WHOLE),
    ("integrations/*", WHOLE), ("skeleton/*", WHOLE), ("kernels.toml", WHOLE), ("workarounds.toml", WHOLE), ("run-*", WHOLE),
    ("src/*.h", SOURCE), ("src/*.cpp", SOURCE),
    ("tapsets/*", COMMENT), ("templates/*.stp", COMMENT),
]
# What may be between two words: the end of a line with the beginning of the next comment or literal.
GAP = r'(?:\s|///?<?|\*|#|")+'


def searched_of(name):
    return next((searched for pattern, searched in SEARCHED if fnmatch.fnmatch(name, pattern)), NOTHING)


def words_of(glossary):
    return [(re.compile(rf"(?<![\w-])(?:{word['not'].replace(' ', GAP)})(?![\w-])", re.I), word["but"])
            for word in glossary["words"]]


def found_in(name, text, words):
    """Yield (line number, line, what was found, what to write instead)."""
    lines = text.split("\n")
    for block in searched_of(name).finditer(text):
        for pattern, instead in words:
            for match in pattern.finditer(block[0]):
                number = text.count("\n", 0, block.start() + match.start())
                yield number + 1, lines[number], " ".join(match[0].split()), instead


def identifiers_of(glossary):
    return [(re.compile(rf"\w*{name['not']}\w*", re.I), name["but"]) for name in glossary["identifiers"]]


def wrong_identifiers(text, identifiers):
    """Likewise of the names in C++ code, without comments and literals."""
    lines = text.split("\n")
    code = SOURCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for pattern, instead in identifiers:
        for match in pattern.finditer(code):
            number = code.count("\n", 0, match.start())
            yield number + 1, lines[number], match[0], instead


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    glossary = tomllib.loads((source / "tests/source/glossary.toml").read_text(encoding="utf-8"))
    words, unused = words_of(glossary), {(each["file"], each["text"]) for each in glossary["allowed"]}
    assert list(found_in("a.md", "x of\nwhich y", words)) and list(found_in("src/a.h", "/// so\n/// many", words))
    assert not list(found_in("src/a.cpp", "int told;", words)) and list(found_in("src/a.cpp", '"it is " "told"', words))
    identifiers = identifiers_of(glossary)
    assert list(wrong_identifiers("int all_witnesses;", identifiers)) and not list(wrong_identifiers("// a witness", identifiers))
    allowed, wrong, searched = set(unused), [], 0
    for file in tracked(source):
        name = file.relative_to(source).as_posix()
        if searched_of(name) is NOTHING:
            continue
        searched += 1
        text = file.read_text(encoding="utf-8")
        found_here = [*found_in(name, text, words)]
        if searched_of(name) is SOURCE:
            found_here += wrong_identifiers(text, identifiers)
        for number, line, found, instead in found_here:
            if permitted := {each for each in allowed if each[0] == name and each[1] in line}:
                unused -= permitted
            else:
                wrong.append(f"{name}:{number}: '{found}': {instead}")
    wrong += [f"glossary.toml: nothing in {file} needs the allowance '{text}'" for file, text in sorted(unused)]
    print("\n".join(wrong) or f"{searched} files have none of {len(words)} words")
    assert searched > 300, searched
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
