# SPDX-License-Identifier: GPL-2.0-or-later
"""stapgen serve in a guest: what a scraper gets is what was asked and dropped, to the request, through the end of a run.

Both expositions are scraped: OpenMetrics with classic buckets, and protobuf with native histograms.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "serve"))
import protobuf  # noqa: E402

DESCRIPTION = "serve sock-latency dropwatch: exact counts both ways, a killed stapio, SIGTERM; no module stays"
LIVE = True
IN_CI = ("trixie",)

BUILD = {"sock": ["sock-latency", "--parts", "--aggregate", "-i", "500ms", "--keep-memory", "1MiB"], "drops": ["dropwatch", "-i", "500ms"]}
RECIPES = "sock-latency", "dropwatch"
FIRST, SECOND, REFUSED, UNREACHABLE = 1009, 307, 109, 103

# The guest's Python is small.
SCRAPE = r"""
import socket, sys
accept = {"om": "application/openmetrics-text;version=1.0.0",
          "pb": "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"}
path, kind, file = sys.argv[1:]
with socket.create_connection(("127.0.0.1", 9752)) as connection:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:9752\r\nAccept: {accept.get(kind, '*/*')}\r\n\r\n".encode())
    answer = b""
    while data := connection.recv(65536):
        answer += data
head, _, body = answer.partition(b"\r\n\r\n")
with open(file, "wb") as out:
    out.write(body)
sys.exit(0 if b" 200 " in head.split(b"\r\n")[0] else 1)
"""

GUEST = r"""
scrape() { python3 scrape.py "$@"; }
# has LINE: the metrics have it now.
has() { scrape /metrics om /tmp/now && grep -qF -- "$1" /tmp/now; }
both() { scrape /metrics om $1.om && scrape /metrics pb $1.pb; }
reported() { echo "stapgen_records_total{recipe=\"sock-latency\",fate=\"reported\",cause=\"\"} $1"; }

start_ready serve --port 7001 || exit 1
mkdir kept
# Of what is served the seconds before are kept, too: at the first requests of each run, and at the first burst of drops.
stapgen serve "sock.ko --comm 'serve' --port 7001 --keep 7s --after 2s --when 'total max > 1ns' --keep-in kept" \
    "drops.ko --keep 7s --after 2s --when 'drop.NO_SOCKET rise > 53' --keep-in kept" 2>serve.err &
SERVE=$!
wait_for 'scrape /-/ready text ready' || { cat serve.err; exit 1; }
modules_left >during

ask --port 7001 --requests FIRST >asked || exit 1
drops refused REFUSED >dropped || exit 1
wait_for 'has "$(reported FIRST)"' || exit 1
wait_for 'scrape /metrics om /tmp/now && grep -q "^stapgen_drops_total.*NO_SOCKET.* REFUSED$" /tmp/now' || exit 1
both first

