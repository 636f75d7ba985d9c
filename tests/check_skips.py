#!/usr/bin/env python3
"""What ctest ran, and whether all that it left out may be: check_skips.py ALLOWED.toml TESTS.xml...

Each TESTS.xml is of ctest --output-junit. What did not run is compared with ALLOWED.toml; one that is not in it counts
as failed. The last line is the total of all.
"""

import collections
import fnmatch
import pathlib
import sys
import tomllib
import xml.etree.ElementTree


def reason_of(allowed, name, output):
    """Return why this one may be skipped, or None."""
    return next((rule["because"] for rule in allowed
                 if fnmatch.fnmatchcase(name, rule["tests"]) and rule["says"] in output), None)


def outcome_of(allowed, case):
    """Return passed, failed or skipped, and a line to tell if it is not passed."""
    name, status = case.get("name"), case.get("status")
    if status == "run":
        return "passed", None
    if status == "fail":
        return "failed", f"FAILED {name}"
    output = case.findtext("system-out", "")
    reason = reason_of(allowed, name, output)
    if reason:
        return "skipped", f"skipped, as it may be: {name}: {reason}"
    said = output.strip().splitlines() or ["it said nothing"]
    why = next((line for line in said if "skip" in line.lower()), said[-1])
    return "failed", f"FAILED {name}: it did not run, which {sys.argv[1]} does not allow: {why}"


def main():
    allowed = tomllib.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["skip"]
    total = collections.Counter(passed=0, failed=0, skipped=0)
    for path in sys.argv[2:]:
        outcomes = [outcome_of(allowed, case) for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase")]
        assert outcomes, f"{path} has no test"
        counts = collections.Counter(outcome for outcome, _ in outcomes)
        print(f"{path}: {counts['passed']} of {len(outcomes)} passed")
        total += counts
        for _, line in outcomes:
            if line:
                print(f"  {line}")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(total["failed"] > 0)


main()
