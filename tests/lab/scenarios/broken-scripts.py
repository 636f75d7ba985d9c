# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts that go wrong in the kernel: the run ends with the reason, what came before is reported, and the rest is counted."""

import json
import re
import shutil

DESCRIPTION = "overload, skipped probes, MAXACTION, a full table, errors in probes: said, recorded, and no module stays"
LIVE = True
IN_CI = ()
# In "skipped" each CPU wants what the other one holds at that moment.
REAL_TIME = True

# Of new-recipe's recipe: behind the print of a record, in the whole script, and macros. A message of 17 bytes sets it off.
BROKEN = {
    "action": ("if (bytes == 17) for (i = 0; i < 100000; i++) burnt += i", "global burnt", ["MAXACTION=2000"]),
    "table": ("table[now] = 1", "global table[29]", []),
    "fault": ("if (bytes == 17) fault += kernel_long(bytes)", "global fault", []),
    "errors": ("if (1 / (bytes - 17) > 7) reported <<< 0", "", ["MAXERRORS=100"]),
    "too-many": ("if (1 / (bytes - 17) > 7) reported <<< 0", "", ["MAXERRORS=3"]),
    # Each CPU's tick wants what the other one's holds, and does not wait for it.
    "skipped": ("", "global held\nprobe timer.profile { for (i = 0; i < 5000; i++) held += i; if (held < 0) println(held) }",
                ["MAXACTION=100000", "MAXTRYLOCK=1", "TRYLOCKDELAY=1"]),
    "overload": ("", "", ["STP_OVERLOAD_INTERVAL=1000000LL", "STP_OVERLOAD_THRESHOLD=1000LL"]),
}

# Messages of 64 bytes, and then some of 17, each received by a call of its own.
TALK = """
import socket, threading
normal, odd = 41, 7
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
there, _ = server.accept()
for size in [64] * normal + [17] * odd + [64] * normal:
    client.sendall(b"x" * size)
    assert len(there.recv(1000)) == size
"""

GUEST = r"""
for name in %s; do
    stapgen exec $name.ko -o $name.rec --format json >$name.json 2>$name.err &
    tracer=$!
    wait_for "grep -q '^stapgen: measuring' $name.err || ! kill -0 $tracer"
    python3 talk.py || exit 1
    # Errors that are allowed do not end it, all else does.
    if [ $name = errors ]; then sleep 1; else wait_for "! kill -0 $tracer"; fi
    kill -INT $tracer 2>/dev/null
    wait $tracer
    echo $? >$name.exit
    modules_left >$name.modules
    stapgen report $name.rec >$name.txt 2>$name.report
    stapgen report $name.rec --format json >$name.again
done
finish
""" % " ".join(BROKEN)


def make_recipe(lab, name, behind, more, macros):
    env = {"HOME": "/lab/work/home"}
    lab.stapgen(["new-recipe", name], env=env)
    script = next((lab.work / "home").rglob(f"{name}/script.stp"))
    text = script.read_text()
    assert "        reported <<< 1\n" in text
    script.write_text(text.replace("        reported <<< 1\n", f"        reported <<< 1\n        {behind}\n") + more + "\n")
    build = ["stapgen", "build", name, "-r", lab.release, "--symbols", lab.symbols, "-o", f"/lab/work/{name}.ko",
             *(f"--stap-option=-D{macro}" for macro in macros)]
    # The lab's own cache has a file that switches SystemTap's guard against overload off.
    cache = ["env", "XDG_CACHE_HOME=/lab/work/cache"] if name == "overload" else []
    lab.chroot([*cache, *build], env=env)


def prepare(lab):
    (lab.work / "talk.py").write_text(TALK)
    shutil.copytree(lab.cache / "stapgen", lab.work / "cache/stapgen", symlinks=True)
    (lab.work / "cache/stapgen/systemtap/rc").unlink()
    for name, (behind, more, macros) in BROKEN.items():
        make_recipe(lab, name, behind, more, macros)
    shutil.rmtree(lab.work / "cache")


# Exit code, records and errors (nothing: any number), what the WARNING says, and whether the run was ended by that.
EXPECTED = {
    "action": (1, 42, 1, "a probe of the script exceeded its limit of steps", True),
    "table": (1, 30, 1, r"a table of the script is full \(size limit \(29\), at identifier 'table' at \S+:\d+:\d+.*\)", True),
    "fault": (1, 42, 1, r"the script read invalid memory \(0x0*11 ", True),
    "errors": (1, 89, 7, "7 probes ended in an error", False),
    "too-many": (1, 45, 4, "the script divided by zero", True),
    "skipped": (1, None, 0, "too many probes were skipped", True),
    "overload": (6, None, None, "cycles of a CPU, more than the limit of 1000", True),
}


def check(lab):
    for name, (exit_code, records, errors, said, broke_off) in EXPECTED.items():
        report = json.loads(lab.read(f"{name}.json"))
        account = report["accounting"]
        print(f"{lab.suite} {name}: exit {lab.read(name + '.exit').strip()}, {account['reported']} of {account['seen']}, "
              f"errors {account['probe_errors']}, skipped {account['skipped_probes']}, {report.get('broke_off')}\n"
              f"{lab.read(name + '.err').rstrip()}")
        assert int(lab.read(f"{name}.exit")) == exit_code and lab.read(f"{name}.modules").strip() == "0", name
        assert account["closed"] and account["reported"] == (records or account["reported"])
        assert account["probe_errors"] == (account["probe_errors"] if errors is None else errors)
        assert report == json.loads(lab.read(f"{name}.again")), "the recording is the report"
        warnings = [line for line in lab.read(f"{name}.txt").splitlines() if line.startswith("WARNING: ")]
        assert any(re.search(said, line) for line in warnings), warnings
        assert any("the run broke off" in line for line in warnings) == broke_off == ("broke_off" in report), warnings
        assert "hint: " in lab.read(f"{name}.err")
    assert json.loads(lab.read("skipped.json"))["accounting"]["skipped_probes"] > 100
    assert lab.read("modules-left").strip() == "0"
