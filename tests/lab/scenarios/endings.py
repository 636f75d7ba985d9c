# SPDX-License-Identifier: GPL-2.0-or-later
"""However a measurement ends, its module leaves the kernel; and while it goes on no record waits for a later one."""

import json

DESCRIPTION = ("Ctrl-C, a second Ctrl-C, TERM, HUP, kill -9, a closed pipe, a killed staprun: no module stays; a record is "
               "there within 200 ms")
LIVE = True
IN_CI = ("trixie",)

BUILD = {"rx": ["rx-latency"], "drops": ["dropwatch", "-i", "1"]}

GUEST = r"""
start_memcached || exit 1
begin() {
    name=$1
    shift
    stapgen exec "$@" >$name.out 2>$name.err &
    tracer=$!
    wait_traced $name.err || exit 1
    memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=307 --test=set >/dev/null 2>&1
    modules_left >$name.during
}
end() {
    wait $tracer
    echo $? >$name.exit
    modules_left >$name.modules
}

begin int rx.ko -x $MC_TID; kill -INT $tracer; end
begin twice rx.ko -x $MC_TID; kill -STOP $(pgrep -x stapio); kill -INT $tracer; sleep 1; kill -INT $tracer; end
begin term rx.ko -x $MC_TID; kill -TERM $tracer; end
begin hup rx.ko -x $MC_TID; kill -HUP $tracer; end
begin kill rx.ko -x $MC_TID; kill -KILL $tracer; wait $tracer; echo $? >kill.exit
sleep 10; modules_left >kill.modules
begin silent drops.ko; kill -KILL $tracer; wait $tracer; echo $? >silent.exit
sleep 10; modules_left >silent.modules
begin staprun rx.ko -x $MC_TID; kill -KILL $(pgrep -x stapio); end
stapgen exec drops.ko 2>pipe.err | head -1 >pipe.out
echo ${PIPESTATUS[0]} >pipe.exit
modules_left >pipe.modules
begin timed rx.ko -x $MC_TID -d 3; end
# When each record is there; some, and then none for a while.
stapgen exec rx.ko -x $MC_TID --events --format ndjson > >(while read -r line; do echo "$EPOCHREALTIME $line"; done >prompt.out) \
    2>prompt.err &
tracer=$!
wait_traced prompt.err || exit 1
for requests in 1 2 3 7 31; do
    memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=$requests --test=set >/dev/null 2>&1
    sleep 1.13
done
kill -INT $tracer; name=prompt; end
begin counted drops.ko -n 2; end
finish
"""


def check(lab):
    def exit_code(name):
        return int(lab.read(f"{name}.exit"))

    for name in ("int", "twice", "term", "hup", "kill", "silent", "staprun", "timed", "counted"):
        print(f"{lab.suite} {name}: exit {exit_code(name)}, modules {lab.read(name + '.during').strip()}"
              f" -> {lab.read(name + '.modules').strip()}: {lab.read(name + '.err').strip()}")
        if name not in ("counted",):  # may be over before it is looked at
            assert lab.read(f"{name}.during").strip() == "1", name
        assert lab.read(f"{name}.modules").strip() == "0", f"{name} left its module behind"
    check_prompt(lab)
    for name in ("int", "term", "hup", "timed"):
        assert exit_code(name) == 0, name
        assert "tcp-app" in lab.read(f"{name}.out") and " seen = " in lab.read(f"{name}.out"), name
    assert exit_code("counted") == 0
    assert exit_code("kill") == exit_code("silent") == 137
    assert exit_code("twice") == 1
    assert exit_code("staprun") == 1 and "tcp-app" in lab.read("staprun.out")
    print(f"{lab.suite} pipe: exit {exit_code('pipe')}: {lab.read('pipe.err').strip()}")
    assert lab.read("pipe.modules").strip() == "0"
    assert lab.read("modules-left").strip() == "0"


def check_prompt(lab):
    late_ns = []
    for line in lab.read("prompt.out").splitlines():
        seconds, _, text = line.partition(" ")
        record = json.loads(text)
        if record.get("event") == "rx":
            late_ns.append(int(float(seconds) * 1e9) - record["time_ns"])
    print(f"{lab.suite} prompt: {len(late_ns)} records, there {min(late_ns) / 1e6:.1f} to {max(late_ns) / 1e6:.1f} ms later")
    assert len(late_ns) >= 1 + 2 + 3 + 7 + 31
    # 200 ms are the batch's timer and SystemTap's; then the program needs a CPU.
    assert 0 < min(late_ns) and max(late_ns) < 220e6
