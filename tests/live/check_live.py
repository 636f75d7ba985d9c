#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The live view in a pseudo-terminal: check_live.py STAPGEN MEASURE_FAKE FAKE_STAP SAMPLES KIND

A real recording is replayed by a fake staprun: half of its records at once, the others when the test says so.
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

from screen import LEAVES_SCREEN, Terminal

STAPGEN, MEASURE_FAKE, FAKE_STAP, SAMPLES = sys.argv[1:5]
LINES = pathlib.Path(SAMPLES, "own-sock-latency.txt")
FIELD = "\t"


def records(lines, first_half=False):
    lines = lines[:len(lines) // 2] if first_half else lines
    return sum(line.startswith("sock" + FIELD) for line in lines)


TEXT = LINES.read_text().splitlines()
HALF, ALL = records(TEXT, True), records(TEXT)
assert 100 < HALF < ALL, (HALF, ALL)


class Replay(Terminal):
    def __init__(self, *options, lines=LINES, mode="replay", prefix=(), **terminal):
        self.folder = tempfile.TemporaryDirectory()
        self.go = pathlib.Path(self.folder.name, "go")
        environment = {"FAKE_STAP": mode, "FAKE_STAP_LINES": str(lines), "FAKE_STAP_GO": str(self.go),
                       **terminal.pop("environment", {})}
        super().__init__([*prefix, MEASURE_FAKE, FAKE_STAP, *options], environment=environment, **terminal)

    def __exit__(self, *error):
        super().__exit__(*error)
        self.folder.cleanup()


def n_of(terminal, stage="total"):
    """What the screen says is the n of a stage."""
    found = re.search(rf"^{stage} +([\d,]+) ", terminal.text, re.M)
    return int(found[1].replace(",", "")) if found else None


def check_keys():
    with Replay() as terminal:
        terminal.wait_for(lambda: n_of(terminal) == HALF)
        assert terminal.text.startswith(" sock-latency "), terminal.text
        assert f"{HALF} reported so far" in terminal.text
        assert "▁" in terminal.text and "█" in terminal.text, "no distributions"
        terminal.wait_for(lambda: re.search(r"^total by group: \d+, sorted by n$", terminal.text, re.M))

        terminal.press("s")
        terminal.wait_for("sorted by p50")
        terminal.press("5")
        terminal.wait_for("sorted by name")
        terminal.press("\x1bOD")  # left
        terminal.wait_for("tx by group")
        terminal.press("\t\t")
        terminal.wait_for("epoll_events by group")

        terminal.press(" ")
        terminal.wait_for("PAUSED")
        terminal.go.touch()
        terminal.pump(1.3)
        assert n_of(terminal) == HALF and "PAUSED" in terminal.text, "a pause stands still"
        terminal.press(" ")
        terminal.wait_for(lambda: n_of(terminal) == ALL)
        assert "PAUSED" not in terminal.text

        terminal.press("r")
        terminal.wait_for("since r")
        terminal.wait_for("no data yet")
        assert f"{ALL} reported so far" in terminal.text, "the account is of the whole run"
        terminal.press("w")
        terminal.wait_for(lambda: n_of(terminal) == ALL)
        terminal.press("w")
        terminal.wait_for("no interval yet")
        terminal.press("w")
        terminal.wait_for("since r")
        terminal.press("?")
        terminal.wait_for("Keys")
        terminal.press("q")
        terminal.wait_for("no data yet")

        terminal.press("q")
        code, report = terminal.end()
        assert code == 0, report
        assert terminal.is_as_before()
        assert "STAGE [us]" in report and f"= {ALL} reported" in report, report


def check_aggregated():
    """The screen moves tick by tick; the intervals are there, though nobody asked for reports of them."""
    lines = pathlib.Path(__file__).parent.parent / "golden/aggregated.txt"
    with Replay(lines=lines, rows=40) as terminal:
        terminal.wait_for(lambda: n_of(terminal, "drv-ip") == 127)
        assert "144 seen = 127 reported" in terminal.text, terminal.text
        terminal.press("w")
        terminal.wait_for("last interval")
        terminal.go.touch()
        terminal.wait_for("= 380 reported")
        assert n_of(terminal, "drv-ip") == 127, terminal.text
        terminal.press("q")
        code, report = terminal.end()
        assert code == 0 and terminal.is_as_before(), report
        assert "418 seen = 401 reported" in report and report.count("STAGE [us]") == 1, report


def check_sizes():
    with Replay(rows=24, columns=80) as terminal:
        terminal.go.touch()
        terminal.wait_for(lambda: n_of(terminal) == ALL)
        for rows, columns in ((12, 40), (60, 200), (5, 20), (1, 1), (24, 80)):
            terminal.resize(rows, columns)
            last = {(12, 40): "q quit  ? help", (60, 200): "left, right: stage", (24, 80): "r reset"}.get((rows, columns))
            if last:
                terminal.wait_for(lambda: last in terminal.screen.display[rows - 1])
                # The first stage: the last one is not on the smallest of these.
                terminal.wait_for(lambda: n_of(terminal, "rx") == ALL)
            else:
                painted = len(terminal.raw)
                terminal.wait_for(lambda: len(terminal.raw) > painted)
        terminal.resize(12, 40)
        terminal.wait_for("1-6/")
        terminal.press("\x1b[6~")  # page down
        terminal.wait_for(" 7-12/")
        assert terminal.text.splitlines()[5].startswith("STAGE"), "the heading stays\n" + terminal.text
        terminal.press("\x1bOF")  # end
        terminal.wait_for("PID")
        terminal.press("\x03")
        assert terminal.end()[0] == 0 and terminal.is_as_before()
    with Replay(environment={"LANG": "C"}) as terminal:
        terminal.wait_for(lambda: n_of(terminal) == HALF)
        assert terminal.text.isascii() and "@" in terminal.text
    with Replay(environment={"LANG": "xx_XX.UTF-8"}) as terminal:
        terminal.wait_for("█")


def check_endings():
    for name, code in (("SIGINT", 0), ("SIGTERM", 0), ("SIGHUP", 0), ("SIGQUIT", -signal.SIGQUIT),
                       ("SIGSEGV", -signal.SIGSEGV), ("SIGABRT", -signal.SIGABRT)):
        with Replay(environment={"ASAN_OPTIONS": "handle_abort=0"}) as terminal:
            terminal.wait_for(lambda: n_of(terminal) == HALF)
            terminal.kill(getattr(signal, name))
            ended, report = terminal.end()
            print(name, ended)
            assert ended == code, (name, ended, report)
            assert terminal.is_as_before(), name
            assert (f"{HALF} reported" in report) == (code == 0), report
    with Replay() as terminal:  # Ctrl-C of the terminal
        terminal.wait_for(lambda: n_of(terminal) == HALF)
        terminal.press("\x03")
        assert terminal.end()[0] == 0 and terminal.is_as_before()
    with Replay("--duration", "1") as terminal:
        code, report = terminal.end()
        assert code == 0 and terminal.is_as_before() and f"{HALF} reported" in report, report
        assert b"\x1b[?1049h" in terminal.raw
    # staprun dies in the middle of it: an error, and the report of what there is.
    with Replay() as terminal:
        terminal.wait_for(lambda: n_of(terminal) == HALF)
        children = pathlib.Path(f"/proc/{terminal.process.pid}/task/{terminal.process.pid}/children").read_text()
        os.kill(int(children.split()[0]), signal.SIGKILL)
        code, report = terminal.end()
        assert code == 1 and terminal.is_as_before(), report
        assert f"{HALF} reported" in report and "the measurement failed" in report, report
    # And before it: there is no view.
    with Replay(mode="fail", environment={"FAKE_STAP_STDERR": str(LINES)}) as terminal:
        assert terminal.end()[0] == 1 and b"\x1b[?1049h" not in terminal.raw and terminal.is_as_before()


def check_suspended():
    # A shell with job control, as it is where somebody types.
    shell = ["sh", "-mc", '"$@"; echo STOPPED; read line; fg; echo DONE $?', "sh"]
    with Replay(prefix=shell) as terminal:
        terminal.wait_for(lambda: n_of(terminal) == HALF)
        terminal.press("\x1a")
        terminal.wait_for(lambda: b"STOPPED" in terminal.raw)
        assert terminal.is_as_before(), "the shell has not got its terminal back"
        terminal.go.touch()
        terminal.screen.reset()
        terminal.press("\n")
        terminal.wait_for(lambda: n_of(terminal) == ALL)
        terminal.press("q")
        terminal.wait_for(lambda: b"DONE 0" in terminal.raw)
        assert terminal.is_as_before()


def check_hostile():
    evil = r"\033]0;owned\007\033[2J" + "\x9b31m\u202e"
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="latin-1", errors="replace") as lines:
        lines.write("\n".join(line.replace("mc-worker", evil) for line in TEXT) + "\n")
        lines.flush()
        with Replay(lines=lines.name, environment={"LANG": "C.UTF-8"}) as terminal:
            terminal.wait_for(lambda: n_of(terminal) == HALF)
            terminal.wait_for("\\x1b]0;")
            terminal.press("q")
            terminal.end()
            painted = terminal.raw.rpartition(LEAVES_SCREEN)[0]
            assert b"\x1b]0" not in painted and b"\x9b" not in painted and b"\x07" not in painted


