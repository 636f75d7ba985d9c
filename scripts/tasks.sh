# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What run-demo, run-tests and install-packages have in common: checks of the machine, and tasks that run side by side
# and end in order. Logs: build/NAME.log.

# A signal ends the script, and not only the command that it waits for, whose failure would be told instead.
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# stop WHY REMEDY...: what cannot work is said at once.
stop() {
    echo "${0##*/}: $1" >&2
    shift
    printf '  %s\n' "$@" >&2
    exit 1
}

# Sets as_root: how a command is run as root.
need_root() {
    as_root=()
    [ "$(id -u)" != 0 ] || return 0
    command -v sudo >/dev/null || stop "this takes root, and there is no sudo" "run it as root"
    sudo -v || stop "this takes root, and sudo does not let you" "run it as root, or let sudo work: sudo -v"
    # shellcheck disable=SC2034
    as_root=(sudo -E)
}

need_debian() {
    local ID='' VERSION_ID=''
    # shellcheck disable=SC1091
    if [ -r /etc/os-release ]; then . /etc/os-release; fi
    if [ "$ID" != debian ] || [ "${VERSION_ID:-99}" -lt 12 ]; then
        stop "this takes Debian 12 or later, and here is ${ID:-another system} $VERSION_ID: packages come from apt" \
            "elsewhere: a static program, or the packages that scripts/install-packages names (docs/guide/installing.md)"
    fi
    [ "$(dpkg --print-architecture)" = amd64 ] ||
        stop "this takes amd64, and here is $(dpkg --print-architecture)" "other architectures are untested"
    # What a killed one left behind makes each later apt-get fail.
    [ -z "$(dpkg --audit 2>&1)" ] ||
        stop "dpkg was interrupted earlier" "mend that first: dpkg --configure -a && apt-get --fix-broken install"
}

# need_virtual_machines FOLDER: that the lab can make its roots there.
need_virtual_machines() {
    local why
    [ -e /proc/self/status ] ||
        stop "there is no /proc" "in a chroot, from outside: mount -t proc proc DIR/proc; mount --rbind /dev DIR/dev"
    if ! why=$("${as_root[@]}" unshare -m --propagation private sh -c 'mount -t tmpfs tmpfs /mnt && mount -t proc proc /mnt' 2>&1); then
        case "$why" in
            *propagation*nvalid*)
                stop "this is a chroot, and its / is no mount point: virtual machines cannot be made" \
                    "outside of it: mount --bind DIR DIR, then chroot DIR again" ;;
            *) stop "virtual machines cannot be made: $why" \
                    "the lab mounts; let it: docker run --privileged, podman run --privileged, or a machine of its own" ;;
        esac
    fi
    mkdir -p "$1" || stop "cannot make $1" "let STAPGEN_LAB_DIR name a folder that can be made"
    case "$1" in
        *[[:space:]]*) stop "debootstrap cannot work in a folder with a space in its name: $1" \
            "let STAPGEN_LAB_DIR name another folder" ;;
    esac
    case ",$(findmnt -n -o OPTIONS -T "$1")," in
        *,nodev,* | *,noexec,*) stop "$1 is mounted nodev or noexec: no Debian can be installed there" \
            "let STAPGEN_LAB_DIR name a folder of another disk" ;;
    esac
    if [ -z "${STAPGEN_LAB_MIRROR-}" ] || [ -z "${STAPGEN_LAB_SECURITY_MIRROR-}" ]; then
        # deb.debian.org has both: lablib/roots.py.
        apt-get update --print-uris 2>/dev/null | grep -Eq -- '-security/InRelease|deb\.debian\.org/debian/dists/' ||
            stop "apt's sources name no security archive, from which the virtual machine's Debian is installed" \
                "echo 'deb http://deb.debian.org/debian-security ${VERSION_CODENAME-trixie}-security main' >/etc/apt/sources.list.d/security.list" \
                "or set STAPGEN_LAB_MIRROR and STAPGEN_LAB_SECURITY_MIRROR"
    fi
}

# The lab's folder: where roots, symbols and runs stay.
lab_folder() { echo "${STAPGEN_LAB_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/stapgen-lab}"; }

# need_space MB FOLDER...: what earlier runs left in all of the FOLDERs counts towards the MB on the disk of the first. On
# a full disk the compiler fails without a word.
need_space() {
    local missing=$1 free
    shift
    missing=$((missing - $(du -cms "$@" 2>/dev/null | tail -n 1 | cut -f 1)))
    [ "$missing" -gt 1000 ] || missing=1000
    free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
    [ "$free" -ge "$missing" ] ||
        stop "$missing MB more are needed, and the disk of $1 has $free" \
            "free some (build/ and $(lab_folder) can be made again), or let STAPGEN_LAB_DIR and CCACHE_DIR name folders of another disk"
}

