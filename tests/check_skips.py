#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What ctest ran, and whether all that it left out may be: check_skips.py ALLOWED.toml TESTS.xml...

Each TESTS.xml is of ctest --output-junit. What did not run, and lines of passed tests that begin with "skipped", are
compared with ALLOWED.toml; a test with one that is not in it counts as failed. The last line is the total of all.
"""

import collections
import fnmatch
import pathlib
import re
import sys
import tomllib
import xml.etree.ElementTree

LAST = 8  # lines of what a failed test has said, which are far above where many tests run


def reason_of(allowed, name, said):
    """Return why this one may be skipped, or None."""
    return next((rule["because"] for rule in allowed
                 if fnmatch.fnmatchcase(name, rule["tests"]) and rule["says"] in said), None)


def outcome_of(allowed, case):
    """Return passed, failed or skipped, and lines to tell."""
    name, status, output = case.get("name"), case.get("status"), case.findtext("system-out", "").strip()
    if status == "fail":
        return "failed", [f"FAILED {name}", *(f"  {line[:200]}" for line in output.splitlines()[-LAST:])]
    parts = re.findall(r"^skipped\b.*", output, re.MULTILINE)
    reasons = {said: reason_of(allowed, name, said) for said in (parts if status == "run" else [output])}
    if forbidden := [said for said, reason in reasons.items() if reason is None]:
        lines = forbidden[0].splitlines() or ["it said nothing"]
        why = next((line for line in lines if "skip" in line.lower()), lines[-1])
        what = "it left something out" if status == "run" else "it did not run"
        return "failed", [f"FAILED {name}: {what}, which {sys.argv[1]} does not allow: {why}"]
    lines = [f"may be skipped: {name}: {reason}" for reason in reasons.values()]
    return "passed" if status == "run" else "skipped", lines


def main():
    allowed = tomllib.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["skip"]
    total = collections.Counter()
    for path in sys.argv[2:]:
        outcomes = [outcome_of(allowed, case) for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase")]
        assert outcomes, f"{path} has no test"
        counts = collections.Counter(outcome for outcome, _ in outcomes)
        print(f"{path}: {counts['passed']} of {len(outcomes)} passed")
        for line in (line for _, lines in outcomes for line in lines):
            print(f"  {line}")
        total += counts
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(total["failed"] > 0)


main()
