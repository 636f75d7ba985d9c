# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of the seconds before is being made as stapgen is killed, or the disk fills, at twenty moments of each: what was
written can be read, and nothing stays loaded."""

import json

DESCRIPTION = "--keep: kill -9 and a full disk while a recording is kept, at twenty moments each: what is there is right"
IN_CI = ("trixie",)
BUILD = {"rx": ["rx-latency", "--keep-memory", "1MiB"]}

MOMENTS, SIZES = range(20), range(4, 84, 4)

GUEST = f"""
mkdir killed full
start_ready serve --port 7303 || exit 1
# asked NAME FOLDER: a measurement with some records that is asked for what it keeps.
asked() {{
    begin_report $1 out rx --keep 60s --after 1s --keep-in $2 --port 7303
    wait_traced $1.err || exit 1
    ask --port 7303 --requests 1009 >/dev/null || exit 1
    kill -USR1 ${{TRACERS[$1]}}
}}
for i in {" ".join(str(i) for i in MOMENTS)}; do
    asked killed$i killed
    sleep $((i * 97 / 1000)).$(printf %03d $((i * 97 % 1000)))
    kill -KILL ${{TRACERS[killed$i]}}
    wait_for '[ $(modules_left) = 0 ]' || exit 1
    for file in killed/*; do [ -s "$file" ] && cp "$file" killed$i.rec; rm -f "$file"; done
done
for kib in {" ".join(str(kib) for kib in SIZES)}; do
    mount -t tmpfs -o size=${{kib}}k none full || exit 1
    asked full$kib full
    ask --port 7303 --requests 101 >/dev/null || exit 1
    sleep 3
    end_records full$kib
    for file in full/*; do [ -s "$file" ] && cp "$file" full$kib.rec; done
    umount full
done
finish
"""


def check(lab):
    whole = broken = empty = 0
    for name in [f"killed{i}" for i in MOMENTS] + [f"full{kib}" for kib in SIZES]:
        file = lab.work / (name + ".rec")
        if not file.exists():
            empty += 1
            continue
        done = lab.analyse(["report", "--format", "json", str(file)], check=False)
        if done.returncode == 2 and "no known format in 0 lines" in done.stderr:
            empty += 1
            continue
        report = json.loads(done.stdout)
        account = report["accounting"]
        assert report["input"]["unrecognised"] <= 1, report["input"]
        assert report["kept"][0]["condition"] == "SIGUSR1", report["kept"]
        if account["closed"]:
            whole += 1
            assert account["seen"] == account["reported"] >= 2 * 1009, account
        else:
            broken += 1
            assert account["reported"] <= 2 * 1110, account
    print(f"{lab.suite}: {whole} whole, {broken} that end early, {empty} that had not begun")
    assert whole > 5 and broken > 5 and whole + broken + empty == len(MOMENTS) + len(SIZES)
    for kib in SIZES:
        # The measurement itself goes on.
        assert lab.read(f"full{kib}.exit").strip() == "0", kib
    assert lab.read("modules-left").strip() == "0"
