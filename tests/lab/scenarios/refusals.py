# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine that cannot do it says, and what it says to do: exit code 4."""

import re

DESCRIPTION = "no stap, no headers, not root: each with its own message, remedy and exit code"
IN_CI = ("bookworm",)

BUILD = {"drops": ["dropwatch"]}

GUEST = r"""
cp drops.ko /tmp
chmod a+r /tmp/drops.ko
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp "$@"; }
as_nobody stapgen exec /tmp/drops.ko 2>exec.err
echo $? >exec.exit
as_nobody stapgen dropwatch 2>run.err
echo $? >run.exit
finish
"""


def prepare(lab):
    def refused(argv, *words, exit_code=4):
        done = lab.stapgen(argv, check=False)
        print(f"$ stapgen {' '.join(argv)}\n{done.stderr}[exit {done.returncode}]", flush=True)
        assert done.returncode == exit_code, done.returncode
        for word in ("hint: ", *words):
            assert word in done.stderr, f"'{word}' is not in the message"

    build = ["build", "dropwatch", "-o", "/lab/work/x.ko"]
    refused([*build, "-r", "9.9.9-none"], "9.9.9-none", "linux-headers-9.9.9-none")
    refused([*build, "-r", lab.release, "--stap", "/no/stap"], "/no/stap", "apt-get install systemtap")
    here = [*build, "-r", lab.release]
    if lab.suite == "bookworm":
        refused([*here, "--no-workaround", "task-work-cancel"], "pass 4", "task_work_cancel",
                "\nstapgen doctor:\ntask-work-cancel note ")
    refused([*here, "--symbols", "/etc/passwd"], "/etc/passwd", exit_code=2)
    refused(["build", "rx-latency", "-o", "/lab/work/x.ko", "-r", lab.release, "--no-workaround", "symbol-table"],
            "pass 2", "System.map", "\nstapgen doctor:\nsymbol-table note ")
    prepared_beforehand(lab, ["-r", lab.release, "--symbols", lab.symbols])


def prepared_beforehand(lab, target):
    """What the doctor has compiled is there, stap asked few headers, and without the workaround it asks all of them."""
    warm = lab.stapgen(["doctor", "--warm", "dropwatch", *target])
    build = ["build", "dropwatch", "-o", "/lab/work/x.ko", *target]
    print(warm.stdout + warm.stderr)
    assert re.fullmatch(r"dropwatch +[\d.]+ m?s\nthe cache is \S+, \d+ MB\n", warm.stdout), warm.stdout
    assert "trace-headers: 'stapgen doctor' explains them" in warm.stderr, warm.stderr
    again = lab.stapgen([*build, "-v"])
    assert " for an earlier run" in again.stderr and "Pass 1" not in again.stderr, again.stderr
    assert int(re.search(r"trace-headers: stap sees (\d+) of ", again.stderr)[1]) < 9, again.stderr
    shown = lab.stapgen([*build, "--dry-run"]).stdout
    assert shown.count("mount --bind") == 7 and "/trace-headers/" in shown, shown
    plain = lab.stapgen([*build, "--dry-run", "--no-workaround", "trace-headers", "--no-workaround", "kept-module"]).stdout
    assert plain.count("mount --bind") == 1 and "/trace-headers/" not in plain and "earlier run" not in plain, plain


def check(lab):
    for how in ("exec", "run"):
        print(f"{lab.suite} as nobody, {how}:\n{lab.read(how + '.err')}[exit {lab.read(how + '.exit').strip()}]")
        assert lab.read(f"{how}.exit").strip() == "4"
        assert "root" in lab.read(f"{how}.err") and "hint: " in lab.read(f"{how}.err")
