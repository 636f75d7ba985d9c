#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether schemas/ allow all JSON that stapgen prints, and nothing else: check_schemas.py STAPGEN WRITE_FORMATS SOURCE

The documents are those in the expected output of tests/golden and samples/expected, what STAPGEN prints here of all
samples and recipes, and WRITE_FORMATS' reports, which have all that a report may have. In a copy of each, each key is
taken away, each object gets one more key, and each value another type: what is still allowed has to be one of LOOSE.
"""

import collections
import copy
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import documents  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
# Keys that are named by the recipe, the user or the input: any may be missing, and there may be others.
NAMED = re.compile(r"(group|of|stages_ns|percentiles_ns|percentiles_ci_ns|percentiles|percentiles_ci|filters|labels|"
                   r"incomplete_by|lost_by|other|skipped_by)$")
# Keys that are there only where they apply.
OPTIONAL = set("apart interval recorded_ns broke_off clock_set_ns suspended_ns stacks counters_read sample cost skipped_by "
               "enough_buffer_mb loss_by_name per_s text minimum maximum minimum_ns maximum_ns choices init_text near source "
               "why causes hosts parts failures groups who_group who_share who_packets_share "
               "kept proposals behind behind_ns rest_ns chain not_placed".split())


def run(*command, codes=(0,)):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode in codes, (command, done.returncode, done.stderr)
    return done.stdout.decode("utf-8")


def in_cases(source):
    """Yield the JSON in what cases expect to be printed."""
    decoder = json.JSONDecoder()
    for case in sorted([*source.glob("tests/golden/**/*.case"), *source.glob("samples/expected/*.case")]):
        text = case.read_text(encoding="utf-8")
        for start in re.finditer(r"^\{(?=\s*\")", text, re.MULTILINE):
            document, end = decoder.raw_decode(text, start.start())
            assert text[end] == "\n", f"{case}: {text[end:end + 80]}"
            is_line = documents.kind_of(document) == "compare-1" and "changes" not in document
            yield documents.checked(document, "compare-line-1" if is_line else None)


def printed(stapgen, source):
    """Yield what the program prints."""
    def document(*words, codes=(0,)):
        return documents.checked(json.loads(run(stapgen, *words, "--format", "json", codes=codes)))

    def lines(*words, codes=(0,)):
        return documents.checked_lines(run(stapgen, *words, "--format", "ndjson", codes=codes))

    samples = source / "samples"
    for path in sorted([*samples.glob("*.rec"), *samples.glob("*.txt")]):
        yield document("report", path)
        yield from lines("report", path)
    for name in ("packet-flow.rec", "own-sock-latency.txt", "earlier/own-call-trace.txt"):
        yield from lines("report", "--events", samples / name)
    yield document("report", "--by", "host", "--percentiles", "50,.5,99.", *sorted(samples.glob("slower-stage/*/*.rec")))
    for by in ((), ("--by", "recording")):
        compared = ["compare", samples / "slower-stage/before", samples / "slower-stage/after", *by]
        yield document(*compared, codes=(0, 3, 7))
        yield from lines(*compared, codes=(0, 3, 7))
    listed = document("list")
    yield listed
    for recipe in listed["recipes"]:
        yield document("show", recipe["name"])
    yield document("report", samples / "sosreport.tar.xz")
    whys = sorted((source / "tests/golden/why").glob("*.txt"))
    for path in whys:
        yield document("why", path)
    yield document("why", whys[0], samples / "rx-latency.rec")
    yield document("why", samples / "rx-latency.rec", "--by", "comm")
    kept = source / "tests/golden/kept"
    yield document("report", "--by", "none", kept / "spike.rec")
    yield document("why", kept / "spike.rec")
    yield document("list", kept)
    yield document("fleet", "report", samples / "six-hosts")
    yield document("fleet", "why", samples / "six-hosts")
    yield document("doctor", codes=(0, 4))
    addresses = ("ffffffff8149a8ed", "0", "ffffffffc0000000")
    yield from lines("resolve", "--map", source / "tests/golden/System.map", *addresses)


def changed(value, path=()):
    """Yield (path, what, function that changes a copy of the whole) for each part of a document, the first of each array."""
    if isinstance(value, dict):
        yield path, "another key", lambda it: it.update(planted={"planted": []})
        for key, part in value.items():
            yield (*path, key), "missing", lambda it, key=key: it.pop(key)
            yield (*path, key), "wrong type", lambda it, key=key, part=part: it.update({key: wrong(part)})
            yield from changed(part, (*path, key))
    elif isinstance(value, list) and value:
        yield (*path, 0), "wrong type", lambda it, part=value[0]: it.__setitem__(0, wrong(part))
        yield from changed(value[0], (*path, 0))


def wrong(part):
    """Return a value that no key has in place of this one."""
    return 7.5 if isinstance(part, dict) else {"planted": []}


def at(document, path):
    for step in path:
        document = document[step]
    return document


def may_be(kind, path, what):
    """Whether a document is a document with this change, too."""
    names = [step for step in path if step != 0]
    inside = what if what == "another key" else names and names[-1]
    parents = names if what == "another key" else names[:-1]
    if what == "missing" and (inside in OPTIONAL or kind == "record-1" and inside != "event"):
        return True
    if what == "missing" and parents and NAMED.match(parents[-1]):
        return True
    return kind == "query-1" and parents == ["rows"]


def refused(document, counts):
    """Each wrong copy of it is refused."""
    kind = documents.kind_of(document)
    kind = "compare-line-1" if kind == "compare-1" and "changes" not in document else kind
    for path, what, change in changed(document):
        if may_be(kind, path, what) or kind == "compare-line-1" and path == ("schema",):
            continue
        copied = copy.deepcopy(document)
        change(at(copied, path if what == "another key" else path[:-1]))
        assert not documents.is_allowed(copied, kind), f"{kind}: {what} at {path} is allowed"
        counts[what] += 1


def main():
    stapgen, write_formats, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    made_up = [documents.checked(json.loads(run(write_formats, "json"))), *documents.checked_lines(run(write_formats, "ndjson"))]
    found, examples = collections.Counter(), {}
    for document in (*in_cases(source), *printed(stapgen, source), *made_up):
        kind = documents.kind_of(document)
        found[kind] += 1
        # A long one, as far as it takes no minute to change all of it.
        if kind not in examples or len(str(examples[kind])) < len(str(document)) < 20_000:
            examples[kind] = document
    print(", ".join(f"{count} {kind}" for kind, count in sorted(found.items())), "are allowed")
    # Those that fleet.run, fleet.results and store.export hold to their schemas.
    elsewhere = {"fleet-1", "fleet-compare-1", "query-1"}
    missing = {file.stem for file in documents.SCHEMAS.glob("*-1.json")} - set(found) - elsewhere
    assert not missing, f"nothing was printed of {missing}"
    counts = collections.Counter()
    for document in (*examples.values(), made_up[1]):
        refused(document, counts)
    print(", ".join(f"{count} with {what}" for what, count in sorted(counts.items())), "are refused")


if __name__ == "__main__":
    main()
