"""Prometheus in a guest, through restarts of stapgen and of the guest: increases to the request, quantiles within their error.

Two of Debian 12's Prometheus run in the guest, on its clock: one takes native histograms, the other classic ones. What they
have stored is read by a Prometheus of this machine. A recording of the same requests is made beside it.
"""

import json
import math
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "serve"))
from prometheus import Prometheus  # noqa: E402

DESCRIPTION = "Prometheus, native and classic, 30 minutes through restarts and an hour without: increases, p99, memory, CPU"
# By hand, and not run to its end yet: half an hour with two restarts, and an hour, of the guest's clock.
IN_CI = ()

BUILD = {"sock": ["sock-latency", "--aggregate"], "drops": ["dropwatch"]}
# How long the server sleeps, us, and how many requests of each phase ask for it. After a restart no bucket may come to
# where it was before: Prometheus knows a restart by what has fallen.
DELAYS = 211, 1013, 3011, 10007, 30011, 100003
PHASES = {"a": (503, 307, 211, 101, 29, 7), "b": (307, 211, 101, 53, 13, 3),  # serve is killed between a and b,
          "c": (101, 67, 31, 17, 5, 2), "d": (53, 31, 17, 7, 3, 1)}  # the guest ends between b and c, serve between c and d
REFUSED = {"a": 109, "b": 53, "c": 31, "d": 17}
EVERY_MINUTE, MINUTES = 101, 60
# docs/guide/always-on.md
ERRORS = {"native": 0.0236, "classic": math.sqrt(2) - 1}

CONFIGURATION = """
global: {scrape_interval: 15s}
scrape_configs: [{job_name: stapgen, static_configs: [{targets: ["127.0.0.1:9752"]}]}]
"""

GUEST_FUNCTIONS = r"""
scrape_all() {
    local kind
    cp /lab/work/prometheus /tmp
    [ ! -f /lab/work/date ] || date -s "@$(($(cat /lab/work/date) + 60))" >/dev/null
    for kind in native classic; do
        cp -r /lab/work/$kind /tmp 2>/dev/null || mkdir /tmp/$kind
    done
    scrape native 9090 --enable-feature=native-histograms
    scrape classic 9091
}
scrape() {
    /tmp/prometheus --config.file=/lab/work/prometheus.yml --storage.tsdb.path=/tmp/$1/data --storage.tsdb.no-lockfile \
        --web.listen-address=127.0.0.1:$2 ${@:3} >>/tmp/$1/said 2>&1 &
    wait_port $2
}
# keep: end both, and keep what they have and what time it is.
keep() {
    kill $(pgrep -x prometheus)
    wait_for '! pgrep -x prometheus'
    cp -r /tmp/native /tmp/classic /lab/work
    date +%s >/lab/work/date
}
serve_all() {
    rm -f said
    stapgen serve 'sock.ko --port 7001' drops.ko 2>said &
    SERVE=$!
    wait_for "printf 'GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\n' | nc -w5 127.0.0.1 9752 | grep -q ' 200 '" || { cat said; return 1; }
}
end_serve() { kill -$1 $SERVE; wait $SERVE; wait_for '[ $(modules_left) = '$2' ]'; }
# traffic REFUSED COUNT...: so many requests for each delay.
traffic() {
    local delay
    drops refused $1 || return
    for delay in DELAYS; do
        shift
        ask --port 7001 --requests $1 --delay-us $delay || return
    done
}
# mark NAME: both have scraped twice since the last traffic.
mark() { sleep 40; echo "$1 $(date +%s.%N)" >>marks; }
# phase NAME REFUSED COUNT...: 450 s.
phase() {
    local end=$((SECONDS + 410)) name=$1
    shift
    sleep 100
    traffic "$@" || exit 1
    sleep $((end - SECONDS))
    mark $name
}
start_ready serve --port 7001 --delay-from-request || exit 1
""".replace("DELAYS", " ".join(map(str, DELAYS)))


def phase(name):
    return f"phase {name} {REFUSED[name]} {' '.join(map(str, PHASES[name]))}\n"


# The first requests make the series; an increase begins with a value that was scraped.
BEGIN = "scrape_all && serve_all && traffic 3 1 1 1 1 1 1 && mark begin || exit 1\n"
BESIDE = "report beside-{0} json sock --port 7001 -o beside-{0}.rec --format json || exit 1\n"
BOOTS = {
    "ab": BEGIN + BESIDE.format("ab") + phase("a") + "end_serve KILL 1\nserve_all || exit 1\n" + phase("b")
          + "end_trace beside-ab\nend_serve TERM 0\nkeep\nfinish\n",
    "cd": "scrape_all && serve_all || exit 1\n" + BESIDE.format("cd") + phase("c") + "end_serve TERM 1\nserve_all || exit 1\n" + phase("d")
          + "end_trace beside-cd\nend_serve TERM 0\nkeep\nfinish\n",
    "hour": "scrape_all && serve_all && traffic 1 1 1 1 1 1 1 && mark hour || exit 1\n"
            f"for i in $(seq {MINUTES}); do\n    ask --port 7001 --requests {EVERY_MINUTE} --delay-us $((i * 101)) || exit 1\n"
            "    drops refused 7 || exit 1\n    sleep 60\ndone\nmark end\nend_serve TERM 0\nkeep\nfinish\n",
}


def prepare(lab):
    if not shutil.which("prometheus"):
        lab.skip("Debian's prometheus is not installed on this machine")
    shutil.copy(shutil.which("prometheus"), lab.work)
    (lab.work / "prometheus.yml").write_text(CONFIGURATION)


