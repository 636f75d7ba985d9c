# SPDX-License-Identifier: GPL-2.0-or-later
# For the scripts beside it, which run as root in a suite's root, in the folder /lab.

# apt COMMAND...: with the words that other_kernel.py has given for the proxy, if any.
# shellcheck disable=SC2086
apt() { DEBIAN_FRONTEND=noninteractive INITRD=No apt-get -y --no-install-recommends -o APT::Sandbox::User=root $PROXY "$@"; }

# tools PACKAGE...: install them.
tools() {
    apt update --error-on=any
    apt install xz-utils "$@"
}

# source_of FOLDER PATH...: Debian's source of the suite's kernel, or only these paths of it.
source_of() {
    local folder=$1 name release
    shift
    release=$(cd /lib/modules && echo [0-9]*)
    name=linux-source-$(echo "$release" | grep -Eo '^[0-9]+\.[0-9]+')
    apt download "$name"
    # tar ends before the package does; that dpkg-deb then dies of the closed pipe is no failure.
    dpkg-deb --fsys-tarfile "$name"_*.deb | tar -x --occurrence=1 "./usr/src/$name.tar.xz"
    mkdir -p "$folder"
    tar -xf "usr/src/$name.tar.xz" -C "$folder" --strip-components=1 "$@"
    rm -r "$name"_*.deb usr
}
