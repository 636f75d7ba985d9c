# SPDX-License-Identifier: GPL-2.0-or-later
# guest_capture.sh NAME [net]: run captures/NAME/guest.sh in a network and with mounts that guest_captures.sh made for it.
. /lab/boot/guest_lib.sh
mount -t tmpfs tmpfs /tmp
mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns
# What it says of devices is of this network.
mount -t sysfs sysfs /sys && mount -t debugfs debugfs /sys/kernel/debug && mount -t tracefs tracefs /sys/kernel/tracing
over "/run/lab/captures/$1/work" /lab/work "$1-work"
over /run/cache /lab/cache "$1-cache"
ip link set lo up
if [ "$2" = net ]; then
    export LAB_NIC=eth0
    make_wire || exit
fi
cd /lab/work || exit
. "/run/lab/captures/$1/guest.sh"
