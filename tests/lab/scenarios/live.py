# SPDX-License-Identifier: GPL-2.0-or-later
"""The live view of real packets, in a terminal of the guest: the screen holds what is known, and the terminal is given
back."""

import pathlib
import re
import subprocess

DESCRIPTION = "the live view of memcached's packets: its screen, its end, the terminal afterwards"
LIVE = True
IN_CI = ("trixie",)
BUILD = {"rx": ["rx-latency", "-i", "1"]}

REQUESTS = 1009
ROWS, COLUMNS = 30, 100
DRAW = pathlib.Path(__file__).resolve().parents[2] / "live/draw_screen.py"

# script, of bsdutils, gives a terminal and keeps all that is written to it; the keys come through a pipe.
GUEST = rf"""
start_memcached || exit 1
mkfifo /tmp/keys
cat >session <<'EOF'
stty rows {ROWS} cols {COLUMNS}
stty -g >modes.before
TERM=xterm-256color LC_ALL=C.UTF-8 stapgen exec rx.ko
echo $? >exit
stty -g >modes.after
EOF
script -q -f -c 'sh session' screen.raw </tmp/keys >/dev/null &
SESSION=$!
exec 3>/tmp/keys
wait_for 'grep -q "reported" screen.raw' || exit 1
memcslap --servers=127.0.0.1 --concurrency=1 --execute-number={REQUESTS} --test=set >traffic 2>&1
sleep 3
printf q >&3
wait_for 'test -s modes.after' || exit 1
exec 3>&-
wait $SESSION
finish
"""


def check(lab):
    shown = subprocess.run(["/usr/bin/python3", DRAW, lab.work / "screen.raw", str(ROWS), str(COLUMNS)], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    print(shown)
    report = lab.read("screen.raw").rpartition("\x1b[?1049l")[2]
    assert "skipped" not in report, report
    # Beside the sets, memcslap says "quit".
    row = re.search(r"^\d+ +\d+ +mc-worker +([\d,]+) ", shown, re.M)
    assert row, "no group of memcached's worker"
    assert int(row[1].replace(",", "")) == REQUESTS + 1, row[0]
    assert re.search(r"^tcp-app +[\d,]+ .*█", shown, re.M), "no distribution"
    account = re.search(r"(\d+) seen = (\d+) reported", shown)
    assert account and int(account[1]) >= int(account[2]) >= 2 * REQUESTS, "the script's own counts"
    assert f"{account[2]} reported" in report, "the report is of the same records"
    assert lab.read("exit").strip() == "0" and lab.read("modes.before") == lab.read("modes.after")
    assert lab.read("modules-left").strip() == "0"