# agree_to_install SET...: say what scripts/install-packages will install, and on a terminal ask.
agree_to_install() {
    local missing size answer=
    missing=$(./scripts/install-packages --list "$@")
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086
    size=$(LC_ALL=C apt-get install --no-install-recommends --assume-no $missing 2>/dev/null </dev/null |
        sed -n 's/^After this operation, \(.*\) of additional disk space will be used.*/, \1 of disk/p')
    # apt knows it from its lists, which a fresh machine has not yet.
    echo "this installs Debian packages, and what they depend on${size:-, 0.5 GB of disk, with those of the tests 1.8 GB}:"
    # shellcheck disable=SC2086
    printf '%s\n' $missing | awk '{ if (length(line) + length($0) > 98) { print "  " line; line = "" } line = line $0 " " } END { print "  " line }'
    [ ! -t 0 ] || read -r -p 'Install them? [Y/n] ' answer
    case "$answer" in
        [nN]*) exit 1 ;;
    esac
}

# alive PID: also one of root's, whom kill -0 does not let us ask.
alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ]; }

# unharmed COMMAND...: for package managers, which leave the machine's packages broken when they are killed. It runs in a
# process group of its own, which no Ctrl-C and no kill of ours reaches. A signal is answered at its end.
unharmed() {
    local came='' status=0 signal pid
    for signal in INT TERM HUP; do
        # shellcheck disable=SC2064
        trap "came=$signal; echo 'waiting for the package manager to end: killed, it would leave packages half installed' >&2" "$signal"
    done
    set -m
    # In the background a terminal's input would stop it.
    "$@" </dev/null &
    set +m
    pid=$!
    wait "$pid" || status=$?
    # A signal ends `wait`, too.
    while alive "$pid"; do
        status=0
        wait "$pid" || status=$?
    done
    trap - INT TERM HUP
    [ -z "$came" ] || kill -s "$came" $$
    return "$status"
}

# phase NAME: what comes from now on is NAME's, until the next; build/phases says when each began: its name, the seconds
# so far, and what of processors the commands that have ended took (two words of `times`). What remains is said by the last
# run of the same kind, whose phases are in build/phases-$kind.
phase() {
    local left=''
    mkdir -p build
    times >build/times
    echo "$1 $SECONDS $(tail -n 1 build/times)" >>build/phases
    [ ! -s "build/phases-${kind-}" ] ||
        left=$(awk -v name="$1" '$1 == name { begin = $2 } { end = $2 } END { print int((end - begin + 59) / 60) }' "build/phases-$kind")
    printf '== %s, after %d:%02d%s\n' "${1//-/ }" $((SECONDS / 60)) $((SECONDS % 60)) "${left:+; the last run took $left minutes from here}"
}

# start NAME COMMAND...: run it in the background, in a process group of its own.
declare -A running
start() {
    local name=$1
    shift
    mkdir -p build
    set -m
    "$@" >"build/$name.log" 2>&1 </dev/null &
    set +m
    running[$name]=$!
}

# finish: wait for what runs, and say how far it is: each second on a terminal, else every ten.
said=0
finish() {
    local name line
    while [ ${#running[@]} != 0 ]; do
        sleep 1
        line="$SECONDS s"
        for name in "${!running[@]}"; do
            if ! alive "${running[$name]}"; then
                wait "${running[$name]}" || {
                    unset "running[$name]"
                    [ ! -t 1 ] || echo
                    tail -n 30 "build/$name.log"
                    stop "$name failed; the end of build/$name.log is above" "mend that and start ${0##*/} again: what is done is kept"
                }
                unset "running[$name]"
            else
                line+=", $name: $(tail -n 1 "build/$name.log" | tr -cd ' -~' | cut -c1-60)"
            fi
        done
        if [ -t 1 ]; then
            printf '\r\033[K%s' "${line:0:$(tput cols) - 1}"
        elif ((SECONDS - said >= 10)); then
            said=$SECONDS
            echo "$line"
        fi
    done
    [ ! -t 1 ] || printf '\r\033[K'
}

# show NAME COMMAND...: likewise, but its output is shown; wait for it.
show() {
    local name=$1 status=0
    shift
    set -m
    "$@" </dev/null &
    set +m
    running[$name]=$!
    wait "${running[$name]}" || status=$?
    unset "running[$name]"
    return "$status"
}

# End what runs, and wait for it: a package manager among it (unharmed, and the lab's) ends by itself, and it is said.
end_tasks() {
    local name last
    trap '' INT TERM HUP
    for name in "${!running[@]}"; do
        if ! alive "${running[$name]}"; then unset "running[$name]"; fi
    done
    [ ${#running[@]} != 0 ] || return 0
    echo "${0##*/}: ending ${!running[*]}" >&2
    for name in "${!running[@]}"; do
        "${as_root[@]}" kill -- "-${running[$name]}" 2>/dev/null || :
    done
    for name in "${!running[@]}"; do
        while alive "${running[$name]}"; do
            sleep 0.2
            last=$(grep -s 'waiting for' "build/$name.log" | tail -n 1)
            [ -z "$last" ] || { echo "$name: $last" | tr -cd ' -~\n' >&2 && break; }
        done
        wait "${running[$name]}" 2>/dev/null || :
    done
}

# What is started from now on is ended when this script ends.
end_in_order() { trap end_tasks EXIT; }
