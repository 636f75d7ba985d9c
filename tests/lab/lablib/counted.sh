# For guests whose clock counts instructions; sourced after guest_lib.sh. Programs run from memory: where a guest waits for
# a file of the host's, its clock leaps.

mkdir -p /tmp/bin
cp /lab/traffic/{ask,serve,bulk} /tmp/bin
PATH=/tmp/bin:$PATH

# load NAME PROGRAM [OPTION]...: load PROGRAM.ko until TRACER is sent SIGINT; what it prints goes to /tmp/NAME.out and .err.
load() {
    local name=$1 program=$2 module
    module=$(modinfo -F name "$program.ko")
    cp "$program.ko" "/tmp/$module.ko"
    staprun "${@:3}" -o "/tmp/$name.out" "/tmp/$module.ko" 2>"/tmp/$name.err" &
    TRACER=$!
    wait_for "grep -q '^$module ' /proc/modules" 120
}

# count_exactly: from now on this shell and what it starts take turns only where one waits, and before all else.
count_exactly() {
    echo -1 >/proc/sys/kernel/sched_rt_runtime_us
    chrt -f -p 1 $$
}

# busy: set BUSY to the instructions that the one CPU has executed so far for tasks, idle left out.
busy() {
    local fields
    while read -r -a fields; do
        [ "${fields[0]}" != cpu0 ] || BUSY=${fields[7]}
    done </proc/schedstat
}

# counted COMMAND...: run it, and set COUNT to the instructions that it took, those for reading what was traced among them.
counted() {
    local before
    busy
    before=$BUSY
    "$@" >/dev/null || return
    sleep 0.03   # two turns of stapio
    busy
    COUNT=$((BUSY - before))
}
