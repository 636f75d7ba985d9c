#!/usr/bin/python3
"""What README.md says of each sample is what its report says: check_truths.py STAPGEN"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

FULL, NFT, CHECKSUM, NO_REMOTE, REFUSED = 208, 103, 107, 61, 109
# File -> recipe -> drops by count, the largest first.
DROPS = {f"dropwatch-{year}.txt": {"dropwatch.stp": [FULL, REFUSED, CHECKSUM, NFT, NO_REMOTE]}
         for year in ("2009", "2010", "2020", "2020-bare", "2023", "2025")}
DROPS |= {
    "dropwatch-tool.txt": {"dropwatch-tool": [FULL, REFUSED, CHECKSUM, NFT]},
    "perf-drops.txt": {"kfree_skb": [FULL, 29]},
    "ftrace-drops.txt": {"kfree_skb": [FULL, 29, 23]},
    "own-dropwatch.txt": {"dropwatch": [FULL, REFUSED, CHECKSUM, 61]},
    "dropwatch.rec": {"dropwatch": [109]},
    "losses.rec": {"dropwatch": [61, 1]},
    "forward.rec": {"forward-latency": [503]},
    "resent.rec": {"retransmits": [72, 69, 2]},
    "ledger.rec": {"losses": [323, 208, 149, 139, 137, 131, 127, 109, 101, 61]},
    "drop-stacks.rec": {"dropwatch": [208, 156, 109, 2]},
    "mixed-paste.txt": {"dropwatch.stp": [FULL, REFUSED, CHECKSUM, NFT, NO_REMOTE]},
}
# File -> recipe -> n by stage.
TIMES = {f"stage-timing{kind}.txt": {"stage-timing": {"drv-ip": 347, "tcp-app": 347, "app-tcp": 39, "ip-drv": 39}}
         for kind in ("", "-terminal", "-col")}
TIMES |= {
    "stage-timing-zones.txt": {"stage-timing": {"ip-tcp": 122, "tcp-ip": 4}},
    "own-rx-latency.txt": {"rx-latency": {"tcp-app": 509}},
    "own-sock-latency.txt": {"sock-latency": {"total": 403}},
    "own-call-trace.txt": {"call-trace": {"in-softirq": 39, "in-thread": 14}},
    "net-latency.txt": {"net-latency": {"drv-ip": 104, "tcp-app": 52, "udp-app": 52, "app-tcp": 52, "qdisc": 104}},
    "net-latency.rec": {"net-latency": {"drv-ip": 104, "tcp-app": 52, "udp-app": 52, "app-tcp": 52, "qdisc": 104}},
    "servers-parts.rec": {"net-latency": {"tcp-app": 8403, "app-tcp": 8403}},
    "tx-latency.txt": {"tx-latency": {"app-tcp": 167, "qdisc": 167}},
    "tx-latency.rec": {"tx-latency": {"app-tcp": 448, "qdisc": 448}},
    "call-trace.rec": {"call-trace": {"in-softirq": 339, "in-thread": 118}},
    "requests.rec": {"sock-latency": {"app": 954}},
    "connects.rec": {"connect-latency": {"answer": 79, "failure": 141}},
    "queues.rec": {"accept-latency": {"handshake": 17}},
    "forward.rec": {"forward-latency": {"drv-ip": 1062, "qdisc": 1580}},
    "packet-flow.rec": {"packet-flow": {"ip-tcp": 412, "ip-udp": 404, "app-tcp": 412, "drv-done": 408, "total": 1632}},
    "earlier/packet-flow.rec": {"packet-flow": {"ip-tcp": 309, "ip-udp": 294, "app-tcp": 309, "drv-done": 204, "total": 1215}},
    "netdev-times.txt": {"netdev-times": {"receive-app": 61}},
    "perf-net.txt": {"net-events": {"drv-app": 17}},
    "ftrace-net.txt": {"net-events": {"drv-app": 34}},
    "rx-latency.rec": {"rx-latency": {"tcp-app": 308}},
    "rx-latency-killed.rec": {"rx-latency": {"tcp-app": 312}},
    "rx-latency-cost.rec": {"rx-latency": {"tcp-app": 1007}},
    "containers.rec": {"rx-latency": {"drv-ip": 533, "udp-app": 533}},
    "rx-latency-version-1.txt": {"rx-latency": {"drv-ip": 803, "tcp-app": 803}},
    "mixed-paste.txt": {"stage-timing": {"tcp-app": 64, "ip-drv": 4}},
}
MEANS = {"memcached-tracker.txt": 805, "mixed-paste.txt": 805}
COUNTERS = {
    "softnet.rec": {"Udp.NoPorts": 109, "Udp.RcvbufErrors": FULL, "Udp.InErrors": FULL, "Icmp.OutDestUnreachs": 109},
    "losses.rec": {"TcpExt.ListenOverflows": 22, "TcpExt.ListenDrops": 22},
}
# Archive -> finding -> count.
FINDINGS = {"sosreport.tar.xz": {"listen-overflow": 21}}
# What scripts of earlier versions of the recording format printed: in earlier/, where files stay as they are.
VERSIONS = {
    "rx-latency-version-1.txt": 1,
    "own-rx-latency.txt": 2, "own-sock-latency.txt": 2, "own-dropwatch.txt": 2, "rx-latency.rec": 2, "dropwatch.rec": 2,
    "net-latency.txt": 3, "tx-latency.txt": 3, "own-call-trace.txt": 3, "packet-flow.rec": 3,
    "rx-latency-cost.rec": 4, "servers-parts.rec": 5,
}


def counters_of(report):
    """Return by how much counters of the kernel rose: those the recipe counts, and those beside its drops."""
    found = {counter["name"]: counter["count"] for counter in report["counters"]}
    for tally in report["counts"]:
        name = tally["group"]["name"]
        found[name] = found.get(name, 0) + tally["count"]
    return found


def check_parts(name, report):
    """Fail unless the parts of a stage add up to it."""
    parts = {}
    for stage in report["stages"]:
        if "part_of" in stage and not stage["group"]:
            parts[stage["part_of"]] = parts.get(stage["part_of"], 0) + stage["sum_ns"]
    whole = {stage["stage"]: stage["sum_ns"] for stage in report["stages"] if stage["stage"] in parts and not stage["group"]}
    assert parts == whole, f"{name}: {parts}, {whole}"
    return len(parts)


def check_versions():
    for name, version in VERSIONS.items():
        lines = subprocess.run(["zstd", "-dcf", HERE / "earlier" / name], stdout=subprocess.PIPE, check=True).stdout.splitlines()
        header = next(line for line in lines if line.startswith(b"stapgen\t"))
        assert header.split(b"\t")[1] == b"%d" % version, f"{name} is to be of version {version}: {header}"


def check_archives():
    for name, expected in FINDINGS.items():
        done = subprocess.run([sys.argv[1], "report", "--json", HERE / name], stdout=subprocess.PIPE, text=True, check=True)
        found = {finding["name"]: finding["count"] for finding in json.loads(done.stdout)["findings"]}
        assert found == expected, f"{name}: {found}"


def main():
    check_versions()
    check_archives()
    divided = 0
    for sample in sorted([*HERE.glob("*.*"), *HERE.glob("earlier/*")]):
        if sample.suffix not in (".txt", ".rec"):
            continue
        # What was planted did not change, but for more of packet-flow's.
        name = str(sample.relative_to(HERE))
        if name not in TIMES:
            name = sample.name
        done = subprocess.run([sys.argv[1], "report", "--format", "ndjson", sample], stdout=subprocess.PIPE, text=True,
                              check=True)
        reports = {report["recipe"]: report for report in map(json.loads, done.stdout.splitlines())}
        divided += sum(check_parts(name, report) for report in reports.values())
        known = DROPS.get(name, {}).keys() | TIMES.get(name, {}).keys() | COUNTERS.get(name, {}).keys()
        assert known or name in MEANS, f"{name}: nothing is known of it"
        for recipe, expected in DROPS.get(name, {}).items():
            totals = {}
            for drop in reports[recipe]["drops"]:
                place = (drop["symbol"], drop["offset"], drop["address"], drop["reason"], drop["reason_number"])
                totals[place] = totals.get(place, 0) + drop["count"]
            assert sorted(totals.values(), reverse=True) == expected, f"{name}: {totals}"
        for recipe, expected in TIMES.get(name, {}).items():
            found = {stage["stage"]: stage["n"] for stage in reports[recipe]["stages"] if not stage["group"]}
            assert expected.items() <= found.items(), f"{name}: {found}"
        if name in COUNTERS:
            found = counters_of(next(iter(reports.values())))
            assert COUNTERS[name].items() <= found.items(), f"{name}: {found}"
        if name in MEANS:
            averages = {average["name"]: average["n"] for average in reports["memcached-tracker"]["averages"]}
            assert averages["total"] == MEANS[name], f"{name}: {averages}"
        if name == "mixed-paste.txt":
            assert sum(report["accounting"]["skipped_probes"] for report in reports.values()) == 8
    assert divided == 14, divided
    print("each sample is what it is known to be")


main()
