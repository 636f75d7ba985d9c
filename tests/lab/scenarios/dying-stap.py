# SPDX-License-Identifier: GPL-2.0-or-later
"""stap that is killed, crashes, finds no room or a mistake: in which pass, why, what to do, and nothing is left."""

import re

DESCRIPTION = "stap killed in each pass, mistakes in a user's recipe, full disks, stapgen killed while it compiles"
IN_CI = ()

# Runs in the root, where stap is as fast as the host. `calls` is what new-recipe makes; each value of --min-bytes makes
# another script, which stap does not find in its cache.
SCRIPT = r"""
export HOME=/lab/work/home
number=1000
# try NAME [OPTION]...: build, and note what is there that was not.
try() {
    local name=$1
    number=$((number + 1))
    stapgen build ${RECIPE:-calls} -v -r $RELEASE --symbols $SYMBOLS --min-bytes $number -o /tmp/out.ko \
        "${@:2}" >$name.out 2>$name.err
    echo $? >$name.exit
    sleep 0.2
    (cd /tmp && ls -Ad stap* out.ko 2>/dev/null) >$name.left
    # Of a stapgen that was killed stap is told by the kernel, and has its own folder to remove.
    [ $name != stapgen-KILL ] || sleep 5
    # What is a zombie has ended: who collects it is the host's business.
    [ ! -e group ] || for process in $(pgrep -g $(cat group)); do
        grep -q '^State:[[:space:]]*[ZX]' /proc/$process/status || cat /proc/$process/comm
    done >>$name.left 2>/dev/null
    rm -rf group /tmp/out.ko /tmp/stapgen*
    diff mounts /proc/self/mounts | grep -v ' /tmp/small ' | grep '^[<>]' >>$name.left
}
# die NAME SIGNAL PASS [WHOM]: stap, or WHOM, gets SIGNAL when stap has come so far.
die() {
    echo "$2 $3 ${4:-stap}" >when
    try $1 --stap /lab/work/stap
    rm when
}
small() { mount -t tmpfs -o size=$1,mode=0755 tmpfs /tmp/small; }

mkdir -p /tmp/small
cp /proc/self/mounts mounts
try good
for signal in KILL SEGV; do
    for pass in 1 2 4; do die pass-$pass-$signal $signal $pass; done
done
# Nothing else writes so much: the C that pass 3 makes.
(ulimit -f 40; try pass-3-XFSZ)

RECIPE=syntax try syntax
RECIPE=unknown-function try unknown-function
RECIPE=unknown-probe try unknown-probe
RECIPE=type-error try type-error
RECIPE=c-error try c-error --guru

small 60k; TMPDIR=/tmp/small try full-small; umount /tmp/small
small 700k; TMPDIR=/tmp/small try full-later; umount /tmp/small
small 1m; XDG_CACHE_HOME=/tmp/small try full-at-once; umount /tmp/small
small 96m; XDG_CACHE_HOME=/tmp/small try warm
head -c 96m /dev/zero >/tmp/small/filler 2>/dev/null
XDG_CACHE_HOME=/tmp/small try full-cache; umount /tmp/small

for signal in INT TERM HUP KILL; do
    die stapgen-$signal $signal 4 stapgen
done
exit 0
"""

# Stands before the real stap: passes on what it says, and sends the signal when it has said it.
STAP = """#!/usr/bin/python3
import os, signal, subprocess, sys, time
when = open("/lab/work/when").read().split() if os.path.exists("/lab/work/when") else []
if "--version" in sys.argv or not when:
    os.execv("/usr/bin/stap", ["stap", *sys.argv[1:]])
open("/lab/work/group", "w").write(str(os.getpgrp()))
stap, stapgen, (reader, writer) = os.getpid(), os.getppid(), os.pipe()
if os.fork() != 0:
    os.dup2(writer, 2)
    os.execv("/usr/bin/stap", ["stap", *sys.argv[1:]])
os.close(writer)
number, number_of_pass, whom = getattr(signal, "SIG" + when[0]), int(when[1]), stap if when[2] == "stap" else stapgen
said = b""
if number_of_pass > 1:
    while b"Pass %d:" % (number_of_pass - 1) not in said:
        block = os.read(reader, 4096)
        os.write(2, block)
        said += block
while number_of_pass == 4 and subprocess.run(["pgrep", "-g", str(os.getpgrp()), "-x", "cc1"], stdout=-3).returncode:
    pass
time.sleep(0.05)
os.kill(whom, number)
while block := os.read(reader, 4096):
    os.write(2, block)
"""