class Stored:
    """What one of the two has stored."""

    def __init__(self, prometheus, native, marks):
        self.prometheus, self.native, self.marks = prometheus, native, marks

    def samples(self, series, begin, end):
        """Return [(time, value)] between two marks."""
        seconds = math.ceil(self.marks[end] - self.marks[begin])
        rows = self.prometheus.ask(f"{series}[{seconds}s]", self.marks[end])
        assert len(rows) == 1, rows
        return [(float(time), float(value)) for time, value in rows[0]["values"]]

    def window(self, begin, end):
        """Return the times of the last scrapes before two marks."""
        times = [time for time, _ in self.samples("up", "start", end)]
        return max(time for time in times if time <= self.marks[begin]), times[-1]

    def increase(self, series, begin, end, wrap="{}"):
        """Return what increase() says from scrape to scrape, where it has nothing to extrapolate."""
        first, last = self.window(begin, end)
        rows = self.prometheus.ask(wrap.format(f"increase({series}[{round((last - first) * 1000)}ms])"), last)
        assert len(rows) == 1, (series, rows)
        return float(rows[0]["value"][1])

    def requests(self, stage, begin, end):
        if self.native:
            return self.increase(f"stapgen_stage_seconds{{stage='{stage}'}}", begin, end, "histogram_count({})")
        return self.increase(f"stapgen_stage_seconds_count{{stage='{stage}'}}", begin, end)

    def quantile(self, percent, stage, begin, end):
        series = "stapgen_stage_seconds" if self.native else "stapgen_stage_seconds_bucket"
        return self.increase(f"{series}{{stage='{stage}'}}", begin, end, f"histogram_quantile({percent / 100}, {{}})")


def check_counts(stored):
    """To the request, and to the refused connection: each phase, and all, through a kill, a new guest and a restart."""
    names = ["begin", *PHASES]
    wanted = {(begin, end): (sum(PHASES[end]), REFUSED[end]) for begin, end in zip(names, names[1:])}
    wanted["begin", "d"] = sum(map(sum, PHASES.values())), sum(REFUSED.values())
    wanted["hour", "end"] = EVERY_MINUTE * MINUTES, 7 * MINUTES
    for (begin, end), (requests, refused) in wanted.items():
        told = {stage: stored.requests(stage, begin, end) for stage in ("app", "total")}
        told["reported"] = stored.increase("stapgen_records_total{recipe='sock-latency',fate='reported'}", begin, end)
        drops = stored.increase("stapgen_drops_total{place='tcp_v4_rcv',reason='NO_SOCKET'}", begin, end)
        print(f"  {begin} to {end}: {told}, refused {drops}")
        assert set(told.values()) == {requests} and drops == refused, f"{begin} to {end}: not {requests} and {refused}"


def check_quantiles(stored, report, error):
    for row in report["stages"]:
        for percent in (50, 90, 99):
            truth, told = row["percentiles_ns"][str(percent)] / 1e9, stored.quantile(percent, row["stage"], "begin", "d")
            print(f"  {row['stage']:8} p{percent}: {truth * 1e6:10.3f} us, Prometheus {told * 1e6:10.3f}, {told / truth - 1:+.2%}")
            # What the others take, the probes of a second module change.
            assert row["stage"] not in ("app", "total") or abs(told / truth - 1) <= error, f"not within {error}"


def quarters_of(samples):
    begin = samples[0][0]
    return [[value for time, value in samples if quarter * 900 <= time - begin < (quarter + 1) * 900] for quarter in range(4)]


def check_hour(stored):
    """What serve itself and its recipes' processes take, by quarters of the hour, does not grow."""
    for process in ("", "recipe='sock-latency'", "recipe='dropwatch'"):
        name, of = ("stapgen_recipe", f"{{{process}}}") if process else ("stapgen", "")
        bytes_of, seconds_of = (quarters_of(stored.samples(series + of, "hour", "end"))
                                for series in (f"{name}_memory_bytes", f"{name}_cpu_seconds_total"))
        memory = [max(quarter) / 1e6 for quarter in bytes_of]
        cpu = [quarter[-1] - quarter[0] for quarter in seconds_of]
        print(f"  {process or 'serve itself'}: MB {[round(each, 2) for each in memory]}, CPU s {[round(each, 3) for each in cpu]}")
        assert memory[3] <= memory[0] + 1 and cpu[3] <= cpu[0] * 1.1 + 0.1, "it grows"


def check(lab):
    for name, script in BOOTS.items():
        lab.boot(GUEST_FUNCTIONS + script, timeout=5400)
        assert lab.read("modules-left").strip() == "0"
    marks = {name: float(time) for name, time in map(str.split, lab.read("marks").splitlines())}
    marks["start"] = marks["begin"] - 120
    print(f"{lab.suite}: from begin to d {marks['d'] - marks['begin']:.0f} s, hour {marks['end'] - marks['hour']:.0f} s")
    assert marks["d"] - marks["begin"] >= 1800 and marks["end"] - marks["hour"] >= 3600
    beside = lab.stapgen(["report", "--format", "json", "-P", "50,90,99", "beside-ab.rec", "beside-cd.rec"])
    report = json.loads(beside.stdout)
    assert report["accounting"]["reported"] == sum(map(sum, PHASES.values())), report["accounting"]
    for kind, error in ERRORS.items():
        options = ["--enable-feature=native-histograms"] if kind == "native" else []
        with Prometheus(lab.work / kind, None, *options) as prometheus:
            prometheus.wait()
            stored = Stored(prometheus, kind == "native", marks)
            print(f"{lab.suite} {kind}:")
            check_counts(stored)
            check_quantiles(stored, report, error)
            check_hour(stored)
