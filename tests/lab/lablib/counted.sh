# SPDX-License-Identifier: GPL-2.0-or-later
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
    wait_for "grep -q '^$module ' /proc/modules"
}
