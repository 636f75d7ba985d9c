# SPDX-License-Identifier: GPL-2.0-or-later
# Captures that share a guest, one behind the other; sourced before their names. Each has its own network, mounts, /tmp and
# cache. What one leaves behind is taken away: the next one finds the machine as it was after the boot.

# user_processes: print the ids of all but the kernel's threads.
user_processes() {
    local process
    for process in /proc/[0-9]*; do
        [ ! -e "$process/exe" ] || echo "${process#/proc/}"
    done
}

# own_modules: print the names of the modules that are not Debian's: SystemTap's and the scenarios'.
own_modules() { awk '/\([A-Z]*O[A-Z]*\)$/ {print $1}' /proc/modules; }

# capture NAME [net]: run captures/NAME/guest.sh, with the two cards on a wire where that is said. Its files, what it prints and
# its exit code go to captures/NAME.
capture() {
    local name=$1 there=/lab/captures/$1 code
    echo "$name" >/lab/boot/progress
    dmesg -C
    unshare --net --mount --propagation private bash /lab/boot/guest_capture.sh "$@" </dev/null >/run/output 2>&1
    code=$?
    cp -r "/run/new/$name-work/upper" "$there/out"
    cp /run/output "$there/output"
    dmesg >"$there/dmesg"
    echo $code >"$there/exit-code"
    tidy_up
}

# tidy_up: end what runs, remove modules and cgroups, and wait for the kernel to be done with the network namespaces. Where that
# fails this guest is of no more use; the host goes on in another one.
tidy_up() {
    local processes module tries=0
    while processes=$(processes_left) && [ -n "$processes" ]; do
        kill -KILL $processes 2>/dev/null
        ((++tries < 100)) || exit 99
        sleep 0.1
    done
    # Those that need others go first.
    for module in $(own_modules); do rmmod "$module" || { sleep 1; rmmod "$module" || exit 99; }; done
    echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
    mount -t cgroup2 none /mnt && find /mnt -mindepth 1 -depth -type d -exec rmdir {} + ; umount /mnt
    rm -rf /run/new/*-work /run/new/*-cache
    # An idle guest's clock leaps: these seconds take none.
    sleep 5
}

BOOT_PROCESSES=" $(user_processes | tr '\n' ' ') $$ "
processes_left() {
    local process
    for process in $(user_processes); do
        case "$BOOT_PROCESSES" in
            *" $process "*) ;;
            *) [ "$process" = $BASHPID ] || [ "$process" = $$ ] || [ ! -e "/proc/$process/exe" ] || echo "$process" ;;
        esac
    done
}
