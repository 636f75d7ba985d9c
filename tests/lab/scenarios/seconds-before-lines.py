# SPDX-License-Identifier: GPL-2.0-or-later
"""Bursts of refused connections, planted among a few each second: dropwatch and connect-latency, whose modules have no ring, keep
each with the seconds before it, and of the one within a minute of another only that it was."""

import datetime
import json

DESCRIPTION = "--keep of printed records: bursts of drops and of failed connections are kept once, with closed accounts"
IN_CI = ("trixie",)
BUILD = {"drops": ["dropwatch", "-i", "1s"], "connects": ["connect-latency", "-i", "1s"]}

BEFORE, AFTER = 7, 2
STEADY, BURST = 3, 307

GUEST = f"""
mkdir kept
begin_report wrong json drops --keep 1s -d 5 --when 'drop.NO_SOKET rise > 0'
wait ${{TRACERS[wrong]}}; echo $? >wrong.exit
begin_report drops json drops --keep {BEFORE}s --after {AFTER}s --when 'drop.NO_SOCKET rise > 53' --keep-in kept --format json
begin_report connects json connects --keep {BEFORE}s --after {AFTER}s --when 'failure.refused rise > 53' --keep-in kept --format json
wait_traced drops.err && wait_traced connects.err || exit 1
while sleep 1; do drops refused {STEADY} || exit; done >/dev/null &
steady=$!
burst() {{ date +%s%N >>bursts; drops refused {BURST}; }}
sleep 17; burst
sleep 13; burst
sleep 67; burst
sleep 7
kill $steady
end_records drops connects
for file in kept/*; do cp "$file" . && echo "${{file#*/}}"; done >files
finish
"""


def check_kept(lab, file, moment):
    """Return the report of a kept recording with one burst, and how many were refused in it."""
    report = json.loads(lab.analyse(["report", "--format", "json", str(lab.work / file)]).stdout)
    account = report["accounting"]
    assert account["closed"] and account["seen"] == account["reported"] and account["lost"] == 0, account
    if file.startswith("dropwatch"):
        refused = sum(drop["count"] for drop in report["drops"] if drop["reason"] == "NO_SOCKET")
    else:
        refused = sum(count["count"] for count in report["counts"] if count["group"]["result"] == "refused")
        assert account["reported"] == refused, account
    print(f"{lab.suite} {file}: {refused} refused")
    # An interval is a second, and so is each few.
    seconds, rest = divmod(refused - BURST, STEADY)
    assert rest == 0 and BEFORE - 2 <= seconds <= BEFORE + AFTER + 3, refused
    start = datetime.datetime.fromisoformat(report["start"][:26]).replace(tzinfo=datetime.timezone.utc).timestamp()
    assert abs(start - (moment - BEFORE)) < 2.5, (report["start"], moment)
    return report


def check(lab):
    assert lab.read("wrong.exit").strip() == "2" and "did you mean 'NO_SOCKET'?" in lab.read("wrong.err"), lab.read("wrong.err")
    bursts = [int(line) / 1e9 for line in lab.read("bursts").split()]
    for recipe, name, condition in (("dropwatch", "drops", "drop.NO_SOCKET"), ("connect-latency", "connects", "failure.refused")):
        files = [file for file in lab.read("files").split() if file.startswith(recipe)]
        assert len(files) == 2 == lab.read(name + ".err").count("stapgen: kept "), lab.read(name + ".err")
        first, later = (check_kept(lab, file, moment) for file, moment in zip(files, (bursts[0], bursts[2])))
        kept = [report["kept"][0] for report in (first, later)]
        assert [(one["condition"], one["unkept"]) for one in kept] == [(f"{condition} rise > 53 over 1s", 0),
                                                                       (f"{condition} rise > 53 over 1s", 1)], kept
        account = json.loads(lab.read(name + ".json"))["accounting"]
        assert account["seen"] == account["reported"] and account["transport_failures"] == 0, account
    assert lab.read("modules-left").strip() == "0"
