#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_joined.py STAPGEN: joined requests are a recording like any other.

Two hosts' recordings of known values, by IPv4 and by IPv6, are joined with -o. What report, why and compare say of that, and
what is exported, is what was planted: in one pair the server takes 3 ms longer, and nothing else.
"""

import collections
import json
import os
import pathlib
import re
import struct
import sys
import tempfile

from stores import RUN_START, Stapgen, is_there

REQUESTS, PERIOD = 3001, 7_000_000  # 21 s
AHEAD = 100_000_000_000  # of the server's clock
FIELDS = ("time:time\tway:text\tlocal:endpoint\tremote:endpoint\tseq:int\treply_seq:int\task:stage\taway:stage\tapp:stage\t"
          "read:stage\ttotal:stage\tarriving:value")
STAGES = ("ask", "between", "server", "reply", "read")
PARTS = ("fastest", "forth", "back")


def requests(longer, seed):
    """Yield each request: (when it is sent, ns of each stage, of each part of between)."""
    for number in range(REQUESTS):
        noise = (number + seed) * 7919 % 3119
        forth, back = (noise, 0) if number % 2 else (0, 2 * noise)
        parts = {"fastest": 68_000, "forth": forth, "back": back}
        yield number * PERIOD, {"ask": 11_000 + noise, "between": sum(parts.values()), "server": 3_000_000 + longer + 3 * noise,
                                "reply": 5_000 if number % 7 == 0 else 0, "read": 13_000 + noise}, parts


def lines_of(host, way, start, ends, records):
    seen = len(records) + 1
    facts = {"run": f"{host} {start}", "part": 0, "start_epoch_ns": start, "recipe": "both-ends", "host": host,
             "command": ["stapgen", "both-ends", "--port", "5432"], "filters": {}}
    return "\n".join([
        f"recording\t1\t{json.dumps(facts)}", f"stapgen\t4\tboth-ends\tends\t{FIELDS}", f"ready\t{start}\t0",
        *(f"ends\t{at}\t{way}\t{ends[number % 2]}\t{(4_294_967_000 + number) % 2**32}\t{7 * number}\t{times}"
          for number, (at, times) in enumerate(records)),
        f"end\t{start + REQUESTS * PERIOD}\tseen={seen}\treported={len(records)}\tincomplete.unanswered=1",
        f'recording-end\t{{"end_epoch_ns":{start + REQUESTS * PERIOD},"continued":false}}\n'])


def record(folder, name, start, longer=0, seed=0):
    """Write app1.rec and db1.rec. Each lacks one request of the other's: the client's last one, and the server's first one."""
    client, server = [], []
    for at, ns, parts in requests(longer, seed):
        total, away = sum(ns.values()), ns["between"] + ns["server"]
        came = at + ns["ask"] + 31_000 + parts["forth"]
        client.append((at + total, f"{ns['ask']}\t{away}\t-\t{ns['read']}\t{total}\t{ns['reply']}"))
        server.append((came + ns["server"], f"-\t-\t{ns['server']}\t-\t{ns['server']}\t0"))
    ends = ["0.ffff0a090001:40000\t0.ffff0a090002:5432", "fd09000000000000.1:40001\tfd09000000000000.2:5432"]
    turned = ["\t".join(reversed(of.split("\t"))) for of in ends]
    pair = folder / name
    pair.mkdir()
    (pair / "app1.rec").write_text(lines_of("app1", "client", start, ends, client[:-1]))
    text = lines_of("db1", "server", start + AHEAD, turned, server)
    first = next(line for line in text.splitlines(keepends=True) if line.startswith("ends\t"))
    (pair / "db1.rec").write_text(text.replace(first, "", 1))
    return pair


def planted(longer=0, seed=0):
    """Return the values of each stage and part that was seen."""
    values = collections.defaultdict(list)
    for _, ns, parts in list(requests(longer, seed))[1:-1]:
        for stage, of in {**ns, **{f"between.{part}": of for part, of in parts.items()}}.items():
            if of or stage not in ("reply", "between.forth", "between.back"):
                values[stage].append(of)
        values["total"].append(sum(ns.values()))
    return values


def check_report(stapgen, joined):
    report = stapgen.report(joined)
    assert report["recipe"] == "between" and report["origins"][0]["host"] == "app1 and db1", report
    account = report["accounting"]
    assert (account["seen"], account["reported"], account["lost"]) == (REQUESTS, REQUESTS - 2, 0), account
    assert account["incomplete_by"] == {"longer-at-server": 0, "not-at-server": 1, "same-numbers": 0, "unanswered": 1}, account
    assert account["other"] == {"not-at-client": 1, "transport-at-server": 1, "unanswered-at-server": 1}, account
    values = planted()
    found = {stage["stage"]: stage for stage in report["stages"] if not stage["group"]}
    assert found.keys() == values.keys(), found.keys()
    for stage, of in values.items():
        # Where a clock's line is drawn is rounded.
        error = len(of) if "." in stage else 0
        assert (found[stage]["n"], found[stage]["max_ns"]) == (len(of), max(of)) or error, (stage, found[stage])
        assert abs(found[stage]["sum_ns"] - sum(of)) <= error, (stage, found[stage], sum(of))
    slowest = report["slowest"][0]
    assert slowest["total_ns"] == max(values["total"]), slowest
    by_address, _ = stapgen.run("report", joined, "--json", "--by", "local")
    n = {stage["group"]["local"]: stage["n"] for stage in json.loads(by_address)["stages"] if stage["stage"] == "server" and stage["group"]}
    assert n == {"10.9.0.1:40000": 1499, "[fd09::1]:40001": 1500}, n
    for form in ("table", "csv", "ndjson", "openmetrics"):
        stapgen.run("report", joined, "--format", form)
    page, _ = stapgen.run("report", joined, "--format", "html")
    bars = page.split('<div class="stack">')[1].split("</div>")[0]
    assert re.findall(r'title="(\S+) ', bars) == ["ask", "between.fastest", "between.forth", "between.back", "server", "reply", "read"], bars
    slowest = page.split('<div class="timelines">')[1].split("</div>")[0]
    assert slowest.count("<p><strong>#") == 5 and "server" in slowest and "app1 and db1" in slowest, slowest


