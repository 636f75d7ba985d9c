# SPDX-License-Identifier: GPL-2.0-or-later
"""Two of Debian 12's Prometheus scrape stapgen serve in a guest: one takes native histograms, the other classic ones.

The guest has the host's clock and one CPU: Prometheus and an hour take longer by instructions. What both have stored is read
by a Prometheus of this machine.
"""

import contextlib
import math
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "serve"))
from prometheus import Prometheus  # noqa: E402

BUILD = {"sock": ["sock-latency", "--aggregate"], "drops": ["dropwatch"]}
# How long the server sleeps, us.
DELAYS = 211, 1013, 3011, 10007, 30011, 100003
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
    /tmp/prometheus --config.file=/lab/work/prometheus.yml --storage.tsdb.path=/tmp/$1/data \
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
    wait_for "printf 'GET /-/ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' | nc -w5 127.0.0.1 9752 | grep -q ' 200 '" || { cat said; return 1; }
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
mark() { sleep 40; echo "$1 $(date +%s.%N)" | tee -a marks; }
start_ready serve --port 7001 --delay-from-request || exit 1
""".replace("DELAYS", " ".join(map(str, DELAYS)))


def measured(counts):
    """Return how many requests are measured of connections with so many each.

    Both ends are in the guest. To the client's a reply is a request, which the next one answers; the last is not answered.
    """
    return sum(2 * count - 1 for count in counts)


def prepare(lab):
    if not shutil.which("prometheus"):
        lab.skip("Debian's prometheus is not installed on this machine")
    shutil.copy(shutil.which("prometheus"), lab.work)
    (lab.work / "prometheus.yml").write_text(CONFIGURATION)


def boot(lab, script):
    lab.boot(GUEST_FUNCTIONS + script, timeout=7200, real_time=True, cpus="1")
    assert lab.read("modules-left").strip() == "0"


def read_marks(lab):
    return {name: float(time) for name, time in map(str.split, lab.read("marks").splitlines())}


@contextlib.contextmanager
def stored_by(lab, kind, marks):
    """Yield what one of the two has stored."""
    options = ["--enable-feature=native-histograms"] if kind == "native" else []
    with Prometheus(lab.work / kind, None, *options) as prometheus:
        prometheus.wait()
        yield Stored(prometheus, kind == "native", marks)


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
