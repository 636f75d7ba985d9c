# SPDX-License-Identifier: GPL-2.0-or-later
"""What -o keeps: every record of the report, also after kill -9, on a full disk and in several files."""

import collections
import json
import subprocess

from lablib.events import read_printed

DESCRIPTION = "recordings of known traffic: whole, killed, on a full disk, rotated"
LIVE = True
IN_CI = ("trixie",)
BUILD = {"rx": ["rx-latency"], "drops": ["dropwatch", "-i", "1"]}

GUEST = r"""
start_memcached || exit 1
ask() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=$1 --test=set >/dev/null 2>&1; }

report whole json rx -x $MC_TID --format json -o whole.zst || exit 1
ask 307
end_records whole

stapgen exec rx.ko -o whole.zst >/dev/null 2>again.err
echo $? >again.exit

report refused json drops --format json -o refused.zst || exit 1
drops refused 109 >refused.truth || exit 1
end_records refused

report kill json rx -x $MC_TID --format json -o kill.zst || exit 1
ask 311
sleep 2
kill -KILL ${TRACERS[kill]}

# What is left has room for the head and some thousand records.
mkdir /tmp/full
mount -t tmpfs -o size=1m tmpfs /tmp/full
head -c 960000 /dev/zero >/tmp/full/filler
begin_report full json rx -x $MC_TID --format json -o /tmp/full/full.zst
report parts json rx -x $MC_TID --format json -o parts.zst --rotate 100kB || exit 1
wait_traced full.err || exit 1
ask 8009
end_records full parts
sleep 5
finish /tmp/full/full.zst
"""


def text_of(lab, name, whole=True):
    """Return the lines of a recording, as a person without stapgen reads them."""
    done = subprocess.run(["zstd", "-dc", lab.work / name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert (done.returncode == 0) == whole, f"zstd -dc {name}: {done.returncode} {done.stderr}"
    lines = done.stdout.decode().split("\n")
    assert not whole or lines[-1] == ""
    return [line.split("\t") for line in lines[:-1]]


def parts_of(lines, whole=True):
    """Return head, the script's lines and tail (None if not WHOLE)."""
    assert lines[0][:2] == ["recording", "1"] and (lines[-1][0] == "recording-end") == whole
    tail = json.loads(lines[-1][1]) if whole else None
    return json.loads(lines[0][2]), lines[1:-1] if whole else lines[1:], tail


def tagged(lines, tag):
    return [line for line in lines if line[0] == tag]


def check(lab):
    check_whole(lab)
    check_refused(lab)
    check_kill(lab)
    check_full(lab)
    check_parts(lab)
    check_reports(lab)
    assert "File exists" in lab.read("again.err") and lab.read("again.exit").strip() == "2"
    assert lab.read("modules-left").strip() == "0"


def check_reports(lab):
    """A report of the recording is the report of the run, to the last key; parts may come in any order."""
    # How many parts there are depends on how well the times of this run can be packed.
    parts = sorted(path.name for path in lab.work.glob("parts.zst*"))
    for name, files in (("whole", ["whole.zst"]), ("refused", ["refused.zst"]),
                        ("parts", parts[2:] + parts[1::-1])):
        done = lab.stapgen(["report", "--format", "json", *files], check=False)
        assert json.loads(done.stdout) == read_printed(lab, name), f"{name}: {done.stderr}"


def check_whole(lab):
    report = read_printed(lab, "whole")
    head, lines, tail = parts_of(text_of(lab, "whole.zst"))
    assert len(tagged(lines, "rx")) == report["accounting"]["reported"] >= 307
    assert tail["lines"] == len(lines)
    assert head["recipe"] == "rx-latency" and head["release"] == lab.release and head["filters"].keys() == {"target-tid"}
    assert head["command"][1:3] == ["exec", "rx.ko"] and len(head["sha256"]) == 64 and head["hash_of"] == "module"
    symbols = {words[2]: words[0].lstrip("0") for words in map(str.split, kernel_symbols(lab)) if len(words) == 3}
    offsets = {int(head["symbols"][name], 16) - int(symbols[name], 16) for name in ("_text", "_stext", "_etext")}
    print(f"{lab.suite}: {head['build_id']}, {len(head['modules'])} modules, KASLR offset {offsets}")
    assert len(offsets) == 1 and len(head["build_id"]) == 40
    assert all(module["base"] for module in head["modules"])
    received = [counters["Tcp.InSegs"] for counters in (head["counters"], tail["counters"])]
    assert received[1] - received[0] >= 2 * 307, received
    assert tail["counters"]["softnet.processed"] > head["counters"]["softnet.processed"]


def kernel_symbols(lab):
    return lab.chroot(["zcat", lab.symbols]).stdout.splitlines()


def check_refused(lab):
    report = read_printed(lab, "refused")
    head, lines, tail = parts_of(text_of(lab, "refused.zst"))
    recorded, shown = collections.Counter(), collections.Counter()
    names = {name["address"].lstrip("0"): name["symbol"] for name in tail["addresses"]}
    for _, address, reason, count in tagged(lines, "drop"):
        recorded[names[address.lstrip("0")], head["drop_reasons"][reason]] += int(count)
    for drop in report["drops"]:
        shown[drop["symbol"], drop["reason"]] += drop["count"]
    print(f"{lab.suite} refused: {dict(recorded)}")
    assert recorded == shown and sum(n for (_, reason), n in recorded.items() if reason == "NO_SOCKET") >= 109


def check_kill(lab):
    _, lines, _ = parts_of(text_of(lab, "kill.zst", whole=False), whole=False)
    print(f"{lab.suite} kill: {len(tagged(lines, 'rx'))} records")
    assert len(tagged(lines, "rx")) >= 311 and not tagged(lines, "end")


def check_full(lab):
    assert lab.read("full.exit").strip() == "1"
    said = lab.read("full.err")
    assert "No space left on device" in said, said
    assert "is incomplete" in said, said
    reported = json.loads(lab.read("full.json"))["accounting"]["reported"]
    _, lines, _ = parts_of(text_of(lab, "full.zst", whole=False), whole=False)
    print(f"{lab.suite} full: {len(tagged(lines, 'rx'))} of {reported} records")
    assert reported >= 8009 and 0 < len(tagged(lines, "rx")) < reported


def check_parts(lab):
    report = read_printed(lab, "parts")
    names = ["parts.zst"]
    while (lab.work / f"parts.zst.{len(names)}").exists():
        names.append(f"parts.zst.{len(names)}")
    parts = [parts_of(text_of(lab, name)) for name in names]
    sizes = [(lab.work / name).stat().st_size for name in names]
    print(f"{lab.suite} parts: {sizes} bytes")
    assert len(parts) > 1 and len({head["run"] for head, _, _ in parts}) == 1
    assert [head["part"] for head, _, _ in parts] == list(range(len(parts)))
    assert sum(len(tagged(lines, "rx")) for _, lines, _ in parts) == report["accounting"]["reported"] >= 8009
    assert [tail["continued"] for _, _, tail in parts] == [True] * (len(parts) - 1) + [False]
    for head, lines, _ in parts[1:]:
        assert head["repeated"] == 2 and lines[:2] == [parts[0][1][0], tagged(parts[0][1], "ready")[0]]
