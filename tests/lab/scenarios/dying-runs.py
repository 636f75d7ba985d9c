# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs that somebody ends from outside: what was measured until then is there, it is said, and nothing is left."""

import json
import re

DESCRIPTION = "stapio killed, a closed terminal, a refused module, a module left before, targets that end: all is said"
ALONE = "it forbids modules"
LIVE = True
IN_CI = ()
BUILD = {"rx": ["rx-latency"]}

# What runs on a terminal that is closed under it.
TERMINAL = """
import os, pty, signal, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("stapgen", ["stapgen", "exec", "rx.ko", "-o", "terminal.rec"])
seen = b""
while b"reported" not in seen:  # a word of the live view's account
    seen += os.read(terminal, 4096)
open("terminal.ready", "w").close()
while not os.path.exists("terminal.asked"):
    time.sleep(0.1)
os.close(terminal)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
"""

# A process of three threads: one ends when it is told to, the process likewise.
THREADS = """
import os, threading, time
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.05)
thread = threading.Thread(target=wait_for, args=("/tmp/end-thread",))
thread.start()
threading.Thread(target=wait_for, args=("/tmp/end-process",)).start()
print(os.getpid(), thread.native_id, flush=True)
"""

GUEST = r"""
start_memcached || exit 1
ask() { memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=${1:-53} --test=set >/dev/null 2>&1; }
# begin NAME [OPTION]...: measure in the background as $tracer, and some traffic.
begin() {
    name=$1
    stapgen exec rx.ko -o $name.rec "${@:2}" >$name.out 2>$name.err &
    tracer=$!
    wait_traced $name.err || exit 1
    ask
    sleep 1
}
# end: wait for it, note what is left, and read the recording.
end() {
    wait $tracer
    echo $? >$name.exit
    modules_left >$name.modules
    (pgrep -l stap; ls -d /tmp/stap* 2>/dev/null) >$name.left
    stapgen report $name.rec --format json >$name.json 2>$name.report
    stapgen report $name.rec >$name.txt 2>/dev/null
}

cat /proc/sys/debug/kprobes-optimization >optimization
for signal in TERM KILL SEGV; do
    begin stapio-$signal -d 60; kill -$signal $(pgrep -x stapio); end
done

python3 terminal.py >terminal.exit 2>terminal.err &
closer=$!
wait_for "[ -e terminal.ready ]" || { cat terminal.err; exit 1; }
ask
sleep 1
touch terminal.asked
tracer=$closer name=terminal
wait $closer
wait_for "! pgrep -x stapgen"
modules_left >terminal.modules
(pgrep -l stap; ls -d /tmp/stap* 2>/dev/null) >terminal.left
stapgen report terminal.rec --format json >terminal.json 2>terminal.report

# Both at once: nobody is there to remove the module. The next run says so, and how to remove it.
begin both; kill -KILL $tracer $(pgrep -x stapio); wait $tracer; sleep 1
grep '^stap' /proc/modules >both.after
begin next; kill -INT $tracer; end
sed -n 's/.*: sudo \(staprun -d [a-z0-9_]*\)$/\1/p' next.err >next.command
bash next.command || exit 1
modules_left >both.modules

# A run beside it is no module that was left.
begin first; first=$tracer
begin second; kill -INT $tracer; end
kill -INT $first; name=first tracer=$first end

python3 threads.py >threads.out &
threads=$!
wait_for "[ -s threads.out ]"
read pid tid <threads.out
begin whole -p $pid; whole=$tracer
begin thread -x $tid -d 60; touch /tmp/end-thread; end
sleep 1
kill -0 $whole && echo running >whole.still
touch /tmp/end-process
name=whole tracer=$whole end
stapgen exec rx.ko -x $tid >gone.out 2>gone.err
echo $? >gone.exit

head -c 40000 rx.ko >cut.ko
stapgen exec cut.ko >cut.out 2>cut.err
echo $? >cut.exit
python3 - <<'EOF'
data = bytearray(open("rx.ko", "rb").read())
at = data.index(b"vermagic=") + 9
data[at + len(b"6.12"):at + len(b"6.12") + 1] = b"x"
open("magic.ko", "wb").write(data)
data = bytearray(open("rx.ko", "rb").read())
at = data.index(b"SMP ")
data[at:at + 3] = b"UPX"
open("flags.ko", "wb").write(data)
EOF
for name in magic flags; do
    stapgen exec $name.ko >$name.out 2>$name.err
    echo $? >$name.exit
done

cat /proc/sys/debug/kprobes-optimization >>optimization
finish
# Nothing can be loaded from here on, nor taken out.
echo 1 >/proc/sys/kernel/modules_disabled
stapgen exec rx.ko -o disabled.rec >disabled.out 2>disabled.err
echo $? >disabled.exit
modules_left >disabled.modules
ls disabled.rec 2>/dev/null >disabled.left
sync
"""


