# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for the scripts that run in a guest; sourced before a scenario's GUEST.

# over FOLDER TARGET NAME: show FOLDER at TARGET; what is written there stays in memory, in /run/new/NAME/upper.
over() {
    mkdir -p "/run/new/$3"/{upper,work} &&
        mount -t overlay -o "lowerdir=$1,upperdir=/run/new/$3/upper,workdir=/run/new/$3/work" overlay "$2"
}

# of_machine COMMAND...: run it in the machine's first network, whose settings some of the kernel's are.
of_machine() { nsenter -t 1 -n "$@"; }

# wait_for COMMAND: repeat COMMAND until it succeeds, for an hour: the guest's clock leaps while it waits for the host.
wait_for() {
    local deadline=$((SECONDS + 3600))
    until eval "$1" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)); then
            echo "wait_for: gave up: $1" >&2
            say_what_runs >&2
            return 1
        fi
        sleep 0.1
    done
}

# say_what_runs: print the processes, where those that wait in the kernel do so, and the kernel's last words.
say_what_runs() {
    local task command
    for task in /proc/[0-9]*; do
        command=$(tr '\0' ' ' <"$task/cmdline") && [ -n "$command" ] || continue
        echo "${task#/proc/} $(cut -d' ' -f3 "$task/stat") $command"
        head -6 "$task/stack" 2>/dev/null
    done
    dmesg | tail -n 20
}

# thread_id PID NAME: print the id of the first thread of PID that is called NAME.
thread_id() {
    local task
    for task in /proc/"$1"/task/*; do
        if [ "$(cat "$task/comm" 2>/dev/null)" = "$2" ]; then
            echo "${task##*/}"
            return 0
        fi
    done
    return 1
}

# wait_port PORT: wait until a server listens there.
wait_port() {
    wait_for "${NETNS:+ip netns exec $NETNS} nc -z 127.0.0.1 $1"
}

# The servers run in the network namespace $NETNS, if one is named:
#   NETNS=right start_redis

# start_memcached [OPTION]...: run it with one worker on port 11211; sets MC_PID
# and MC_TID, the worker's thread.
start_memcached() {
    ${NETNS:+ip netns exec $NETNS} memcached -u root -t 1 -p 11211 -l 0.0.0.0 "$@" &
    MC_PID=$!
    wait_port 11211 && wait_for "thread_id $MC_PID mc-worker" || return
    MC_TID=$(thread_id "$MC_PID" mc-worker)
}

# start_redis [OPTION]...: run it on port 6379, keeping nothing on disk; sets REDIS_PID.
start_redis() {
    ${NETNS:+ip netns exec $NETNS} redis-server --save '' --protected-mode no --dir /tmp --logfile /tmp/redis.log "$@" &
    REDIS_PID=$!
    wait_port 6379
}

# start_nginx: serve /file (10,007 bytes), /small (101) and /status (nginx's own counts) on
# port 8080 with one worker; sets NGINX_PID, the worker, and NGINX_MASTER, which is the one to kill.
start_nginx() {
    mkdir -p /tmp/nginx/www
    head -c 10007 /dev/zero >/tmp/nginx/www/file
    head -c 101 /dev/zero >/tmp/nginx/www/small
    cat >/tmp/nginx/conf <<'EOF'
daemon off;
user root;
worker_processes 1;
error_log stderr;
pid /tmp/nginx/pid;
events {}
http {
    access_log off;
    sendfile on;
    keepalive_requests 1000000000;
    server {
        listen 8080;
        listen [::]:8080;
        root /tmp/nginx/www;
        location = /status { stub_status; }
    }
}
EOF
    ${NETNS:+ip netns exec $NETNS} nginx -e stderr -c /tmp/nginx/conf &
    NGINX_MASTER=$!
    wait_port 8080 && wait_for "pgrep -P $NGINX_MASTER" || return
    NGINX_PID=$(pgrep -P "$NGINX_MASTER")
}

# start_ready COMMAND...: run one of the traffic programs that listen, and wait until it is ready; sets READY_PID, and
# READY_OUTPUT, the file that what it says goes to.
start_ready() {
    READY_OUTPUT=/tmp/ready.$((++READY_COUNT))
    ${NETNS:+ip netns exec $NETNS} "$@" >$READY_OUTPUT 2>&1 &
    READY_PID=$!
    wait_for "grep -q ^ready $READY_OUTPUT" || { cat $READY_OUTPUT; return 1; }
}

# make_pair: two network namespaces, left and right, joined by left0 (10.9.0.1,
# fd09::1) and right0 (10.9.0.2, fd09::2).
make_pair() {
    local side number=0
    ip link add left0 type veth peer name right0 || return
    for side in left right; do
        number=$((number + 1))
        ip netns add $side &&
            ip link set ${side}0 netns $side &&
            ip -n $side link set ${side}0 addrgenmode none &&
            ip -n $side address add 10.9.0.$number/24 dev ${side}0 &&
            ip -n $side address add fd09::$number/64 dev ${side}0 nodad &&
            ip -n $side link set lo up &&
            ip -n $side link set ${side}0 up || return
    done
}

# take_cards: both cards of the machine, eth0 and eth1, into this network namespace.
take_cards() {
    local card
    modprobe virtio_net || return
    for card in eth0 eth1; do
        wait_for "ip link show $card || of_machine ip link show $card" || return
        ip link show $card >/dev/null 2>&1 || of_machine ip link set $card netns $$ || return
    done
}

