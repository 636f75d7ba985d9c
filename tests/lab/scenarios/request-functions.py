# SPDX-License-Identifier: GPL-2.0-or-later
"""sock-latency --functions against a server that spends known parts of its CPU time in two functions."""

from math import sqrt

from lablib.events import read_report

DESCRIPTION = "where a program is while slow requests wait for it: its functions with their parts of the time, and calls of the kernel"
IN_CI = ("trixie",)
BUILD = {"functions": ["sock-latency", "--functions"]}

REQUESTS, MS = 106, 23
# Name of the recording -> (program, further options, port).
RUNS = {"framed": ("burns_framed", "", 7431), "unframed": ("burns_unframed", "", 7432), "stripped": ("burns_stripped", "", 7433),
        "kernel": ("burns_framed", "--in-kernel", 7434)}

GUEST = f"""
measure() {{
    local run=$1 port=$4
    shift
    start_ready "$@" || exit 1
    record $run functions --port $port || exit 1
    ask --port $port --requests {REQUESTS} || exit 1
    wait $READY_PID
    grep -v ready $READY_OUTPUT >$run.truth
    end_records $run
}}
{"".join(f'''measure {run} {program} --port {port} --ms {MS} {more}
''' for run, (program, more, port) in RUNS.items())}
finish
"""


def check(lab):
    for run, (program, _, _) in RUNS.items():
        report = read_report(lab, run, skips=True)
        most_ns, rest_ns, slow = (int(number) for number in lab.read(f"{run}.truth").split())
        other = report["accounting"]["other"]
        functions = {(row["function"], row["file"]): row for row in report["functions"]}
        samples = sum(row["samples"] for row in functions.values())
        print(f"  {run}: {samples} samples of {slow} requests: "
              + ", ".join(f"{name} in {file} {row['share']:.3f}" for (name, file), row in list(functions.items())[:4]))
        assert other["slow-requests"] == slow == REQUESTS // 2, (run, other)
        assert not any(other[name] for name in ("slow-elsewhere", "samples-overwritten", "samples-unread", "threads-unsampled"))
        # A sample each 1.002 ms of what the program says that it ran; of each request one more or less.
        ran_ms = slow * MS if run == "kernel" else (most_ns + rest_ns) / 1e6
        assert abs(samples - ran_ms / 1.002004) < 2 * slow, (run, samples, ran_ms)
        assert abs(sum(row["share"] for row in functions.values()) - 1) < 1e-4
        # Fast requests have a function of their own.
        assert not any(name == "burn_briefly" for name, _ in functions), run

        def expect(function, file, share):
            sigma = sqrt(share * (1 - share) / samples)
            row = functions[function, file]
            # Besides it runs what it needs to read the time.
            assert abs(row["share"] - share) < 4 * sigma + 0.01, (run, function, row, share)
            return row

        if run == "kernel":
            assert functions["getrandom()", "kernel"]["share"] > 0.9, (run, functions)
        elif run == "stripped":
            assert functions["code without a name", program]["share"] > 0.97, (run, functions)
        else:
            whole = most_ns + rest_ns
            for function, ns in (("burn_most", most_ns), ("burn_rest", rest_ns)):
                row = expect(function, program, ns / whole)
                assert ("with_called_share" in row) == (run == "framed"), (run, row)
        if run == "framed":
            # Functions that call none have no frame: whoever called them, burn(), is passed over.
            assert functions["main", program]["with_called_share"] > 0.97, (run, functions)
            assert functions["main", program]["samples"] < samples * 0.02, (run, functions)
        text = lab.report(run)
        assert f"CPU of the {slow} slow requests, {samples:,} samples: " in text, text
        assert ("no frame pointers in " in text) == (run not in ("framed", "kernel")), text
    assert lab.read("modules-left").strip() == "0"