def live(terminal):
    return b"\x1b[?1049h" in terminal.raw


def check_choice():
    """What makes a live view, with the program itself and counters of this kernel."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with Terminal([STAPGEN, "softnet"], rows=50, columns=160) as terminal:
        terminal.wait_for(" softnet ")
        for _ in range(1009):
            sender.sendto(b"x", ("127.0.0.1", 9))

        def no_ports():
            found = re.search(r"^ *([\d,]+) +[\d.]+ Udp\.NoPorts ", terminal.text, re.M)
            return found and int(found[1].replace(",", "")) >= 1009
        terminal.wait_for(no_ports)
        terminal.press("w")
        terminal.wait_for("last interval")
        terminal.press("q")
        code, report = terminal.end()
        assert code == 0 and terminal.is_as_before() and "all counters read are reported" in report, report
        assert re.search(r"^ *\d{4,} Udp\.NoPorts", report, re.M), report
        assert b"\x1b[36m" not in terminal.raw

    two = ["softnet", "--duration", "2"]
    said = {}
    for name, options, environment in (("no-live", ["--no-live"], {}), ("never", ["--live=never"], {}),
                                       ("quiet", ["-q"], {}), ("json", ["-j"], {}), ("dumb", [], {"TERM": "dumb"}),
                                       ("unknown", [], {"TERM": "no-such-terminal"}), ("unset", [], {"TERM": ""})):
        with Terminal([STAPGEN, *two[:2], "0.3", *options], environment=environment) as terminal:
            code, said[name] = terminal.end()
            assert code == 0 and not live(terminal) and terminal.is_as_before(), (name, said[name])
    assert "measuring softnet" in said["no-live"] and "terminfo" not in said["no-live"]
    for name in ("dumb", "unknown", "unset"):
        assert "no live view" in said[name] and "hint:" in said[name] and "measuring softnet" in said[name], said[name]
    with Terminal([STAPGEN, *two[:2], "0.3"], stdout=subprocess.DEVNULL) as terminal:
        code, text = terminal.end()
        assert code == 0 and not live(terminal) and "no live view" not in text, text
    for options in (["--live", "-j"], ["--live", "-q"], ["--live", "--events"], ["--live=perhaps"]):
        with Terminal([MEASURE_FAKE, FAKE_STAP, *options]) as terminal:
            assert terminal.end()[0] != 0 and not live(terminal), options
    done = subprocess.run([STAPGEN, "softnet", "--live"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 2 and b"needs a terminal" in done.stdout, done.stdout

    for options, environment, coloured in (([], {}, True), ([], {"NO_COLOR": "1"}, False),
                                           (["--color", "never"], {}, False),
                                           (["--color", "always"], {"NO_COLOR": "1"}, True)):
        with Replay(*options, environment=environment) as terminal:
            terminal.wait_for("█")
            assert (b"\x1b[36m" in terminal.raw) == coloured, (options, environment)


print(f"{HALF} records, then {ALL}")
globals()["check_" + sys.argv[5]]()
