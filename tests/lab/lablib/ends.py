# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that are recorded at both their ends, in namespaces of one guest, and what `stapgen between` makes of them."""

import json

from .events import check_ended, check_report

OFFSET = 100_000_000_000

# begin_ends NAME CLIENT SERVER: record what these namespaces are the ends of, as NAME-app and NAME-db: of two hosts, the
# server's clock is 100 s ahead. end_ends NAME RECORD...: these, and others that were begun meanwhile.
RECORDED = """
begin_ends() {
    hostname app1
    record $1-app ends --netns $2 || exit 1
    hostname db1
    date -s '+100 seconds' >/dev/null
    record $1-db ends --netns $3 || exit 1
    date -s '-100 seconds' >/dev/null
}
end_ends() {
    end_records $1-app $1-db "${@:2}"
    hostname lab
}
"""


def between_files(lab, *files):
    """Return what is between the hosts of these files, and the exit code."""
    done = lab.analyse(["between", *files, "--format", "json"], check=False)
    assert done.returncode in (0, 7), done
    answer = json.loads(done.stdout)
    for result in answer["results"]:
        result["by"] = {part["where"]: part for part in result["parts"]}
        forth, back = result["ways"]
        print(f"  {' '.join(files)}: {result['client']}, {result['server']}: {result['requests']} joined, {result['client_only']} + "
              f"{result['server_only']} not; P50 "
              + ", ".join(f"{where} {part['p50_ns'] / 1e6:.3f}" for where, part in result["by"].items() if part["p50_ns"])
              + f" ms; fastest {result['fastest_ns']}, offset {result['offset_ns']} +- {result['offset_error_ns']}, "
              f"drift {result['drift_ppm']}, forth {forth}, back {back}")
    return answer, done.returncode


def between(lab, *names):
    """Return the results of these recordings, whose accounts add up, and what is missing."""
    for name in names:
        check_ended(lab, name)
        check_report(lab.report(name, "--format", "json"))
    answer, code = between_files(lab, *(f"{name}.rec" for name in names))
    assert code == 0, answer
    return answer["results"], answer["missing"]