wait_for 'has "stapgen_recordings_kept_total{recipe=\"sock-latency\"} 1"' || exit 1
# SystemTap's own process is killed: what came stays, and another run begins by itself.
RUN=$(pgrep -f 'stapgen exec sock.ko')
kill -KILL $(pgrep -P $RUN)
wait_for 'has "stapgen_recipe_starts_total{recipe=\"sock-latency\"} 2"' || exit 1
wait_for 'scrape /-/ready text ready' || exit 1
both between
ask --port 7001 --requests SECOND >>asked || exit 1
drops unreachable UNREACHABLE >>dropped || exit 1
wait_for 'has "$(reported BOTH)"' || exit 1
wait_for 'scrape /metrics om /tmp/now && grep -q "^stapgen_drops_total.*NO_SOCKET.* UNREACHABLE$" /tmp/now' || exit 1
wait_for 'has "stapgen_recordings_kept_total{recipe=\"sock-latency\"} 2"' || exit 1
both second
for file in kept/*; do cp "$file" . && echo "$file"; done >files

kill -TERM $SERVE
wait $SERVE
echo $? >exit
finish
""".replace("UNREACHABLE", str(UNREACHABLE)).replace("REFUSED", str(REFUSED)).replace("FIRST", str(FIRST)).replace(
    "BOTH", str(FIRST + SECOND)).replace("SECOND", str(SECOND))


def prepare(lab):
    (lab.work / "scrape.py").write_text(SCRAPE)


def samples(lab, name):
    """Return {(name, labels): value} of an OpenMetrics text."""
    found = {}
    for line in lab.read(f"{name}.om").splitlines():
        if match := re.fullmatch(r'(\w+)(?:\{(.*)\})? (\S+)', line):
            labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or "")
            found[match[1], frozenset(labels)] = float(match[3])
    assert lab.read(f"{name}.om").endswith("# EOF\n")
    return found


def value(found, name, /, **labels):
    known = [number for (other, of), number in found.items() if other == name and labels.items() <= set(of)]
    assert len(known) == 1, (name, labels, known)
    return known[0]


def native_counts(lab, name):
    """Return {stage: (count, sum of its buckets)} of a protobuf exposition."""
    counts = {}
    for family in protobuf.delimited((lab.work / f"{name}.pb").read_bytes()):
        if family[1] != [b"stapgen_stage_seconds"]:
            continue
        for metric in map(protobuf.fields, family[4]):
            labels = {protobuf.fields(label)[1][0]: protobuf.fields(label)[2][0].decode() for label in metric[1]}
            histogram = protobuf.fields(metric[7][0])
            count = total = 0
            for delta in (protobuf.signed(each) for data in histogram[13] for each in protobuf.packed(data)):
                count += delta
                total += count
            counts[labels[b"stage"]] = histogram[1][0], total + histogram[7][0]
    return counts


def check(lab):
    print(f"{lab.suite} serve: {lab.read('serve.err')}")
    assert lab.read("exit").strip() == "0" and lab.read("modules-left").strip() == "0"
    assert lab.read("during").strip() == "2", "one module for each recipe"
    before = None
    for name, requests in (("first", FIRST), ("between", FIRST), ("second", FIRST + SECOND)):
        found = samples(lab, name)
        account = {fate: value(found, "stapgen_records_total", recipe="sock-latency", fate=fate)
                   for fate in ("reported", "filtered")}
        lost = [number for (kind, of), number in found.items()
                if kind == "stapgen_records_total" and {("recipe", "sock-latency"), ("fate", "lost")} <= set(of)]
        cpu = {recipe: value(found, "stapgen_recipe_cpu_seconds_total", recipe=recipe) for recipe in RECIPES}
        print(f"{lab.suite} {name}: {account}, lost {lost}, cpu {cpu}, serve {value(found, 'stapgen_cpu_seconds_total')} s, "
              f"{value(found, 'stapgen_memory_bytes') / 1e6:.1f} MB")
        assert account["reported"] == requests and sum(lost) == 0
        native = native_counts(lab, name)
        for stage in ("app", "total"):
            classic = value(found, "stapgen_stage_seconds_count", stage=stage)
            last = value(found, "stapgen_stage_seconds_bucket", stage=stage, le="+Inf")
            assert classic == last == requests and native[stage] == (requests, requests), (stage, classic, last, native)
        parts = {dict(of)["cause"]: number for (kind, of), number in found.items()
                 if kind == "stapgen_part_seconds_sum" and ("stage", "app") in of}
        app = value(found, "stapgen_stage_seconds_sum", stage="app")
        print(f"  app {app}, of that {parts}")
        assert parts["running"] > 0 and round(sum(parts.values()) * 1e9) == round(app * 1e9), (app, parts)
        # As a run hands over its sums it wakes their reader, within a handler.
        assert value(found, "stapgen_losses_total", recipe="sock-latency", kind="skipped_probes") <= 2
        if before is not None:
            fallen = {key for key, number in before.items() if key[0].endswith(("_total", "_count", "_bucket", "_sum"))
                      and found.get(key, -1) < number}
            assert not fallen, f"fell: {fallen}"
        before = found
    assert value(before, "stapgen_recordings_kept_total", recipe="sock-latency") == 2
    assert value(before, "stapgen_recordings_kept_total", recipe="dropwatch") == 1
    files = lab.read("files").split()
    assert [pathlib.Path(file).name.rpartition("-")[0] for file in files] == ["dropwatch", "sock-latency", "sock-latency"], files
    latest = {dict(of)["recipe"]: pathlib.Path(dict(of)["file"]).name for name, of in before
              if name == "stapgen_recording_kept_timestamp_seconds"}
    assert latest == {"dropwatch": pathlib.Path(files[0]).name, "sock-latency": pathlib.Path(files[2]).name}, latest
    for file, most in zip(files, (REFUSED, FIRST, SECOND)):
        account = json.loads(lab.analyse(["report", "--format", "json", str(lab.work / pathlib.Path(file).name)]).stdout)["accounting"]
        print(f"{lab.suite} {file}: {account}")
        assert account["closed"] and account["lost"] == 0 and 0 < account["reported"] <= most, account
    assert value(before, "stapgen_recipe_starts_total", recipe="sock-latency") == 2
    assert value(before, "stapgen_recipe_starts_total", recipe="dropwatch") == 1
    assert value(before, "stapgen_recipe_last_error", recipe="sock-latency", stapgen_recipe_last_error="failed") == 1
    # By function, not by offset; no address is a label.
    drops = {(dict(of)["place"], dict(of)["reason"]): number for (name, of), number in before.items()
             if name == "stapgen_drops_total"}
    print(f"{lab.suite} drops: {drops}")
    assert sorted(number for (_, reason), number in drops.items() if reason == "NO_SOCKET") == [UNREACHABLE, REFUSED], drops
    assert drops["tcp_v4_rcv", "NO_SOCKET"] == REFUSED, drops
    assert not [place for place, _ in drops if place.startswith("0x") or "+" in place or place == "unknown"], drops
    probes = [dict(of)["probe"] for (name, of), number in before.items() if name == "stapgen_probe_active" and number == 1]
    assert any("kfree_skb" in probe for probe in probes), probes