MISTAKES = {
    "syntax": "probe begin { x = }",
    "unknown-function": "probe begin { no_such_function(7) }",
    "unknown-probe": 'probe kprobe.function("no_such_function") { println("x") }',
    "type-error": 'probe begin { x = 7; x = "text"; println(x) }',
    "c-error": "function broken() %{ no_such_variable = 7; %}\nprobe begin { broken() }",
}


def make_recipe(lab, name, more):
    """Make a recipe as its user does, and add MORE to its script."""
    lab.stapgen(["new-recipe", name], env={"HOME": "/lab/work/home"})
    script = next((lab.work / "home").rglob(f"{name}/script.stp"))
    script.write_text(script.read_text() + more + "\n")


def prepare(lab):
    (lab.work / "home").mkdir()
    make_recipe(lab, "calls", "")
    for name, more in MISTAKES.items():
        make_recipe(lab, name, more)
    with next((lab.work / "home").rglob("c-error/recipe.toml")).open("a") as recipe:
        recipe.write("[stap]\nguru = true\n")
    (lab.work / "stap").write_text(STAP)
    (lab.work / "stap").chmod(0o755)
    (lab.work / "script").write_text(f"RELEASE={lab.release} SYMBOLS={lab.symbols}\n{SCRIPT}")
    done = lab.chroot(["bash", "script"], check=False)
    print(done.stdout + done.stderr)
    assert done.returncode == 0


class Tried:
    def __init__(self, lab, name):
        self.name = name
        self.exit = int(lab.read(f"{name}.exit"))
        said = lab.read(f"{name}.err")
        self.said = said[said.rfind("stapgen: "):] if "stapgen: " in said else said
        self.left = lab.read(f"{name}.left").split("\n")[:-1]
        print(f"{lab.suite} {name}: exit {self.exit}, left {self.left}\n{self.said.rstrip()}")

    def failed(self, exit_code, *words):
        assert self.exit == exit_code and not self.left, f"{self.name}: exit {self.exit}, left {self.left}"
        for word in ("hint: ", *words):
            assert re.search(word, self.said), f"{self.name}: '{word}' is not in the message"
        return self


def place(lab, name, word):
    """Return where the user's own script has WORD in its last line, as FILE:LINE:COLUMN."""
    lines = next((lab.work / "home").rglob(f"{name}/script.stp")).read_text().splitlines()
    return re.escape(f"/recipes/{name}/script.stp:{len(lines)}:{lines[-1].index(word) + 1}")


def check(lab):
    good = Tried(lab, "good")
    assert good.exit == 0 and good.left == ["out.ko"]
    for signal, text in (("KILL", r"signal 9 \(Killed\)"), ("SEGV", r"signal 11 \(Segmentation fault\)")):
        for number in (1, 2, 4):
            Tried(lab, f"pass-{number}-{signal}").failed(1, f"stap failed in pass {number} ", text, "run it again")
    Tried(lab, "pass-3-XFSZ").failed(1, "stap failed in pass 3 ", "ulimit -f")

    Tried(lab, "syntax").failed(1, "stap failed in pass 1 ", "the script has an error: expected .*" + place(lab, "syntax", "}"),
                                "stapgen check")
    Tried(lab, "unknown-function").failed(1, "stap failed in pass 2 ",
                                          "no_such_function .*" + place(lab, "unknown-function", "no_such"))
    Tried(lab, "unknown-probe").failed(1, "stap failed in pass 2 ", "no such function")
    Tried(lab, "type-error").failed(1, "stap failed in pass 2 ", "type mismatch .*" + place(lab, "type-error", 'x = "'))
    Tried(lab, "c-error").failed(1, "stap failed in pass 4 ", "no_such_variable")

    for name in ("full-small", "full-later", "full-cache"):
        Tried(lab, name).failed(4, "a disk is full", "free some space")
    Tried(lab, "full-at-once").failed(4, "No space left on device", "make room")
    for signal in ("INT", "TERM", "HUP"):
        ended = Tried(lab, f"stapgen-{signal}")
        assert ended.exit == 1 and not ended.left and "interrupted in stap's pass 4" in ended.said
    # Its own folder stays, and nothing of stap's.
    killed = Tried(lab, "stapgen-KILL")
    assert killed.exit == 137 and len(killed.left) == 1 and killed.left[0].startswith("stapgen-")