def prepare(lab):
    (lab.work / "terminal.py").write_text(TERMINAL)
    (lab.work / "threads.py").write_text(THREADS)


class Ended:
    """What a run said, left, and recorded."""

    def __init__(self, lab, name, recorded=True):
        self.name, self.exit = name, int(lab.read(f"{name}.exit"))
        self.said = lab.read(f"{name}.err")
        self.modules = int(lab.read(f"{name}.modules")) if (lab.work / f"{name}.modules").exists() else 0
        self.left = lab.read(f"{name}.left") if (lab.work / f"{name}.left").exists() else ""
        self.report = json.loads(lab.read(f"{name}.json")) if recorded else None
        print(f"{lab.suite} {name}: exit {self.exit}, {self.modules} modules, left {self.left!r}\n{self.said.rstrip()}")
        if recorded:
            account = self.report["accounting"]
            print(f"  recorded {account['reported']} of {account['seen']}, closed {account['closed']}, broke off: "
                  f"{self.report.get('broke_off')}; {lab.read(name + '.report').strip()}")
            assert account["seen"] >= 53, self.name

    def expect(self, exit_code, *words):
        assert self.exit == exit_code and self.modules == 0 and not self.left, self.name
        for word in words:
            assert re.search(word, self.said), f"{self.name}: '{word}' is not said"
        return self


def check(lab):
    term = Ended(lab, "stapio-TERM").expect(0, r"the script ended after .*, before -d had passed")
    assert term.report["accounting"]["closed"]
    for signal, text in (("KILL", r"signal 9 \(Killed\)"), ("SEGV", "ended with exit code 1")):
        ended = Ended(lab, f"stapio-{signal}").expect(1, text, "hint: ", "was left in the kernel; stapgen removed it")
        assert not ended.report["accounting"]["closed"] and re.search(text, ended.report["broke_off"])
        assert "WARNING: the run broke off" in lab.read(f"stapio-{signal}.txt")
    terminal = Ended(lab, "terminal").expect(0)
    assert terminal.report["accounting"]["closed"]

    assert len(lab.read("both.after").splitlines()) == 1 and int(lab.read("both.modules")) == 0
    left = lab.read("both.after").split()[0]
    following = Ended(lab, "next")
    assert following.exit == 0 and following.modules == 1 and f"sudo staprun -d {left}" in following.said
    for name in ("first", "second"):
        ended = Ended(lab, name)
        assert ended.exit == 0 and "staprun -d" not in ended.said, name

    thread = Ended(lab, "thread")
    assert thread.exit == 0 and re.search(r"thread \d+ has ended, so the measurement ends", thread.said)
    assert lab.read("whole.still").strip() == "running"
    Ended(lab, "whole").expect(0, r"process \d+ has ended, so the measurement ends")
    Ended(lab, "gone", recorded=False).expect(2, "there is no thread", "hint: ")

    for name, exit_code, word in (("cut", 2, "is not a kernel module"), ("magic", 4, "is for kernel"),
                                  ("flags", 4, "the kernel refuses the module"),
                                  ("disabled", 4, "kernel.modules_disabled")):
        Ended(lab, name, recorded=False).expect(exit_code, word, "hint: ")
    assert lab.read("modules-left").strip() == "0"
    print(f"{lab.suite}: kernel's optimization of kprobes before and after: {lab.read('optimization').split()}")