# make_wire: the cards are on one wire. eth0, $LAB_NIC, is here (10.0.2.15), eth1 in the network namespace "outside"
# (10.0.2.2), which stands for another machine.
make_wire() {
    take_cards || return
    ip netns add outside &&
        ip link set eth1 netns outside &&
        ip link set eth0 addrgenmode none &&
        ip address add 10.0.2.15/24 dev eth0 &&
        ip link set eth0 up &&
        ip -n outside link set eth1 addrgenmode none &&
        ip -n outside address add 10.0.2.2/24 dev eth1 &&
        ip -n outside link set lo up &&
        ip -n outside link set eth1 up
}

# make_card_pair: two network namespaces, left and right, joined by two cards on one wire: eth0 in left (10.8.0.1), eth1 in
# right (10.8.0.2). XDP gets into their driver. Not with NET, which has other uses for the cards.
make_card_pair() {
    local side number=0 card
    take_cards || return
    for side in left right; do
        card=eth$number
        number=$((number + 1))
        ip netns add $side &&
            ip link set $card netns $side &&
            ip -n $side link set $card addrgenmode none &&
            ip -n $side address add 10.8.0.$number/24 dev $card &&
            ip -n $side link set lo up &&
            ip -n $side link set $card up || return
    done
}

# seeded N: the option by which netem loses the same packets each time. Linux 6.1 has none.
seeded() { ! tc qdisc add dev lo root netem help 2>&1 | grep -qw seed || echo "seed $1"; }

# join NAME DEVICE ADDRESS...: a namespace whose device net0 has DEVICE as its other end.
join() {
    ip netns add $1 && ip link add $2 type veth peer name net0 netns $1 || return
    ip link set $2 addrgenmode none; ip -n $1 link set net0 addrgenmode none
    ip -n $1 link set lo up; ip -n $1 link set net0 up; ip link set $2 up
    local name=$1 address
    shift 2
    for address; do ip -n $name address add $address dev net0 $([[ $address == *:* ]] && echo nodad) || return; done
}

# make_router: this machine is a router between the namespaces left (10.9.1.2, fd01::2; here l0) and right (10.9.2.2,
# fd02::2; here r0).
make_router() {
    local side name number device
    sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
        join left l0 10.9.1.2/24 fd01::2/64 && join right r0 10.9.2.2/24 fd02::2/64 || return
    for side in "left 1 l0" "right 2 r0"; do
        read -r name number device <<<"$side"
        # A router asks for a neighbour from its link-local address.
        ip address add 10.9.$number.1/24 dev $device && ip address add fd0$number::1/64 dev $device nodad &&
            ip address add fe80::1/64 dev $device nodad &&
            ip -n $name route add default via 10.9.$number.1 &&
            ip -n $name -6 route add default via fd0$number::1 || return
    done
}

# outside COMMAND...: run it at the other end of the wire of $LAB_NIC, at 10.0.2.2; this end is 10.0.2.15.
outside() { ip netns exec outside "$@"; }

# The process of each measurement that begin_report began, by its name.
declare -A TRACERS

# wait_traced FILE: wait until stapgen says in its stderr, NAME.err, that it measures. Fails with what it says if it ends
# before that, where begin_report began it.
wait_traced() {
    local tracer=${TRACERS[${1%.err}]-}
    wait_for "grep -q '^stapgen: measuring' '$1' || { [ -n '$tracer' ] && ! kill -0 '$tracer'; }"
    grep -q '^stapgen: measuring' "$1" && return
    echo "wait_traced: stapgen does not measure; $1 says:" >&2
    cat "$1" >&2
    return 1
}

# begin_record NAME MODULE [OPTION]...: measure in the background, for the host to report of: NAME.rec. What the run says
# goes to NAME.err.
begin_record() { begin_report "$1" printed "$2" -o "$1.rec" "${@:3}"; }

# record NAME MODULE [OPTION]...: the same, and wait until it measures.
record() {
    begin_record "$@"
    wait_traced "$1.err"
}

# begin_report NAME SUFFIX MODULE [OPTION]...: measure in the background, where what the run itself prints is looked at; it
# goes to NAME.SUFFIX.
begin_report() {
    local name=$1 output=$1.$2 module=$3
    shift 3
    stapgen exec "$module.ko" "$@" >"$output" 2>"$name.err" &
    TRACERS[$name]=$!
}

# report NAME SUFFIX MODULE [OPTION]...: the same, and wait until it measures.
report() {
    begin_report "$@"
    wait_traced "$1.err"
}

# end_records NAME...: end what these began, all that runs; the last packets are on their way, so it waits a moment.
end_records() {
    local name
    sleep 0.5
    for name; do kill -INT "${TRACERS[$name]}"; done
    for name; do
        wait "${TRACERS[$name]}"
        echo $? >"$name.exit"
    done
    for name; do modules_left >"$name.modules"; done
}

# drop_by_rule PORT: have nftables drop the datagrams to it, and count them.
drop_by_rule() {
    nft -f - <<END
table ip lab {
    chain input {
        type filter hook input priority 0
        udp dport $1 counter drop
    }
}
END
}

# modules_left: print how many of SystemTap's modules are loaded.
modules_left() {
    grep -c '^stap' /proc/modules
    return 0
}

# finish [FILE]...: keep FILEs, the kernel's log and the number of modules left.
finish() {
    [ $# = 0 ] || cp -r -- "$@" /lab/work/
    dmesg >/lab/work/dmesg
    modules_left >/lab/work/modules-left
}
