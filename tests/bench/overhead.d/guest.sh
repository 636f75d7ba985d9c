# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of the guest of tests/bench/overhead; sourced after the lab's guest_lib.sh. Tracers write to /tmp, which is
# memory; what tells their account is copied to /lab/work/NAME.account afterwards, with their stderr as NAME.err.

. /lab/work/counted.sh
cp flood /tmp/bin

BPF=/lab/cache/bpftrace
bpftrace() {
    LD_LIBRARY_PATH=$BPF/usr/lib/x86_64-linux-gnu:$(echo $BPF/usr/lib/llvm-*/lib) exec $BPF/usr/bin/bpftrace "$@"
}

# start KIND NAME PROGRAM [ARGUMENT]...: trace in the background until stop.
start() {
    KIND=$1 NAME=$2
    local program=$3
    # Whether the kernel counts how often BPF programs run, which takes time.
    case $NAME in *-hits*) sysctl -qw kernel.bpf_stats_enabled=1 ;; *) sysctl -qw kernel.bpf_stats_enabled=0 ;; esac
    shift 3
    OUT=/tmp/$NAME.out ERR=/tmp/$NAME.err
    case $KIND in
    exec)
        stapgen exec "$program.ko" "$@" >$OUT 2>$ERR &
        TRACER=$!
        wait_traced $ERR
        ;;
    staprun) load "$NAME" "$program" "$@" ;;
    netstacklat)
        cp "$program" /tmp/bin
        "$program" "$@" >$OUT 2>$ERR &
        TRACER=$!
        # It says nothing; its timer comes when all is attached.
        wait_for "readlink /proc/$TRACER/fd/* | grep -q timerfd || ! kill -0 $TRACER" && kill -0 $TRACER
        ;;
    bpftrace)
        (bpftrace --no-warnings -o $OUT "$program.bt" "$@" 2>$ERR) &
        TRACER=$!
        wait_for "grep -q '^Attached' $OUT $ERR"
        ;;
    esac || { cat $OUT $ERR; return 1; }
    sleep 2
}

# sum_of FIELD: of all BPF programs of the tracer.
sum_of() { cat /proc/$TRACER/fdinfo/* 2>/dev/null | awk -v field="$1:" '$1 == field {n += $2} END {print n + 0}'; }

stop() {
    sleep 1
    local missed=0 hits=0
    if [ $KIND = bpftrace ] || [ $KIND = netstacklat ]; then
        missed=$(sum_of recursion_misses)
        hits=$(sum_of run_cnt)
    fi
    kill -INT $TRACER
    wait $TRACER
    echo "exit $? missed $missed hits $hits" >/lab/work/$NAME.end
    case $KIND in
    exec) tail -n 1 $OUT ;;
    staprun)
        case $NAME in
        seed-stages*) grep -a -c '|I|' $OUT ;;
        seed-tracker*) tail -n 1 $OUT ;;
        *) grep -a -P '^end\t|, hits: ' $OUT ;;
        esac
        ;;
    netstacklat) grep -o -E '^[a-z-]+:$|^count: [0-9]+' $OUT ;;
    bpftrace) grep -a -E '^@(seen|reported|lost)' $OUT ;;
    esac >/lab/work/$NAME.account
    cp $ERR /lab/work/$NAME.err
    [ $KIND != bpftrace ] || cp $OUT /lab/work/$NAME.bpf
    rm -f $OUT $ERR
}

# Where the clients are, and where they find the servers.
CLIENT= AT=127.0.0.1
[ $LINK = lo ] || CLIENT=outside AT=10.0.2.15

packets() {
    local card=$LAB_NIC
    [ $LINK != lo ] || card=lo
    cat /sys/class/net/$card/statistics/rx_packets
}
udp_counters() { awk '/^Udp:/ && $2 ~ /[0-9]/ {print $2 "," $6}' /proc/net/snmp; }

# client COMMAND...: run it, and set US to the time that took.
client() {
    local begin=$EPOCHREALTIME end
    $CLIENT "$@" >/dev/null || return
    end=$EPOCHREALTIME
    US=$((${end/./} - ${begin/./}))
}

# traffic WHAT N NAME: make it, and print a line of results for the run NAME.
traffic() {
    local what=$1 n=$2 units=$2 extra="" before
    case $what in
    ask) client ask --address $AT --port 7001 --requests $n || return ;;
    memcached)
        client memcslap --servers=$AT --concurrency=1 --execute-number=$n --test=get || return
        units=$((2 * n))   # it sets what it gets
        ;;
    bulk)
        start_ready bulk --receive --port 7002 || return
        before=$(packets)
        client bulk --send --address $AT --port 7002 --bytes $n || return
        units=$(($(packets) - before)) extra=" bytes=$n"
        wait $READY_PID
        ;;
    flood)
        start_ready flood receive 7003 || return
        before=$(udp_counters)
        flood send 7003 $n 18 || return
        wait $READY_PID
        US=$(sed -n 's/^us=//p' $READY_OUTPUT)
        extra=" $(grep -o 'received=.*' $READY_OUTPUT) before=$before after=$(udp_counters)"
        ;;
    esac
    echo "run=$3 traffic=$what units=$units us=$US$extra" | tee -a /lab/work/results
}