def check_why(stapgen, joined):
    why = json.loads(stapgen.run("why", joined, "--json")[0])
    assert why["causes"][0]["part"] == "server" and "at the server's host" in why["answer"], why
    assert [part["part"] for part in why["parts"]][:2] == ["server", "between.fastest"], why


def check_compare(stapgen, before, same, after):
    compared = json.loads(stapgen.run("compare", before, same, "--json")[0])
    assert not compared["regression"], compared
    compared = json.loads(stapgen.run("compare", before, after, "--json", code=3)[0])
    worse = {change["stage"] for change in compared["changes"] if change["regression"]}
    assert worse == {"server", "total"}, worse
    means = {change["stage"]: change["after_ns"] - change["before_ns"] for change in compared["changes"] if change["statistic"] == "mean"}
    assert all(abs(means[stage] - (3_000_000 if stage in worse else 0)) < 3_000 for stage in ("server", "total", "between", "ask")), means


def check_store(stapgen, folder, joined):
    stapgen.export(folder / "store", joined)
    stapgen.run("export", joined, "--parquet", folder / "events", "--events")
    values = planted()
    rows = stapgen.rows(folder / "events", "SELECT count(*) AS n, sum(ask_ns) AS ask, sum(between_ns) AS \"between\", sum(server_ns) AS server, "
                        "sum(reply_ns) AS reply, sum(read_ns) AS \"read\", sum(total_ns) AS total, min(seq) AS seq, "
                        "count(DISTINCT local) AS clients, min(hosts) AS hosts FROM events")
    assert rows == [{"n": REQUESTS - 2, **{stage: sum(values[stage]) for stage in (*STAGES, "total")}, "seq": 0, "clients": 2,
                     "hosts": "app1 and db1"}], rows
    sums = {row["stage"]: row["n"] for row in stapgen.rows(folder / "store", "SELECT stage, sum(n) AS n FROM sums GROUP BY stage")}
    assert sums == {stage: len(of) for stage, of in values.items()}, sums


def check_capture(stapgen, folder, pair):
    """The client's end by tcpdump: what its host did inside is not known."""
    packets = []
    client, server = bytes([10, 9, 0, 1]), bytes([10, 9, 0, 2])
    for number, (at, ns, parts) in enumerate(requests(0, 0)):
        if number % 2:
            continue
        sent = at + ns["ask"]
        came = sent + ns["between"] + ns["server"]
        seq, reply_seq = (4_294_967_000 + number) % 2**32, 7 * number
        packets.append((sent, client, server, 40000, 5432, seq, reply_seq))
        packets += [(came + rest, server, client, 5432, 40000, reply_seq + (1 if rest else 0), seq + 1) for rest in {0, ns["reply"]}]
    data = struct.pack(">IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 128, 101)
    for at, source, to, port, to_port, seq, ack in sorted(packets):
        segment = (struct.pack(">BBHHHBBH", 0x45, 0, 41, 1, 0x4000, 64, 6, 0) + source + to +
                   struct.pack(">HHIIHHHH", port, to_port, seq, ack % 2**32, 0x5018, 512, 0, 0) + b"x")
        seconds, ns = divmod(RUN_START + at, 10**9)
        data += struct.pack(">IIII", seconds, ns, len(segment), len(segment)) + segment
    (folder / "app1.pcap").write_bytes(data)
    stapgen.run("between", folder / "app1.pcap", pair / "db1.rec", "-o", folder / "captured.rec")
    report = stapgen.report(folder / "captured.rec")
    found = {stage["stage"]: stage["n"] for stage in report["stages"] if not stage["group"]}
    assert (found["ask"], found["read"], found["server"], found["total"]) == (0, 0, 1500, 1500), found
    means = {stage["stage"]: stage["sum_ns"] for stage in report["stages"] if not stage["group"]}
    assert means["between"] + means["server"] + means["reply"] == means["total"], means


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stapgen = Stapgen(program, folder)
        joined = {}
        for kind, start, longer, seed in (("before", 0, 0, 0), ("same", 60, 0, 17), ("after", 120, 3_000_000, 31)):
            pair = record(folder, kind, RUN_START + start * 10**9, longer, seed)
            joined[kind] = folder / f"{kind}.rec"
            said, _ = stapgen.run("between", pair, "-o", joined[kind])
            assert f"{REQUESTS - 2:,} requests at both ends" in said, said
        stapgen.run("between", folder / "before", "-o", joined["before"], code=2)
        check_report(stapgen, joined["before"])
        check_why(stapgen, joined["before"])
        check_compare(stapgen, joined["before"], joined["same"], joined["after"])
        check_capture(stapgen, folder, folder / "before")
        if not is_there(program):
            print("skipped: DuckDB's library is not here")
            return
        check_store(stapgen, folder, joined["before"])


if __name__ == "__main__":
    main()
