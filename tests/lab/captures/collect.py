#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies what the lab's scenarios have made into samples/, and makes the files that are put together from it.

usage: collect.py [--tools] --scenarios     the names of these scenarios
       collect.py [--tools] RUNS            where RUNS is the lab's folder runs/

--tools: what other tools print, of which the tests have more: addresses of the kernel that they ran on.
"""

import pathlib
import shutil
import subprocess
import sys
import tarfile

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
PROMPT = "[root@lab ~]# "

# Sample -> scenario, and its file.
MADE = {
    "call-trace.rec": ("call-trace", "kinds.rec"),
    "connects.rec": ("connects", "all.rec"),
    "containers.rec": ("containers", "rx-container.rec"),
    "drop-stacks.rec": ("drop-stacks", "all.rec"),
    "dropwatch.rec": ("recordings", "refused.zst"),
    "forward.rec": ("forward", "all.rec"),
    "ledger.rec": ("ledger", "ledger.rec"),
    "net-latency.rec": ("qdisc-delay", "delay.rec"),
    "packet-flow.rec": ("packet-flow", "flow.rec"),
    "queues.rec": ("queues", "all.rec"),
    "requests.rec": ("request-parts", "things.rec"),
    "resent.rec": ("resent", "again.rec"),
    "rx-latency.rec": ("recordings", "whole.zst"),
    "rx-latency-killed.rec": ("recordings", "kill.zst"),
    "servers-parts.rec": ("waits-servers", "both-sums.rec"),
    "tx-latency.rec": ("network-card", "tx.on.rec"),
    "pair/app1.rec": ("both-ends", "lossy-app.rec"),
    "pair/db1.rec": ("both-ends", "lossy-db.rec"),
    "captured/app1.rec": ("both-ends", "dumped-app.rec"),
    "captured/db1.rec": ("both-ends", "dumped-db.rec"),
    "captured/db1.pcap": ("both-ends", "db.pcap"),
}
MADE |= {f"slower-stage/{side}/{n}.rec": ("slower-stage", f"{side}-{n}.rec") for side in ("before", "after") for n in range(1, 6)}
MADE |= {name: ("capture-kinds", name) for name in ("softnet.rec", "losses.rec", "rx-latency-cost.rec")}
MADE |= {name: ("capture-own", name) for name in ("own-rx-latency.txt", "own-sock-latency.txt", "own-dropwatch.txt")}
TOOLS = {name: ("capture-stages", name) for name in ("stage-timing.txt", "stage-timing-zones.txt", "memcached-tracker.txt")}
TOOLS |= {f"dropwatch-{which}.txt": ("capture-dropwatch", f"dropwatch-{which}.txt")
          for which in ("2009", "2010", "2020", "2023", "2025", "2020-bare")}
TOOLS |= {name: ("capture-tools", name) for name in ("dropwatch-tool.txt", "perf-drops.txt", "perf-net.txt", "netdev-times.txt",
                                                     "ftrace-drops.txt", "ftrace-net.txt")}
ARCHIVE = ("support-archive", "listen/sos.tar.gz")
# Host -> whose recording is taken for its own.
HOSTS = {f"web{n}": f"slower-stage/before/{n}.rec" for n in range(1, 6)} | {"web6": "slower-stage/after/1.rec"}
# What of it points to anything, or belongs to it.
ARCHIVED = ("etc/hosts", "net/dev", "net/netstat", "net/snmp", "net/sockstat", "net/softnet_stat", "host/uptime", "kernel/dmesg",
            "kernel/sysctl_-a", "kernel/uname_-a", "networking/ethtool_-S_lo", "networking/ip_-d_address",
            "networking/ip_-s_-d_link", "networking/nstat_-zas", "networking/tc_-s_qdisc_show")


def path_of(scenario, name):
    return pathlib.Path(sys.argv[-1]) / f"trixie-{scenario}" / "work" / name


def made(sample):
    return path_of(*TOOLS[sample]).read_text()


def as_shown(text):
    """Return TEXT as a terminal shows it, and as it is copied from there: backspaces applied, tabs as blanks.

    Not with "col -bx": it lets no blank overwrite, so that the last digit of the year stays.
    """
    shown = []
    for line in text.splitlines():
        cells, column = {}, 0
        for char in line:
            if char == "\b":
                column = max(column - 1, 0)
            elif char == "\t":
                column = column // 8 * 8 + 8
            else:
                cells[column] = char
                column += 1
        shown.append("".join(cells.get(column, " ") for column in range(max(cells, default=-1) + 1)))
    return "\n".join(shown) + "\n"


def paste():
    """Return a session as a customer would paste it: prompts, commands, and the outputs of several scripts."""
    drops = made("dropwatch-2020.txt").splitlines(keepends=True)
    timing = as_shown(made("stage-timing.txt")).splitlines(keepends=True)
    warning = path_of("capture-stages", "memcached-tracker.err").read_text()
    return "".join([
        "Hi, here is what we see, sorry for the mess:\n\n",
        f"{PROMPT}uname -r\n6.12.117+deb13-amd64\n",
        f"{PROMPT}staprun dropwatch_2020.ko &\n[1] 1237\n{PROMPT}", *drops[:5],
        f"{PROMPT}staprun stage.ko\n", *timing[:23], *drops[5:13], *timing[23:61], "^C\n",
        f"{PROMPT}fg\nstaprun dropwatch_2020.ko\n", *drops[13:-1], f"^C{drops[-1]}",
        f"{PROMPT}staprun tracker.ko -x 217 | tail -n 7\n", warning,
        *made("memcached-tracker.txt").splitlines(keepends=True)[-7:],
        f"{PROMPT}grep nginx timing.log | tail -n 7\n",
        *[line for line in timing if "Proc nginx" in line][-7:], f"{PROMPT}free -m | head -2\n",
        "               total        used        free      shared  buff/cache   available\n",
        "Mem:            1967         181        1629           0         241        1785\n",
        f"{PROMPT}exit\nlogout\n"])


def with_host(recording, host):
    """Return a recording that says it is of that HOST."""
    text = subprocess.run(["zstd", "-dcq", recording], stdout=subprocess.PIPE, check=True).stdout
    assert text.count(b'"host":"lab"') == 1, recording
    return subprocess.run(["zstd", "-cq"], input=text.replace(b'"host":"lab"', b'"host":"%s"' % host.encode()),
                          stdout=subprocess.PIPE, check=True).stdout


def shorten_archive():
    """A tenth of it, which stapgen reads as the whole."""
    with tarfile.open(path_of(*ARCHIVE)) as whole, tarfile.open(SAMPLES / "sosreport.tar.xz", "w:xz") as small:
        for member in whole:
            if member.isfile() and member.name.endswith(ARCHIVED):
                content = whole.extractfile(member)
                member.name = "sosreport-lab/" + member.name.split("/", 1)[1]
                small.addfile(member, content)


def copy(samples):
    for sample, source in samples.items():
        (SAMPLES / sample).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path_of(*source), SAMPLES / sample)


def collect():
    copy(MADE)
    for host, sample in HOSTS.items():
        (SAMPLES / f"six-hosts/{host}.rec").write_bytes(with_host(SAMPLES / sample, host))


def collect_tools():
    copy(TOOLS)
    shorten_archive()
    timing = made("stage-timing.txt")
    (SAMPLES / "stage-timing-terminal.txt").write_text(as_shown(timing))
    (SAMPLES / "stage-timing-col.txt").write_text(
        subprocess.run(["col", "-bx"], input=timing, capture_output=True, text=True, check=True).stdout)
    (SAMPLES / "mixed-paste.txt").write_text(paste())


of_tools = sys.argv[1] == "--tools"
if sys.argv[-1] == "--scenarios":
    print(*sorted({scenario for scenario, _ in ([*TOOLS.values(), ARCHIVE] if of_tools else MADE.values())}))
elif of_tools:
    collect_tools()
else:
    collect()
