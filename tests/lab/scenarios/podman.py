# SPDX-License-Identifier: GPL-2.0-or-later
"""Real podman: two containers with the same addresses and ports, each counted alone; and stapgen itself in a third, and what its
doctor says of containers that lack something.

The containers have the guest's own root as theirs, since there is no registry. podman's packages are fetched when the scenario
is prepared. STAPGEN_LAB_IMAGE names the extracted tree of an image that packaging/Containerfile made (podman export): stapgen
and staprun of the third container are then those of the image.
"""

import json
import os
import shutil

from lablib.events import read_report
from lablib.talk import TALK, by_group, dropped

DESCRIPTION = "podman's containers by name and id, with the same addresses and ports; stapgen in a container"
# Not in CI: it fetches 43 MB of packages.
IN_CI = ()
TIMEOUT = 2400
# Those of the scenario containers.
BUILD = {"drops": ["dropwatch", "--by", "netns,container,cgroup,port,dev,protocol"], "rx": ["rx-latency", "--by", "netns,container,cgroup"]}

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Datagrams that each receives, and those that each sends to a port where nobody listens.
RECEIVED = {"web": 503, "cache": 1009}
CLOSED = {"web": 101, "cache": 211}
# Requests that a server of the host answers while stapgen runs in a container.
ASKED = 307

GUEST = rf"""
mount -t cgroup2 none /sys/fs/cgroup || exit 1
for deb in /lab/work/debs/*.deb; do dpkg-deb -x "$deb" / || exit 1; done
ldconfig
mkdir -p /ctr /etc/containers && mount --bind / /ctr || exit 1
echo '{{"default": [{{"type": "insecureAcceptAnything"}}]}}' >/etc/containers/policy.json
cp talk.py /talk.py
PODMAN="podman --storage-driver vfs --cgroup-manager cgroupfs --runtime crun --events-backend none"
rm -f /go
in_podman() {{
    local name=$1
    shift
    exec $PODMAN run --name $name --cidfile $name.id --network none --security-opt seccomp=unconfined \
        --log-driver none --workdir / --rootfs /ctr "$@"
}}
TALKERS=
for talker in web:{RECEIVED["web"]}:{CLOSED["web"]} cache:{RECEIVED["cache"]}:{CLOSED["cache"]}; do
    IFS=: read -r name received closed <<<$talker
    start_ready in_podman $name python3 /talk.py 7300 $received $closed 0 || exit 1
    TALKERS="$TALKERS $READY_OUTPUT"
done
$PODMAN ps --no-trunc >ps.txt
cat /proc/$($PODMAN inspect -f '{{{{.State.Pid}}}}' web)/cgroup >cgroup.txt
begin_record drops-of drops --by container -s 1MiB
begin_record drops-web drops --by none --container web -s 1MiB
begin_record rx-of rx --by container -s 1MiB
begin_record rx-cache rx --by none --container cache -s 1MiB
begin_record rx-id rx --by none --container $(head -c 12 web.id) -s 1MiB
RUNS="drops-of drops-web rx-of rx-cache rx-id"
for name in $RUNS; do wait_traced $name.err || exit 1; done
touch /go
for output in $TALKERS; do wait_for "grep -q done $output" || {{ cat $output; exit 1; }}; done
end_records $RUNS
$PODMAN kill web cache >kill.txt
wait_for "! $PODMAN ps | grep -q -e web -e cache"
$PODMAN rm -a >>kill.txt
stapgen report rx-of.rec --format json >later.json || exit 1

# As docs/guide/installing.md has it.
ROOTFS=/ctr PROGRAM=/lab/stapgen/bin/stapgen
if [ -d /lab/work/image ]; then ROOTFS=/lab/work/image PROGRAM=stapgen; fi
doctor_in() {{
    local name=$1
    shift
    $PODMAN run --name doctor-$name --network none --log-driver none -v /lab:/lab -v /run/lab:/run/lab "$@" --rootfs $ROOTFS $PROGRAM \
        doctor dropwatch >doctor-$name.out 2>doctor-$name.err
    echo $? >doctor-$name.exit
}}
doctor_in plain
doctor_in privileged --privileged
doctor_in whole --privileged -v /lib/modules:/lib/modules -v /usr/src:/usr/src
start_ready serve --port 7001 --read recv || exit 1
$PODMAN run --name stapgen --privileged --pid host --network host --log-driver none --workdir /lab/work \
    -v /lib/modules:/lib/modules -v /sys/kernel/debug:/sys/kernel/debug -v /lab:/lab -v /run/lab:/run/lab \
    --rootfs $ROOTFS $PROGRAM exec /lab/work/rx.ko --port 7001 --by none --format json -d 3600 -s 1MiB >tool.json 2>tool.err &
TOOL=$!
wait_traced tool.err || exit 1
ask --port 7001 --requests {ASKED} || exit 1
sleep 0.5
$PODMAN kill --signal INT stapgen >>kill.txt
wait $TOOL
echo $? >tool.exit
modules_left >tool.modules
finish
"""


def prepare(lab):
    (lab.work / "talk.py").write_text(TALK)
    lab.chroot(["sh", "-c", "mkdir -p /lab/work/debs/partial && apt-get -qq update >&2 && apt-get -qq -y --no-install-recommends -d "
                "-o Dir::Cache::archives=/lab/work/debs install podman crun >&2"], scratch=True,
               env={"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"})
    if image := os.environ.get("STAPGEN_LAB_IMAGE"):
        shutil.copytree(image, lab.work / "image", symlinks=True)


def whole(report, stage):
    return next(row["n"] for row in report["stages"] if row["stage"] == stage and not row["group"])


def check(lab):
    print(lab.read("ps.txt"), lab.read("cgroup.txt"))

    def of(name):
        report = read_report(lab, name)
        print(f"{lab.suite} {name}: {report['accounting']}")
        return report

    def expect(name, found, expected):
        assert found == expected, f"{name}: {found}, expected {expected}"

    expect("drops-of", dropped(of("drops-of")), CLOSED)
    expect("drops-web", sum(dropped(of("drops-web")).values()), CLOSED["web"])
    expect("rx-of", by_group(of("rx-of"), "container", "udp-app"), RECEIVED)
    expect("rx-cache", whole(of("rx-cache"), "udp-app"), RECEIVED["cache"])
    expect("rx-id", whole(of("rx-id"), "udp-app"), RECEIVED["web"])
    expect("later", by_group(json.loads(lab.read("later.json")), "container", "udp-app"), RECEIVED)
    for name, exit_code, found, first in (
            ("plain", 4, "root without CAP_SYS_MODULE", "start with privileges: run it on the host, or give the container --privileged"),
            ("privileged", 4, "a container (podman), whose kernel is the host's: its headers are not in here",
             "start with container: run stapgen on the host, or start the container with --privileged -v /lib/modules:/lib/modules"),
            ("whole", 0, "a container (podman), whose kernel is the host's", "dropwatch will run here: stapgen dropwatch")):
        said = [" ".join(lab.read(f"doctor-{name}.{part}").split()) for part in ("out", "err")]
        expect(f"doctor-{name}", int(lab.read(f"doctor-{name}.exit")), exit_code)
        assert found in said[0] and first in " ".join(said), (name, said)
    print(lab.read("tool.err"))
    expect("tool", whole(of("tool"), "tcp-app"), 2 * ASKED)
    assert lab.read("modules-left").strip() == "0"
