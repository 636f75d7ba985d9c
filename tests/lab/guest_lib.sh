# Functions for the scripts that run in a guest; sourced before a scenario's GUEST.

# wait_for COMMAND [SECONDS]: repeat COMMAND until it succeeds (60 s if not said).
wait_for() {
    local deadline=$((SECONDS + ${2:-60}))
    until eval "$1" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)); then
            echo "wait_for: gave up after ${2:-60} s: $1" >&2
            return 1
        fi
        sleep 0.1
    done
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

# start_memcached [OPTION]...: run it with one worker on port 11211; sets MC_PID
# and MC_TID, the worker's thread.
start_memcached() {
    memcached -u root -t 1 -p 11211 -l 0.0.0.0 "$@" &
    MC_PID=$!
    wait_for 'nc -z 127.0.0.1 11211' && wait_for "thread_id $MC_PID mc-worker" || return
    MC_TID=$(thread_id "$MC_PID" mc-worker)
}

# wait_traced FILE [SECONDS]: wait until stapgen says in its stderr that it measures.
wait_traced() {
    wait_for "grep -q '^stapgen: measuring' '$1'" "${2:-120}"
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
    sync
}
