#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each relative link of a document points at a file, and at a heading of it, and each docs/ path named in the tree exists:
check_links.py SOURCE"""

import pathlib
import re
import subprocess
import sys

DOCUMENTS = ["*.md", "docs/**/*.md", "samples/*.md", "tests/README.md", "tests/*/README.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"\bdocs/[\w/-]+\.md\b")


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(text):
    """Return the anchors of a document's headings, as GitHub makes them."""
    found, counts = set(), {}
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.M):
        anchor = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).lower()).replace(" ", "-")
        number = counts[anchor] = counts.get(anchor, -1) + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def broken_links(document):
    """Yield each relative link of a document that leads nowhere."""
    for target in LINK.findall(re.sub(r"`[^`]*`", "", without_code(document.read_text(encoding="utf-8")))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        if not file.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{target}: no such heading"


def broken_names(source, file):
    """Yield each docs/ path that a file of the tree names and that is not there."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    yield from (f"{name}: no such file" for name in set(NAMED.findall(text)) if not (source / name).exists())


def tracked(source):
    done = subprocess.run(["git", "-C", source, "ls-files", "-z"], capture_output=True, text=True, check=False)
    files = map(source.joinpath, done.stdout.split("\0")[:-1]) if done.returncode == 0 else source.rglob("*")
    return [file for file in files if file.is_file() and not file.is_symlink() and "build" not in file.parts]


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    documents = sorted(path for pattern in DOCUMENTS for path in source.glob(pattern))
    assert len(documents) > 20, documents
    wrong = [f"{document.relative_to(source)}: {link}" for document in documents for link in broken_links(document)]
    wrong += [f"{file.relative_to(source)}: {name}" for file in tracked(source) for name in broken_names(source, file)]
    print("\n".join(wrong) or f"{len(documents)} documents")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
