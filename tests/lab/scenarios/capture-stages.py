"""Makes samples/stage-timing* and memcached-tracker*: the two scripts people have been handing on, on a kernel of today."""

from lablib.captures import compile_script, keep

DESCRIPTION = "makes samples/stage-timing* and memcached-tracker*: DWARF needed (trixie only)"

GUEST = r"""
# begin NAME MODULE [OPTION]...: run it until end; what it and staprun print is NAME.txt and NAME.err.
begin() {
    local name=$1 module=$2
    shift 2
    staprun -R $module.ko "$@" >$name.txt 2>$name.err &
    tracer=$!
    wait_for "grep -q ' $module ' /sys/kernel/debug/kprobes/list || grep -q tcp_v4_rcv /sys/kernel/debug/kprobes/list || grep -q dev_hard_start_xmit /sys/kernel/debug/kprobes/list" || exit 1
    sleep 1
}
end() {
    sleep 1
    kill -INT $tracer
    wait $tracer
}

start_memcached || exit 1
start_nginx || exit 1
start_ready serve --port 7021 || exit 1

begin stage-timing stage
ask --port 7021 --requests 127 >traffic
ab -q -k -n 31 -c 1 http://127.0.0.1:8080/file >ab
bulk --help >bulk.usage 2>&1
end
begin stage-timing-zones stage_zones
ask --port 7021 --requests 61 >>traffic
end
begin stage-timing-full stage_full
ask --port 7021 --requests 211 >>traffic
end

for name in tracker tracker_100us; do
    begin memcached-$name $name -x $MC_TID
    for n in 307 503 211; do
        memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=$n --test=get >>memcslap
        (sleep 0.2; printf 'stats\r\nquit\r\n') | nc 127.0.0.1 11211 | grep -E 'cmd_(get|set)' >>memcslap
        sleep 2
    done
    end
done
finish
"""


def prepare(lab):
    dwarf = [lab.debuginfo()]
    compile_script(lab, "stage-timing", "stage", [0, 0], binds=dwarf)
    # An hour between the two, as in the script's own sample output.
    compile_script(lab, "stage-timing", "stage_zones", [0, 3600], binds=dwarf)
    compile_script(lab, "stage-timing", "stage_full", [0, 0], ["-DMAXMAPENTRIES=101"], dwarf)
    compile_script(lab, "memcached-tracker", "tracker_100us", [100000], binds=dwarf)
    compile_script(lab, "memcached-tracker", "tracker", [1000000], binds=dwarf)


def check(lab):
    keep(lab, ["stage-timing.txt", "stage-timing-zones.txt", "memcached-tracker.txt"])
