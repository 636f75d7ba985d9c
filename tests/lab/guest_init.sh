#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# First process of a guest, started by the initramfs with /proc, /sys, /dev and
# the share at /lab in place. Runs /lab/boot/guest.sh and powers off.

. /lab/boot/environment
. /lab/boot/guest_lib.sh
date -s "$LAB_NOW" >/dev/null
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mkdir -p /dev/pts /dev/shm /run/lock
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
ln -sfn /proc/self/fd /dev/fd
ln -sfn /proc/self/fd/0 /dev/stdin
ln -sfn /proc/self/fd/1 /dev/stdout
ln -sfn /proc/self/fd/2 /dev/stderr
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
ip link set lo up
hostname lab

share() { mount -t 9p -o "$LAB_9P_OPTIONS,$3" "$1" "$2"; }

# While a guest waits for the host its clock leaps, so what it reads from there is kept in memory, and what it writes goes
# back at the end.
mkdir /run/{tree,lab,cache}
share tree /run/tree ro,cache=loose
# This disk may be of a suite that has another kernel.
if [ ! -d "/lib/modules/$(uname -r)" ]; then
    for folder in /usr/lib/modules /boot; do
        mount --bind "/run/tree$folder" "$folder"
    done
fi
modprobe overlay
share run /run/lab ro,cache=loose
# Those of a guest of another architecture are its own.
for folder in stapgen traffic; do
    for own in /run/lab/{,guest/}$folder; do
        [ ! -d $own ] || mount --bind $own /lab/$folder
    done
done
if [ -n "$LAB_WORK" ]; then
    share work /lab/work rw
else
    mkdir -p /lab/work
    mount --bind /lab/work /mnt
    over /run/lab/work /lab/work work
fi

# stap's cache is keyed by, among others, the times and sizes of these folders, which
# differ between this disk and the tree that stap has seen in the chroot.
for folder in /usr/share/systemtap /usr/src; do
    mount --bind "/run/tree$folder" "$folder"
done

# The suite's cache is read from the host; what a guest adds dies with it, as a
# guest that crashes must not leave half a file there.
if [ -n "$LAB_CACHE" ]; then
    share cache /run/cache ro,cache=loose
    over /run/cache /lab/cache cache
fi

if [ -n "$LAB_NET" ]; then
    export LAB_NIC=eth0
    make_wire
fi

cd /lab/work
echo started >/lab/boot/started
if [ -n "$LAB_SHELL" ]; then
    stty sane cols "${LAB_COLUMNS:-80}" rows "${LAB_ROWS:-24}" </dev/$LAB_CONSOLE
    setsid -c bash -i </dev/$LAB_CONSOLE >/dev/$LAB_CONSOLE 2>&1
    echo 0 >/lab/boot/exit-code
else
    # No pipe: it would wait for all that the script leaves running.
    bash /lab/boot/guest.sh </dev/null > >(tee /lab/boot/output) 2>&1
    code=$?
    sleep 0.2
    [ -n "$LAB_WORK" ] || cp -r /run/new/work/upper/. /mnt
    echo $code >/lab/boot/exit-code
fi
cd /
sync
busybox poweroff -f
