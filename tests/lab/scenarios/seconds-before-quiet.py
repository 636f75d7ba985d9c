# SPDX-License-Identifier: GPL-2.0-or-later
"""Ten hours of the traffic of seconds-before-hour, without a spike."""

import json

DESCRIPTION = "--keep for ten quiet hours: nothing is kept, and the one spike after them is"
ALONE = "it takes ten hours of the guest's"
IN_CI = ()  # an hour or more
TIMEOUT = 10800
BUILD = {"rx": ["rx-latency", "--keep-memory", "1MiB"]}

# Datagrams each 197 ms, and the ms of the spike.
HOURS = 183_047, 197
SPIKE = 3331

GUEST = f"""
mkdir kept
send() {{
    start_ready sleepy --udp --port $1 --count $2 --sleep-ms $3 --before-data || exit 1
    sleepy --udp --port $1 --count $2 --send
    wait $READY_PID
}}
begin_report rx json rx --keep 10s --after 2s --when 'udp-app max > 2s' --keep-in kept --format json
wait_traced rx.err || exit 1
date +%s >hours
send 7301 {HOURS[0]} {HOURS[1]}
date +%s >>hours
ls kept | wc -l >quiet
send 7302 1 {SPIKE}
sleep 3
end_records rx
ls kept | wc -l >kept-at-last
finish
"""


def check(lab):
    began, ended = map(int, lab.read("hours").split())
    print(f"{lab.suite}: {ended - began} s of steady traffic")
    assert ended - began > 36_000
    assert lab.read("quiet").strip() == "0" and lab.read("kept-at-last").strip() == "1"
    account = json.loads(lab.read("rx.json"))["accounting"]
    assert account["reported"] == account["seen"] == 2 * (HOURS[0] + 1), account
    assert lab.read("modules-left").strip() == "0"
