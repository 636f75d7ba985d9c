# Functions of the guest of tests/bench/overhead; sourced after the lab's guest_lib.sh. Tracers write to /tmp, which is
# memory; what tells their account is copied to /lab/work/NAME.account afterwards, with their stderr as NAME.err.

# From memory: a guest that counts instructions and waits for a file of the host's has a clock that leaps meanwhile.
mkdir /tmp/bin
cp /lab/traffic/{ask,serve,bulk} /lab/work/flood /tmp/bin
PATH=/tmp/bin:$PATH

BPF=/lab/cache/bpftrace
bpftrace() {
    LD_LIBRARY_PATH=$BPF/usr/lib/x86_64-linux-gnu:$BPF/usr/lib/llvm-21/lib exec $BPF/usr/bin/bpftrace "$@"
}

# start KIND NAME PROGRAM [ARGUMENT]...: trace in the background until stop. SERVER is the thread of the traffic's server.
start() {
    KIND=$1 NAME=$2
    local program=$3
    shift 3
    OUT=/tmp/$NAME.out ERR=/tmp/$NAME.err
    case $KIND in
    exec)
        stapgen exec "$program.ko" "$@" >$OUT 2>$ERR &
        TRACER=$!
        wait_traced $ERR
        ;;
    staprun)
        local module=$(modinfo -F name "$program.ko")
        cp "$program.ko" "/tmp/$module.ko"
        staprun "$@" -o $OUT "/tmp/$module.ko" 2>$ERR &
        TRACER=$!
        wait_for "grep -q '^$module ' /proc/modules" 120
        ;;
    bpftrace)
        (bpftrace --no-warnings -o $OUT "$program.bt" "$@" 2>$ERR) &
        TRACER=$!
        wait_for "grep -q '^Attached' $OUT $ERR" 600
        ;;
    esac || { cat $OUT $ERR; return 1; }
    sleep 2
}

stop() {
    sleep 1
    local missed=0
    [ $KIND != bpftrace ] || missed=$(cat /proc/$TRACER/fdinfo/* 2>/dev/null | awk '/^recursion_misses/ {n += $2} END {print n + 0}')
    kill -INT $TRACER
    wait $TRACER
    echo "exit $? missed $missed" >/lab/work/$NAME.end
    case $KIND in
    exec) tail -n 1 $OUT ;;
    staprun) grep -a -E '^(end|warn|error)' $OUT || grep -a -c '' $OUT ;;
    bpftrace) grep -a -E '^@(seen|reported|lost)' $OUT ;;
    esac >/lab/work/$NAME.account
    cp $ERR /lab/work/$NAME.err
    [ $KIND != bpftrace ] || cp $OUT /lab/work/$NAME.bpf
    rm -f $OUT $ERR
}

lo_packets() { cat /sys/class/net/lo/statistics/rx_packets; }
udp_counters() { awk '/^Udp:/ && $2 ~ /[0-9]/ {print $2, $6}' /proc/net/snmp; }

# traffic WHAT N NAME: make it, and print a line of results for NAME.
traffic() {
    local what=$1 n=$2 begin end units extra before after
    case $what in
    ask)
        begin=$EPOCHREALTIME
        ask --port 7001 --requests $n >/dev/null || return
        end=$EPOCHREALTIME units=$n
        ;;
    memcached)
        begin=$EPOCHREALTIME
        memcslap --servers=127.0.0.1 --concurrency=1 --execute-number=$n --test=get >/dev/null || return
        end=$EPOCHREALTIME units=$((2 * n))
        ;;
    bulk)
        start_ready bulk --receive --port 7002 || return
        before=$(lo_packets) begin=$EPOCHREALTIME
        bulk --send --port 7002 --bytes $n >/dev/null || return
        end=$EPOCHREALTIME after=$(lo_packets) units=$((after - before)) extra="bytes=$n"
        wait $READY_PID
        ;;
    flood)
        start_ready flood receive 7003 || return
        before=$(udp_counters)
        flood send 7003 $n 18 || return
        after=$(udp_counters)
        wait $READY_PID
        extra="$(tail -n 1 $READY_OUTPUT) counters=${before// /,},${after// /,}" units=$n
        ;;
    esac
    [ $what = flood ] || extra="us=$((${end/./} - ${begin/./})) $extra"
    echo "$3 traffic=$what units=$units $extra" | tee -a /lab/work/results
}
